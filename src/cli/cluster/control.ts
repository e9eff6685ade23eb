// gnt-cluster redist-conf, activate-master-ip, queue, watcher and similar commands for a running cluster.
import { type Clock, seconds } from '../../lib/clock'
import { watcherShape } from '../../query/object-shapes'
import { OpClusterActivateMasterIp, OpClusterDeactivateMasterIp, OpClusterRedistConf } from '../../opcodes/cluster'
import type { Master } from '../../rpc/luxi/master'
import type { WatcherInfo } from '../../rpc/luxi/watcher-report'
import { administrator } from '../administrator'
import type { Call } from '../command'
import { EXIT, refusal } from '../outcome'
import { confirm } from '../input/confirm'
import { formatCtime } from '../output/format'
import { oYes } from '../input/options'
import { opcodeOf, submitting } from '../submit/submit'
import { watcherLines } from './watcher-info'

export async function redistributeConfig({ jobs, options }: Call): Promise<number> {
  await jobs.run(opcodeOf(OpClusterRedistConf, {}), options.flag('yes_do_it'))
  return EXIT.ok
}

export const activateMasterIp = submitting(OpClusterActivateMasterIp, () => ({}))

export async function deactivateMasterIp(call: Call): Promise<number> {
  const question =
    'This takes down the address of the cluster; its doors cannot be reached there until it is back. Continue?'
  if (!(await confirm(call, question, oYes))) return EXIT.failure
  await call.jobs.run(opcodeOf(OpClusterDeactivateMasterIp, {}))
  return EXIT.ok
}

export async function controlQueue({ args, master, terminal }: Call): Promise<number> {
  if (args[0] === 'info') {
    const [drained] = await master.queryConfigValues(['drain_flag'])
    terminal.out(`The drain flag is ${drained === true ? 'set' : 'unset'}`)
  } else if (args[0] === 'drain' || args[0] === 'undrain') await master.setDrainFlag(args[0] === 'drain')
  else throw refusal(`Command '${args[0]}' is not valid.`)
  return EXIT.ok
}

export async function queueData({ args, master }: Call): Promise<unknown> {
  onlyInfo(args)
  const [drained] = await master.queryConfigValues(['drain_flag'])
  return { drained: drained === true }
}

/** Only `info` prints data. */
function onlyInfo([verb]: readonly string[]): void {
  if (verb !== 'info') throw refusal(`Only 'info' prints data; call '${verb}' without --json and --output-format`)
}

export async function controlWatcher(call: Call): Promise<number> {
  const { args, master, terminal, clock, options } = call
  const [verb, duration] = args
  if (verb === 'continue') {
    await master.setWatcherPause(null)
    terminal.out('The watcher is no longer paused.')
  } else if (verb === 'pause') {
    if (duration === undefined) throw refusal('Missing pause duration')
    const until = await master.setWatcherPause(seconds(clock) + parseTimespec(duration))
    terminal.out(until === null ? 'The watcher is not paused.' : `The watcher is paused until ${formatCtime(until)}.`)
  } else if (verb !== 'info') throw refusal(`Command '${verb}' is not valid.`)
  else {
    const until = await pausedUntil(master, clock)
    terminal.out(until === null ? 'The watcher is not paused.' : `The watcher is paused until ${formatCtime(until)}.`)
    if (options.flag('verbose')) for (const line of watcherLines(await watcherInfo(call))) terminal.out(line)
  }
  return EXIT.ok
}

export async function watcherData(call: Call): Promise<unknown> {
  onlyInfo(call.args)
  return watcherShape(await watcherInfo(call))
}

/** Ganeti's master knows nothing about its watcher's actions. */
async function watcherInfo({ master, clock }: Call): Promise<WatcherInfo> {
  const reported = await master.gantry?.watcher(administrator('admin'))
  return reported ?? { paused_until: await pausedUntil(master, clock), next_run: null, groups: [] }
}

async function pausedUntil(master: Master, clock: Clock): Promise<number | null> {
  const [until] = await master.queryConfigValues(['watcher_pause'])
  return typeof until === 'number' && until > seconds(clock) ? until : null
}

const UNITS_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 }

/** `90`, `30m`, `4h`, `1d`, `2w` in seconds. */
export function parseTimespec(text: string): number {
  if (text === '') throw refusal('Empty time specification passed')
  const unit = UNITS_S[text.at(-1) ?? '']
  const digits = unit === undefined ? text : text.slice(0, -1)
  if (digits === '') throw refusal('Invalid time specification (only suffix passed)')
  if (!/^[-+]?\d+$/.test(digits)) throw refusal(`Invalid time specification '${digits}'`)
  return Number(digits) * (unit ?? 1)
}
