// Parameters that a token with a scope may set. Such a token is for guests, not for machines. So it may not set
// parameters that name a file, program, device, network or address of a machine, or that reach QEMU unchanged. A
// parameter that no table here names is refused.

/**
 * `true`: any value. A list: one of these. A RegExp: texts of this form. An object: rules for the parameters inside,
 * where `*` stands for all others.
 */
export type ScopeRule = boolean | readonly unknown[] | RegExp | ScopeRules
export interface ScopeRules {
  readonly [name: string]: ScopeRule
}

const every = (...names: readonly string[]): ScopeRules => Object.fromEntries(names.map((name) => [name, true]))

/** `default` resets the value. Passing SCSI commands through would reach the whole device of which a disk is a part. */
const DISK_TYPES = [
  'default',
  'ide',
  'ioemu',
  'mtd',
  'paravirtual',
  'pflash',
  'scsi',
  'scsi-cd',
  'scsi-hd',
  'sd',
] as const

const HVPARAMS: ScopeRules = {
  ...every('acpi', 'boot_order', 'cpu_cores', 'cpu_sockets', 'cpu_threads', 'disk_aio', 'disk_cache', 'disk_discard'),
  ...every('kernel_args', 'kvm_pci_reservations', 'nic_type', 'pae', 'reboot_behavior', 'root_path'),
  ...every('scsi_controller_type', 'serial_console', 'serial_speed', 'usb_mouse', 'use_guest_agent', 'use_localtime'),
  ...every('user_shutdown', 'viridian', 'virtio_net_queues'),
  disk_type: DISK_TYPES,
  cdrom_disk_type: ['', ...DISK_TYPES],
}

/** Both name an image that the node reads: one for Ganeti, the other for the definition cloud-image. */
const OSPARAMS: ScopeRules = { '*': true, 'os-image': false, image: false }

/**
 * Rules for parameters of single opcodes. Parameters that name objects are not here; their objects must be in the
 * scope.
 */
export const SCOPE_PARAMS: ScopeRules = {
  ...every('comment', 'debug_level', 'depends', 'dry_run', 'priority', 'reason'),
  ...every(
    'hypervisor',
    'iallocator',
    'mode',
    'name',
    'new_name',
    'os_name',
    'os_type',
    'tags',
    'kind',
    'disk_template',
  ),
  ...every(
    'force',
    'force_failover',
    'force_variant',
    'cleanup',
    'early_release',
    'live',
    'allow_failover',
    'failover',
    'sequential',
  ),
  ...every('ignore_consistency', 'ignore_failures', 'ignore_hvversions', 'ignore_ipolicy', 'ignore_offline_nodes'),
  ...every('ignore_remove_failures', 'ignore_secondaries', 'ignore_size', 'ignore_soft_errors', 'ignore_status'),
  ...every('conflicts_check', 'ip_check', 'name_check', 'identify_defaults', 'is_strict', 'static', 'use_locking'),
  ...every('opportunistic_locking', 'wait_for_sync', 'commit', 'forthcoming', 'no_install', 'no_remember', 'start'),
  ...every('absolute', 'amount', 'disk', 'runtime_mem', 'hotplug', 'allow_runtime_changes', 'admin_state_source'),
  ...every('compress', 'long_sleep', 'remove_instance', 'shutdown', 'startup_paused', 'reboot_type', 'timeout'),
  ...every('shutdown_timeout', 'source_shutdown_timeout', 'helper_shutdown_timeout', 'helper_startup_timeout'),
  ...every('zero_free_space', 'zeroing_timeout_fixed', 'zeroing_timeout_per_mib'),
  ...every('command', 'drained', 'offline', 'powered', 'power_delay', 'readd', 'vm_capable', 'output_fields'),
  ...every('alloc_policy', 'ipolicy', 'disk_state', 'hv_state', 'storage_type'),
  ...every('add_reserved_ips', 'remove_reserved_ips', 'gateway', 'gateway6', 'mac_prefix', 'network6'),
  ...every('debug_simulate_errors', 'error_codes', 'ignore_errors', 'skip_checks', 'verbose', 'verify_clutter'),
  ...every('duration', 'interruptible', 'no_locks', 'on_master', 'repeat'),
  // These values are present even if nobody has set them.
  ...{ auto_promote: [false], file_driver: ['loop'], instance_communication: [false], network_vlan: [''] },
  ...{ node_setup: [false], ext_params: {} },
  // An export in the directory of exports, not in any other directory.
  src_path: /^(?!\.{1,2}$)[^/]+$/,
  beparams: every('always_failover', 'auto_balance', 'maxmem', 'memory', 'minmem', 'spindle_use', 'vcpus'),
  disks: every('mode', 'name', 'size', 'spindles', 'snapshot_name', 'snapshot_size'),
  hvparams: HVPARAMS,
  nics: every('ip', 'mac', 'name', 'network'),
  osparams: OSPARAMS,
  osparams_private: OSPARAMS,
  osparams_secret: OSPARAMS,
}
