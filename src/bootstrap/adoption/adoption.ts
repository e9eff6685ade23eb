// Changes a cluster from Ganeti to Gantry, or back, node by node. The master changes first on the way there, and last
// on the way back, so that our master handles both kinds of node in between. Guests run on. Each step looks at the
// nodes' actual state, so after an interruption the same or the opposite command continues. A node that fails is taken
// back at once.
import { type Clock, seconds } from '../../lib/clock'
import { pausedUntil } from '../../lib/file/pause-file'
import { errorText } from '../../lib/system-failure'
import {
  EXCHANGE_S,
  LOOK_EVERY_S,
  MASTER_ANSWERS_S,
  NODE_ANSWERS_S,
  PROBE_S,
  SHOWN_LINES_MAX,
  WATCHER_RESTS_S,
} from '../../model/limits/adoption'
import type { Node } from '../../model/node'
import { retryFor } from '../retry-for'
import { shortList } from './features'
import { PROBE, readFacts } from './probe'
import {
  DISTRIBUTE,
  GIVEN,
  HOLD_JOBS,
  KEEP_GANETI,
  LAST_LINES,
  LOG,
  MAKE_ROOM,
  MASTER_ANSWERS,
  OPEN_JOBS,
  REHEARSE,
  RELEASE_JOBS,
  TO_GANTRY,
  toGaneti,
} from './scripts'
import { nodesInOrder, placeOf, type Product, type Report, type InventoryOptions } from './inventory'

export interface AdoptionOptions extends InventoryOptions {
  readonly clock: Clock
  /** Our packages, as files on this node. */
  readonly files: readonly string[]
  /** How long to wait for running jobs. */
  readonly patience_s: number
  say(text: string): void
}

/** The run failed; the text says how far the cluster came, and how to continue. */
export class AdoptionFailure extends Error {}

export interface Outcome {
  readonly went: readonly string[]
  /** Offline nodes, which were left unchanged. */
  readonly left: readonly string[]
  readonly seconds_without_master: number | undefined
}

/** The check has passed, and `report` describes the nodes as they are now. */
export async function exchangeAll(options: AdoptionOptions, report: Report): Promise<Outcome> {
  const { config, to, say } = options
  const found = new Map(report.nodes.map((node) => [node.name, node]))
  const all = to === 'gantry' ? nodesInOrder(config) : nodesInOrder(config).toReversed()
  const desired = all.filter(({ name, offline }) => !offline && found.get(name)?.product !== to)
  const left = all.filter(({ offline }) => offline).map(({ name }) => name)
  const went: string[] = []
  let seconds_without_master: number | undefined
  if (to === 'gantry') for (const node of desired) await prepare(options, node)
  const resume = await watcherRests(options)
  try {
    for (const node of desired) {
      say(`${node.name}: ${NAMES[to]} takes over ...`)
      const silent_s = await exchangeOrReturn(options, node, went)
      if (isMaster(options, node)) seconds_without_master = silent_s
      went.push(node.name)
      say(`${node.name}: done; its daemons were away for ${silent_s.toFixed(1)} s`)
    }
    // An earlier run may have ended before it did this.
    if (seconds_without_master === undefined) await releaseJobs(options)
    if (to === 'ganeti' && desired.length > 0) await onMaster(options, DISTRIBUTE, EXCHANGE_S)
  } finally {
    await resume()
  }
  return { went, left, seconds_without_master }
}

const NAMES: Readonly<Record<Product, string>> = { ganeti: 'Ganeti', gantry: 'Gantry' }

const isMaster = ({ config }: AdoptionOptions, { uuid }: Node): boolean => uuid === config.cluster.master_node

/**
 * Only copies and checks files; nothing that runs is touched. Checks that the packages fit, also those for the way
 * back.
 */
async function prepare(options: AdoptionOptions, node: Node): Promise<void> {
  const { shell, config, files, say } = options
  const place = placeOf(config, node)
  say(`${node.name}: the packages are brought`)
  await carryOut(options, node, MAKE_ROOM, PROBE_S)
  await shell.copy(place, files, GIVEN)
  await carryOut(options, node, KEEP_GANETI, EXCHANGE_S)
  const changes = (await carryOut(options, node, REHEARSE, EXCHANGE_S)).split('\n').map((line) => line.split(' '))
  const named = (what: string, expected: readonly string[]) =>
    changes.flatMap(([kind, name = '']) => (kind === what && !expected.includes(name) ? [name] : []))
  const [gone, missing] = [named('Remv', MAY_GO), named('Inst', options.given)]
  if (gone.length > 0)
    throw new AdoptionFailure(
      `${node.name}: with Gantry's packages these would go, too: ${shortList(gone)}. Nothing was changed`,
    )
  if (missing.length > 0)
    throw new AdoptionFailure(
      `${node.name}: these have to be installed first: apt-get install ${missing.join(' ')}. Nothing was changed`,
    )
}

const MAY_GO: readonly string[] = ['ganeti', 'ganeti-htools']

/** Returns the seconds for which the node's daemons were away. */
async function exchangeOrReturn(options: AdoptionOptions, node: Node, went: readonly string[]): Promise<number> {
  const { to, say } = options
  const other = to === 'gantry' ? 'ganeti' : 'gantry'
  try {
    if (isMaster(options, node)) await holdJobs(options)
    const silent_s = await exchange(options, node, to)
    // Whatever happens to other nodes, the master works.
    if (isMaster(options, node)) await releaseJobs(options)
    return silent_s
  } catch (error) {
    if (error instanceof AdoptionFailure) throw error
    say(`${node.name}: ${errorText(error)}`)
    say(`${node.name}: it goes back to ${NAMES[other]} ...`)
    const back = await exchange(options, node, other).then(
      () => `It runs ${NAMES[other]} as before`,
      (second: unknown) => {
        say(`${node.name}: ${errorText(second)}`)
        return `It did not come back either: ${LOG} there has all`
      },
    )
    if (isMaster(options, node)) await releaseJobs(options).catch((second: unknown) => say(errorText(second)))
    throw new AdoptionFailure(
      `${node.name} could not go over to ${NAMES[to]}, as said above. ${back}. ` +
        `${went.length === 0 ? 'No node has gone over' : `These have: ${went.join(', ')}`}. ` +
        `The same command goes on from here, ${to === 'gantry' ? 'and --back goes back' : 'and without --back it goes the other way'}`,
    )
  }
}

async function exchange(options: AdoptionOptions, node: Node, to: Product): Promise<number> {
  const { clock } = options
  const guests = await guestsOf(options, node)
  const began_ms = clock.monotonic_ms()
  const master = isMaster(options, node)
  await carryOut(options, node, to === 'gantry' ? TO_GANTRY : toGaneti(master), EXCHANGE_S)
  await nodeAnswers(options, node)
  if (master) await retryFor(options.clock, MASTER_ANSWERS_S, () => onMaster(options, MASTER_ANSWERS, MASTER_ANSWERS_S))
  const silent_s = (clock.monotonic_ms() - began_ms) / 1000
  const now = await guestsOf(options, node)
  const lost = [...guests].filter(([name, pid]) => now.get(name) !== pid).map(([name]) => name)
  if (lost.length > 0) throw new Error(`guests that ran before do not any more: ${shortList(lost)}`)
  return silent_s
}

/** KVM guests by name, with their processes. */
async function guestsOf({ shell, config }: AdoptionOptions, node: Node): Promise<ReadonlyMap<string, number>> {
  const { code, output } = await shell.run(placeOf(config, node), PROBE, PROBE_S)
  if (code !== 0) throw new Error(`it cannot be asked: ${output.trim()}`)
  return readFacts(output).guests
}

const nodeAnswers = (options: AdoptionOptions, node: Node): Promise<unknown> =>
  retryFor(options.clock, NODE_ANSWERS_S, () => options.nodes.one(node, 'version', []))

/** A master that does not answer has no jobs to wait for: an earlier run ended half-way. */
async function holdJobs(options: AdoptionOptions): Promise<void> {
  const { clock, patience_s, say } = options
  const answers = await onMaster(options, MASTER_ANSWERS, PROBE_S).catch(() => undefined)
  if (answers === undefined) return
  await onMaster(options, HOLD_JOBS, PROBE_S)
  const end_ms = clock.monotonic_ms() + patience_s * 1000
  for (let said = false; ; said = true) {
    const open = (await onMaster(options, OPEN_JOBS, PROBE_S)).split('\n').filter((line) => line !== '')
    if (open.length === 0) return
    if (!said) say(`waiting for jobs: ${shortList(open)}`)
    if (clock.monotonic_ms() > end_ms) {
      await releaseJobs(options)
      throw new AdoptionFailure(
        `Jobs did not end within ${patience_s} s: ${shortList(open)}. Nothing was changed on the master. ` +
          'Wait for them, or cancel them with gnt-job cancel, or give more time with --timeout',
      )
    }
    await clock.sleep(LOOK_EVERY_S * 1000)
  }
}

const releaseJobs = (options: AdoptionOptions): Promise<string> => onMaster(options, RELEASE_JOBS, PROBE_S)

/**
 * Pauses the watcher, which would start daemons and guests that are only away for a moment. Returns a function that
 * restores the earlier state.
 */
async function watcherRests(options: AdoptionOptions): Promise<() => Promise<void>> {
  const { disk, paths, config, nodes, clock, say } = options
  const before = await pausedUntil(disk, paths.watcherPause, seconds(clock))
  const tell = async (until: number | null) => {
    for (const [uuid, answer] of await nodes.all(nodesInOrder(config), 'set_watcher_pause', [until]))
      if (!answer.ok && !answer.offline)
        say(`${config.nodes[uuid]?.name ?? uuid}: the watcher could not be told: ${answer.error}`)
  }
  await tell(seconds(clock) + WATCHER_RESTS_S)
  return () => tell(before)
}

async function onMaster(options: AdoptionOptions, script: string, timeout_s: number): Promise<string> {
  const { config } = options
  const [master] = nodesInOrder(config)
  return master === undefined ? '' : carryOut(options, master, script, timeout_s)
}

/** If the script prints nothing itself, rejects with the end of the node's log. */
async function carryOut({ shell, config }: AdoptionOptions, node: Node, script: string, timeout_s: number) {
  const place = placeOf(config, node)
  const { code, output } = await shell.run(place, script, timeout_s)
  if (code === 0) return output
  const said = output.trim() || (await shell.run(place, LAST_LINES(SHOWN_LINES_MAX), PROBE_S)).output.trim()
  throw new Error(said === '' ? `it ended with ${code ?? 'no answer'}` : said)
}
