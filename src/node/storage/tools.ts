// Runs the programs of storage. An error says what was tried on which node. If a program is missing, the error names its package.
import { type CommandOptions, type CommandResult, NOT_STARTED } from '../../lib/programs/run-command'
import { DEVICE_ANSWER_S, DEVICE_ORDER_S, STORAGE_REPORT_BYTES_MAX } from '../../model/limits/storage'
import { fail } from '../failure'
import type { StorageContext } from './storage'
import { retryUntil } from './retry-until'

type Tools = Pick<StorageContext, 'run' | 'hostname' | 'clock'>

/** The Debian packages of the programs, by the beginning of the program's name. */
const PACKAGES: readonly (readonly [name: string, packageName: string])[] = [
  ['lv', 'lvm2'],
  ['vg', 'lvm2'],
  ['pv', 'lvm2'],
  ['drbd', 'drbd-utils'],
  ['blkdiscard', 'util-linux'],
  ['blockdev', 'util-linux'],
  ['mount.glusterfs', 'glusterfs-client'],
  ['mount', 'mount'],
  ['umount', 'mount'],
  ['rbd', 'ceph-common'],
  ['block-', 'qemu-block-extra'],
  ['qemu-storage-daemon', 'qemu-system-common'],
]

/** Returns the result, whatever the exit code is. Fails only if the program cannot be started. */
export async function attempt(
  { run, hostname }: Tools,
  argv: readonly string[],
  limit: Pick<CommandOptions, 'timeout_s'> = { timeout_s: storageTime(argv) },
): Promise<CommandResult> {
  const device = argv.find((word) => word.startsWith('/dev/'))
  const about = device === undefined ? {} : { about: device }
  const result = await run(argv, { maxOutput: STORAGE_REPORT_BYTES_MAX, ...limit, ...about })
  if (result.code !== NOT_STARTED) return result
  const [program = ''] = argv
  return fail(
    `The program ${program} cannot be started on node ${hostname}: install the Debian package ${packageOf(program)} there`,
  )
}

/** Seconds that a program of the storage may take. */
const storageTime = (argv: readonly string[]): number =>
  QUESTIONS.test(argv.join(' ')) ? DEVICE_ANSWER_S : DEVICE_ORDER_S

const QUESTIONS = /^(lvs|vgs|pvs|blockdev --get|drbdsetup (show|status))\b/

/** The Debian package that contains a program. */
export const packageOf = (program: string): string =>
  PACKAGES.find(([name]) => program.startsWith(name))?.[1] ?? program

/** Returns what the program printed. Fails if the exit code is not 0. `problem` words what the program said. */
export async function order(
  tools: Tools,
  argv: readonly string[],
  what: string,
  problem: (output: string) => string = said,
): Promise<string> {
  const { code, stdout, output } = await attempt(tools, argv)
  if (code !== 0) fail(`${what} on node ${tools.hostname}: ${problem(output)}`)
  return stdout
}

/** Tries again as long as another program holds the device, because that one may only be looking at it. */
export async function orderHeld(
  tools: Tools,
  argv: readonly string[],
  what: string,
  limit_s: number,
  problem: (output: string) => string = said,
): Promise<void> {
  const { code, output } = await untilFree(tools.clock, limit_s, () => attempt(tools, argv))
  if (code !== 0) fail(`${what} on node ${tools.hostname}: ${problem(output)}`)
}

export function untilFree(clock: Tools['clock'], limit_s: number, work: () => Promise<CommandResult>) {
  return retryUntil(clock, limit_s, work, ({ code, output }) => code === 0 || !HELD.test(output))
}

/** The words of LVM, DRBD and Ceph for a device that is held. */
const HELD = /in use|held open|device or resource busy|still has watchers/i

/** A program's output in one line. */
export const said = (output: string): string =>
  output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ')

export async function deviceSize(tools: Tools, device: string): Promise<number> {
  const text = await order(tools, ['blockdev', '--getsize64', device], `Cannot tell the size of ${device}`)
  const size = Number(text.trim())
  return text.trim() !== '' && Number.isInteger(size)
    ? size
    : fail(`blockdev printed no size of ${device}: ${said(text)}`)
}
