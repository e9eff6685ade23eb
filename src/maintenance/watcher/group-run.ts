// One run of the watcher for a node group: looks, decides, runs jobs, and remembers.
import { type Clock, seconds } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { HeldLock, LockFile } from '../../lib/file/lock'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import { errorText } from '../../lib/system-failure'
import { PRIORITY } from '../../model/constants/jobs'
import { PATH } from '../../model/constants/paths'
import { WATCHER_RAN_S, WATCHER_TURN_S } from '../../model/limits/watcher'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Master } from '../../rpc/luxi/master'
import type { WatcherReport } from '../../rpc/luxi/watcher-report'
import type { Claims } from '../claims'
import {
  afterTries,
  decideDisks,
  decideInstances,
  decideVerified,
  type GroupState,
  type InstanceDecisions,
  type Left,
  verifiesDisks,
} from './decisions'
import { askGroup } from './group-state'
import { saveStatus } from './instance-status'
import { type EndedJob, runJobs, type WantedJob, watcherReason } from './jobs'
import { type Memory, memoryText, parseMemory } from './memory'

export interface GroupSurroundings {
  readonly master: Pick<Master, 'query' | 'submitManyJobs' | 'waitForJobChange' | 'archiveJob'>
  readonly disk: Disk
  readonly paths: Paths
  readonly clock: Clock
  readonly log: Log
  readonly lockFile: LockFile
  /** Who looks, for the report. */
  readonly by: 'watcher' | 'maintd'
  /** Instances that other work of the same process leaves to this run. */
  readonly claims?: Pick<Claims, 'take' | 'release'>
}

export interface GroupOptions {
  readonly verifyDisks: boolean
  /** Whether nodes that cannot report their disks are named. */
  readonly strict: boolean
  /** Why it runs now, for people. */
  readonly why: string
  /** Looks after these instances alone. */
  readonly only?: readonly string[]
  /** It may run soon after the last one. A person who calls the watcher gets Ganeti's rule: what runs has been started. */
  readonly often?: boolean
}

/** Another run is handling this group. */
export class GroupBusy extends Error {}

export interface Group {
  readonly uuid: string
  readonly name: string
  /** The uuids of all groups, whose files are combined. */
  readonly known: readonly string[]
}

/** Resolves to its report, even if not everything worked. Rejects with GroupBusy. */
export async function watchGroup(
  group: Group,
  options: GroupOptions,
  surroundings: GroupSurroundings,
): Promise<WatcherReport> {
  const run = new GroupRun(group, surroundings, options)
  const { clock, log, by } = surroundings
  const started = seconds(clock)
  let error: string | null = null
  try {
    const state = await run.instances()
    if (options.verifyDisks && verifiesDisks(state)) await run.verifiedDisks(state, options.strict)
  } catch (failure) {
    if (failure instanceof GroupBusy) throw failure
    error = errorText(failure)
    log.error(
      { group: group.name, err: failure },
      'a run for a node group failed; what was to be remembered is as it was',
    )
  } finally {
    run.release()
  }
  const { done } = run
  return { group: group.uuid, name: group.name, by, why: options.why, started, ended: seconds(clock), ...done, error }
}

interface Done {
  readonly restarted: string[]
  readonly cleanedUp: string[]
  readonly activated: string[]
  readonly gaveUp: string[]
  readonly left: Left[]
  readonly failed: WatcherReport['failed'][number][]
}

class GroupRun {
  readonly done: Done = { restarted: [], cleanedUp: [], activated: [], gaveUp: [], left: [], failed: [] }

  private readonly claimed: string[] = []

  constructor(
    private readonly group: Group,
    private readonly surroundings: GroupSurroundings,
    private readonly options: GroupOptions,
  ) {}

  release(): void {
    this.surroundings.claims?.release(this.claimed.splice(0))
  }

  /**
   * Starts instances, cleans up after others, and activates disks. Meanwhile nobody else changes the group's memory.
   */
  async instances(): Promise<GroupState> {
    const { lockFile, paths, disk } = this.surroundings
    const file = paths.local(PATH.WATCHER_GROUP_STATE_FILE.replace('%s', this.group.uuid))
    // Ganeti's watcher and scripts lock the file itself. It is replaced when it is written, so we also lock a file that
    // stays.
    const turn = await this.turn()
    const lock = await lockFile(file, 'exclusive')
    try {
      if (lock === undefined) throw new GroupBusy(`somebody holds the lock of ${file}`)
      const save = (memory: Memory) => disk.write(file, memoryText(memory))
      return await this.lookAndAct(parseMemory((await disk.read(file))?.toString('utf8') ?? ''), save)
    } finally {
      lock?.release()
      turn.release()
    }
  }

  /**
   * The previous run may have looked before this one was called, so one run waits for its end. Further ones leave the
   * work to the waiting one.
   */
  private async turn(): Promise<HeldLock> {
    const { lockFile, paths } = this.surroundings
    const { uuid, name } = this.group
    const lock = (part: string, wait_s: number) =>
      lockFile(`${paths.runDir}/ganeti-watcher.${uuid}.${part}`, 'exclusive', wait_s)
    const next = await lock('next', 0)
    if (next === undefined)
      throw new GroupBusy(`another watcher waits for its turn at node group ${name}, and will look`)
    try {
      const turn = await lock('lock', WATCHER_TURN_S)
      if (turn === undefined)
        throw new GroupBusy(`another watcher has been at node group ${name} for ${WATCHER_TURN_S} s`)
      return turn
    } finally {
      next.release()
    }
  }

  private async lookAndAct(former: Memory, save: (memory: Memory) => Promise<void>): Promise<GroupState> {
    const { master, clock } = this.surroundings
    const { left, ...state } = await askGroup(master, this.group.uuid, this.options.only)
    if (this.options.only === undefined) await saveStatus(this.group, state, this.surroundings)
    const free = this.claimEnded(state)
    const decided = decideInstances(free, former, seconds(clock), {
      all: this.options.only === undefined && free === state,
      settle_s: this.options.often === true ? WATCHER_RAN_S : 0,
    })
    this.done.left.push(...left, ...decided.left)
    this.done.gaveUp.push(...decided.gaveUp)
    // Saved before the attempts, so that a killed run counts as tried.
    await save(decided.memory)
    const { started, memory } = await this.act(decided, former)
    const disks = decideDisks(state, memory, started)
    await save(disks.memory)
    await this.activate(this.claim(disks.activate).map((name) => ({ name, ops: [this.activateOp(name)] })))
    return state
  }

  /** The state without ended instances that other work concerns. */
  private claimEnded(state: GroupState): GroupState {
    const ended = [...state.instances.values()].flatMap(({ name, status }) =>
      status === 'ERROR_down' || status === 'USER_down' ? [name] : [],
    )
    const own = new Set(this.claim(ended))
    const others = new Set(ended.filter((name) => !own.has(name)))
    this.done.left.push(...[...others].map((name) => ({ name, why: 'a round of maintenance works on it' })))
    if (others.size === 0) return state
    return { ...state, instances: new Map([...state.instances].filter(([name]) => !others.has(name))) }
  }

  /** Those that this run may work on. */
  private claim(names: readonly string[]): readonly string[] {
    const { claims } = this.surroundings
    if (claims === undefined) return names
    const own = names.filter((name) => this.claimed.includes(name))
    const taken = claims.take(names.filter((name) => !own.includes(name)))
    this.claimed.push(...taken)
    return [...own, ...taken]
  }

  private async act({ restart, cleanUp, memory }: InstanceDecisions, former: Memory) {
    const { master, clock } = this.surroundings
    const ended = await runJobs(master, [
      ...restart.map(({ name }) => ({ name, ops: [opFor(name, 'OP_INSTANCE_STARTUP', 'Restarting', clock)] })),
      ...cleanUp.map((name) => ({ name, ops: [cleanUpOp(name, clock)] })),
    ])
    const started = this.worked(ended.slice(0, restart.length), this.done.restarted)
    const cleaned = this.worked(ended.slice(restart.length), this.done.cleanedUp)
    const refused = ended.flatMap(({ name, job }) => (job === undefined ? [name] : []))
    const outcomes = { cleanedUp: new Set(cleaned), refused: new Set(refused) }
    return { started: new Set(started), memory: afterTries(memory, former, outcomes) }
  }

  /** Has the group's disks verified, and helps all that can be helped in one job. */
  async verifiedDisks(state: GroupState, strict: boolean): Promise<void> {
    const { master, clock, log } = this.surroundings
    const { uuid } = this.group
    if (await this.verifies()) return void log.info({ group: uuid }, 'its disks are being verified already')
    const reason = watcherReason(`Verifying disks of group ${uuid}`, clock)
    const op = { OP_ID: 'OP_GROUP_VERIFY_DISKS', group_name: uuid, priority: PRIORITY.low, is_strict: strict, reason }
    const [verified] = await runJobs(master, [{ name: `group ${this.group.name}`, ops: [op] }])
    if (verified === undefined || this.worked([verified], []).length === 0) return
    if (verified.job !== undefined)
      await master.archiveJob(verified.job).catch((error: unknown) => log.warn({ err: error }, 'a job is not archived'))
    const [result] = verified.results
    const found: unknown = Array.isArray(result) ? result[1] : []
    const names = this.claim(decideVerified(state, Array.isArray(found) ? found.map(String) : []))
    if (names.length > 0)
      await this.activate([{ name: names.join(', '), ops: names.map((name) => this.activateOp(name)) }])
  }

  private async verifies(): Promise<boolean> {
    const unfinished = ['|', ...['queued', 'waiting', 'running'].map((status) => ['==', 'status', status])]
    const { data } = await this.surroundings.master.query('job', ['id', 'summary'], unfinished)
    const desired = `GROUP_VERIFY_DISKS(${this.group.uuid})`
    return data.some(
      ([, summary]) => Array.isArray(summary?.[1]) && summary[1].length === 1 && summary[1][0] === desired,
    )
  }

  private async activate(jobs: readonly WantedJob[]): Promise<void> {
    const worked = this.worked(await runJobs(this.surroundings.master, jobs), [])
    this.done.activated.push(...worked.flatMap((names) => names.split(', ')))
  }

  private activateOp = (name: string): WireOpCode =>
    opFor(name, 'OP_INSTANCE_ACTIVATE_DISKS', 'Activating disks for', this.surroundings.clock)

  /** Adds the names of successful jobs to a list; notes the others. */
  private worked(jobs: readonly EndedJob[], list: string[]): string[] {
    const names = jobs.flatMap(({ name, failure }) => (failure === undefined ? [name] : []))
    list.push(...names)
    for (const { name, job = null, failure } of jobs) {
      if (failure === undefined) continue
      this.surroundings.log.error({ name, job, failure }, 'a job of the watcher failed')
      this.done.failed.push({ name, job, why: failure })
    }
    return names
  }
}

const opFor = (name: string, OP_ID: string, verb: string, clock: Clock): WireOpCode => ({
  ...{ OP_ID, instance_name: name, reason: watcherReason(`${verb} instance ${name}`, clock) },
})

const cleanUpOp = (name: string, clock: Clock): WireOpCode => ({
  ...opFor(name, 'OP_INSTANCE_SHUTDOWN', 'Cleaning up', clock),
  admin_state_source: 'user',
})
