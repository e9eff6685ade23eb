// The rest of a QEMU command, after the fixed part: everything that depends on this node and this start. Pure.
import type { Backing, NicBackend } from './devices'
import { diskArguments, diskSetup, nicArguments, nicSetup } from './devices'
import { controlSocket } from './command'
import type { Accelerator } from './host'
import type { KvmLayout } from './layout'
import { KvmParams } from './params'
import type { KvmRuntime } from './runtime'

export interface LaunchFacts {
  readonly accelerator: Accelerator
  readonly qemuVersion: readonly [major: number, minor: number]
  /** One for each NIC of the runtime, in order. */
  readonly backends: readonly NicBackend[]
  /** One for each disk of the runtime. */
  readonly backings: readonly Backing[]
  /** Set in a virtual root, where each node must use only its own address. */
  readonly onlyAddress?: string
  readonly startPaused: boolean
  /** `deferred`: it listens when it is told to. */
  readonly incoming?: { readonly address: string; readonly port: number; readonly deferred?: boolean }
  /** `user` or `uid:gid` to which QEMU switches after its start. */
  readonly runAs?: string
}

/** Parameters that the guest sees come from the runtime, others from the current configuration. */
export function launchCommand(
  name: string,
  runtime: KvmRuntime,
  configured: KvmParams,
  facts: LaunchFacts,
  layout: KvmLayout,
): string[] {
  const started = new KvmParams({ ...runtime.hvparams })
  const fixed = runtime.command.filter((word) => word !== '-S')
  const boot = started.text('kernel_path') === '' ? started.text('boot_order') : ''
  const disks = runtime.disks.flatMap((entry, index) => {
    const setup = diskSetup(entry, layout.localLink(entry.link), started, facts.backings[index] ?? { directIo: true })
    return diskArguments(setup, boot === 'disk' && index === 0)
  })
  const nics = runtime.nics.flatMap((nic, index) =>
    nicArguments(nicSetup(nic, facts.backends[index] ?? { kind: 'user' }), boot === 'network' && index === 0),
  )
  const keymap = configured.text('keymap')
  return [
    ...fixed.map((word, index) => layout.localize(ownAddress(word, fixed[index - 1], facts.onlyAddress))),
    ...(namedAccelerator(fixed) ? [] : ['-accel', acceleratorOption(facts.accelerator, memoryOf(fixed))]),
    ...(keymap === '' ? [] : ['-k', keymap]),
    ...['-qmp', layout.localize(`unix:${controlSocket(name, 'qmp')}`)],
    ...['-qmp', layout.localize(`unix:${controlSocket(name, 'kvmd')}`)],
    ...disks,
    ...(nics.length > 0 ? nics : ['-net', 'none']),
    ...(facts.incoming ? ['-incoming', incomingUri(facts.incoming)] : []),
    ...(facts.startPaused ? ['-S'] : []),
    // The machine stays, halted, until this node has noted the user's shutdown.
    ...(configured.flag('user_shutdown') ? ['-no-shutdown'] : []),
    ...confinement(name, configured, facts, layout),
  ]
}

/**
 * QEMU takes the first of several accelerators that opens, even if it does not work, so exactly one is named. The cache
 * of translated code is limited: by default it is a quarter of the host's memory for each instance.
 */
export function acceleratorOption(accelerator: Accelerator, memory_mib: number): string {
  if (accelerator === 'kvm') return 'kvm'
  return `tcg,tb-size=${Math.min(64, Math.max(8, Math.ceil(memory_mib / 4)))}`
}

/** The accelerator in a command, from `-accel` or `-machine`. */
export function namedAccelerator(command: readonly string[]): string | undefined {
  const own = optionAfter(command, '-accel') ?? /(?:^|,)accel=([^,]*)/.exec(optionAfter(command, '-machine') ?? '')?.[1]
  return own?.split(/[,:]/)[0]
}

export function memoryOf(command: readonly string[]): number {
  return Number(/^\d+/.exec(optionAfter(command, '-m') ?? '')?.[0] ?? 0)
}

export const optionAfter = (command: readonly string[], option: string): string | undefined =>
  command[command.indexOf(option) + 1 || command.length]

/** The user of a QEMU with this command. */
export const userOf = (command: readonly string[]): string | undefined =>
  optionAfter(command, '-runas') ?? /(?:^|,)user=([^,]*)/.exec(optionAfter(command, '-run-with') ?? '')?.[1]

/** The folder that is the root of a QEMU with this command. */
export const chrootOf = (command: readonly string[]): string | undefined =>
  optionAfter(command, '-chroot') ?? /(?:^|,)chroot=([^,]*)/.exec(optionAfter(command, '-run-with') ?? '')?.[1]

const incomingUri = ({ address, port, deferred }: NonNullable<LaunchFacts['incoming']>): string =>
  deferred ? 'defer' : `tcp:${bracketed(address)}:${port}`

/** In a virtual cluster all nodes share the machine's ports, so a screen listens only on the node's own address. */
function ownAddress(word: string, option: string | undefined, address: string | undefined): string {
  if (address === undefined) return word
  if (option === '-vnc')
    return word.replace(/^(?:0\.0\.0\.0|127\.0\.0\.1|\[::1?\]|localhost)?(?=:\d)/, bracketed(address))
  if (option === '-spice') return word.replace(/(?<=addr=)(?:0\.0\.0\.0|127\.0\.0\.1|::1?)(?=,|$)/, address)
  return word
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

function confinement(name: string, configured: KvmParams, facts: LaunchFacts, layout: KvmLayout): string[] {
  const chroot = configured.flag('use_chroot') ? layout.chrootDir(name) : undefined
  const [major, minor] = facts.qemuVersion
  if (major > 9 || (major === 9 && minor >= 1)) {
    const options = [...(chroot ? [`chroot=${chroot}`] : []), ...(facts.runAs ? [`user=${facts.runAs}`] : [])]
    return options.length > 0 ? ['-run-with', options.join(',')] : []
  }
  return [...(chroot ? ['-chroot', chroot] : []), ...(facts.runAs ? ['-runas', facts.runAs] : [])]
}
