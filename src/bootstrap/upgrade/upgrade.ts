// Upgrades the whole cluster to another version that is installed on all nodes: jobs end, daemons stop, the nodes'
// links change, daemons start. Guests run on. A failure is undone with all earlier steps. An interrupted upgrade
// continues, since each step can be repeated. The master's link changes last, and so tells how far it came.
import { asConfigOwner } from '../../replication/config-owner'
import { eachBounded } from '../../lib/work/bounded'
import type { LockFile } from '../../lib/file/lock'
import type { Paths } from '../../lib/paths'
import { errorText } from '../../lib/system-failure'
import { PATH } from '../../model/constants/paths'
import { LOOK_EVERY_S } from '../../model/limits/adoption'
import {
  ANSWERS_S,
  BOOT_LOOK_S,
  BOOT_S,
  DAEMONS_S,
  LOOK_S,
  NAMED_JOBS_MAX,
  NODES_AT_ONCE,
  UPGRADE_VERIFY_S,
} from '../../model/limits/upgrade'
import type { Node } from '../../model/node'
import type { Intent } from '../../model/upgrade-note'
import { shortList } from '../adoption/features'
import { MASTER_ANSWERS, OPEN_JOBS } from '../adoption/scripts'
import { retryFor } from '../retry-for'
import { conversionFor, type Conversion } from './conversion'
import { keptConfig, readIntent, removeIntent, writeIntent } from './intent'
import { conversionOf, inspectNodes, namedNodes, refuseConversion } from './preflight'
import { masterOf, onAll, onMaster, onlineNodes, runAll, runOn, split, type UpgradeOptions } from './on-nodes'
import { UpgradeFailure } from './failure'
import * as scripts from './scripts'

/** `done, with problems`: the final check of the cluster found problems. */
export type Outcome = 'nothing to do' | 'done' | 'done, with problems'

/** Only one process at a time: one that started with the machine may be running when an administrator begins. */
export async function alone<T>(
  { lockFile, paths }: { readonly lockFile: LockFile; readonly paths: Pick<Paths, 'local'> },
  work: () => Promise<T>,
): Promise<T> {
  const lock = await lockFile(paths.local(PATH.UPGRADE_LOCK_FILE), 'exclusive')
  if (lock === undefined)
    throw new UpgradeFailure(
      'An upgrade is at work on this node already: wait for its end. "journalctl -u ganeti-upgrade" shows one that began with the machine',
    )
  return work().finally(() => lock.release())
}

/** Only the named nodes change, if there are names. */
export async function upgrade(options: UpgradeOptions, to: string, names: readonly string[] = []): Promise<Outcome> {
  const unfinished = await readIntent(options)
  if (unfinished !== undefined && unfinished.to !== to)
    throw new UpgradeFailure(
      `An upgrade from ${unfinished.from} to ${unfinished.to} is in progress; use --resume to finish it first`,
    )
  if (unfinished !== undefined) {
    const part = unfinished.nodes === undefined ? '' : ` of ${shortList(unfinished.nodes)}`
    options.say(`An upgrade${part} is already in progress. Target version matches, resuming.`)
    return resume(options)
  }
  const found = await inspectNodes(options, to, names.length > 0 ? namedNodes(options, names) : onlineNodes(options))
  const desired = [...found.keys()].filter((node) => found.get(node)?.runs !== to)
  const [first] = split(options, desired).master.concat(desired)
  if (first === undefined) return 'nothing to do'
  const drained = (await onMaster(options, scripts.QUEUE_STATE)).includes('flag is set')
  const conversion = conversionOf(options, found)
  const isPart = names.length > 0 || !desired.includes(masterOf(options))
  const intent = {
    ...{ from: found.get(first)?.runs ?? to, to, drained },
    ...(isPart && { nodes: desired.map(({ name }) => name) }),
  }
  if (isPart) refuseConversion(intent, conversion)
  await writeIntent(options, intent, options.pid)
  return goOver(options, { intent, wanted: desired, conversion })
}

/** Continues an interrupted upgrade. */
export async function resume(options: UpgradeOptions): Promise<Outcome> {
  const { config, say } = options
  const intent = await readIntent(options)
  if (intent === undefined) return 'nothing to do'
  say(`The upgrade from ${intent.from} to ${intent.to} goes on`)
  await machinesAreThere(options, intent)
  const nodes = nodesOf(options, intent)
  const { runs, release } = scripts.readLook(await onMaster(options, scripts.lookAt(intent.to)))
  if (intent.nodes === undefined && runs === intent.to && release !== undefined) {
    // All other nodes changed before. It does not wait for nodes that are away now.
    const failed = await runAll(options, nodes, scripts.lookAt(intent.to), LOOK_S)
    for (const [{ name }, why] of failed) say(`${name} is left as it is: ${why}`)
    const desired = nodes.filter((node) => !failed.has(node))
    return goOver(options, { intent, wanted: desired, conversion: conversionFor(config.version, release) }, true)
  }
  // Some daemons may be stopped, others started with the machine.
  const failed = await runAll(options, nodes, scripts.START, DAEMONS_S)
  for (const [{ name }, why] of failed) say(`${name}: its daemons did not start: ${why}`)
  const found = await inspectNodes(options, intent.to, nodes).catch(async (error: unknown) => {
    // A later failure must not hide the reason; then the note stays.
    await finish(options, intent).catch((second: unknown) => say(errorText(second)))
    throw error
  })
  // If it can go neither forward nor back, the note stays for the next resume.
  return goOver(options, { intent, wanted: nodes, conversion: conversionOf(options, found) })
}

/** The online nodes that are to change. */
const nodesOf = (options: UpgradeOptions, { nodes }: Intent): Node[] =>
  onlineNodes(options).filter(({ name }) => nodes === undefined || nodes.includes(name))

/** The machines may have started at the same time as this one. Missing ones are handled later. */
async function machinesAreThere(options: UpgradeOptions, intent: Intent): Promise<void> {
  const { clock, say } = options
  for (const end_ms = clock.monotonic_ms() + BOOT_S * 1000; clock.monotonic_ms() < end_ms;) {
    const silent = await runAll(options, nodesOf(options, intent), scripts.lookAt(intent.to), LOOK_S)
    if (silent.size === 0) return
    say(`Waiting for ${shortList([...silent.keys()].map(({ name }) => name).sort())}`)
    await clock.sleep(BOOT_LOOK_S * 1000)
  }
}

/** Whether another node has become the master meanwhile, so that the upgrade is no longer this node's business. */
export async function isElsewhere(options: Pick<UpgradeOptions, 'disk' | 'paths'>): Promise<boolean> {
  const { disk, paths } = options
  const master = (await disk.read(paths.ssconf('master_node')))?.toString('utf8').trim()
  if (!master || master === paths.hostname) return false
  await removeIntent(options)
  return true
}

interface Plan {
  readonly intent: Intent
  /** The nodes to change. */
  readonly wanted: readonly Node[]
  readonly conversion: Conversion
}

async function goOver(options: UpgradeOptions, plan: Plan, isSwitched = false): Promise<Outcome> {
  const { say } = options
  const { intent, wanted: desired } = plan
  let stopped = isSwitched
  try {
    if (!isSwitched) {
      await drain(options)
      stopped = true
      await stop(options, desired)
      // A node that was offline may be back, and others may be gone.
      await inspectNodes(options, intent.to, nodesOf(options, intent))
      await convertAndSwitch(options, plan)
    } else {
      await stop(options, desired)
      await switchAll(options, desired, scripts.switchTo(intent.to), `switch to ${intent.to}`)
      await convert(options, plan.conversion, 'up')
    }
    await start(options, desired)
    say('The configuration is distributed')
    await onMaster(options, scripts.DISTRIBUTE, ANSWERS_S)
  } catch (error) {
    say(errorText(error))
    say('All is taken back ...')
    const but = await takeBackOrSay(options, plan, stopped)
    throw new UpgradeFailure(
      `${subject(intent)} could not go over to version ${intent.to}, as said above. It runs version ${intent.from} as before${but}`,
    )
  }
  await finish(options, intent)
  say('The cluster is checked')
  const { code, output } = await runOn(options, masterOf(options), scripts.VERIFY, UPGRADE_VERIFY_S)
  for (const line of output.split('\n').filter((one) => /ERROR|WARNING/.test(one))) say(line)
  return code === 0 ? 'done' : 'done, with problems'
}

const subject = ({ nodes }: Intent): string =>
  nodes === undefined ? 'The cluster' : `The part of the cluster that was to change (${shortList(nodes)})`

async function drain(options: UpgradeOptions): Promise<void> {
  const { clock, patience_s, say } = options
  say('No more jobs are accepted, and the watcher rests')
  await onMaster(options, scripts.DRAIN)
  await onMaster(options, scripts.REST_WATCHER)
  const end_ms = clock.monotonic_ms() + patience_s * 1000
  for (let said = false; ; said = true) {
    const open = (await onMaster(options, OPEN_JOBS)).split('\n').filter((line) => line !== '')
    if (open.length === 0) return
    if (!said) say(`Waiting for jobs: ${some(open)}`)
    if (clock.monotonic_ms() > end_ms)
      throw new Error(
        `Jobs did not end within ${patience_s} s: ${some(open)}. Wait for them, or cancel them with gnt-job cancel, ` +
          'or give more time with --timeout',
      )
    await clock.sleep(LOOK_EVERY_S * 1000)
  }
}

const some = (jobs: readonly string[]): string =>
  jobs.length > NAMED_JOBS_MAX ? `${jobs.slice(0, NAMED_JOBS_MAX).join(', ')}, ...` : jobs.join(', ')

/** The master first, since it would notice that the others stop. */
async function stop(options: UpgradeOptions, desired: readonly Node[]): Promise<void> {
  options.say('Daemons are stopped; guests run on')
  const { master, others } = split(options, desired)
  await onAll(options, master, scripts.STOP, 'stop the daemons', DAEMONS_S)
  await onAll(options, others, scripts.STOP, 'stop the daemons', DAEMONS_S)
}

/** The master last, since its daemons ask the others for votes. */
async function start(options: UpgradeOptions, desired: readonly Node[]): Promise<void> {
  const { clock, nodes, say } = options
  say('Daemons are started')
  const { master, others } = split(options, desired)
  await onAll(options, others, scripts.START, 'start the daemons', DAEMONS_S)
  await onAll(options, master, scripts.START, 'start the daemons', DAEMONS_S)
  await eachBounded(desired, NODES_AT_ONCE, (node) =>
    retryFor(clock, ANSWERS_S, () => nodes.one(node, 'version', [])).catch((error: unknown) => {
      throw new Error(`The node daemon of ${node.name} does not answer: ${errorText(error)}`)
    }),
  )
  await retryFor(clock, ANSWERS_S, () => onMaster(options, MASTER_ANSWERS, ANSWERS_S))
}

/** The master's link tells later how far this came, so it changes last. */
async function convertAndSwitch(options: UpgradeOptions, { intent, wanted: desired, conversion }: Plan): Promise<void> {
  const { disk, paths, say } = options
  // A master that goes on keeps its data as they are.
  if (desired.includes(masterOf(options)))
    say(`All is kept in ${(await onMaster(options, scripts.BACK_UP, DAEMONS_S)).trim()}`)
  if (conversion !== undefined) {
    const config = await disk.read(paths.configFile)
    if (config === undefined) throw new Error(`There is no ${paths.configFile}`)
    await disk.write(keptConfig({ paths }), config, { mode: 0o600 })
  }
  await convert(options, conversion, 'down')
  await switchAll(options, desired, scripts.switchTo(intent.to), `switch to ${intent.to}`)
  await convert(options, conversion, 'up')
}

async function switchAll(options: UpgradeOptions, desired: readonly Node[], script: string, what: string) {
  const { master, others } = split(options, desired)
  options.say(`Nodes ${what}`)
  await onAll(options, others, script, what, LOOK_S)
  await onAll(options, master, script, what, LOOK_S)
}

/** The later version, which knows both forms, converts. */
async function convert(options: UpgradeOptions, conversion: Conversion, direction: 'up' | 'down'): Promise<void> {
  if (conversion !== direction) return
  options.say('The configuration is converted')
  await onMaster(options, direction === 'up' ? scripts.CONVERT_UP : scripts.CONVERT_DOWN, DAEMONS_S)
}

/** Returns notices about nodes that did not follow. */
async function takeBackOrSay(options: UpgradeOptions, plan: Plan, stopped: boolean): Promise<string> {
  const { say } = options
  const { intent } = plan
  try {
    const left = stopped ? await takeBack(options, plan) : []
    await finish(options, intent)
    return left.length === 0 ? '' : `, but for ${left.join(', ')}: mend these, and start their daemons`
  } catch (error) {
    say(errorText(error))
    throw new UpgradeFailure(
      `${subject(intent)} could not go over to version ${intent.to}, and not go back to ${intent.from} either, as said above. ` +
        'Mend what is said there; then "gnt-cluster upgrade --resume" tries again',
    )
  }
}

/**
 * A failing node does not keep the others from coming back, unless it is the master. Returns the names of failing
 * nodes.
 */
async function takeBack(options: UpgradeOptions, { intent, wanted: desired }: Plan): Promise<string[]> {
  const { clock, disk, nodes, paths, say } = options
  const { master, others } = split(options, desired)
  const left = new Set<string>()
  const attempt = async (some: readonly Node[], script: string, timeout_s: number) => {
    const failed = await runAll(options, some, script, timeout_s)
    for (const [node, why] of failed) {
      say(`${node.name}: ${why}`)
      if (master.includes(node)) throw new Error(`The master ${node.name} does not come back`)
      left.add(node.name)
    }
  }
  for (const some of [master, others]) await attempt(some, scripts.STOP, DAEMONS_S)
  const config = await disk.read(keptConfig({ paths }))
  if (config !== undefined) await asConfigOwner(options, () => disk.write(paths.configFile, config))
  for (const some of [others, master]) await attempt(some, scripts.switchBackTo(intent.from), LOOK_S)
  if (config !== undefined) await attempt(master, scripts.TAKE_FILE, DAEMONS_S)
  for (const some of [others, master]) await attempt(some, scripts.START, DAEMONS_S)
  await eachBounded(
    others.filter(({ name }) => !left.has(name)),
    NODES_AT_ONCE,
    (node) => retryFor(clock, ANSWERS_S, () => nodes.one(node, 'version', [])).catch(() => left.add(node.name)),
  )
  await retryFor(clock, ANSWERS_S, () => onMaster(options, MASTER_ANSWERS, ANSWERS_S))
  return [...left].sort()
}

/** The cluster works, with either version: it accepts jobs again. */
async function finish(options: UpgradeOptions, { drained }: Intent): Promise<void> {
  const { disk, paths } = options
  if (!drained) await onMaster(options, scripts.UNDRAIN)
  await onMaster(options, scripts.WAKE_WATCHER)
  await disk.remove(keptConfig({ paths }))
  await removeIntent(options)
}
