// Figures of the query engine on clusters of several sizes: `bulk` is what RAPI asks for GET /2/instances?bulk=1.
import { performance } from 'node:perf_hooks'
import { recordFrom } from '../../src/config/records'
import type { ConfigData } from '../../src/model/config'
import { runQuery } from '../../src/query/engine'
import type { LiveData } from '../../src/query/live-data'
import type { InstanceRuntime } from '../../src/rpc/node/dicts'
import { GoldenLive, goldenConfig } from '../support/golden-query'

const BULK = (
  'name admin_state os pnode snodes disk_template nic.ips nic.macs nic.modes nic.uuids nic.names nic.links nic.networks ' +
  'nic.networks.names nic.bridges network_port disk.sizes disk.spindles disk_usage disk.uuids disk.names beparams hvparams ' +
  'oper_state oper_ram oper_vcpus status custom_hvparams custom_beparams custom_nicparams ctime mtime uuid serial_no tags'
).split(' ')

const CASES: readonly (readonly [name: string, fields: readonly string[], filter: unknown])[] = [
  ['bulk', BULK, null],
  ['names', ['name'], null],
  ['one by name', BULK, ['==', 'name', 'inst77.gnt.example']],
  ['filter by tag and state', ['name'], ['&', ['=[]', 'tags', 'web'], ['==', 'status', 'running']]],
]

export async function benchQuery(print: (line: string) => void): Promise<void> {
  for (const size of [1_000, 10_000]) {
    const source = { config: enlarged(size), live: everythingRuns() }
    for (const [name, fields, filter] of CASES) {
      await runQuery('instance', fields, filter, source)
      const start = performance.now()
      const rounds = Math.max(3, 20_000 / size)
      for (let round = 0; round < rounds; round++) await runQuery('instance', fields, filter, source)
      print(`query ${name}, ${size} instances: ${((performance.now() - start) / rounds).toFixed(2)} ms`)
    }
  }
}

/** The recorded cluster with `size` instances, every one a copy of inst2 under its own name, on the four nodes in turn. */
function enlarged(size: number): ConfigData {
  const config = goldenConfig()
  const nodes = Object.values(config.nodes)
  const model = Object.values(config.instances).find(({ name }) => name === 'inst2.gnt.example')
  if (model === undefined) throw new Error('the recorded cluster has no inst2')
  const instances = Array.from({ length: size }, (_, at) => {
    const uuid = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
    const primary_node = nodes[at % nodes.length]?.uuid ?? model.primary_node
    return [uuid, { ...model, uuid, name: `inst${at}.gnt.example`, primary_node }] as const
  })
  return { ...config, instances: recordFrom(instances) as ConfigData['instances'] }
}

function everythingRuns(): LiveData {
  const live: LiveData = new GoldenLive()
  const info: InstanceRuntime = { memory: 128, vcpus: 2, state: 0, time: 0 }
  live.instanceInfo = async (config, nodes) => {
    const nothing = (): Record<string, InstanceRuntime> => ({})
    const byNode = new Map(nodes.map(({ uuid }) => [uuid, nothing()] as const))
    for (const { name, primary_node } of Object.values(config.instances)) {
      const found = byNode.get(primary_node)
      if (found) found[name] = info
    }
    return new Map([...byNode].map(([uuid, payload]) => [uuid, { ok: true, payload }]))
  }
  return live
}
