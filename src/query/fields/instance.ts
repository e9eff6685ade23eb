import { mapInSlices } from '../../lib/slices'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { NodeUuid } from '../../model/ids'
import type { Instance } from '../../model/instance'
import { NODES_ASKED_AT_ONCE, ROWS_AT_ONCE } from '../../model/limits'
import type { Node } from '../../model/node'
import { ConfigIndex } from '../config-index'
import type { LiveResults } from '../live-data'
import type { InstanceRuntime } from '../../rpc/node/dicts'
import type { Resource } from '../resource'
import { instanceConfigFields } from './instance-config'
import { instanceDiskFields, instanceNicFields } from './instance-devices'
import { type InstanceRow, type Runtime, instanceLiveFields } from './instance-live'
import { instanceParamFields } from './instance-params'

export const instanceResource: Resource<InstanceRow> = {
  nameField: 'name',
  fields: {
    ...instanceConfigFields,
    ...instanceParamFields,
    ...instanceDiskFields,
    ...instanceNicFields,
    ...instanceLiveFields,
  },
  all({ config }) {
    const index = ConfigIndex.of(config)
    return index.instances().map((instance) => ({ instance, index }))
  },
  find({ config }, name) {
    const index = ConfigIndex.of(config)
    const instance = index.findInstance(name)
    return instance && { instance, index }
  },
  notFound: (name) => new OpPrereqError(`Instance name ${name} not found`, ECODE.NOENT),
  async collect(rows, { config, live }, needs, named) {
    const index = ConfigIndex.of(config)
    const nodes = named ? ownNodes(rows, index) : index.nodes().filter((node) => node.vm_capable)
    const [running, consoles] = await Promise.all([
      needs.has('live') ? live.instanceInfo(config, nodes) : undefined,
      needs.has('console')
        ? live.consoles(
            config,
            rows.map(({ instance }) => instance),
          )
        : undefined,
    ])
    const seenOn = running && (await whereSeen(running))
    await mapInSlices(rows, ROWS_AT_ONCE, (row) => {
      if (running && seenOn) row.runtime = runtimeOf(row, running, seenOn)
      row.consoles = consoles?.get(row.instance.primary_node)
    })
  },
}

/** Where these instances may run by right; a query of everything asks every node and so finds strays anywhere. */
function ownNodes(rows: readonly InstanceRow[], index: ConfigIndex): Node[] {
  const uuids = new Set(rows.flatMap(({ instance }) => [instance.primary_node, ...index.secondaries(instance)]))
  return [...uuids].flatMap((uuid) => index.config.nodes[uuid] ?? [])
}

type Sightings = ReadonlyMap<string, readonly [node: NodeUuid, info: InstanceRuntime][]>

async function whereSeen(answers: LiveResults<Record<string, InstanceRuntime>>): Promise<Sightings> {
  const seen = new Map<string, [NodeUuid, InstanceRuntime][]>()
  await mapInSlices([...answers], NODES_ASKED_AT_ONCE, ([node, answer]) => {
    if (!answer.ok) return
    for (const [name, info] of Object.entries(answer.payload)) {
      const places = seen.get(name)
      if (places === undefined) seen.set(name, [[node, info]])
      else places.push([node, info])
    }
  })
  return seen
}

function runtimeOf(
  { instance, index }: InstanceRow,
  answers: LiveResults<Record<string, InstanceRuntime>>,
  seen: Sightings,
): Runtime {
  if (primaryOffline(instance, index)) return { state: 'offline' }
  if (answers.get(instance.primary_node)?.ok !== true) return { state: 'no answer' }
  const places = seen.get(instance.name) ?? []
  const place = places.find(([node]) => node === instance.primary_node) ?? places[0]
  if (place === undefined) return { state: 'absent' }
  return { state: 'seen', info: place[1], onPrimary: place[0] === instance.primary_node }
}

const primaryOffline = (instance: Instance, index: ConfigIndex): boolean =>
  index.config.nodes[instance.primary_node]?.offline === true
