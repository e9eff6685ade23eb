// Reads and writes the tags that record an instance's automatic repair: its start, its jobs, and its end.
import { isMirroredInside, diskIdOf } from '../model/templates'

/** Ordered from the smallest change to the loss of the instance's data. A permission includes all types before it. */
const REPAIR_TYPES = ['fix-storage', 'migrate', 'failover', 'reinstall'] as const
export type RepairType = (typeof REPAIR_TYPES)[number]

/** If a task has several results, the later one in this list wins. */
const RESULTS = ['enoperm', 'success', 'failure'] as const
type RepairResult = (typeof RESULTS)[number]

/** The states have Ganeti's names. */
export type RepairState = 'Failure' | 'Healthy' | 'Needs repair' | 'Pending repair'

export interface RepairTask {
  readonly type: RepairType
  readonly uuid: string
  readonly time_s: number
  readonly jobs: readonly number[]
  /** None while the repair goes on. */
  readonly result?: RepairResult
}

/** The state of an instance's repair. */
export interface Repair {
  readonly state: RepairState
  readonly task?: RepairTask
  /** Its tag, found or to be set. */
  readonly tag?: string
  /** Older tags that `tag` replaces. */
  readonly obsolete: readonly string[]
}

export type RepairPolicy =
  | { readonly kind: 'enabled'; readonly type: RepairType }
  | { readonly kind: 'suspended'; readonly until_s: number }
  | { readonly kind: 'not enabled' }

/** The tags contradict each other; the text names them. */
export class BadRepairTags extends Error {}

const PREFIX = 'ganeti:watcher:autorepair:'
const PENDING = `${PREFIX}pending:`
const RESULT = `${PREFIX}result:`
const SUSPEND = `${PREFIX}suspend`

/** The nearest object with a policy decides. `scopes` are the tags of the instance, its group and the cluster. */
export function repairPolicy(scopes: readonly (readonly string[])[], now_s: number): RepairPolicy {
  for (const tags of scopes) {
    const until = tags.flatMap((tag) => (tag.startsWith(SUSPEND) ? suspendedUntil(tag.slice(SUSPEND.length)) : []))
    const until_s = Math.max(...until)
    if (until_s > now_s) return { kind: 'suspended', until_s }
    const type = REPAIR_TYPES.find((one) => tags.includes(PREFIX + one))
    if (type !== undefined) return { kind: 'enabled', type }
  }
  return { kind: 'not enabled' }
}

function suspendedUntil(text: string): number[] {
  if (text === '' || text === ':') return [Infinity]
  return /^:\d+$/.test(text) ? [Number(text.slice(1))] : []
}

/** The state in an instance's tags: the earliest failure, else the running task, else the task that ended last. */
export function repairOf(instance: string, tags: readonly string[]): Repair {
  const found = tags.flatMap((tag) => parseTag(tag) ?? [])
  const uuids = [...new Set(found.map(({ task }) => task.uuid))].sort()
  const groups = uuids.map((uuid) => found.filter(({ task }) => task.uuid === uuid))
  const began = (group: typeof found) => Math.min(...group.map(({ task }) => task.time_s))
  let repair: Repair = { state: 'Healthy', obsolete: [] }
  for (const group of groups.sort((a, b) => began(a) - began(b))) {
    const [last] = group.sort((a, b) => weight(b.task) - weight(a.task) || b.task.time_s - a.task.time_s)
    if (last === undefined || repair.state === 'Failure') continue
    if (repair.state === 'Pending repair') {
      throw new BadRepairTags(
        `An unfinished repair was found in instance ${instance}: found tag "${last.tag}", but older pending tag ` +
          `"${repair.tag}" exists.`,
      )
    }
    repair = advance(repair, last.task, last.tag)
  }
  return repair
}

const weight = ({ result }: RepairTask): number => (result === undefined ? -1 : RESULTS.indexOf(result))

function parseTag(tag: string): { task: RepairTask; tag: string } | undefined {
  const pending = tag.startsWith(PENDING)
  if (!pending && !tag.startsWith(RESULT)) return undefined
  const parts = tag.slice((pending ? PENDING : RESULT).length).split(':')
  const jobs = parts[pending ? 3 : 4]
  if (jobs === undefined || parts.length !== (pending ? 4 : 5) || !/^(\d+(\+\d+)*)?$/.test(jobs)) return undefined
  const [rawType, uuid = '', time = ''] = parts
  const type = REPAIR_TYPES.find((one) => one === rawType)
  const result = RESULTS.find((one) => one === parts[3])
  if (type === undefined || !/^\d+$/.test(time) || (!pending && result === undefined)) return undefined
  const task = { type, uuid, time_s: Number(time), jobs: jobs === '' ? [] : jobs.split('+').map(Number) }
  return { tag, task: pending ? task : { ...task, result } }
}

/** The repair after this task; its previous tag becomes obsolete. */
export function advance(repair: Repair, task: RepairTask, tag = tagOf(task)): Repair {
  return {
    state: task.result === undefined ? 'Pending repair' : task.result === 'failure' ? 'Failure' : 'Healthy',
    task,
    tag,
    obsolete: repair.tag === undefined ? repair.obsolete : [repair.tag, ...repair.obsolete],
  }
}

/** The instance is broken, but must not be repaired. */
export const refuse = (repair: Repair, task: RepairTask): Repair => ({
  ...advance(repair, { ...task, result: 'enoperm' }),
  state: 'Needs repair',
})

function tagOf({ type, uuid, time_s, jobs, result }: RepairTask): string {
  const task = [type, uuid, time_s, ...(result === undefined ? [] : [result]), jobs.join('+')]
  return (result === undefined ? PENDING : RESULT) + task.join(':')
}

/** The repair after its jobs; unchanged while one of them runs. */
export function afterJobs(repair: Repair, statuses: readonly string[], now_s: number): Repair {
  const { task } = repair
  if (task === undefined || statuses.some((status) => !ENDED.includes(status))) return repair
  const result = statuses.every((status) => status === 'success') ? 'success' : 'failure'
  return advance(repair, { ...task, time_s: Math.floor(now_s), result })
}

const ENDED: readonly string[] = ['canceled', 'success', 'error']

export interface Health {
  readonly name: string
  readonly template: string
  readonly primaryOffline: boolean
  readonly secondaryOffline: boolean
}

export interface ProposedRepair {
  readonly type: RepairType
  /** In the form of Ganeti's programs: with every parameter. */
  readonly ops: readonly ({ OP_ID: string } & Record<string, unknown>)[]
}

/** The operation that would repair the instance. None if nothing is broken, or if no repair is known. */
export function proposeRepair({
  name,
  template,
  primaryOffline,
  secondaryOffline,
}: Health): ProposedRepair | undefined {
  const mirrored = isMirroredInside(template)
  if (primaryOffline && (mirrored ? secondaryOffline : diskIdOf(template) === 'volume')) {
    return { type: 'reinstall', ops: [recreate(name), reinstall(name)] }
  }
  if (mirrored && primaryOffline) return { type: 'failover', ops: [failover(name)] }
  if (mirrored && secondaryOffline) return { type: 'fix-storage', ops: [replaceSecondary(name)] }
  return undefined
}

const ALLOCATOR = 'hail'

const recreate = (instance_name: string) => ({
  OP_ID: 'OP_INSTANCE_RECREATE_DISKS',
  instance_name,
  disks: [],
  nodes: [],
  iallocator: ALLOCATOR,
})

const reinstall = (instance_name: string) => ({
  OP_ID: 'OP_INSTANCE_REINSTALL',
  instance_name,
  force_variant: false,
})

const failover = (instance_name: string) => ({
  OP_ID: 'OP_INSTANCE_FAILOVER',
  instance_name,
  shutdown_timeout: 120,
  ignore_consistency: false,
  ignore_ipolicy: false,
  cleanup: false,
})

const replaceSecondary = (instance_name: string) => ({
  OP_ID: 'OP_INSTANCE_REPLACE_DISKS',
  instance_name,
  early_release: false,
  ignore_ipolicy: false,
  mode: 'replace_new_secondary',
  disks: [],
  iallocator: ALLOCATOR,
})

export const allowed = (type: RepairType, most: RepairType): boolean =>
  REPAIR_TYPES.indexOf(type) <= REPAIR_TYPES.indexOf(most)
