// The node's resources as each hypervisor sees them, which may differ from the system's view.
import { errorText } from '../../lib/system-failure'
import { isGuestElsewhere } from '../../model/guest-state'
import { type Collector, type NodeSources, ssconf } from '../report'
import { about, anything, dict, int, list, maybe, record, text } from '../shapes'

export const hypervisors: Collector = {
  ...{ name: 'hypervisors', category: 'hypervisor', kind: 'performance' },
  help: 'the resources as each hypervisor sees them',
  ...{ interval_s: 10, cost_ms: 50 },
  shape: record({
    hypervisors: list(
      record({
        ...{ name: text, error: about('why it tells nothing', maybe(text)) },
        resources: maybe(
          record({
            ...{ memory_total_mib: int, memory_free_mib: int, memory_node_mib: about('what the node itself has', int) },
            ...{ cpus: int, cpu_sockets: int, cpu_nodes: int, cpus_node: about('that the node itself may use', int) },
          }),
        ),
        instances: about('that run', maybe(int)),
        ...{ instances_memory_mib: maybe(int), instances_vcpus: maybe(int) },
        details: about('what only this hypervisor has to tell', dict(anything)),
      }),
    ),
    interfaces: about(
      'bridges, and the interfaces of instances that are on them',
      list(record({ name: text, members: list(text) })),
    ),
  }),
  open: (sources) => ({ collect: () => collect(sources) }),
}

async function collect(sources: NodeSources): Promise<unknown> {
  const names = await ssconf(sources, 'hypervisor_list')
  return {
    hypervisors: await Promise.all(names.map((name) => look(sources, name))),
    interfaces: await bridges(sources),
  }
}

const NOTHING = { resources: null, instances: null, instances_memory_mib: null, instances_vcpus: null, details: {} }

async function look(sources: NodeSources, name: string): Promise<object> {
  try {
    if (name.startsWith('xen-')) return { ...NOTHING, name, error: null, ...(await xenResources(sources)) }
    const backEnd = sources.backEnd(name)
    const [node, all] = await Promise.all([backEnd.nodeInfo(), backEnd.allInfo()])
    const present = [...all.values()].filter(({ state }) => state === 0)
    const sum = (field: 'memory' | 'vcpus') => present.reduce((total, one) => total + one[field], 0)
    const { memory_total, memory_free, memory_dom0, cpu_total, cpu_sockets, cpu_nodes, cpu_dom0, ...details } = node
    const resources = {
      ...{ memory_total_mib: memory_total, memory_free_mib: memory_free, memory_node_mib: memory_dom0 },
      ...{ cpus: cpu_total, cpu_sockets, cpu_nodes, cpus_node: cpu_dom0 },
    }
    const used = {
      instances: present.filter((one) => !isGuestElsewhere(one)).length,
      instances_memory_mib: sum('memory'),
      instances_vcpus: sum('vcpus'),
    }
    return { name, error: null, resources, ...used, details }
  } catch (error) {
    return { ...NOTHING, name, error: errorText(error) }
  }
}

/** `name : value` lines. */
async function xenResources(sources: NodeSources): Promise<object> {
  const lines = (await sources.run(['xl', 'info'])).split('\n').map((line) => /^(\w+)\s*:\s*(.*)$/.exec(line))
  const facts = new Map(lines.flatMap((match) => (match === null ? [] : [[match[1], match[2] ?? '']])))
  const number = (key: string) => Number(facts.get(key) ?? 0)
  const cpus = number('nr_cpus')
  const resources = {
    ...{ memory_total_mib: number('total_memory'), memory_free_mib: number('free_memory'), memory_node_mib: 0 },
    ...{ cpus, cpu_sockets: cpus / Math.max(1, number('cores_per_socket') * number('threads_per_core')) },
    ...{ cpu_nodes: number('nr_nodes'), cpus_node: cpus },
  }
  return { resources, details: { version: facts.get('xen_version') ?? null } }
}

async function bridges(sources: NodeSources): Promise<object[]> {
  const names = await sources.list('/sys/class/net')
  const members = await Promise.all(names.map((name) => sources.list(`/sys/class/net/${name}/brif`)))
  const isBridge = await Promise.all(names.map((name) => sources.list(`/sys/class/net/${name}/bridge`)))
  return names.flatMap((name, at) =>
    isBridge[at]?.length === 0 ? [] : [{ name, members: [...(members[at] ?? [])].sort() }],
  )
}
