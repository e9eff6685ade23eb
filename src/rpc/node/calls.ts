// TABLE 3: every call of the node daemon (spec: noded-rpc.json), in Ganeti's names, argument order and encodings. Client, server
// and handlers take their types from here. This layer knows the wire; it neither runs nor decides anything.
import {
  arg,
  bool,
  compressed,
  consoleRequests,
  dict,
  disk,
  diskOrFalse,
  disks,
  instance,
  instanceName,
  int,
  json,
  level,
  list,
  num,
} from './codecs'
import { map, nullable, pair, path, record, shaped, text, textOrLines, triple, uploadedFile } from './codecs'
import type { Arg, Codec } from './codecs'
import type * as d from './dicts'

/** Seconds that a caller waits for the answer. */
const URGENT = 60
const FAST = 300
const NORMAL = 900
const SLOW = 3600
const FOUR_HOURS = 14400
const DAY = 86400

/** A question changes nothing, an order may; `progress` asks how something gets on that an order began. */
export type CallKind = 'question' | 'order' | 'progress'

export interface NodeCall<A extends readonly Arg<unknown>[], R> {
  readonly kind: CallKind
  readonly args: A
  /** Only its type matters. */
  readonly result: Result<R>
  /** `'first argument'` adds it, in seconds, to a short wait. */
  readonly timeout_s: number | 'first argument'
  /** Whether Ganeti sends it to one node or to many at once; the wire is the same. */
  readonly fanOut: 'one' | 'many'
  /** Also sent to nodes that are marked offline. */
  readonly offlineToo?: boolean
  /** See the function of this name. */
  readonly planned?: R
  /** The request body is the only argument itself, not a list. */
  readonly bareBody?: boolean
}

interface Result<R> {
  readonly type?: R
}

const of = <R>(): Result<R> => ({})
const none = of<null>()
/** Ganeti answers with nothing and reads nothing; we tell what is otherwise than was asked for. */
const remarks = of<readonly string[] | null>()

const callsOf = <const K extends CallKind>(kind: K) => ({
  one: <const A extends readonly Arg<unknown>[], R>(timeout_s: number, args: A, result: Result<R>) =>
    ({ kind, args, result, timeout_s, fanOut: 'one' }) satisfies NodeCall<A, R> as NodeCall<A, R>,
  many: <const A extends readonly Arg<unknown>[], R>(timeout_s: number, args: A, result: Result<R>) =>
    ({ kind, args, result, timeout_s, fanOut: 'many' }) satisfies NodeCall<A, R> as NodeCall<A, R>,
})
const question = callsOf('question')
const order = callsOf('order')
const progress = callsOf('progress')

/** With what a plan, which carries out no order, takes for its answer; for all others that is null. */
const planned = <const A extends readonly Arg<unknown>[], R>(call: NodeCall<A, R>, answer: R): NodeCall<A, R> => ({
  ...call,
  planned: answer,
})

const inst = arg('instance', instance)
const reason = arg('reason', list(json<d.ReasonTrail[number]>()))
const hvparamsOf = map(dict<d.HvParams>())
const stringMap = map(text)
const names = list(text)
const masterParams = shaped<d.MasterParams>('the parameters of the master address', {
  ip: 'string',
  netmask: 'number',
  netdev: 'string',
})
const impExpEnd: Codec<d.ImpExpEnd> = pair(text, list(json<unknown>()))

export const nodeCalls = {
  accept_instance: order.one(NORMAL, [inst, arg('info', json<unknown>()), arg('target', text)], remarks),
  all_instances_info: question.many(
    URGENT,
    [arg('hypervisor_list', names), arg('all_hvparams', hvparamsOf)],
    of<Record<string, d.InstanceRuntime>>(),
  ),
  bdev_sizes: question.many(URGENT, [arg('devices', names)], of<Record<string, number>>()),
  blockdev_addchildren: order.one(NORMAL, [arg('bdev', disk), arg('ndevs', disks)], none),
  blockdev_assemble: planned(
    order.one(
      NORMAL,
      [arg('disk', disk), inst, arg('on_primary', bool), arg('idx', int)],
      of<[dev: string | true, link: string | true, uri?: string | null]>(),
    ),
    ['', '', null],
  ),
  blockdev_close: order.one(NORMAL, [arg('instance_name', instanceName), arg('disks', disks)], none),
  blockdev_convert: order.one(SLOW, [arg('bdev_src', disk), arg('bdev_dest', disk)], none),
  blockdev_create: order.one(
    NORMAL,
    [
      arg('bdev', disk),
      arg('size', int),
      arg('owner', instanceName),
      arg('on_primary', bool),
      arg('info', text),
      arg('exclusive_storage', bool),
    ],
    of<readonly (string | number)[] | null>(),
  ),
  blockdev_find: question.one(NORMAL, [arg('disk', disk)], of<d.BlockDeviceStatus | null>()),
  blockdev_getdimensions: question.one(
    NORMAL,
    [arg('disks', disks)],
    of<([size_bytes: number, spindles: number | null] | null)[]>(),
  ),
  blockdev_getmirrorstatus: question.one(NORMAL, [arg('disks', disks)], of<d.BlockDeviceStatus[]>()),
  blockdev_getmirrorstatus_multi: question.many(
    NORMAL,
    [arg('node_disks', disks)],
    of<([true, d.BlockDeviceStatus] | [false, string])[]>(),
  ),
  blockdev_grow: order.one(
    NORMAL,
    [arg('cf_bdev', disk), arg('amount', int), arg('dryrun', bool), arg('backingstore', bool), arg('es_flag', bool)],
    none,
  ),
  blockdev_image: order.one(SLOW, [arg('bdev', disk), arg('image', text), arg('size', int)], none),
  blockdev_open: order.one(
    NORMAL,
    [arg('instance_name', instanceName), arg('disks', disks), arg('exclusive', bool)],
    none,
  ),
  blockdev_pause_resume_sync: order.one(
    NORMAL,
    [arg('disks', disks), arg('pause', bool)],
    of<[ok: boolean, message: string | null][]>(),
  ),
  blockdev_remove: order.one(NORMAL, [arg('bdev', disk)], of<string | null>()),
  blockdev_removechildren: order.one(NORMAL, [arg('bdev', disk), arg('ndevs', disks)], none),
  blockdev_rename: order.one(NORMAL, [arg('devlist', list(pair(disk, list(json<string | number>()))))], none),
  blockdev_setinfo: order.one(NORMAL, [arg('disk', disk), arg('info', text)], none),
  blockdev_shutdown: order.one(NORMAL, [arg('disk', disk)], none),
  blockdev_snapshot: order.one(
    NORMAL,
    [arg('cf_bdev', disk), arg('snap_name', nullable(text)), arg('snap_size', nullable(int))],
    of<readonly (string | number)[] | string>(),
  ),
  blockdev_wipe: order.one(SLOW, [arg('bdev', disk), arg('offset', num), arg('size', num)], none),
  bridges_exist: question.one(URGENT, [arg('bridges_list', names)], none),
  drbd_attach_net: order.many(NORMAL, [arg('disks', disks), arg('multimaster', bool)], none),
  drbd_disconnect_net: order.many(NORMAL, [arg('disks', disks)], none),
  drbd_helper: question.many(URGENT, [], of<string>()),
  drbd_needs_activation: question.one(NORMAL, [arg('disks', disks)], of<string[]>()),
  drbd_wait_sync: planned(progress.many(SLOW, [arg('disks', disks)], of<[allDone: boolean, percent: number]>()), [
    true,
    100,
  ]),
  etc_hosts_modify: order.one(NORMAL, [arg('mode', text), arg('name', text), arg('ip', nullable(text))], of<true>()),
  export_info: question.one(FAST, [arg('path', path)], of<string>()),
  export_list: question.many(FAST, [], of<string[]>()),
  export_remove: order.one(FAST, [arg('export', text)], none),
  export_start: order.one(
    NORMAL,
    [
      arg('opts', dict<d.ImpExpOptions>()),
      arg('host', text),
      arg('port', int),
      inst,
      arg('component', text),
      arg('source', impExpEnd),
    ],
    of<string>(),
  ),
  extstorage_diagnose: question.many(
    FAST,
    [],
    of<[name: string, path: string, ok: boolean, message: string, parameters: [string, string][]][]>(),
  ),
  file_storage_dir_create: order.one(FAST, [arg('file_storage_dir', path)], none),
  file_storage_dir_remove: order.one(FAST, [arg('file_storage_dir', path)], none),
  file_storage_dir_rename: order.one(
    FAST,
    [arg('old_file_storage_dir', path), arg('new_file_storage_dir', path)],
    none,
  ),
  finalize_export: order.one(NORMAL, [inst, arg('snap_disks', list(diskOrFalse))], none),
  get_file_info: question.one(FAST, [arg('file_path', path)], of<[exists: boolean, info: { size?: number }]>()),
  get_watcher_pause: question.one(URGENT, [], of<number | null>()),
  hooks_runner: planned(
    order.many(NORMAL, [arg('hpath', text), arg('phase', text), arg('env', stringMap)], of<d.HookResult[]>()),
    [],
  ),
  hotplug_device: order.one(
    NORMAL,
    [
      inst,
      arg('action', text),
      arg('dev_type', text),
      arg('device', dict<d.DiskDict | d.NicDict>()),
      arg('extra', json<unknown>()),
      arg('seq', int),
    ],
    of<unknown>(),
  ),
  hotplug_supported: question.one(NORMAL, [inst], none),
  hypervisor_validate_params: question.many(NORMAL, [arg('hvname', text), arg('hvfull', record)], none),
  iallocator_runner: question.one(
    NORMAL,
    [arg('name', text), arg('idata', text), arg('default_iallocator_params', json<unknown>())],
    of<string>(),
  ),
  impexp_abort: order.one(NORMAL, [arg('name', text)], none),
  impexp_cleanup: order.one(NORMAL, [arg('name', text)], none),
  impexp_status: progress.one(FAST, [arg('names', names)], of<(d.ImpExpStatus | null)[]>()),
  import_start: order.one(
    NORMAL,
    [arg('opts', dict<d.ImpExpOptions>()), inst, arg('component', text), arg('dest', impExpEnd)],
    of<string>(),
  ),
  instance_balloon_memory: order.one(NORMAL, [inst, arg('memory', int)], none),
  // Ganeti answers with nothing and reads nothing; we tell why what was received could not be loaded.
  instance_finalize_migration_dst: order.one(
    NORMAL,
    [inst, arg('info', json<unknown>()), arg('success', bool)],
    of<string | null>(),
  ),
  instance_finalize_migration_src: order.one(SLOW, [inst, arg('success', bool), arg('live', bool)], none),
  instance_get_migration_status: progress.one(SLOW, [inst], of<d.MigrationStatus>()),
  instance_info: question.one(
    URGENT,
    [arg('instance', instanceName), arg('hname', text), arg('hvparams', record)],
    of<d.InstanceRuntime | Record<string, never>>(),
  ),
  instance_list: question.many(URGENT, [arg('hypervisor_list', names), arg('hvparams', hvparamsOf)], of<string[]>()),
  instance_metadata_modify: order.one(URGENT, [inst], none),
  instance_migratable: question.one(NORMAL, [inst], none),
  instance_migrate: order.one(SLOW, [arg('cluster_name', text), inst, arg('target', text), arg('live', bool)], none),
  instance_os_add: order.one(DAY, [arg('instance_osp', instance), arg('reinstall', bool), arg('debug', level)], none),
  instance_reboot: order.one(
    NORMAL,
    [arg('inst', instance), arg('reboot_type', text), arg('shutdown_timeout', num), reason],
    remarks,
  ),
  instance_run_rename: order.one(SLOW, [inst, arg('old_name', text), arg('debug', level)], none),
  instance_shutdown: order.one(NORMAL, [inst, arg('timeout', num), reason], none),
  instance_start: order.one(NORMAL, [arg('instance_hvp_bep', instance), arg('startup_paused', bool), reason], remarks),
  jobqueue_purge: order.one(NORMAL, [], none),
  jobqueue_rename: order.many(URGENT, [arg('rename', list(pair(path, path)))], of<null[]>()),
  jobqueue_set_drain_flag: order.many(URGENT, [arg('flag', bool)], none),
  jobqueue_update: order.many(URGENT, [arg('file_name', path), arg('content', compressed)], none),
  lv_list: question.many(
    URGENT,
    [arg('vg_name', text)],
    of<Record<string, [size_mib: string, inactive: boolean, online: boolean]>>(),
  ),
  master_node_name: question.many(URGENT, [], of<string>()),
  migration_info: question.one(NORMAL, [inst], of<unknown>()),
  node_activate_master_ip: order.one(
    FAST,
    [arg('master_params', masterParams), arg('use_external_mip_script', bool)],
    none,
  ),
  node_change_master_netmask: order.one(
    FAST,
    [arg('old_netmask', int), arg('netmask', int), arg('master_ip', text), arg('master_netdev', text)],
    none,
  ),
  node_configure_ovs: order.one(NORMAL, [arg('ovs_name', text), arg('ovs_link', nullable(text))], none),
  node_crypto_tokens: order.one(
    SLOW,
    [arg('token_request', list(triple(text, text, json<unknown>())))],
    of<[type: string, digest: string][]>(),
  ),
  node_deactivate_master_ip: order.one(
    FAST,
    [arg('master_params', masterParams), arg('use_external_mip_script', bool)],
    none,
  ),
  node_demote_from_mc: order.one(FAST, [], none),
  node_ensure_daemon: planned(order.many(URGENT, [arg('daemon', text), arg('run', bool)], of<boolean>()), true),
  node_has_ip_address: question.one(FAST, [arg('address', text)], of<boolean>()),
  node_info: question.many(
    URGENT,
    [
      // Ganeti's masters send null for what they do not ask for.
      arg('storage_units', nullable(list<d.StorageUnit>(triple(text, text, list(json<unknown>()))))),
      arg('hv_specs', nullable(list(pair(text, dict<d.HvParams>())))),
    ],
    of<d.NodeInfo>(),
  ),
  node_leave_cluster: order.one(NORMAL, [arg('modify_ssh_setup', bool)], of<string>()),
  node_powercycle: {
    ...order.one(NORMAL, [arg('hypervisor', text), arg('hvparams', record)], of<string>()),
    offlineToo: true,
  },
  node_ssh_key_add: order.many(
    FAST,
    [
      arg('node_uuid', text),
      arg('node_name', text),
      arg('potential_master_candidates', names),
      arg('to_authorized_keys', bool),
      arg('to_public_keys', bool),
      arg('get_public_keys', bool),
    ],
    of<[node: string, message: string][]>(),
  ),
  node_ssh_key_remove: order.many(
    FAST,
    [
      arg('node_uuid', text),
      arg('node_name', text),
      arg('master_candidate_uuids', names),
      arg('potential_master_candidates', names),
      arg('from_authorized_keys', bool),
      arg('from_public_keys', bool),
      arg('clear_authorized_keys', bool),
      arg('clear_public_keys', bool),
      arg('readd', bool),
    ],
    of<[node: string, message: string][]>(),
  ),
  node_ssh_keys_renew: order.many(
    FOUR_HOURS,
    [
      arg('node_uuids', names),
      arg('node_names', names),
      arg('master_candidate_uuids', names),
      arg('potential_master_candidates', names),
      arg('old_key_type', text),
      arg('new_key_type', text),
      arg('new_key_bits', int),
    ],
    of<[node: string, message: string][]>(),
  ),
  node_start_master_daemons: order.one(FAST, [arg('no_voting', bool)], none),
  node_stop_master: order.one(FAST, [], none),
  node_verify: question.many(
    NORMAL,
    [arg('checkdict', record), arg('cluster_name', text), arg('all_hvparams', hvparamsOf)],
    of<Record<string, unknown>>(),
  ),
  node_verify_light: question.many(
    NORMAL,
    [arg('checkdict', record), arg('cluster_name', text), arg('hvparams', hvparamsOf)],
    of<Record<string, unknown>>(),
  ),
  node_volumes: question.many(FAST, [], of<d.VolumeInfo[]>()),
  os_diagnose: question.many(FAST, [], of<d.OsDiagnosis[]>()),
  os_export: order.one(FAST, [inst, arg('override_env', stringMap)], of<string>()),
  os_validate: question.many(
    FAST,
    [
      arg('required', bool),
      arg('name', text),
      arg('checks', names),
      arg('params', stringMap),
      arg('force_variant', bool),
    ],
    of<boolean>(),
  ),
  resize_disk: order.one(NORMAL, [inst, arg('disk', disk), arg('new_size', int)], none),
  restricted_command: order.many(SLOW, [arg('cmd', text)], of<string>()),
  run_oob: order.one(
    NORMAL,
    [arg('oob_program', path), arg('command', text), arg('remote_node', text), arg('timeout', num)],
    of<unknown>(),
  ),
  set_watcher_pause: order.many(URGENT, [arg('until', nullable(num))], none),
  storage_execute: order.one(
    NORMAL,
    [arg('su_name', text), arg('su_args', list(json<unknown>())), arg('name', text), arg('op', text)],
    none,
  ),
  storage_list: question.many(
    NORMAL,
    [arg('su_name', text), arg('su_args', list(json<unknown>())), arg('name', nullable(text)), arg('fields', names)],
    of<unknown[][]>(),
  ),
  storage_modify: order.one(
    NORMAL,
    [arg('su_name', text), arg('su_args', list(json<unknown>())), arg('name', text), arg('changes', record)],
    none,
  ),
  test_delay: {
    kind: 'order',
    args: [arg('duration', num)],
    result: none,
    timeout_s: 'first argument',
    fanOut: 'many',
  } as NodeCall<readonly [Arg<number>], null>,
  upload_file: order.many(NORMAL, [arg('file_name', uploadedFile)], none),
  upload_file_single: order.many(
    NORMAL,
    [
      arg('file_name', path),
      arg('content', compressed),
      arg('mode', nullable(int)),
      arg('uid', nullable(text)),
      arg('gid', nullable(text)),
      arg('atime', nullable(num)),
      arg('mtime', nullable(num)),
    ],
    none,
  ),
  version: { ...question.many(URGENT, [], of<number>()), offlineToo: true },
  vg_list: question.many(URGENT, [], of<Record<string, number>>()),
  write_ssconf_files: order.many(NORMAL, [arg('values', map(textOrLines))], none),
  x509_cert_create: order.one(NORMAL, [arg('validity', num)], of<[name: string, certificate: string]>()),
  x509_cert_remove: order.one(NORMAL, [arg('name', text)], none),
  instance_console_info: {
    ...question.many(URGENT, [arg('instances', consoleRequests)], of<Record<string, d.ConsoleInfo>>()),
    bareBody: true,
  },

  // Ours: Ganeti's nodes do not know calls that begin with gantry.
  /** Journal records that follow what the candidate has; it answers when they are durable, or that it needs a full copy. */
  gantry_config_append: order.many(FAST, [arg('records', compressed)], none),
  /** The files below each of these storage directories, in their order. */
  gantry_file_storage_list: question.many(FAST, [arg('directories', names)], of<d.StoredFile[][]>()),
  /** Tells what a candidate has of the configuration and the queue. Candidates are compared before one becomes the master. */
  gantry_replica_status: question.many(URGENT, [], of<d.ReplicaContents>()),
  /** A full copy: the texts of config.data and gantry.data. */
  gantry_config_replace: order.many(NORMAL, [arg('config', compressed), arg('gantry', compressed)], none),
  /** Waits, no longer than that, until the guests that their users have shut down are others than these, and names them. */
  gantry_guest_ends: {
    kind: 'question',
    args: [arg('wait', num), arg('known', names)],
    result: of<string[]>(),
    timeout_s: 'first argument',
    fanOut: 'one',
  } as NodeCall<readonly [Arg<number>, Arg<readonly string[]>], string[]>,
  /** The node's measurements, as prom-client's JSON. */
  gantry_metrics: question.many(URGENT, [], of<unknown[]>()),
  /** jobqueue_update for several files; it answers when all are durable. */
  gantry_jobqueue_write: order.many(URGENT, [arg('files', list(pair(path, compressed)))], none),
  /** The same in a hurry: what these files are to have is durable, and reaches them with `gantry_jobqueue_fold`. */
  gantry_jobqueue_append: order.many(URGENT, [arg('files', list(pair(path, compressed)))], none),
  gantry_jobqueue_fold: order.many(NORMAL, [], none),
  /** The end of a full copy of the queue: job files that are not among these go. */
  gantry_jobqueue_keep: order.many(URGENT, [arg('files', list(path))], none),
}

export type CallName = keyof typeof nodeCalls
type DecodedArgs<A extends readonly Arg<unknown>[]> = {
  -readonly [K in keyof A]: A[K] extends Arg<infer T> ? T : never
}
/** The argument tuple of a call, as callers give it and handlers get it. */
export type ArgsOf<C extends CallName> = DecodedArgs<(typeof nodeCalls)[C]['args']>
export type ResultOf<C extends CallName> =
  (typeof nodeCalls)[C] extends NodeCall<readonly Arg<unknown>[], infer R> ? R : never

export const isCallName = (name: string): name is CallName => Object.hasOwn(nodeCalls, name)

/** Not one of Ganeti's. */
export const isOwnCall = (name: CallName): boolean => name.startsWith('gantry_')

/** The uniform view of an entry, for code that handles any call. */
export const callOf = (name: CallName): NodeCall<readonly Arg<unknown>[], unknown> => nodeCalls[name]
