// harep's work within a round: the instances' tags, the repairs that they allow, and the tags that record the repairs.
import type { ClusterData, InstanceData, NodeData } from '../allocation/model/cluster-data'
import type { Step } from '../allocation/model/requests'
import { REPAIR_TAG_S } from '../model/limits/maintenance'
import {
  BadRepairTags,
  advance,
  afterJobs,
  allowed,
  proposeRepair,
  refuse,
  type Repair,
  repairOf,
  repairPolicy,
} from './auto-repair'
import type { PlannedJob } from './planned-job'

interface Surroundings {
  readonly now_s: number
  /** Statuses of jobs. */
  readonly jobs: ReadonlyMap<number, string>
  /** Whether the node has no event. */
  isFree(node: string): boolean
}

/** In the order of the instances. The caller skips repairs that conflict with another job. */
export function* repairJobs(data: ClusterData, surroundings: Surroundings): Generator<PlannedJob> {
  for (const instance of data.instances) {
    const nodes = nodesOf(data, instance)
    if (!nodes.every(({ name }) => surroundings.isFree(name))) continue
    const job = treat(data, instance, nodes, surroundings)
    if (job !== undefined) yield job
  }
}

/** The jobs in the instances' tags: their statuses decide the outcome of the repairs. */
export function jobsInTags(data: ClusterData): number[] {
  return data.instances.flatMap(({ name, tags }) => {
    const repair = repairIn(name, tags)
    return repair?.state === 'Pending repair' ? [...(repair.task?.jobs ?? [])] : []
  })
}

function treat(
  data: ClusterData,
  instance: InstanceData,
  nodes: readonly NodeData[],
  { now_s, jobs }: Surroundings,
): PlannedJob | undefined {
  const { name, template, tags } = instance
  const repair = repairIn(name, tags)
  // A person must resolve contradicting tags.
  if (repair === undefined) return undefined
  const touches = { nodes: nodes.map((node) => node.name), instances: [name] }
  if (repair.state === 'Pending repair') {
    // An archived job has no status; harep refuses to go on then.
    const statuses = (repair.task?.jobs ?? []).map((id) => jobs.get(id) ?? 'running')
    const after = afterJobs(repair, statuses, now_s)
    return after === repair ? undefined : tagJob(name, after, touches)
  }
  const [first, second] = nodes
  const proposed = proposeRepair({
    ...{ name, template, primaryOffline: isGone(first), secondaryOffline: second !== undefined && isGone(second) },
  })
  if (proposed === undefined || repair.state !== 'Healthy') return undefined
  const group = data.groups[first?.group ?? -1]
  const policy = repairPolicy([tags, group?.tags ?? [], data.tags], now_s)
  if (policy.kind !== 'enabled') return undefined
  // The daemon replaces it by an id.
  const task = { type: proposed.type, uuid: TASK_ID, time_s: Math.floor(now_s), jobs: [] }
  if (!allowed(proposed.type, policy.type)) {
    // Refused once is enough: rounds come more often than runs of harep.
    const reported = repair.task?.result === 'enoperm' && repair.task.type === proposed.type
    return reported ? undefined : tagJob(name, refuse(repair, task), touches)
  }
  return {
    ...{ kind: 'repair', event: null, text: `repairing ${name}: ${proposed.type}`, ...touches },
    ops: [delay(), ...proposed.ops],
    // The tag ends with the job's number.
    tagLater: `${advance(repair, task).tag ?? ''}{}`,
  }
}

/** Placeholder for the id of a new repair. */
export const TASK_ID = '{id}'

const isGone = (node: NodeData | undefined): boolean =>
  node?.unusable === 'offline' || node?.unusable === 'drained' || node?.unusable === 'not vm_capable'

const nodesOf = ({ nodes }: ClusterData, { primary, secondary }: InstanceData): NodeData[] =>
  [primary, secondary].flatMap((at) => nodes[at] ?? [])

function repairIn(name: string, tags: readonly string[]): Repair | undefined {
  try {
    return repairOf(name, tags)
  } catch (error) {
    if (error instanceof BadRepairTags) return undefined
    throw error
  }
}

function tagJob(name: string, { tag, obsolete }: Repair, touches: Pick<PlannedJob, 'nodes' | 'instances'>): PlannedJob {
  const ops: Step[] = [
    ...(tag === undefined ? [] : [{ OP_ID: 'OP_TAGS_SET', kind: 'instance', tags: [tag], name }]),
    ...(obsolete.length === 0 ? [] : [{ OP_ID: 'OP_TAGS_DEL', kind: 'instance', tags: obsolete, name }]),
  ]
  return { kind: 'repair-tag', event: null, text: `the repair of ${name}: ${tag ?? ''}`, ...touches, ops }
}

const delay = (): Step => ({
  ...{ OP_ID: 'OP_TEST_DELAY', duration: REPAIR_TAG_S, on_master: true, on_nodes: [], repeat: 0 },
  ...{ interruptible: false, no_locks: false },
})
