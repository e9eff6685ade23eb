// Made-up clusters: one node group for each specification POLICY,NODES,DISK,MEMORY,CPUS[,SPINDLES[,EXCLUSIVE]].
import {
  type AllocPolicy,
  BadClusterData,
  type ClusterData,
  DEFAULT_POLICY,
  type NodeData,
} from '../model/cluster-data'
import { parseSize, readNumber } from '../model/numbers'

export function simulatedCluster(specs: readonly string[]): ClusterData {
  const groups = specs.map(parseSpec)
  return {
    groups: groups.map(({ policy }, at) => ({
      name: `group-${padded(at + 1, 2)}`,
      uuid: `fake-uuid-${padded(at + 1, 2)}`,
      allocPolicy: policy,
      tags: [],
      networks: [],
      policy: DEFAULT_POLICY,
    })),
    nodes: groups.flatMap((spec, group) =>
      Array.from({ length: Math.max(0, spec.nodes) }, (_, at) => nodeOf(spec, group, at)),
    ),
    instances: [],
    tags: [],
    policy: DEFAULT_POLICY,
  }
}

interface Spec {
  readonly policy: AllocPolicy
  readonly nodes: number
  readonly disk: number
  readonly memory: number
  readonly cpus: number
  readonly spindles: number
  readonly exclusive: boolean
}

const nodeOf = ({ disk, memory, cpus, spindles, exclusive }: Spec, group: number, at: number): NodeData => ({
  name: `node-${padded(group + 1, 2)}-${padded(at + 1, 3)}`,
  totalMemory: memory,
  nodeMemory: 0,
  freeMemory: memory,
  totalDisk: disk,
  freeDisk: disk,
  totalCpus: cpus,
  nodeCpus: 1,
  offline: false,
  master: group === 0 && at === 0,
  group,
  spindles,
  freeSpindles: 0,
  tags: [],
  exclusiveStorage: exclusive,
  cpuSpeed: 1,
})

function parseSpec(text: string): Spec {
  const fields = text === '' ? [] : text.split(',')
  const [policy = '', nodes = '', disk = '', memory = '', cpus = '', spindles = '1', exclusive = 'False'] = fields
  if (fields.length < 5 || fields.length > 7) {
    throw new BadClusterData(
      'Invalid cluster specification, expected 6 comma-separated sections (allocation policy, node count, disk size, ' +
        `memory size, number of CPUs, spindles) but got ${fields.length}: '${text}'`,
    )
  }
  if (exclusive !== 'True' && exclusive !== 'False') {
    throw new BadClusterData(`exclusive storage: cannot parse string '${exclusive}'`)
  }
  return {
    policy: policyOf(policy),
    nodes: count('node count', nodes),
    disk: sizeOf('disk size', disk),
    memory: sizeOf('memory size', memory),
    cpus: count('cpu count', cpus),
    spindles: count('spindles', spindles),
    exclusive: exclusive === 'True',
  }
}

const POLICIES: Readonly<Record<string, AllocPolicy>> = {
  p: 'preferred',
  a: 'last_resort',
  u: 'unallocable',
  preferred: 'preferred',
  last_resort: 'last_resort',
  unallocable: 'unallocable',
}

function policyOf(text: string): AllocPolicy {
  const found = Object.hasOwn(POLICIES, text) ? POLICIES[text] : undefined
  if (found !== undefined) return found
  throw new BadClusterData(
    `Invalid string value for type AllocPolicy: ${JSON.stringify(text)}; Cannot parse AllocPolicy abbreviation '${text}'`,
  )
}

function count(what: string, text: string): number {
  const value = readNumber(text, 'whole')
  if (typeof value === 'number') return value
  throw new BadClusterData(`${what}: ${value.error}`)
}

function sizeOf(what: string, text: string): number {
  const size = parseSize(text)
  if (typeof size === 'number') return size
  throw new BadClusterData(`${what}: ${size.error}`)
}

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0')
