// No parameter of KVM is accepted and then dropped: each has a place here, and a new one needs one.
import { systemFiles } from '../../../../../src/lib/files'
import { HV_PARAMS } from '../../../../../src/model/constants/hypervisors'
import { cdromDriver } from '../../../../../src/node/hypervisor/kvm/command'
import { accelerator, kvmUsable } from '../../../../../src/node/hypervisor/kvm/host'
import { tapFeatures } from '../../../../../src/node/hypervisor/kvm/nics'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { kvmParams } from '../../../../support/hypervisor'
import { command, withParams } from './command-of'

type Params = Record<string, unknown>

const VNC = { vnc_bind_address: '198.51.100.11' }
const VNC_X509 = { ...VNC, vnc_tls: true, vnc_x509_path: '/etc/x509' }
const SPICE = { spice_bind: '198.51.100.11' }
const KERNEL = { kernel_path: '/boot/vmlinuz' }
const CDROM = { cdrom_image_path: '/srv/a.iso', boot_order: 'cdrom' }

/** A value that changes the command of an instance which has the parameters that it needs. */
const IN_COMMAND: Readonly<Record<string, readonly [value: unknown, needs?: Params]>> = {
  acpi: [false],
  boot_order: ['network'],
  cdrom2_image_path: ['/srv/b.iso'],
  cdrom_disk_type: ['paravirtual', CDROM],
  cdrom_image_path: ['/srv/a.iso'],
  cpu_cores: [2],
  cpu_sockets: [2],
  cpu_threads: [2],
  cpu_type: ['host'],
  disk_aio: ['io_uring'],
  disk_cache: ['writethrough'],
  disk_discard: ['unmap'],
  disk_type: ['ide'],
  floppy_image_path: ['/srv/floppy.img'],
  initrd_path: ['/boot/initrd', KERNEL],
  kernel_args: ['ro quiet', KERNEL],
  kernel_path: ['/boot/vmlinuz'],
  keymap: ['de'],
  kvm_extra: ['-device virtio-rng-pci'],
  kvm_pci_reservations: [14],
  machine_version: ['pc-i440fx-6.0'],
  mem_path: ['/dev/hugepages'],
  nic_type: ['e1000'],
  reboot_behavior: ['exit'],
  root_path: ['/dev/vdb1', KERNEL],
  scsi_controller_type: ['megasas', { disk_type: 'scsi-hd' }],
  serial_console: [false],
  // The line itself has no speed; the guest's kernel is told one.
  serial_speed: [9600, KERNEL],
  soundhw: ['hda'],
  spice_bind: ['198.51.100.11'],
  spice_image_compression: ['glz', SPICE],
  spice_ip_version: [4, SPICE],
  spice_jpeg_wan_compression: ['always', SPICE],
  spice_password_file: ['/etc/spice', SPICE],
  spice_playback_compression: [true, SPICE],
  spice_streaming_video: ['filter', SPICE],
  spice_tls_ciphers: ['HIGH', { ...SPICE, spice_use_tls: true }],
  spice_use_tls: [true, SPICE],
  spice_use_vdagent: [true, SPICE],
  spice_zlib_glz_wan_compression: ['never', SPICE],
  usb_devices: ['braille'],
  usb_mouse: ['mouse'],
  use_chroot: [true],
  use_guest_agent: [true],
  use_localtime: [true],
  user_shutdown: [true],
  vga: ['cirrus'],
  vnc_bind_address: ['198.51.100.11'],
  vnc_password_file: ['/etc/vnc', VNC],
  vnc_tls: [true, VNC],
  vnc_x509_path: ['/etc/x509', { ...VNC, vnc_tls: true }],
  vnc_x509_verify: [true, VNC_X509],
}

/** Honoured elsewhere than in the command that these facts give. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cpu_mask: 'QEMU is pinned after its start: kvm.test.ts and kvm-migration.test.ts',
  kvm_flag: 'the accelerator of this node: below',
  kvm_path: 'the program itself: parts.test.ts',
  migration_bandwidth: 'told to QEMU when a migration starts: kvm-migration.test.ts',
  migration_caps: 'told to QEMU when a migration starts: kvm-migration.test.ts',
  migration_downtime: 'told to QEMU when a migration starts: kvm-migration.test.ts',
  migration_mode: 'the job asks for a live migration or another: move.test.ts',
  migration_port: 'where a migration is received: kvm-migration.test.ts',
  security_domain: 'as whom QEMU runs: parts.test.ts',
  security_model: 'as whom QEMU runs: parts.test.ts',
  vhost_net: 'the tap device: below',
  virtio_net_queues: 'the tap device: below',
  vnet_hdr: 'the tap device: below',
}

test('every parameter of KVM has a place where it is honoured', () => {
  expect([...Object.keys(IN_COMMAND), ...Object.keys(ELSEWHERE)].sort()).toEqual(Object.keys(HV_PARAMS.kvm).sort())
})

test.each(Object.entries(IN_COMMAND))('%s changes the command', (name, [value, needs = {}]) => {
  expect(command(withParams({ ...needs, [name]: value }))).not.toEqual(command(withParams(needs)))
})

const BASE: Params = { disk_type: 'paravirtual', ...CDROM }
/** Values that mean the same on purpose. */
const ALIKE = [
  ['default', 'writeback'],
  ['default', 'ignore'],
  ['scsi', 'scsi-hd'],
  ['scsi', 'scsi-cd'],
]
const NEEDS: Readonly<Record<string, Params>> = {
  serial_speed: KERNEL,
  scsi_controller_type: { disk_type: 'scsi-hd' },
  disk_aio: { disk_cache: 'none' },
  ...Object.fromEntries(Object.keys(IN_COMMAND).flatMap((name) => (name.startsWith('spice_') ? [[name, SPICE]] : []))),
}
const chosen = Object.entries(HV_PARAMS.kvm).filter(([name, { allowed }]) => allowed && name in IN_COMMAND)

test.each(chosen)('each value of %s means something of its own, or is refused', (name, { allowed = [] }) => {
  const observed = new Map<string, unknown>()
  for (const value of allowed) {
    const words = attempt({ ...BASE, ...NEEDS[name], [name]: value })
    const same = words === undefined ? undefined : observed.get(words)
    if (words !== undefined && same !== undefined)
      expect(ALIKE).toContainEqual([same, value].map(String).sort((a, b) => (b === 'default' ? 1 : a < b ? -1 : 1)))
    if (words !== undefined) observed.set(words, value)
  }
})

function attempt(params: Params): string | undefined {
  try {
    return command(withParams(params)).join('\n')
  } catch {
    return undefined
  }
}

test('an accelerator that is asked for is the one that is used', async () => {
  expect(await accelerator(systemFiles, new KvmParams({ kvm_flag: 'disabled' }))).toBe('tcg')
  const enabled = () => accelerator(systemFiles, new KvmParams({ kvm_flag: 'enabled' }))
  if (await kvmUsable(systemFiles)) expect(await enabled()).toBe('kvm')
  else await expect(enabled()).rejects.toThrow('kvm_flag is "enabled", but this node has no usable /dev/kvm')
})

test('a drive for CD-ROMs of a kind that QEMU does not have is refused', () => {
  const of = (cdrom_disk_type: string) => cdromDriver(new KvmParams({ ...kvmParams, cdrom_disk_type }))
  expect(of('')).toBe('ide-cd')
  expect(of('paravirtual')).toBe('virtio-blk-pci')
  for (const type of ['mtd', 'pflash', 'sd', 'scsi-block', 'scsi-generic', 'scsi-hd'])
    expect(() => of(type)).toThrow(`QEMU has no CD-ROM drive of cdrom_disk_type '${type}'`)
})

test('a tap device is made with the queues, headers and kernel help that its NIC asks for', () => {
  const of = (params: Params, vhostHere = true) => tapFeatures(new KvmParams({ ...kvmParams, ...params }), vhostHere)
  expect(of({})).toEqual({ vhost: true, queues: 1, flags: ['vnet_hdr'] })
  expect(of({ vnet_hdr: false, vhost_net: false })).toEqual({ vhost: false, queues: 1, flags: [] })
  // Also without help of the kernel.
  expect(of({ virtio_net_queues: 4 }, false)).toEqual({ vhost: false, queues: 4, flags: ['vnet_hdr', 'multi_queue'] })
  expect(of({ virtio_net_queues: 4, nic_type: 'e1000' })).toEqual({ vhost: false, queues: 1, flags: [] })
})
