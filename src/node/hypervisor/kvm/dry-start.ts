// QEMU itself says whether it has the machine, the processor and the devices that parameters name: it is started with
// them, but without a guest, and ended at once. So an instance that could never start is refused before its disks are
// made, and a migration capability that QEMU lacks when it is set.
import { isObject } from '../../../lib/shapes/shape'
import { DRY_START_S, DRY_STARTS_MAX } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'
import { BALLOON, machineArguments, machineOf, scsiController, smp, splitWords, usbDevices } from './command'
import { graphics, sound } from './command-display'
import { deviceString, isScsi, nicModel } from './devices'
import { accelerator, qemuFacts, type Host, type QemuFacts } from './host'
import { optionValue } from './layout'
import type { KvmParams } from './params'
import { PciBus, portArguments } from './pci'

const RESERVED_SLOTS = 12

/** What each QEMU has needs no start. Other values may be missing in this one. */
const PLAIN: Readonly<Record<string, string | number>> = {
  ...{ machine_version: '', cpu_type: '', nic_type: 'paravirtual', scsi_controller_type: '' },
  ...{ vga: '', soundhw: '', usb_mouse: '', spice_bind: '', migration_caps: '' },
  ...{ keymap: '', usb_devices: '', cpu_cores: 0, cpu_sockets: 0, cpu_threads: 0 },
  kvm_pci_reservations: RESERVED_SLOTS,
}
/** Each machine with a PCI bus has so many. */
const PLAIN_CPUS = 255

export const IMAGES: readonly string[] = ['cdrom_image_path', 'cdrom2_image_path']
export const isImageUrl = (image: string): boolean => /^(https?|ftps?|tftp):\/\//.test(image)

/** The commands with which a QEMU has started. A new QEMU has new facts. */
const started = new WeakMap<QemuFacts, Set<string>>()

/** `vcpus`: unknown if the parameters are not those of an instance. */
export async function checkModels(host: Host, params: KvmParams, vcpus?: number): Promise<void> {
  // Before a start their servers must answer. They may answer no more for the next one.
  const urls = vcpus === undefined ? [] : IMAGES.filter((name) => isImageUrl(params.text(name)))
  const named = [...namedIn(params, vcpus), ...urls.map((name) => `${name}=${params.text(name)}`)]
  if (named.length === 0) return
  const qemu = await qemuFacts(host, params.text('kvm_path'))
  const images = urls.flatMap((name) => [
    '-drive',
    `file=${optionValue(params.text(name))},format=raw,media=cdrom,if=none,id=${name}`,
  ])
  const command = [qemu.program, ...(await modelArguments(host, params, qemu)), ...cpus(params, vcpus), ...images]
  const input = [CAPABLE, ...capabilities(params), QUIT].map((one) => JSON.stringify(one)).join('\n')
  const key = [...command, input].join('\n')
  const known = started.get(qemu) ?? new Set()
  started.set(qemu, known)
  if (known.has(key)) return
  const { code, stderr, stdout, timedOut } = await host.run(command, {
    input,
    timeout_s: DRY_START_S,
    leaveNothing: true,
  })
  // A node that is too busy for it has found no fault.
  if (timedOut) return
  const version = qemu.version.join('.')
  if (code !== 0)
    throw new HypervisorFailure(
      `QEMU ${version} of this node does not start with ${named.join(', ')}: ${reasonOf(stderr)}`,
    )
  const refusal = refusalIn(stdout)
  if (refusal !== undefined)
    throw new HypervisorFailure(
      `Parameter 'migration_caps' fails validation: QEMU ${version} of this node says: ${refusal} (current value: '${params.text('migration_caps')}')`,
    )
  if (urls.length > 0) return
  if (known.size >= DRY_STARTS_MAX) known.clear()
  known.add(key)
}

/**
 * QEMU has each option and each device that `kvm_extra` names. It is not started with them, because they may open what a running guest uses.
 */
export async function checkExtra(host: Host, params: KvmParams): Promise<void> {
  const words = splitWords(params.text('kvm_extra'))
  if (words.length === 0) return
  const { program, version } = await qemuFacts(host, params.text('kvm_path'))
  const said = async (...more: readonly string[]) => {
    const { stderr, timedOut } = await host.run([program, ...more], { timeout_s: DRY_START_S, leaveNothing: true })
    return timedOut ? '' : stderr
  }
  const refuse = (stderr: string): never => {
    throw new HypervisorFailure(
      `QEMU ${version.join('.')} of this node does not start with kvm_extra=${params.text('kvm_extra')}: ${reasonOf(stderr)}`,
    )
  }
  // It looks for the names of all options before it obeys the first.
  const options = await said('-version', ...words)
  if (/: (invalid option|requires an argument)$/m.test(options)) refuse(options)
  for (const [at, word] of words.entries()) {
    const name = /^--?device$/.test(word) ? /^(?:driver=)?([\w.-]+)(,|$)/.exec(words[at + 1] ?? '')?.[1] : undefined
    const device = name === undefined ? '' : await said('-device', `${name},help`)
    if (device.includes(`'${name}' not found`)) refuse(device)
  }
}

/** What this QEMU may lack, as `name=value`. */
function namedIn(params: KvmParams, vcpus: number | undefined): string[] {
  const cpuArguments = cpus(params, vcpus)
  const named = Object.entries(PLAIN).flatMap(([name, plain]) => {
    const value = typeof plain === 'number' ? params.number(name) : params.text(name)
    return value === plain || !isUsed(params, name, cpuArguments) ? [] : [`${name}=${value}`]
  })
  return cpuArguments.length > 0 ? [...named, `vcpus=${vcpus}`] : named
}

function isUsed(params: KvmParams, name: string, cpuArguments: readonly string[]): boolean {
  if (name === 'scsi_controller_type') return isScsi(params.text('disk_type')) || isScsi(params.text('cdrom_disk_type'))
  if (name === 'keymap') return hasVnc(params)
  return !TOPOLOGY.includes(name) || cpuArguments.length > 0
}

const TOPOLOGY: readonly string[] = ['cpu_cores', 'cpu_sockets', 'cpu_threads']
const hasVnc = (params: KvmParams): boolean => params.text('vnc_bind_address') !== ''

function cpus(params: KvmParams, vcpus: number | undefined): string[] {
  if (vcpus === undefined) return []
  return vcpus > PLAIN_CPUS || TOPOLOGY.some((name) => params.number(name) > 0) ? ['-smp', smp(vcpus, params)] : []
}

/** Only what names a model: no place of the node is opened. */
async function modelArguments(host: Host, params: KvmParams, qemu: QemuFacts): Promise<string[]> {
  const [cpu, mouse] = [params.text('cpu_type'), params.text('usb_mouse')]
  const usb = [...(mouse === '' ? [] : ['-usbdevice', mouse]), ...usbDevices(params)]
  const keymap = hasVnc(params) ? params.text('keymap') : ''
  return [
    ...['-nodefaults', '-S', '-display', 'none', '-qmp', 'stdio', '-m', '16'],
    ...['-accel', await accelerator(host.files, params)],
    ...machineArguments(params, qemu),
    ...BALLOON,
    ...scsiController(params),
    ...['-device', deviceString(nicModel(params))],
    ...inFirstSlot(params, qemu),
    ...(cpu === '' ? [] : ['-cpu', cpu]),
    ...(usb.length > 0 ? ['-usb', ...usb] : []),
    // QEMU's screen reads the keymap, but listens nowhere.
    ...(keymap === '' ? [] : ['-vnc', 'none', '-k', keymap]),
    ...sound(params.text('soundhw'), 'none'),
    ...graphics(params),
  ]
}

/** A device in the first slot that is not reserved, unless each machine has that. */
function inFirstSlot(params: KvmParams, qemu: QemuFacts): string[] {
  const first = params.number('kvm_pci_reservations')
  if (first === RESERVED_SLOTS) return []
  const machine = machineOf(params, qemu)
  const place = new PciBus(machine, portArguments(machine), []).place(first)
  if (place === undefined) throw new HypervisorFailure(`kvm_pci_reservations=${first} leaves no PCI slot for devices`)
  return ['-device', deviceString({ driver: 'virtio-net-pci', romfile: '', ...place })]
}

const CAPABLE = { execute: 'qmp_capabilities' }
const QUIT = { execute: 'quit' }

function capabilities(params: KvmParams): object[] {
  const names = params
    .text('migration_caps')
    .split(':')
    .filter((name) => name !== '')
  if (names.length === 0) return []
  const desired = names.map((capability) => ({ capability, state: true }))
  return [{ execute: 'migrate-set-capabilities', arguments: { capabilities: desired } }]
}

const NO_PCI = "No 'PCI' bus found"

function reasonOf(stderr: string): string {
  const lines = stderr
    .split('\n')
    .flatMap((line) => (line === '' || line.includes('warning: ') ? [] : line.replace(/^\S+: /, '')))
  const reason = lines.join('; ') || 'it does not say why'
  return reason.includes(NO_PCI)
    ? `${reason}. The machine has no PCI bus, which each instance needs: choose another machine_version`
    : reason
}

/** The error in QEMU's answers, if there is one. */
function refusalIn(stdout: string): string | undefined {
  for (const line of stdout.split('\n').filter((one) => one.startsWith('{"error"'))) {
    const answer: unknown = JSON.parse(line)
    if (isObject(answer) && isObject(answer['error'])) return String(answer['error']['desc'])
  }
  return undefined
}
