// Requests to an allocator about clusters that are given as text.
import { NO_NODE, type Policy, type Spec } from '../../src/allocation/model/cluster-data'
import { parseClusterText } from '../../src/allocation/sources/text-format'
import { seededRandom } from '../../src/lib/random'

const spec = (one: Spec) => ({
  'memory-size': one.memory,
  'cpu-count': one.cpus,
  'disk-size': one.disk,
  'disk-count': one.disks,
  'nic-count': one.nics,
  'spindle-use': one.spindles,
})

const policy = (one: Policy) => ({
  minmax: one.minMax.map(({ min, max }) => ({ min: spec(min), max: spec(max) })),
  std: spec(one.standard),
  'disk-templates': one.templates,
  'vcpu-ratio': one.vcpuRatio,
  'spindle-ratio': one.spindleRatio,
})

/** The cluster data of an allocator, with this question. */
export function requestAbout(text: string, request: object): string {
  const data = parseClusterText(text)
  const named = <T>(list: readonly T[], name: (one: T) => string, value: (one: T) => object) =>
    Object.fromEntries(list.map((one) => [name(one), value(one)]))
  const nameOf = (node: number) => data.nodes[node]?.name ?? ''
  return JSON.stringify({
    version: 2,
    cluster_name: 'cluster',
    cluster_tags: data.tags,
    ipolicy: policy(data.policy),
    enabled_hypervisors: ['kvm'],
    nodegroups: named(
      data.groups,
      ({ uuid }) => uuid,
      (one) => ({
        name: one.name,
        alloc_policy: one.allocPolicy,
        tags: one.tags,
        networks: [],
        ipolicy: policy(one.policy),
      }),
    ),
    nodes: named(
      data.nodes,
      ({ name }) => name,
      (one) => ({
        total_memory: one.totalMemory,
        reserved_memory: one.nodeMemory,
        free_memory: one.freeMemory,
        total_disk: one.totalDisk,
        free_disk: one.freeDisk,
        total_cpus: one.totalCpus,
        reserved_cpus: one.nodeCpus,
        total_spindles: 0,
        free_spindles: 0,
        group: data.groups[one.group]?.uuid,
        offline: one.offline,
        drained: false,
        vm_capable: true,
        tags: one.tags,
        ndparams: { spindle_count: one.spindles, exclusive_storage: one.exclusiveStorage },
      }),
    ),
    instances: named(
      data.instances,
      ({ name }) => name,
      (one) => ({
        memory: one.memory,
        vcpus: one.vcpus,
        disk_space_total: one.disk,
        disks: [{ size: one.disk, mode: 'rw' }],
        disk_template: one.template,
        spindle_use: one.spindleUse,
        nodes: [one.primary, one.secondary].filter((node) => node !== NO_NODE).map(nameOf),
        tags: one.tags,
        nics: [],
        admin_state: one.status === 'running' ? 'up' : 'down',
      }),
    ),
    request,
  })
}

/** A request that follows from the seed: a new instance, several, or an evacuation. */
export function questionOf(seed: number, text: string): object {
  const chance = seededRandom(seed)
  const { nodes, instances } = parseClusterText(text)
  const template = ['drbd', 'plain', 'rbd'][chance.below(3)] ?? 'drbd'
  const instance = (name: string) => ({
    name,
    memory: 512 << chance.below(6),
    vcpus: 1 + chance.below(8),
    disk_space_total: 10240,
    disks: [{ size: 10240, mode: 'rw' }],
    disk_template: template,
    spindle_use: 1,
    tags: [],
    nics: [],
    os: 'noop',
    hypervisor: 'kvm',
    required_nodes: template === 'drbd' ? 2 : 1,
  })
  const node = nodes[chance.below(nodes.length)]
  const on = instances.flatMap(({ name, primary, secondary }) =>
    nodes[primary] === node || nodes[secondary] === node ? [name] : [],
  )
  const evac_mode = ['primary-only', 'secondary-only', 'all'][chance.below(3)]
  const questions = [
    { type: 'allocate', ...instance('new1.example.com') },
    { type: 'multi-allocate', instances: [1, 2, 3].map((at) => instance(`new${at}.example.com`)) },
    { type: 'node-evacuate', instances: on, evac_mode },
    { type: 'allocate', ...instance('new2.example.com') },
  ]
  return questions[seed % questions.length] ?? {}
}
