// Hypervisor parameters with their types, defaults and syntax checks. `clusterOnly` ones may not be set on an instance.
import type { ParamValue } from '../common'
import type { ParamType } from '../param-types'

export const DEFAULT_HYPERVISOR: Hypervisor = 'xen-pvm'
export const HYPERVISORS_WITH_PORT: readonly Hypervisor[] = ['kvm', 'xen-hvm']
export const CLUSTER_ONLY_HVPARAMS: readonly string[] = ['migration_bandwidth', 'migration_mode', 'migration_port']
export const HV_STATE_DEFAULTS = { cpu_node: 1, cpu_total: 1, mem_hv: 0, mem_node: 0, mem_total: 0 } as const
export const DISK_STATE_DEFAULTS = { disk_overhead: 0, disk_reserved: 0, disk_total: 0 } as const

export type HvCheck =
  | 'path'
  | 'file'
  | 'directory'
  | 'file-or-url'
  | 'cpu-masks'
  | 'cpu-mask'
  | 'ipv4'
  | 'boot-letters'
  | { readonly min: number; readonly max?: number; readonly text: string }

export interface HvParam {
  readonly type: ParamType
  readonly default: ParamValue
  /** The only values that are accepted (besides the empty string when `emptyOk`). */
  readonly allowed?: readonly (string | number)[]
  readonly emptyOk?: true
  readonly required?: true
  readonly clusterOnly?: true
  readonly check?: HvCheck
  /** The column title of the query field hv/NAME, when it is not the name itself. */
  readonly title?: string
}

const PORT = { min: 1, max: 65535, text: 'invalid port number' }
const NOT_NEGATIVE = { min: 0, text: 'cannot be negative' }

const PARAMS = {
  chroot: {
    init_script: { type: 'string', default: '/ganeti-chroot', required: true, check: 'path' },
  },
  fake: {
    migration_mode: {
      type: 'string',
      default: 'live',
      allowed: ['live', 'non-live'],
      required: true,
      clusterOnly: true,
    },
  },
  kvm: {
    acpi: { type: 'bool', default: true, title: 'ACPI' },
    boot_order: {
      type: 'string',
      default: 'disk',
      allowed: ['cdrom', 'disk', 'floppy', 'network'],
      required: true,
      title: 'Boot_order',
    },
    cdrom2_image_path: { type: 'string', default: '', check: 'file-or-url' },
    cdrom_disk_type: {
      type: 'string',
      default: '',
      allowed: [
        'ide',
        'mtd',
        'paravirtual',
        'pflash',
        'scsi',
        'scsi-block',
        'scsi-cd',
        'scsi-generic',
        'scsi-hd',
        'sd',
      ],
      emptyOk: true,
    },
    cdrom_image_path: { type: 'string', default: '', check: 'file-or-url', title: 'CDROM_image_path' },
    cpu_cores: { type: 'int', default: 0, check: NOT_NEGATIVE },
    cpu_mask: { type: 'string', default: 'all', check: 'cpu-masks' },
    cpu_sockets: { type: 'int', default: 0, check: NOT_NEGATIVE },
    cpu_threads: { type: 'int', default: 0, check: NOT_NEGATIVE },
    cpu_type: { type: 'string', default: '', title: 'cpu_type' },
    disk_aio: { type: 'string', default: 'threads', allowed: ['io_uring', 'native', 'threads'] },
    disk_cache: {
      type: 'string',
      default: 'default',
      allowed: ['default', 'none', 'writeback', 'writethrough'],
      required: true,
    },
    // Configurations of 3.0 say `default`, which is `ignore`.
    disk_discard: { type: 'string', default: 'ignore', allowed: ['default', 'ignore', 'unmap'] },
    disk_type: {
      type: 'string',
      default: 'paravirtual',
      allowed: [
        'ide',
        'mtd',
        'paravirtual',
        'pflash',
        'scsi',
        'scsi-block',
        'scsi-cd',
        'scsi-generic',
        'scsi-hd',
        'sd',
      ],
      required: true,
      title: 'Disk_type',
    },
    floppy_image_path: { type: 'string', default: '', check: 'file' },
    initrd_path: { type: 'string', default: '', check: 'file', title: 'Initrd_path' },
    kernel_args: { type: 'string', default: 'ro' },
    kernel_path: { type: 'string', default: '/boot/vmlinuz-3-kvmU', check: 'file', title: 'Kernel_path' },
    keymap: { type: 'string', default: '' },
    kvm_extra: { type: 'string', default: '' },
    kvm_flag: { type: 'string', default: '', allowed: ['disabled', 'enabled'], emptyOk: true },
    kvm_path: { type: 'string', default: '/usr/bin/kvm', required: true, check: 'file' },
    kvm_pci_reservations: {
      type: 'int',
      default: 12,
      check: { min: 0, max: 32, text: 'The number of PCI slots managed by QEMU (max: 32)' },
    },
    machine_version: { type: 'string', default: '' },
    mem_path: { type: 'string', default: '', check: 'directory' },
    migration_bandwidth: { type: 'int', default: 32, required: true, clusterOnly: true, check: NOT_NEGATIVE },
    migration_caps: { type: 'string', default: '' },
    migration_downtime: { type: 'int', default: 30, required: true, check: NOT_NEGATIVE },
    migration_mode: {
      type: 'string',
      default: 'live',
      allowed: ['live', 'non-live'],
      required: true,
      clusterOnly: true,
    },
    migration_port: { type: 'int', default: 8102, required: true, clusterOnly: true, check: PORT },
    nic_type: {
      type: 'string',
      default: 'paravirtual',
      allowed: ['e1000', 'i82551', 'i82557b', 'i82559er', 'ne2k_isa', 'ne2k_pci', 'paravirtual', 'pcnet', 'rtl8139'],
      required: true,
      title: 'NIC_type',
    },
    reboot_behavior: { type: 'string', default: 'reboot', allowed: ['reboot', 'exit'], required: true },
    root_path: { type: 'maybe-string', default: '/dev/vda1' },
    scsi_controller_type: {
      type: 'string',
      default: 'lsi',
      allowed: ['dc390', 'lsi', 'megasas', 'virtio-scsi-pci'],
      required: true,
    },
    security_domain: { type: 'string', default: '' },
    security_model: { type: 'string', default: 'none', allowed: ['none', 'pool', 'user'], required: true },
    serial_console: { type: 'bool', default: true },
    serial_speed: {
      type: 'int',
      default: 38400,
      allowed: [
        75, 110, 300, 600, 1200, 1800, 2400, 4800, 9600, 14400, 19200, 28800, 38400, 57600, 115200, 230400, 345600,
        460800,
      ],
    },
    soundhw: { type: 'string', default: '' },
    spice_bind: { type: 'string', default: '' },
    spice_image_compression: {
      type: 'string',
      default: '',
      allowed: ['auto_glz', 'auto_lz', 'glz', 'lz', 'off', 'quic'],
      emptyOk: true,
    },
    spice_ip_version: { type: 'int', default: 0, allowed: [0, 4, 6] },
    spice_jpeg_wan_compression: { type: 'string', default: '', allowed: ['always', 'auto', 'never'], emptyOk: true },
    spice_password_file: { type: 'string', default: '', check: 'file' },
    spice_playback_compression: { type: 'bool', default: true },
    spice_streaming_video: { type: 'string', default: '', allowed: ['all', 'filter', 'off'], emptyOk: true },
    spice_tls_ciphers: { type: 'string', default: 'HIGH:-DES:-3DES:-EXPORT:-DH' },
    spice_use_tls: { type: 'bool', default: false },
    spice_use_vdagent: { type: 'bool', default: true },
    spice_zlib_glz_wan_compression: {
      type: 'string',
      default: '',
      allowed: ['always', 'auto', 'never'],
      emptyOk: true,
    },
    usb_devices: { type: 'string', default: '' },
    usb_mouse: { type: 'string', default: '', allowed: ['mouse', 'tablet'], emptyOk: true },
    use_chroot: { type: 'bool', default: false },
    use_guest_agent: { type: 'bool', default: false },
    use_localtime: { type: 'bool', default: false },
    user_shutdown: { type: 'bool', default: false },
    vga: { type: 'string', default: '' },
    vhost_net: { type: 'bool', default: true },
    virtio_net_queues: { type: 'int', default: 1, check: { min: 1, max: 32, text: 'invalid number of queues' } },
    vnc_bind_address: { type: 'string', default: '', title: 'VNC_bind_address' },
    vnc_password_file: { type: 'string', default: '', check: 'file' },
    vnc_tls: { type: 'bool', default: false },
    vnc_x509_path: { type: 'string', default: '', check: 'directory' },
    vnc_x509_verify: { type: 'bool', default: false },
    vnet_hdr: { type: 'bool', default: true },
  },
  lxc: {
    cpu_mask: { type: 'string', default: '', check: 'cpu-mask' },
    devices: {
      type: 'string',
      default: 'c 1:3 rw,c 1:5 rw,c 1:7 rw,c 1:8 rw,c 1:9 rw,c 1:10 rw,c 5:0 rw,c 5:1 rw,c 5:2 rw,c 136:* rw',
    },
    drop_capabilities: { type: 'string', default: 'mac_override,sys_boot,sys_module,sys_time,sys_admin' },
    extra_cgroups: { type: 'string', default: '' },
    extra_config: { type: 'string', default: '' },
    num_ttys: { type: 'int', default: 6, required: true, check: NOT_NEGATIVE },
    startup_timeout: { type: 'int', default: 30, check: NOT_NEGATIVE },
  },
  'xen-hvm': {
    acpi: { type: 'bool', default: true, title: 'ACPI' },
    blockdev_prefix: { type: 'string', default: 'hd' },
    boot_order: { type: 'string', default: 'cd', required: true, check: 'boot-letters', title: 'Boot_order' },
    cdrom_image_path: { type: 'string', default: '', check: 'file', title: 'CDROM_image_path' },
    cpu_cap: { type: 'int', default: 0 },
    cpu_mask: { type: 'string', default: 'all', check: 'cpu-masks' },
    cpu_weight: { type: 'int', default: 256, check: { min: 1, max: 65534, text: 'invalid weight' } },
    cpuid: { type: 'string', default: '' },
    device_model: { type: 'string', default: '/usr/lib/xen/bin/qemu-dm', required: true, check: 'file' },
    disk_type: {
      type: 'string',
      default: 'paravirtual',
      allowed: ['ioemu', 'paravirtual'],
      required: true,
      title: 'Disk_type',
    },
    kernel_path: {
      type: 'string',
      default: '/usr/lib/xen/boot/hvmloader',
      required: true,
      check: 'file',
      title: 'Kernel_path',
    },
    migration_mode: {
      type: 'string',
      default: 'non-live',
      allowed: ['live', 'non-live'],
      required: true,
      clusterOnly: true,
    },
    migration_port: { type: 'int', default: 8002, required: true, clusterOnly: true, check: PORT },
    nic_type: {
      type: 'string',
      default: 'rtl8139',
      allowed: ['e1000', 'ne2k_isa', 'ne2k_pci', 'paravirtual', 'rtl8139'],
      required: true,
      title: 'NIC_type',
    },
    pae: { type: 'bool', default: true, title: 'PAE' },
    pci_pass: { type: 'string', default: '', title: 'pci_pass' },
    reboot_behavior: { type: 'string', default: 'reboot', allowed: ['reboot', 'exit'], required: true },
    soundhw: { type: 'string', default: '' },
    use_localtime: { type: 'bool', default: false },
    vif_script: { type: 'string', default: '', check: 'file' },
    vif_type: { type: 'string', default: 'ioemu', allowed: ['ioemu', 'vif'] },
    viridian: { type: 'bool', default: false },
    vnc_bind_address: { type: 'string', default: '0.0.0.0', check: 'ipv4', title: 'VNC_bind_address' },
    vnc_password_file: { type: 'string', default: '/etc/ganeti/vnc-cluster-password', required: true, check: 'file' },
  },
  'xen-pvm': {
    blockdev_prefix: { type: 'string', default: 'sd' },
    bootloader_args: { type: 'string', default: '' },
    bootloader_path: { type: 'string', default: '', check: 'file' },
    cpu_cap: { type: 'int', default: 0, check: NOT_NEGATIVE },
    cpu_mask: { type: 'string', default: 'all', check: 'cpu-masks' },
    cpu_weight: { type: 'int', default: 256, check: { min: 1, max: 65535, text: 'invalid weight' } },
    cpuid: { type: 'string', default: '' },
    initrd_path: { type: 'string', default: '', check: 'file', title: 'Initrd_path' },
    kernel_args: { type: 'string', default: 'ro' },
    kernel_path: {
      type: 'string',
      default: '/boot/vmlinuz-3-xenU',
      required: true,
      check: 'file',
      title: 'Kernel_path',
    },
    migration_mode: {
      type: 'string',
      default: 'live',
      allowed: ['live', 'non-live'],
      required: true,
      clusterOnly: true,
    },
    migration_port: { type: 'int', default: 8002, required: true, clusterOnly: true, check: PORT },
    reboot_behavior: { type: 'string', default: 'reboot', allowed: ['reboot', 'exit'], required: true },
    root_path: { type: 'maybe-string', default: '/dev/xvda1' },
    soundhw: { type: 'string', default: '' },
    use_bootloader: { type: 'bool', default: false },
    vif_script: { type: 'string', default: '', check: 'file' },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, HvParam>>>>

export type Hypervisor = keyof typeof PARAMS

export const HV_PARAMS: Readonly<Record<Hypervisor, Readonly<Record<string, HvParam>>>> = PARAMS

const isHypervisor = (name: string): name is Hypervisor => Object.hasOwn(PARAMS, name)

/** By name. */
export const HYPERVISORS: readonly Hypervisor[] = Object.keys(PARAMS).filter(isHypervisor).toSorted()

const FIRST_WRITTEN: readonly Hypervisor[] = ['kvm', 'xen-pvm', 'chroot', 'xen-hvm', 'lxc', 'fake']
/** In the order in which Ganeti writes its own hypervisors. */
export const HYPERVISORS_AS_WRITTEN: readonly Hypervisor[] = [...new Set([...FIRST_WRITTEN, ...HYPERVISORS])]

/** The default value of every parameter of a hypervisor. */
export function hvDefaults(hypervisor: Hypervisor): Record<string, ParamValue> {
  return Object.fromEntries(Object.entries(HV_PARAMS[hypervisor]).map(([name, param]) => [name, param.default]))
}
