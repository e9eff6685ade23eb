// The watcher: a run that looks after this node and, on the master, after the cluster. It restarts instances that
// should run. It is started every few minutes, when a node has come back, and by people and scripts. Its work, files
// and exit codes are Ganeti's. group-run.ts does the work for a node group.
import { seconds } from '../../lib/clock'
import { pausedUntil } from '../../lib/file/pause-file'
import { errorText } from '../../lib/system-failure'
import { EXIT } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { JobQueueDrainError, JobQueueFull } from '../../model/errors'
import { WATCHER_ARCHIVE_S, WATCHER_SPARE_S } from '../../model/limits/watcher'
import type { Identity } from '../../rpc/luxi/gantry'
import type { Master } from '../../rpc/luxi/master'
import type { WatcherReport } from '../../rpc/luxi/watcher-report'
import { type Group, GroupBusy, type GroupOptions, type GroupSurroundings, watchGroup } from './group-run'

export interface WatcherOptions extends GroupOptions {
  /** Handles only this node group, by its uuid. */
  readonly group: string | undefined
  readonly jobAge_s: number
  readonly ignorePause: boolean
  /** Leaves node groups alone that the maintenance daemon has just looked after. */
  readonly spare: boolean
  /** False: separate processes handle the node groups and go on alone. */
  readonly waitForGroups: boolean
}

export interface WatcherSurroundings extends Omit<GroupSurroundings, 'master' | 'by' | 'claims'> {
  readonly hostname: string
  /** Only asked on the master. */
  readonly master: Master
  /** Every node's work for itself. Never rejects. */
  lookAfterNode(): Promise<void>
  /** Restarts daemons of the master that do not answer. Never rejects. */
  lookAfterDaemons(): Promise<void>
  /** Starts a separate watcher process for a node group. */
  startGroup(uuid: string): void
}

/** Resolves to the exit code. */
export async function runWatcher(options: WatcherOptions, surroundings: WatcherSurroundings): Promise<number> {
  const { log } = surroundings
  const work = async (): Promise<number> => {
    try {
      return await (options.group === undefined
        ? watchAll(options, surroundings)
        : watchOne(options.group, options, surroundings))
    } catch (error) {
      log.error({ err: error }, 'the watcher could not go on')
      return error instanceof JobQueueFull || error instanceof JobQueueDrainError ? EXIT.success : EXIT.failure
    }
  }
  return (await unlessKeptOut(surroundings, work, options.ignorePause)) ?? EXIT.success
}

/** Undefined if the watcher is paused, or somebody holds the lock that keeps it out. */
export async function unlessKeptOut<T>(
  { disk, paths, clock, log, lockFile }: Pick<GroupSurroundings, 'disk' | 'paths' | 'clock' | 'log' | 'lockFile'>,
  work: () => Promise<T>,
  ignorePause = false,
): Promise<T | undefined> {
  if (!ignorePause && (await pausedUntil(disk, paths.watcherPause, seconds(clock))) !== null)
    return void log.info('the watcher is paused; "gnt cluster watcher continue" ends that')
  const file = paths.local(PATH.WATCHER_LOCK_FILE)
  const lock = await lockFile(file, 'shared')
  if (lock === undefined) return void log.error({ file }, 'somebody keeps watchers from running: the lock is held')
  try {
    return await work()
  } finally {
    lock.release()
  }
}

async function watchAll(options: WatcherOptions, surroundings: WatcherSurroundings): Promise<number> {
  const { master, log } = surroundings
  await surroundings.lookAfterNode()
  const [believed = ''] = await ssconf(surroundings, 'master_node')
  if (believed !== surroundings.hostname) return EXIT.success
  await surroundings.lookAfterDaemons()
  if (!(await isMaster(surroundings))) return EXIT.notMaster
  const [archived, left] = await master.autoArchiveJobs(options.jobAge_s, WATCHER_ARCHIVE_S)
  log.debug({ archived, left }, 'archived old jobs')
  const known = await knownGroups(surroundings)
  const done = options.spare ? await lookedAfter(surroundings) : new Set<string>()
  const groups = known.filter(({ uuid }) => !done.has(uuid))
  if (groups.length < known.length)
    log.debug({ done: [...done] }, 'the maintenance daemon looks after these node groups')
  if (options.waitForGroups) await Promise.all(groups.map((group) => watch(group, options, surroundings)))
  else for (const { uuid } of groups) surroundings.startGroup(uuid)
  return EXIT.success
}

/** The node groups that the maintenance daemon has just looked after. */
async function lookedAfter({ master, clock }: WatcherSurroundings): Promise<ReadonlySet<string>> {
  const groups = (await master.gantry?.watcher(OURSELVES))?.groups ?? []
  const since_s = seconds(clock) - WATCHER_SPARE_S
  const done = groups.filter(({ by, error, started }) => by === 'maintd' && error === null && started > since_s)
  return new Set(done.map(({ group }) => group))
}

const OURSELVES: Identity = { user: 'watcher', token: null, permissions: ['cluster.info'] }

async function watchOne(desired: string, options: WatcherOptions, surroundings: WatcherSurroundings): Promise<number> {
  const uuid = desired.toLowerCase()
  const { log } = surroundings
  if (!UUID.test(uuid)) {
    log.error(`--node-group needs the uuid of a node group, not '${desired}'; "gnt group list -o name,uuid" shows them`)
    return EXIT.failure
  }
  const group = (await knownGroups(surroundings)).find((one) => one.uuid === uuid)
  if (group === undefined) {
    log.error(`there is no node group '${uuid}'; "gnt group list -o name,uuid" shows them`)
    return EXIT.failure
  }
  if (!(await isMaster(surroundings))) return EXIT.notMaster
  return (await watch(group, options, surroundings)) ? EXIT.success : EXIT.failure
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function isMaster({ master, hostname, log }: WatcherSurroundings): Promise<boolean> {
  const [name] = await master.queryConfigValues(['master_node'])
  if (name === hostname) return true
  log.error({ master: name }, 'this node is not the master')
  return false
}

/** From the file that every node has: `uuid name` on each line. */
async function knownGroups(surroundings: WatcherSurroundings): Promise<Group[]> {
  const lines = (await ssconf(surroundings, 'nodegroups')).map((line) => /^(\S+) ?(.*)$/.exec(line) ?? [])
  const groups = lines.map(([, uuid = '', name = '']) => ({ uuid, name }))
  return groups.map((group) => ({ ...group, known: groups.map(({ uuid }) => uuid) }))
}

async function ssconf({ disk, paths }: WatcherSurroundings, key: string): Promise<string[]> {
  const text = (await disk.read(paths.ssconf(key)))?.toString('utf8') ?? ''
  return text.split('\n').filter((line) => line !== '')
}

/** Returns whether it finished. */
async function watch(group: Group, options: WatcherOptions, surroundings: WatcherSurroundings): Promise<boolean> {
  const { log, master } = surroundings
  try {
    const report = await watchGroup(group, options, { ...surroundings, by: 'watcher' })
    log.info({ report }, 'looked after a node group')
    await tell(master, report).catch((error: unknown) =>
      log.warn({ err: error }, 'the master does not take the report'),
    )
    return report.error === null
  } catch (error) {
    if (!(error instanceof GroupBusy)) throw error
    log.error(errorText(error))
    return false
  }
}

/** Ganeti's master takes no reports. */
async function tell(master: Master, report: WatcherReport): Promise<void> {
  await master.gantry?.watched(report)
}
