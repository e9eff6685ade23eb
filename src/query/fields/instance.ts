// Query fields of instances.
import { mapInSlices } from '../../lib/work/slices'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { Instance } from '../../model/instance'
import { NODES_READ_AT_ONCE, ROWS_AT_ONCE } from '../../model/limits/queries'
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
  all({ config, heard: received }) {
    const index = ConfigIndex.of(config)
    return index.instances().map((instance) => ({ instance, index, heard: received }))
  },
  find({ config, heard: received }, name) {
    const index = ConfigIndex.of(config)
    const instance = index.findInstance(name)
    return instance && { instance, index, heard: received }
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
    if (running) await tellRuntimes(rows, running)
    if (consoles)
      await mapInSlices(rows, ROWS_AT_ONCE, (row) => {
        row.consoles = consoles.get(row.instance.primary_node)
      })
  },
}

/** Nodes where these instances should run. A query of all instances asks every node, and so also finds strays. */
function ownNodes(rows: readonly InstanceRow[], index: ConfigIndex): Node[] {
  const uuids = new Set(rows.flatMap(({ instance }) => [instance.primary_node, ...index.secondaries(instance)]))
  return [...uuids].flatMap((uuid) => index.config.nodes[uuid] ?? [])
}

type Answers = LiveResults<Record<string, InstanceRuntime>>

/** Most instances run where they should. Only the others are searched for in all nodes' answers. */
async function tellRuntimes(rows: readonly InstanceRow[], answers: Answers): Promise<void> {
  const missed: InstanceRow[] = []
  await mapInSlices(rows, ROWS_AT_ONCE, (row) => {
    row.runtime = onPrimary(row, answers)
    if (row.runtime.state === 'absent') missed.push(row)
  })
  if (missed.length === 0) return
  const strays = await seenElsewhere(new Set(missed.map(({ instance }) => instance.name)), answers)
  for (const row of missed) {
    const stray = strays.get(row.instance.name)
    if (stray !== undefined) row.runtime = { state: 'seen', info: stray, onPrimary: false }
  }
}

function onPrimary({ instance, index }: InstanceRow, answers: Answers): Runtime {
  if (primaryOffline(instance, index)) return { state: 'offline' }
  const answer = answers.get(instance.primary_node)
  if (answer?.ok !== true) return { state: answer?.early === true ? 'not heard' : 'no answer' }
  const info = Object.hasOwn(answer.payload, instance.name) ? answer.payload[instance.name] : undefined
  return info === undefined ? { state: 'absent' } : { state: 'seen', info, onPrimary: true }
}

/** By name: the first node that reported it. */
async function seenElsewhere(
  names: ReadonlySet<string>,
  answers: Answers,
): Promise<ReadonlyMap<string, InstanceRuntime>> {
  const observed = new Map<string, InstanceRuntime>()
  await mapInSlices([...answers.values()], NODES_READ_AT_ONCE, (answer) => {
    if (!answer.ok) return
    for (const [name, info] of Object.entries(answer.payload))
      if (names.has(name) && !observed.has(name)) observed.set(name, info)
  })
  return observed
}

const primaryOffline = (instance: Instance, index: ConfigIndex): boolean => index.primaryOf(instance)?.offline === true
