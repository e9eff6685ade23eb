// TABLE 3: every call of the node daemon (spec: noded-rpc.json), in Ganeti's names, argument order and encodings. Client, server
// and handlers take their types from here. This layer knows the wire; it neither runs nor decides anything.
import { dictOf, either, listOf, orNull, tuple } from '../../lib/shapes/containers'
import { bool, exactly, float, int, json, keyed, oneOf, string } from '../../lib/shapes/leaves'
import type { Shape } from '../../lib/shapes/shape'
import { NODE_ANSWER_BYTES } from '../../model/limits/node-calls'
import { MIGRATION_SIDES } from './dicts'
import * as r from './results'
import { figures } from './figures'
import { done, remarks } from './results'
import {
  type Arg,
  arg,
  compressed,
  consoleRequests,
  disk,
  diskOrFalse,
  disks,
  instance,
  instanceName,
  level,
  masterParams,
  metadata,
  nic,
  paramsMap,
  path,
  reasonTrail,
  storageUnit,
  stringMap,
  strings,
  textOrLines,
  transferEnd,
  transferOptions,
  uploadedFile,
  writeConsoleRequests,
} from './shapes'

/** Seconds that a caller waits for the answer. */
const URGENT = 60
const FAST = 300
const NORMAL = 900
const SLOW = 3600
const FOUR_HOURS = 14400
const DAY = 86400
const USUAL = NODE_ANSWER_BYTES.usual

/** A question changes nothing. An order may. `progress` asks how an order's work goes on. */
type CallKind = 'question' | 'order' | 'progress'

type Args = readonly Arg<unknown>[]

export interface NodeCall<A extends Args, R> {
  readonly kind: CallKind
  readonly args: A
  /** Any other answer counts as the node's failure. */
  readonly result: Shape<R>
  /** `'first argument'`: the seconds of the first argument, plus a short wait. */
  readonly timeout_s: number | 'first argument'
  /** A longer answer is not read. */
  readonly answer_bytes: number
  /** Whether Ganeti sends it to one node or to many at once; the wire format is the same. */
  readonly fanOut: 'one' | 'many'
  /**
   * Whether a node takes this order from its master alone. A former master that does not know its successor must not undo
   * the successor's changes. Each order of ours says it.
   */
  readonly masterOnly?: boolean
  /** Also sent to nodes that are marked offline. */
  readonly offlineToo?: boolean
  /** The answer that a plan assumes, since it does not ask. */
  planned?(...args: DecodedArgs<A>): R | typeof REAL_ONLY
  /** The same for a question behind orders that a plan has not carried out: the node would answer otherwise after them. */
  plannedAfterOrders?(...args: DecodedArgs<A>): R
  /** The program that a node starts to answer a question. A plan does not ask one that the cluster does not start anyway. */
  program?(...args: DecodedArgs<A>): string | undefined
  /** A plan tells elsewhere what this does, not among its calls. */
  readonly toldElsewhere?: boolean
  /** The request body is the only argument itself, not a list. */
  readonly bareBody?: boolean
}

type Planned<A extends Args, R> = (...args: DecodedArgs<A>) => NoInfer<R> | typeof REAL_ONLY
/** An answer that may be null is null in a plan, unless something else is said. */
type WithPlanned<A extends Args, R> = unknown extends R
  ? [planned: Planned<A, R>]
  : null extends R
    ? [planned?: Planned<A, R>]
    : [planned: Planned<A, R>]

const toldCalls = <const K extends CallKind>(kind: K) => {
  const call =
    (fanOut: NodeCall<Args, unknown>['fanOut']) =>
    <const A extends Args, R>(timeout_s: number, args: A, result: Shape<R>, ...input: WithPlanned<A, R>) => {
      const [planned = () => null as R] = input
      return { kind, args, result, timeout_s, answer_bytes: USUAL, fanOut, planned } as NodeCall<A, R>
    }
  return { one: call('one'), many: call('many') }
}
const requested =
  (fanOut: NodeCall<Args, unknown>['fanOut']) =>
  <const A extends Args, R>(timeout_s: number, args: A, result: Shape<R>) =>
    ({ kind: 'question', args, result, timeout_s, answer_bytes: USUAL, fanOut }) as NodeCall<A, R>
const question = { one: requested('one'), many: requested('many') }
const also = <A extends Args, R>(call: NodeCall<A, R>, more: Partial<NodeCall<A, NoInfer<R>>>): NodeCall<A, R> => ({
  ...call,
  ...more,
})
const order = toldCalls('order')
const progress = toldCalls('progress')
/** Answers with a list of what is on the node, or with what programs print. */
const long = <A extends Args, R>(call: NodeCall<A, R>): NodeCall<A, R> => ({
  ...call,
  answer_bytes: NODE_ANSWER_BYTES.long,
})
const masterOnly = <A extends Args, R>(call: NodeCall<A, R>): NodeCall<A, R> => ({ ...call, masterOnly: true })

/** A plan ends with this call: nobody can say what a real node answers. */
export const REAL_ONLY = Symbol('an answer that only a real node can give')
const realOnly = (): typeof REAL_ONLY => REAL_ONLY

/** Disks that orders have made are in sync. */
const IN_SYNC = { dev_path: '', is_degraded: false, ldisk_status: 1 }

export const kvmProgram = (hvparams: object): string | undefined => {
  const program: unknown = Reflect.get(hvparams, 'kvm_path')
  return typeof program === 'string' ? program : undefined
}

const inst = arg('instance', instance)
const reason = arg('reason', reasonTrail)

export const nodeCalls = {
  accept_instance: order.one(NORMAL, [inst, arg('info', json), arg('target', string)], remarks),
  all_instances_info: long(
    question.many(URGENT, [arg('hypervisor_list', strings), arg('all_hvparams', paramsMap)], dictOf(r.runtime, string)),
  ),
  bdev_sizes: long(question.many(URGENT, [arg('devices', strings)], r.sizes)),
  blockdev_addchildren: order.one(NORMAL, [arg('bdev', disk), arg('ndevs', disks)], done),
  blockdev_assemble: order.one(
    NORMAL,
    [arg('disk', disk), inst, arg('on_primary', bool), arg('idx', int)],
    r.assembled,
    () => ['', '', null],
  ),
  // Without a name, the instance's links stay.
  blockdev_close: order.one(
    NORMAL,
    [arg('instance_name', either(instanceName, exactly(''))), arg('disks', disks)],
    done,
  ),
  blockdev_convert: order.one(SLOW, [arg('bdev_src', disk), arg('bdev_dest', disk)], done),
  blockdev_create: order.one(
    NORMAL,
    [
      arg('bdev', disk),
      arg('size', int),
      arg('owner', instanceName),
      arg('on_primary', bool),
      arg('info', string),
      arg('exclusive_storage', bool),
    ],
    orNull(r.madeId),
  ),
  blockdev_find: question.one(NORMAL, [arg('disk', disk)], orNull(r.blockDevice)),
  blockdev_getdimensions: long(question.one(NORMAL, [arg('disks', disks)], listOf(orNull(tuple(float, orNull(int)))))),
  blockdev_getmirrorstatus: long(
    also(question.one(NORMAL, [arg('disks', disks)], listOf(r.blockDevice)), {
      plannedAfterOrders: (disks) => disks.map(() => IN_SYNC),
    }),
  ),
  blockdev_getmirrorstatus_multi: long(question.many(NORMAL, [arg('node_disks', disks)], listOf(r.blockDeviceOrWhy))),
  blockdev_grow: order.one(
    NORMAL,
    [arg('cf_bdev', disk), arg('amount', int), arg('dryrun', bool), arg('backingstore', bool), arg('es_flag', bool)],
    done,
  ),
  blockdev_image: order.one(SLOW, [arg('bdev', disk), arg('image', string), arg('size', int)], done),
  blockdev_open: order.one(
    NORMAL,
    [arg('instance_name', instanceName), arg('disks', disks), arg('exclusive', bool)],
    done,
  ),
  blockdev_pause_resume_sync: long(
    order.one(NORMAL, [arg('disks', disks), arg('pause', bool)], listOf(tuple(bool, orNull(string))), (disks) =>
      disks.map(() => [true, null]),
    ),
  ),
  blockdev_remove: order.one(NORMAL, [arg('bdev', disk)], orNull(string)),
  blockdev_removechildren: order.one(NORMAL, [arg('bdev', disk), arg('ndevs', disks)], done),
  blockdev_rename: order.one(NORMAL, [arg('devlist', listOf(tuple(disk, r.uniqueId)))], done),
  blockdev_setinfo: order.one(NORMAL, [arg('disk', disk), arg('info', string)], done),
  blockdev_shutdown: order.one(NORMAL, [arg('disk', disk)], done),
  blockdev_snapshot: order.one(
    NORMAL,
    [arg('cf_bdev', disk), arg('snap_name', orNull(string)), arg('snap_size', orNull(int))],
    either(r.uniqueId, string),
    () => [],
  ),
  blockdev_wipe: order.one(SLOW, [arg('bdev', disk), arg('offset', float), arg('size', float)], done),
  bridges_exist: question.one(URGENT, [arg('bridges_list', strings)], done),
  drbd_attach_net: order.many(NORMAL, [arg('disks', disks), arg('multimaster', bool)], done),
  drbd_disconnect_net: order.many(NORMAL, [arg('disks', disks)], done),
  drbd_helper: question.many(URGENT, [], string),
  drbd_needs_activation: long(question.one(NORMAL, [arg('disks', disks)], strings)),
  drbd_wait_sync: progress.many(SLOW, [arg('disks', disks)], tuple(bool, float), () => [true, 100]),
  etc_hosts_modify: order.one(
    NORMAL,
    [arg('mode', string), arg('name', string), arg('ip', orNull(string))],
    exactly(true),
    () => true,
  ),
  export_info: long(question.one(FAST, [arg('path', path)], string)),
  export_list: long(question.many(FAST, [], strings)),
  export_remove: order.one(FAST, [arg('export', string)], done),
  export_start: order.one(
    NORMAL,
    [
      arg('opts', transferOptions),
      arg('host', string),
      arg('port', int),
      inst,
      arg('component', string),
      arg('source', transferEnd),
    ],
    string,
    realOnly,
  ),
  extstorage_diagnose: long(question.many(FAST, [], listOf(r.extStorage))),
  file_storage_dir_create: order.one(FAST, [arg('file_storage_dir', path)], done),
  file_storage_dir_remove: order.one(FAST, [arg('file_storage_dir', path)], done),
  file_storage_dir_rename: order.one(
    FAST,
    [arg('old_file_storage_dir', path), arg('new_file_storage_dir', path)],
    done,
  ),
  /** Ours: gives files of disks second names, all or none; false if their file system has no second names. */
  gantry_file_link: masterOnly(order.one(FAST, [arg('names', listOf(tuple(path, path)))], bool, () => true)),
  finalize_export: order.one(NORMAL, [inst, arg('snap_disks', listOf(diskOrFalse))], done),
  // The path is a real node's, also in a virtual cluster, as in blockdev_image, which reads the file.
  get_file_info: question.one(FAST, [arg('file_path', string)], r.fileInfo),
  get_watcher_pause: question.one(URGENT, [], orNull(float)),
  hooks_runner: long(
    also(
      order.many(
        NORMAL,
        [arg('hpath', string), arg('phase', string), arg('env', stringMap)],
        listOf(r.hookResult),
        () => [],
      ),
      { toldElsewhere: true },
    ),
  ),
  hotplug_device: order.one(
    NORMAL,
    [
      inst,
      arg('action', string),
      arg('dev_type', string),
      arg('device', either(disk, nic)),
      arg('extra', json),
      arg('seq', int),
    ],
    json,
    () => null,
  ),
  hotplug_supported: question.one(NORMAL, [inst], done),
  hypervisor_validate_params: also(question.many(NORMAL, [arg('hvname', string), arg('hvfull', keyed)], done), {
    program: (_hypervisor, hvparams) => kvmProgram(hvparams),
    planned: () => null,
  }),
  iallocator_runner: also(
    question.one(NORMAL, [arg('name', string), arg('idata', string), arg('default_iallocator_params', json)], string),
    { answer_bytes: NODE_ANSWER_BYTES.allocation },
  ),
  impexp_abort: order.one(NORMAL, [arg('name', string)], done),
  impexp_cleanup: order.one(NORMAL, [arg('name', string)], done),
  impexp_status: long(progress.one(FAST, [arg('names', strings)], listOf(orNull(r.transfer)), realOnly)),
  import_start: order.one(
    NORMAL,
    [arg('opts', transferOptions), inst, arg('component', string), arg('dest', transferEnd)],
    string,
    realOnly,
  ),
  instance_balloon_memory: order.one(NORMAL, [inst, arg('memory', int)], done),
  // Ganeti's node returns nothing and ignores the reason; ours says why the received state could not be loaded.
  instance_finalize_migration_dst: order.one(NORMAL, [inst, arg('info', json), arg('success', bool)], orNull(string)),
  instance_finalize_migration_src: order.one(SLOW, [inst, arg('success', bool), arg('live', bool)], done),
  instance_get_migration_status: progress.one(SLOW, [inst], r.migration, () => ({ status: 'completed' })),
  instance_info: question.one(
    URGENT,
    [arg('instance', instanceName), arg('hname', string), arg('hvparams', keyed)],
    r.runtimeOrNone,
  ),
  instance_list: long(question.many(URGENT, [arg('hypervisor_list', strings), arg('hvparams', paramsMap)], strings)),
  instance_metadata_modify: order.one(URGENT, [arg('instance', metadata)], done),
  instance_migratable: question.one(NORMAL, [inst], done),
  instance_migrate: order.one(
    SLOW,
    [arg('cluster_name', string), inst, arg('target', string), arg('live', bool)],
    done,
  ),
  instance_os_add: order.one(DAY, [arg('instance_osp', instance), arg('reinstall', bool), arg('debug', level)], done),
  instance_reboot: order.one(
    NORMAL,
    [arg('inst', instance), arg('reboot_type', string), arg('shutdown_timeout', float), reason],
    remarks,
  ),
  instance_run_rename: order.one(SLOW, [inst, arg('old_name', string), arg('debug', level)], done),
  instance_shutdown: order.one(NORMAL, [inst, arg('timeout', float), reason], done),
  instance_start: order.one(NORMAL, [arg('instance_hvp_bep', instance), arg('startup_paused', bool), reason], remarks),
  jobqueue_purge: order.one(NORMAL, [], done),
  jobqueue_rename: masterOnly(
    order.many(URGENT, [arg('rename', listOf(tuple(path, path)))], listOf(done), (renamed) => renamed.map(() => null)),
  ),
  jobqueue_set_drain_flag: masterOnly(order.many(URGENT, [arg('flag', bool)], done)),
  jobqueue_update: masterOnly(order.many(URGENT, [arg('file_name', path), arg('content', compressed)], done)),
  lv_list: long(question.many(URGENT, [arg('vg_name', either(strings, string))], r.logicalVolumes)),
  master_node_name: question.many(URGENT, [], string),
  migration_info: long(question.one(NORMAL, [inst], json)),
  node_activate_master_ip: order.one(
    FAST,
    [arg('master_params', masterParams), arg('use_external_mip_script', bool)],
    done,
  ),
  node_change_master_netmask: order.one(
    FAST,
    [arg('old_netmask', int), arg('netmask', int), arg('master_ip', string), arg('master_netdev', string)],
    done,
  ),
  node_configure_ovs: order.one(NORMAL, [arg('ovs_name', string), arg('ovs_link', orNull(string))], done),
  node_crypto_tokens: order.one(
    SLOW,
    [arg('token_request', listOf(tuple(string, string, json)))],
    listOf(tuple(string, string)),
    realOnly,
  ),
  node_deactivate_master_ip: order.one(
    FAST,
    [arg('master_params', masterParams), arg('use_external_mip_script', bool)],
    done,
  ),
  node_demote_from_mc: order.one(FAST, [], done),
  node_ensure_daemon: order.many(URGENT, [arg('daemon', string), arg('run', bool)], bool, () => true),
  node_has_ip_address: question.one(FAST, [arg('address', string)], bool),
  node_info: question.many(
    URGENT,
    [
      // Ganeti's masters send null if they do not ask for this.
      arg('storage_units', orNull(listOf(storageUnit))),
      arg('hv_specs', orNull(listOf(tuple(string, keyed)))),
    ],
    r.nodeInfo,
  ),
  node_leave_cluster: order.one(NORMAL, [arg('modify_ssh_setup', bool)], string, () => ''),
  node_powercycle: also(
    order.one(NORMAL, [arg('hypervisor', string), arg('hvparams', keyed)], string, () => ''),
    { offlineToo: true },
  ),
  node_ssh_key_add: order.many(
    FAST,
    [
      arg('node_uuid', string),
      arg('node_name', string),
      arg('potential_master_candidates', strings),
      arg('to_authorized_keys', bool),
      arg('to_public_keys', bool),
      arg('get_public_keys', bool),
    ],
    r.messagesOfNodes,
    () => [],
  ),
  node_ssh_key_remove: order.many(
    FAST,
    [
      arg('node_uuid', string),
      arg('node_name', string),
      arg('master_candidate_uuids', strings),
      arg('potential_master_candidates', strings),
      arg('from_authorized_keys', bool),
      arg('from_public_keys', bool),
      arg('clear_authorized_keys', bool),
      arg('clear_public_keys', bool),
      arg('readd', bool),
    ],
    r.messagesOfNodes,
    () => [],
  ),
  node_ssh_keys_renew: order.many(
    FOUR_HOURS,
    [
      arg('node_uuids', strings),
      arg('node_names', strings),
      arg('master_candidate_uuids', strings),
      arg('potential_master_candidates', strings),
      arg('old_key_type', string),
      arg('new_key_type', string),
      arg('new_key_bits', int),
    ],
    r.messagesOfNodes,
    () => [],
  ),
  node_start_master_daemons: order.one(FAST, [arg('no_voting', bool)], done),
  node_stop_master: order.one(FAST, [], done),
  node_verify: long(
    question.many(
      NORMAL,
      [arg('checkdict', keyed), arg('cluster_name', string), arg('all_hvparams', paramsMap)],
      keyed,
    ),
  ),
  node_verify_light: long(
    question.many(NORMAL, [arg('checkdict', keyed), arg('cluster_name', string), arg('hvparams', paramsMap)], keyed),
  ),
  node_volumes: long(question.many(FAST, [], listOf(r.volume))),
  os_diagnose: long(question.many(FAST, [], listOf(r.osDiagnosis))),
  os_export: long(order.one(FAST, [inst, arg('override_env', stringMap)], string, () => '')),
  os_validate: question.many(
    FAST,
    [
      arg('required', bool),
      arg('name', string),
      arg('checks', strings),
      arg('params', stringMap),
      arg('force_variant', bool),
    ],
    bool,
  ),
  resize_disk: order.one(NORMAL, [inst, arg('disk', disk), arg('new_size', int)], done),
  repair_command: long(order.one(SLOW, [arg('cmd', string), arg('inp', orNull(string))], string, () => '')),
  restricted_command: long(order.many(SLOW, [arg('cmd', string)], string, () => '')),
  run_oob: long(
    order.one(
      NORMAL,
      [arg('oob_program', path), arg('command', string), arg('remote_node', string), arg('timeout', float)],
      json,
      realOnly,
    ),
  ),
  set_watcher_pause: order.many(URGENT, [arg('until', orNull(float))], done),
  storage_execute: order.one(
    NORMAL,
    [arg('su_name', string), arg('su_args', listOf(json)), arg('name', string), arg('op', string)],
    done,
  ),
  storage_list: long(
    question.many(
      NORMAL,
      [arg('su_name', string), arg('su_args', listOf(json)), arg('name', orNull(string)), arg('fields', strings)],
      listOf(listOf(r.storageValue)),
    ),
  ),
  storage_modify: order.one(
    NORMAL,
    [arg('su_name', string), arg('su_args', listOf(json)), arg('name', string), arg('changes', keyed)],
    done,
  ),
  test_delay: {
    kind: 'order',
    args: [arg('duration', float)],
    result: done,
    timeout_s: 'first argument',
    answer_bytes: USUAL,
    fanOut: 'many',
    planned: () => null,
  } as NodeCall<readonly [Arg<number>], null>,
  upload_file: order.many(NORMAL, [arg('file_name', uploadedFile)], done),
  upload_file_single: order.many(
    NORMAL,
    [
      arg('file_name', path),
      arg('content', compressed),
      arg('mode', orNull(int)),
      arg('uid', orNull(string)),
      arg('gid', orNull(string)),
      arg('atime', orNull(float)),
      arg('mtime', orNull(float)),
    ],
    done,
  ),
  version: also(question.many(URGENT, [], float), { offlineToo: true }),
  vg_list: question.many(URGENT, [], r.sizes),
  write_ssconf_files: order.many(NORMAL, [arg('values', dictOf(textOrLines, string))], done),
  x509_cert_create: order.one(NORMAL, [arg('validity', float)], tuple(string, string), () => ['', '']),
  x509_cert_remove: order.one(NORMAL, [arg('name', string)], done),
  instance_console_info: long(
    also(
      question.many(URGENT, [arg('instances', consoleRequests, writeConsoleRequests)], dictOf(r.consoleInfo, string)),
      { bareBody: true },
    ),
  ),

  // Ours: Ganeti's nodes do not know calls that begin with gantry.
  /**
   * Journal records that follow the candidate's last one. The candidate answers when they are durable, or that it needs
   * a full copy.
   */
  gantry_config_append: masterOnly(order.many(FAST, [arg('records', compressed)], done)),
  /** A file that an administrator has distributed, with its owner and mode; null if this node, the master, does not have it. */
  gantry_distributed_read: masterOnly(long(question.one(FAST, [arg('file', path)], orNull(r.distributedFile)))),
  /** Other than upload_file, it takes any content, and files that the node's administrator allows. */
  gantry_distributed_write: masterOnly(order.many(FAST, [arg('file', path), arg('content', r.distributedFile)], done)),
  /** Block devices by their names: their numbers, and what holds those of the first list. Missing ones are left out. */
  gantry_devices_seen: long(question.many(FAST, [arg('wanted', strings), arg('others', strings)], r.seenDevices)),
  /** The files below each of these storage directories, in the same order. */
  gantry_file_storage_list: long(question.many(FAST, [arg('directories', strings)], listOf(listOf(r.storedFile)))),
  /** What a candidate has of the configuration and the queue. Candidates are compared before one becomes the master. */
  gantry_replica_status: long(question.many(URGENT, [], r.replicaContents)),
  /** Which configuration the node's files hold, or null: the master asks before its own replaces it. */
  gantry_config_status: question.many(URGENT, [], orNull(r.configStatus)),
  /**
   * A full copy: the texts of config.data and gantry.data. The answer names the files in which the node has kept what the
   * copy lacks.
   */
  gantry_config_replace: masterOnly(
    order.many(NORMAL, [arg('config', compressed), arg('gantry', compressed)], r.remarks),
  ),
  /**
   * Waits (at most this long) until the list of guests that have ended without a request differs from the given one.
   * Returns the new list.
   */
  gantry_guest_ends: {
    kind: 'question',
    args: [arg('wait', float), arg('known', strings)],
    result: strings,
    timeout_s: 'first argument',
    answer_bytes: USUAL,
    fanOut: 'one',
  } as NodeCall<readonly [Arg<number>, Arg<readonly string[]>], readonly string[]>,
  /** As instance_get_migration_status, and whether the source has switched: Ganeti's master refuses an answer with a field that it does not know. */
  gantry_migration_status: progress.one(SLOW, [inst], r.migrationSide, () => ({ status: 'completed' })),
  /** Whether a node can use TLS for a migration. Then accept_instance and instance_migrate have these two in their places. */
  gantry_migration_tls: question.many(URGENT, [inst], bool),
  gantry_migration_accept: masterOnly(order.one(NORMAL, [inst, arg('info', json), arg('target', string)], remarks)),
  gantry_migration_send: masterOnly(order.one(SLOW, [inst, arg('target', string), arg('live', bool)], done)),
  /**
   * Connects the two sides of a migration again that have lost each other after the switch to post-copy: first the target
   * listens, then the source calls it.
   */
  gantry_migration_recover: masterOnly(
    order.one(NORMAL, [inst, arg('target', string), arg('side', oneOf('MigrationSide', MIGRATION_SIDES))], done),
  ),
  /**
   * Why an instance is in its state, after an operation whose calls, which are Ganeti's, do not say it: with the name of
   * the operation.
   */
  gantry_reason: masterOnly(
    also(order.one(FAST, [arg('instance_name', instanceName), reason, arg('action', string)], done), {
      toldElsewhere: true,
    }),
  ),
  /** Why a start with these parameters, and so many virtual CPUs, is certain to fail on this node; null if nothing is known. */
  gantry_start_problem: also(
    question.many(NORMAL, [arg('hvname', string), arg('hvfull', keyed), arg('vcpus', int)], orNull(string)),
    { program: (_hypervisor, hvparams) => kvmProgram(hvparams), planned: () => null },
  ),
  /** Gives a disk the data of its snapshot again. It reads all of both, which takes long for large disks. */
  gantry_snapshot_restore: masterOnly(order.one(DAY, [arg('disk', disk), arg('snapshot', disk)], done)),
  /** Why no snapshot of one of these disks can be made; null if nothing is known. */
  gantry_snapshot_problem: question.one(NORMAL, [arg('disks', listOf(disk))], orNull(string)),
  /** The node's measurements, which it sends as prom-client's JSON. */
  gantry_metrics: question.many(URGENT, [], figures),
  /** Like jobqueue_update for several files; answers when all are durable. */
  gantry_jobqueue_write: masterOnly(order.many(URGENT, [arg('files', listOf(tuple(path, compressed)))], done)),
  /** Faster: contents are durable in a journal. `gantry_jobqueue_fold` writes the files. */
  gantry_jobqueue_append: masterOnly(order.many(URGENT, [arg('files', listOf(tuple(path, compressed)))], done)),
  gantry_jobqueue_fold: masterOnly(order.many(NORMAL, [], done)),
  /** What a candidate has in a job's file; null if it has none. The master takes over jobs that it has lost. */
  gantry_jobqueue_read: masterOnly(long(question.one(URGENT, [arg('file', path)], orNull(string)))),
  /** The end of a full copy of the queue: removes job files that are not in this list. */
  gantry_jobqueue_keep: masterOnly(order.many(URGENT, [arg('files', listOf(path))], done)),
}

export type CallName = keyof typeof nodeCalls
type DecodedArgs<A extends Args> = {
  -readonly [K in keyof A]: A[K] extends Arg<infer T> ? T : never
}
/** The argument tuple of a call, as callers pass it and handlers get it. */
export type ArgsOf<C extends CallName> = DecodedArgs<(typeof nodeCalls)[C]['args']>
export type ResultOf<C extends CallName> = (typeof nodeCalls)[C] extends NodeCall<Args, infer R> ? R : never

export const isCallName = (name: string): name is CallName => Object.hasOwn(nodeCalls, name)

/** Whether it is ours and not Ganeti's. */
export const isOwnCall = (name: CallName): boolean => name.startsWith('gantry_')

/** The uniform view of an entry, for code that handles any call. */
export const callOf = (name: CallName): NodeCall<Args, unknown> => nodeCalls[name]
