// What parameters of instances and kinds of disks mean, for whoever fills in a form.
interface Words {
  readonly label: string
  readonly text?: string
}

export const templateTexts: Readonly<Record<string, string>> = {
  diskless: 'no disks',
  file: 'files on one node',
  sharedfile: 'files in a folder that all nodes share',
  plain: 'LVM volumes on one node',
  blockdev: 'a device that is there already',
  drbd: 'LVM volumes, mirrored to a second node',
  rbd: 'images in Ceph',
  ext: 'external storage, through a provider',
  gluster: 'files in a Gluster volume',
}

export const backendWords = {
  vcpus: { label: 'vCPUs' },
  maxmem: { label: 'Memory', text: 'A size such as 2g.' },
  minmem: { label: 'Memory at the least', text: 'What the node may shrink it to when memory is short.' },
  spindle_use: { label: 'Spindles in use', text: 'How much it works on disks, as the allocator counts it.' },
  auto_balance: { label: 'Counts for N+1', text: 'Room is kept for it in case its node dies.' },
  always_failover: { label: 'Always fail over', text: 'It is never migrated while it runs.' },
} satisfies Readonly<Record<string, Words>>

/** Shown without asking for more, in this order of the hypervisor's own. */
export const commonHypervisor: readonly string[] = [
  ...['boot_order', 'cdrom_image_path', 'kernel_path', 'kernel_args', 'initrd_path', 'root_path', 'cpu_type'],
  ...['disk_type', 'disk_cache', 'nic_type', 'serial_console', 'vnc_bind_address', 'use_localtime', 'machine_version'],
]

/** No instance has its own. */
export const clusterOnly: readonly string[] = ['migration_bandwidth', 'migration_mode', 'migration_port']

export const hypervisorWords: Readonly<Record<string, Words>> = {
  acpi: { label: 'ACPI', text: 'Without it the guest does not notice its power button.' },
  boot_order: { label: 'Boots from' },
  cdrom_image_path: { label: 'CD-ROM', text: 'An image on the node, or its http(s) address.' },
  cdrom2_image_path: { label: 'Second CD-ROM', text: 'An image on the node, or its http(s) address.' },
  cpu_type: { label: 'CPU type', text: 'As QEMU calls it. Instances migrate between nodes that have it.' },
  cpu_mask: { label: 'CPU pinning', text: 'Which CPUs of the node each vCPU may use.' },
  disk_cache: { label: 'Disk cache' },
  disk_type: { label: 'Disk controller' },
  initrd_path: { label: 'Initial ramdisk', text: 'A file on the node.' },
  kernel_path: { label: 'Kernel', text: 'A file on the node; empty to boot from the disk.' },
  kernel_args: { label: 'Kernel arguments' },
  kvm_extra: { label: 'More words for QEMU' },
  machine_version: { label: 'Machine', text: 'As QEMU calls it: pc, q35.' },
  nic_type: { label: 'Network card model' },
  root_path: { label: 'Root device', text: 'As the kernel of the guest calls it.' },
  security_model: { label: 'Runs as', text: 'none: as root; user: as the account below; pool: as one of a pool.' },
  serial_console: { label: 'Serial console' },
  spice_bind: { label: 'SPICE address' },
  use_guest_agent: { label: 'Guest agent' },
  use_localtime: { label: 'Clock in local time' },
  user_shutdown: { label: 'May be shut down from inside' },
  vhost_net: { label: 'vhost-net' },
  vnc_bind_address: {
    label: 'VNC address',
    text: 'Empty for no VNC. 0.0.0.0 is reachable for everybody who reaches the node.',
  },
}
