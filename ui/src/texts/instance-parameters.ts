// Explanations of instance parameters and disk templates, for forms.
interface Words {
  readonly label: string
  readonly text?: string
}

export const templateTexts: Readonly<Record<string, string>> = {
  diskless: 'no disks',
  file: 'files on one node',
  sharedfile: 'files in a folder that all nodes share',
  plain: 'LVM volumes on one node',
  blockdev: 'an existing block device',
  drbd: 'LVM volumes, mirrored to a second node',
  rbd: 'images in Ceph',
  ext: 'external storage, through a provider',
  gluster: 'files in a Gluster volume',
}

export const backendWords = {
  vcpus: { label: 'vCPUs' },
  maxmem: { label: 'Memory', text: 'A size such as 2g.' },
  minmem: { label: 'Minimum memory', text: 'The node may reduce the memory to this when it is short of memory.' },
  spindle_use: { label: 'Spindle use', text: 'The disk load of the instance, in spindles, for the allocator.' },
  auto_balance: { label: 'Counts for N+1', text: 'The allocator keeps memory free for it in case its node fails.' },
  always_failover: { label: 'Always fail over', text: 'It is restarted on another node instead of migrated live.' },
} satisfies Readonly<Record<string, Words>>

/** Hypervisor parameters that forms show at once. Their order is that of the hypervisor. */
export const commonHypervisor: readonly string[] = [
  ...['boot_order', 'cdrom_image_path', 'kernel_path', 'kernel_args', 'initrd_path', 'root_path', 'cpu_type'],
  ...['disk_type', 'disk_cache', 'nic_type', 'serial_console', 'vnc_bind_address', 'use_localtime', 'machine_version'],
]

/** Only the cluster sets these hypervisor parameters. */
export const clusterOnly: readonly string[] = ['migration_bandwidth', 'migration_mode', 'migration_port']

export const hypervisorWords: Readonly<Record<string, Words>> = {
  acpi: { label: 'ACPI', text: 'Without it, the guest does not notice its power button.' },
  boot_order: { label: 'Boot device' },
  cdrom_image_path: { label: 'CD-ROM', text: 'An image on the node, or its http(s) address.' },
  cdrom2_image_path: { label: 'Second CD-ROM', text: 'An image on the node, or its http(s) address.' },
  cpu_type: { label: 'CPU type', text: 'Name of a CPU model of QEMU. Live migration needs nodes that support it.' },
  cpu_mask: { label: 'CPU pinning', text: 'The CPUs of the node that each vCPU may use.' },
  disk_cache: { label: 'Disk cache' },
  disk_type: { label: 'Disk controller' },
  initrd_path: { label: 'Initial ramdisk', text: 'A file on the node.' },
  kernel_path: { label: 'Kernel', text: 'A file on the node; empty to boot from the disk.' },
  kernel_args: { label: 'Kernel arguments' },
  kvm_extra: { label: 'Extra arguments for QEMU' },
  machine_version: { label: 'Machine type', text: 'A machine type of QEMU, such as pc or q35.' },
  nic_type: { label: 'Network card model' },
  root_path: { label: 'Root device', text: 'Device name in the guest.' },
  security_model: {
    ...{
      label: 'Security model',
      text: 'QEMU runs as root (none), as a given account (user), or as an account of a pool (pool).',
    },
  },
  serial_console: { label: 'Serial console' },
  spice_bind: { label: 'SPICE address' },
  use_guest_agent: { label: 'Guest agent' },
  use_localtime: { label: 'Clock in local time' },
  user_shutdown: { label: 'Guest may shut itself down' },
  vhost_net: { label: 'vhost-net' },
  vnc_bind_address: {
    label: 'VNC address',
    text: 'Empty for no VNC. With 0.0.0.0, everybody who reaches the node can connect.',
  },
}
