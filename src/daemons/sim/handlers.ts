// The answers of a simulated node. Calls, arguments and results are a real node's, but they do not touch this machine.
import { createHash } from 'node:crypto'
import { PROTOCOL_VERSION } from '../../model/constants/versions'
import type { BlockDeviceStatus, DiskDict, InstanceDict, InstanceRuntime } from '../../rpc/node/dicts'
import { diskIdOf, isDrbd, isFileBased } from '../../model/templates'
import { answerChecks, osList } from './checks'
import { hypervisorInfo, logicalVolumes, storageInfo, volumeGroup } from './capacity'
import type { SimHandlers } from './sim-handlers'
import { transfers } from './transfers'
import { type SimContext, type SimInstance, certificateOf } from './world'

/** For calls that change nothing which a simulated node has. */
const nothing = () => null

const filesAndDaemons = {
  version: () => PROTOCOL_VERSION,
  upload_file: nothing,
  upload_file_single: nothing,
  write_ssconf_files: nothing,
  gantry_distributed_read: nothing,
  gantry_distributed_write: nothing,
  gantry_config_append: nothing,
  gantry_config_replace: nothing,
  gantry_config_status: () => null,
  gantry_replica_status: () => ({ config_serial: null, jobs: [] }),
  gantry_jobqueue_append: nothing,
  gantry_jobqueue_fold: nothing,
  gantry_jobqueue_keep: nothing,
  gantry_jobqueue_read: nothing,
  gantry_jobqueue_write: nothing,
  jobqueue_update: nothing,
  jobqueue_rename: (_sim, pairs) => pairs.map(() => null),
  jobqueue_purge: nothing,
  jobqueue_set_drain_flag: nothing,
  set_watcher_pause: nothing,
  get_watcher_pause: nothing,
  etc_hosts_modify: () => true,
  hooks_runner: () => [],
  bridges_exist: nothing,
  node_has_ip_address: () => true,
  node_activate_master_ip: nothing,
  node_deactivate_master_ip: nothing,
  node_change_master_netmask: nothing,
  node_start_master_daemons: nothing,
  node_stop_master: nothing,
  node_ensure_daemon: () => true,
  node_demote_from_mc: nothing,
  node_leave_cluster: () => 'Shutdown scheduled',
  node_ssh_key_add: () => [],
  node_ssh_key_remove: () => [],
  master_node_name: ({ world: { config } }) => config.nodes[config.cluster.master_node]?.name ?? '',
  node_crypto_tokens: (sim, requests) => requests.map(([type]) => [type, certificateOf(sim)]),
  /** Nobody shuts down a simulated guest from inside. */
  async gantry_guest_ends(sim, wait_s) {
    await sim.clock.sleep(wait_s * 1000)
    return []
  },
  async test_delay(sim, duration_s) {
    await sim.clock.sleep(duration_s * 1000)
    return null
  },
} satisfies SimHandlers

const state = {
  node_info: (sim, units, hypervisors) => [
    bootId(sim.node),
    units && units.map((unit) => storageInfo(sim, unit)),
    hypervisors && hypervisors.map(() => hypervisorInfo(sim)),
  ],
  node_verify: (sim, checks) => answerChecks(sim, checks),
  node_verify_light: (sim, checks) => answerChecks(sim, checks),
  os_diagnose: (sim) => osList(sim.world),
  os_validate: ({ world }, required, os) => {
    const [desired] = os.split('+')
    const known = osList(world).some(([name]) => name === desired)
    if (!known && required) throw new Error(`Directory for OS ${desired} not found in search path`)
    return known
  },
  extstorage_diagnose: () => [],
  hypervisor_validate_params: nothing,
  gantry_start_problem: nothing,
  gantry_snapshot_problem: nothing,
  // Simulated nodes have no scripts; the built-in allocator needs none.
  iallocator_runner: (_sim, name) => {
    throw new Error(`iallocator module '${name}' not found in the search path`)
  },
  storage_list: (sim, type, args, name, fields) => {
    const keys = type === 'lvm-vg' ? [volumeGroup(sim)] : Array.isArray(args[0]) ? args[0].map(String) : []
    return keys
      .filter((key) => name === null || name === key)
      .map((key) => {
        const { storage_size: size, storage_free: free } = storageInfo(sim, [type, key, []])
        const unit: Record<string, unknown> = { name: key, size, used: size - free, free, allocatable: true }
        return fields.map((field) => unit[field] ?? null)
      })
  },
  lv_list: (sim) => Object.fromEntries(logicalVolumes(sim)),
  vg_list: (sim) => ({ [volumeGroup(sim)]: storageInfo(sim, ['lvm-vg', volumeGroup(sim), []]).storage_size }),
  node_volumes: (sim) =>
    logicalVolumes(sim).map(([name, [size]]) => ({ name: name.split('/')[1] ?? name, size, dev: '/dev/sim', vg: volumeGroup(sim) })), // prettier-ignore
} satisfies SimHandlers

const instances = {
  all_instances_info: (sim, hypervisors) =>
    Object.fromEntries(running(sim, hypervisors).map(([name, instance]) => [name, runtime(instance)])),
  instance_list: (sim, hypervisors) => running(sim, hypervisors).map(([name]) => name),
  instance_info: (sim, name) => {
    const instance = sim.world.node(sim.node).instances.get(name)
    return instance ? runtime(instance) : {}
  },
  // Simulated instances show what Ganeti's fake hypervisor shows.
  instance_console_info: (_sim, requests) =>
    Object.fromEntries(
      Object.keys(requests).map((name) => [
        name,
        { instance: name, kind: 'msg', message: 'Console not available for fake hypervisor' },
      ]),
    ),
  instance_start: (sim, instance) => {
    if (!isRunning(sim, instance)) sim.world.run(sim.node, instance)
    return null
  },
  instance_shutdown: (sim, instance) => stop(sim, instance),
  instance_reboot: (sim, instance) => {
    if (!isRunning(sim, instance)) throw new Error(`Cannot reboot instance '${instance.name}' that is not running`)
    return null
  },
  instance_balloon_memory: (sim, { name }, memory) => {
    const instance = sim.world.node(sim.node).instances.get(name)
    if (instance === undefined) throw new Error(`Instance '${name}' is not running`)
    instance.memory = memory
    return null
  },
  // Here all hypervisors behave like the fake one.
  hotplug_supported: () => {
    throw new Error('Hotplug is not supported: Hotplug is not supported by this hypervisor')
  },
  resize_disk: nothing,
  instance_os_add: nothing,
  instance_run_rename: nothing,
  instance_metadata_modify: nothing,
  instance_migratable: (sim, instance) => {
    if (!isRunning(sim, instance)) throw new Error(`Instance ${instance.name} is not running`)
    return null
  },
  migration_info: () => '',
  accept_instance: nothing,
  instance_migrate: nothing,
  instance_get_migration_status: () => ({ status: 'completed' }),
  gantry_migration_status: () => ({ status: 'completed' }),
  gantry_migration_recover: nothing,
  gantry_reason: nothing,
  gantry_migration_tls: () => false,
  gantry_migration_accept: nothing,
  gantry_migration_send: nothing,
  instance_finalize_migration_dst: (sim, instance, _info, success) => {
    if (success) sim.world.run(sim.node, instance)
    return null
  },
  instance_finalize_migration_src: (sim, instance, success) => (success ? stop(sim, instance) : null),
} satisfies SimHandlers

const disks = {
  blockdev_create: (sim, disk, size) => {
    const path = pathOf(disk)
    // The volumes of a mirror come first.
    if (isDrbd(disk.dev_type) || diskIdOf(disk.dev_type) === 'device') requireDisk(sim, disk)
    else if (sim.world.disk(sim.node, disk))
      throw new Error(`Can't create block device: ${path}: can't create: [Errno 17] File exists: '${path}'`)
    if (isDrbd(disk.dev_type)) setMinor(sim, disk, true)
    else if (diskIdOf(disk.dev_type) !== 'device') sim.world.addDisk(sim.node, disk, size)
    return disk.logical_id ?? null
  },
  blockdev_assemble: (sim, disk, instance, onPrimary, index) => {
    requireDisk(sim, disk)
    setMinor(sim, disk, true)
    if (!onPrimary) return [true, true]
    return [pathOf(disk), `/var/run/ganeti/instance-disks/${instance.name}:${index}`, null]
  },
  blockdev_find: (sim, disk) => (sim.world.disk(sim.node, disk) ? status(disk) : null),
  blockdev_getmirrorstatus: (sim, list) => list.map((disk) => (requireDisk(sim, disk), status(disk))),
  blockdev_getmirrorstatus_multi: (sim, list) =>
    list.map((disk) => (sim.world.disk(sim.node, disk) ? [true, status(disk)] : [false, missing(disk)])),
  blockdev_getdimensions: (sim, list) =>
    list.map((disk) => {
      const found = sim.world.disk(sim.node, disk)
      return found ? [found.size * 1024 * 1024, null] : null
    }),
  blockdev_grow: (sim, disk, amount, dryRun, backingStore) => {
    const found = requireDisk(sim, disk)
    if (!dryRun && backingStore) found.size += amount
    return null
  },
  blockdev_remove: (sim, disk) => {
    setMinor(sim, disk, false)
    sim.world.removeDisk(sim.node, disk)
    return null
  },
  blockdev_shutdown: (sim, disk) => (setMinor(sim, disk, false), null),
  blockdev_open: nothing,
  blockdev_close: nothing,
  blockdev_snapshot: (sim, disk, wished) => {
    const [volume = disk] = disk.children ?? []
    const { size, dev_type, logical_id } = requireDisk(sim, volume)
    // As on most file systems, including those of the recorded nodes.
    if (isFileBased(dev_type)) throw new Error('The file system has no snapshots of files')
    const [vg = '', name = ''] = logical_id.map(String)
    const isVolume = diskIdOf(dev_type) === 'volume'
    const id = [vg, isVolume && wished !== null ? wished : `${name}.${wished ?? 'snap'}`]
    sim.world.addDisk(sim.node, { ...volume, children: [], dev_type, logical_id: id }, size)
    return id
  },
  blockdev_wipe: nothing,
  blockdev_setinfo: nothing,
  blockdev_rename: (sim, list) => {
    for (const [disk, id] of list) {
      requireDisk(sim, disk)
      sim.world.renameDisk(sim.node, disk, id)
    }
    return null
  },
  blockdev_addchildren: (sim, disk, parts) => {
    requireDisk(sim, disk)
    for (const part of parts) requireDisk(sim, part)
    return null
  },
  blockdev_removechildren: (sim, disk) => (requireDisk(sim, disk), null),
  gantry_snapshot_restore: (sim, disk, snapshot) => (requireDisk(sim, snapshot), requireDisk(sim, disk), null),
  blockdev_convert: (sim, from, to) => (requireDisk(sim, from), requireDisk(sim, to), null),
  blockdev_pause_resume_sync: (_sim, list) => list.map(() => [true, null]),
  drbd_attach_net: nothing,
  drbd_disconnect_net: nothing,
  drbd_wait_sync: () => [true, 100],
  drbd_needs_activation: ({ world, node }, list) =>
    list
      .filter(({ dynamic_params }) => !world.node(node).minors.has(Number(dynamic_params?.['local-minor'])))
      .map(({ uuid }) => uuid),
  drbd_helper: () => '/bin/true',
  file_storage_dir_create: nothing,
  file_storage_dir_remove: nothing,
  file_storage_dir_rename: ({ world, node }, from, to) => (world.renameFile(node, from, to), null),
  // A simulated file has one name.
  gantry_file_link: () => false,
  gantry_metrics: () => [],
  gantry_devices_seen: () => ({}),
  gantry_file_storage_list: ({ world, node }, directories) =>
    directories.map((directory) => world.filesBelow(node, directory)),
} satisfies SimHandlers

export const simHandlers: SimHandlers = { ...filesAndDaemons, ...state, ...instances, ...disks, ...transfers }

/** The same at each start of the simulator: simulated nodes never reboot. */
function bootId(node: string): string {
  const hex = createHash('sha1').update(node).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

const running = ({ world, node }: SimContext, hypervisors: readonly string[]): [string, SimInstance][] =>
  [...world.node(node).instances].filter(([, instance]) => hypervisors.includes(instance.hypervisor))

const runtime = ({ memory, vcpus }: SimInstance): InstanceRuntime => ({ memory, vcpus, state: 0, time: 0 })

const isRunning = ({ world, node }: SimContext, instance: InstanceDict): boolean =>
  world.node(node).instances.has(instance.name)

function stop({ world, node }: SimContext, instance: InstanceDict): null {
  world.node(node).instances.delete(instance.name)
  return null
}

function setMinor({ world, node }: SimContext, { dev_type, dynamic_params }: DiskDict, there: boolean): void {
  const minor = dynamic_params?.['local-minor']
  if (!isDrbd(dev_type) || typeof minor !== 'number') return
  const { minors } = world.node(node)
  if (there) minors.add(minor)
  else minors.delete(minor)
}

function requireDisk({ world, node }: SimContext, disk: DiskDict) {
  const found = world.disk(node, disk)
  if (found === undefined) throw new Error(missing(disk))
  return found
}

const status = (disk: DiskDict): BlockDeviceStatus => ({ dev_path: pathOf(disk), is_degraded: false, ldisk_status: 1 })
function pathOf(disk: DiskDict): string {
  if (diskIdOf(disk.dev_type) === 'volume') return `/dev/${disk.logical_id?.join('/') ?? ''}`
  if (isDrbd(disk.dev_type)) return `/dev/drbd${String(disk.dynamic_params?.['local-minor'] ?? '')}`
  return String(disk.logical_id?.at(-1) ?? disk.uuid)
}
const missing = (disk: DiskDict): string => `Can't find device ${disk.iv_name ?? disk.uuid}`
