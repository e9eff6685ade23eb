// The fixed part of an instance's QEMU command: everything that the guest can see, and nothing that differs between
// nodes. Pure. All paths are Ganeti's, so that the result can be stored and sent to another node.
import type { InstanceDict } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import { type Addresses, displayArguments } from './command-display'
import { isScsi } from './devices'
import { pciBus, portArguments } from './pci'
import type { QemuFacts } from './host'
import { KVM_DIR, KVM_LOG_DIR, optionValue } from './layout'
import { KvmParams } from './params'
import { seedArguments } from './cloud-init-seed'

export type CommandFacts = Pick<QemuFacts, 'defaultMachine'> &
  Addresses & {
    /** Whether the guest has a seed disk for cloud-init. */
    readonly seed?: boolean
    /** From `missesWrites` in host.ts. */
    readonly missesWrites?: boolean
  }

/** Options with their values, without the program. */
export function fixedCommand(instance: InstanceDict, facts: CommandFacts): string[] {
  const params = new KvmParams(instance.hvparams)
  const { name, beparams } = instance
  return [
    // The name must be the whole word: Ganeti, to which this node may go back, recognizes its guests by it.
    ...['-name', name],
    ...['-m', String(beparams.maxmem)],
    ...(facts.missesWrites ? unevenMemory(beparams.maxmem) : []),
    ...['-smp', smp(beparams.vcpus, params)],
    ...['-pidfile', `${KVM_DIR}/pid/${name}`],
    ...scsiController(params),
    ...BALLOON,
    '-daemonize',
    ...['-D', `${KVM_LOG_DIR}/${name}.log`],
    ...(params.text('reboot_behavior') === 'exit' ? ['-no-reboot'] : []),
    ...machineArguments(params, facts),
    ...removableMedia(params),
    ...(facts.seed ? seedArguments(name, params, pciBus(machineOf(params, facts))) : []),
    ...kernel(params),
    ...memoryPath(params),
    ...['-monitor', `unix:${controlSocket(name, 'monitor')}`],
    ...['-serial', params.flag('serial_console') ? `unix:${controlSocket(name, 'serial')}` : 'none'],
    '-usb',
    ...displayArguments(instance, params, facts),
    ...(params.flag('use_localtime') ? ['-rtc', 'base=localtime'] : []),
    ...optional('-cpu', params.text('cpu_type')),
    ...usbDevices(params),
    ...['-uuid', instance.uuid],
    ...guestAgent(name, params),
    ...splitWords(params.text('kvm_extra')),
  ]
}

export const BALLOON: readonly string[] = ['-device', 'virtio-balloon']

/**
 * QEMU looks for written pages in steps of 64 pages, and misses writes, if the memory is a multiple of that. With 8 KiB
 * more it looks at each page, and misses none. The last size counts. It has two dashes, because Ganeti, to which this
 * node may go back, reads each `-m` as a whole number of MiB.
 */
const unevenMemory = (memory_mib: number): string[] => [UNEVEN, `${memory_mib * 1024 + 8}K`]
const UNEVEN = '--m'

/** For a guest that moves under a QEMU that misses writes. Ganeti may have started it, or an older version of ours. */
export const lossRemarks = (command: readonly string[]): string[] =>
  command.includes(UNEVEN)
    ? []
    : [
        'The guest may lose writes to its memory while it moves, because QEMU before 9.0 runs it without KVM: ' +
          'should it hang then, reboot it; a guest that is started anew does not have this fault',
      ]

export const machineArguments = (params: KvmParams, facts: Pick<CommandFacts, 'defaultMachine'>): string[] => [
  ...['-machine', machineOf(params, facts) + (params.flag('acpi') ? '' : ',acpi=off')],
  ...portArguments(machineOf(params, facts)),
]

export const machineOf = (params: KvmParams, facts: Pick<CommandFacts, 'defaultMachine'>): string =>
  params.text('machine_version') || facts.defaultMachine

/** A listening socket on which QEMU does not wait; `layout.localize` gives it its real path. */
export const controlSocket = (name: string, kind: string): string =>
  `${KVM_DIR}/ctrl/${name}.${kind},server=on,wait=off`

const optional = (option: string, value: string): string[] => (value === '' ? [] : [option, value])

export function smp(vcpus: number, params: KvmParams): string {
  const topology = ['cores', 'threads', 'sockets'].flatMap((part) => {
    const count = params.number(`cpu_${part}`)
    return count > 0 ? [`${part}=${count}`] : []
  })
  return [String(vcpus), ...topology].join(',')
}

export function scsiController(params: KvmParams): string[] {
  if (!isScsi(params.text('disk_type')) && !isScsi(params.text('cdrom_disk_type'))) return []
  return ['-device', `${params.text('scsi_controller_type')},id=scsi`]
}

function removableMedia(params: KvmParams): string[] {
  const bootable = params.text('kernel_path') === ''
  const order = params.text('boot_order')
  const driver = cdromDriver(params)
  const cdrom = (id: string, image: string, boot: boolean) =>
    image === '' ? [] : cdromArguments(id, image, driver, boot)
  const floppy = params.text('floppy_image_path')
  return [
    ...cdrom('cdrom1', params.text('cdrom_image_path'), bootable && order === 'cdrom'),
    ...cdrom('cdrom2', params.text('cdrom2_image_path'), false),
    ...(floppy === '' ? [] : ['-drive', `file=${optionValue(floppy)},format=raw,if=floppy,id=floppy1`]),
    ...(floppy !== '' && bootable && order === 'floppy' ? ['-boot', 'order=a'] : []),
  ]
}

function cdromArguments(id: string, image: string, driver: string, boot: boolean): string[] {
  const bootIndex = boot ? ',bootindex=1' : ''
  return [
    ...['-drive', `file=${optionValue(image)},format=raw,media=cdrom,if=none,id=${id}`],
    ...['-device', `${driver},drive=${id}${bootIndex}`],
  ]
}

/** The driver for a drive with changeable media, on the bus of the disks; a virtio disk only on request. */
export function cdromDriver(params: KvmParams): string {
  const requested = params.text('cdrom_disk_type')
  if (requested === '') return isScsi(params.text('disk_type')) ? 'scsi-cd,bus=scsi.0' : 'ide-cd'
  const driver = CDROM_DRIVERS[requested]
  if (driver === undefined) throw new HypervisorFailure(`QEMU has no CD-ROM drive of cdrom_disk_type '${requested}'`)
  return driver
}

const CDROM_DRIVERS: Readonly<Record<string, string>> = {
  ide: 'ide-cd',
  paravirtual: 'virtio-blk-pci',
  scsi: 'scsi-cd,bus=scsi.0',
  'scsi-cd': 'scsi-cd,bus=scsi.0',
}

function kernel(params: KvmParams): string[] {
  const image = params.text('kernel_path')
  if (image === '') return []
  const console = params.flag('serial_console') ? `console=ttyS0,${params.number('serial_speed')}` : ''
  const words = [`root=${params.text('root_path')}`, params.text('kernel_args'), console].filter((word) => word !== '')
  return ['-kernel', image, ...optional('-initrd', params.text('initrd_path')), '-append', words.join(' ')]
}

function memoryPath(params: KvmParams): string[] {
  const directory = params.text('mem_path')
  return directory === '' ? [] : ['-mem-path', directory, '-mem-prealloc']
}

function guestAgent(name: string, params: KvmParams): string[] {
  if (!params.flag('use_guest_agent')) return []
  return [
    ...['-chardev', `socket,path=${controlSocket(name, 'qga')},id=qga0`],
    ...['-device', 'virtio-serial,id=qga0'],
    ...['-device', 'virtserialport,chardev=qga0,name=org.qemu.guest_agent.0'],
  ]
}

export const usbDevices = (params: KvmParams): string[] =>
  splitList(params.text('usb_devices'), ',').flatMap((device) => ['-usbdevice', device])

const splitList = (text: string, separator: string): string[] =>
  text.split(separator).filter((part) => part.trim() !== '')

/** Splits like a shell: blanks separate, quotes and backslashes protect; nothing is expanded. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (character === "'" || character === '"') {
      const end = closingQuote(text, i)
      const inner = text.slice(i + 1, end)
      word = (word ?? '') + (character === '"' ? inner.replaceAll(/\\(["\\])/g, '$1') : inner)
      i = end
    } else if (character === '\\') {
      if (++i === text.length)
        throw new HypervisorFailure(
          `Hypervisor parameter 'kvm_extra' ends with a backslash that protects nothing: ${text}`,
        )
      word = (word ?? '') + text.charAt(i)
    } else word = (word ?? '') + character
  }
  return word === undefined ? words : [...words, word]
}

function closingQuote(text: string, start: number): number {
  const quote = text.charAt(start)
  for (let i = start + 1; i < text.length; i++) {
    if (quote === '"' && text.charAt(i) === '\\') i++
    else if (text.charAt(i) === quote) return i
  }
  throw new HypervisorFailure(`Hypervisor parameter 'kvm_extra' has a quote that is not closed: ${text}`)
}
