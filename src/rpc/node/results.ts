// Shapes of the nodes' answers. A cluster may be mixed, so they accept all answers of Ganeti's nodes: a value that
// Ganeti does not have is null or missing, and unknown keys are kept.
import { dictOf, either, listOf, orNull, tuple } from '../../lib/shapes/containers'
import { bool, exactly, float, int, json, oneOf, string, stringOrNumber } from '../../lib/shapes/leaves'
import { defaulted, optional } from '../../lib/shapes/objects'
import { type Shape, isObject, mapped, parsePart, refine } from '../../lib/shapes/shape'
import type { ConfigStatus } from '../../config/copy-status'
import type {
  BlockDeviceStatus,
  ConsoleInfo,
  DistributedFile,
  HypervisorInfo,
  ImpExpStatus,
  InstanceRuntime,
  MigrationSideStatus,
  MigrationStatus,
  NodeInfo,
  OsDiagnosis,
  ReplicaContents,
  StorageInfo,
  StoredFile,
  VolumeInfo,
} from './dicts'
import { amount, figure, known, strings, printableText } from './shapes'

/** The order is carried out; any further answer is ignored. */
export const done: Shape<null> = mapped(json, () => null)

/** Ganeti's nodes return nothing; ours report differences from the request. */
export const remarks = orNull(listOf(printableText))

export const runtime: Shape<InstanceRuntime> = known({
  memory: amount,
  vcpus: amount,
  state: int,
  time: amount,
  user_nics: optional(listOf(int)),
  machine_state: optional(string),
})

/** An empty object if the instance does not run. */
export const runtimeOrNone: Shape<InstanceRuntime | Record<string, never>> = {
  schema: runtime.schema,
  parse: (value) => (isObject(value) && Object.keys(value).length === 0 ? {} : runtime.parse(value)),
}

export const blockDevice: Shape<BlockDeviceStatus> = known({
  dev_path: string,
  major: optional(int),
  minor: optional(int),
  sync_percent: optional(float),
  estimated_time: optional(float),
  is_degraded: bool,
  ldisk_status: int,
})

/** The device, or why it was not found. */
export const blockDeviceOrWhy: Shape<readonly [true, BlockDeviceStatus] | readonly [false, string]> = {
  schema: { type: 'array' },
  parse(value) {
    const [ok, found] = tuple(bool, json).parse(value)
    return ok ? [true, parsePart(blockDevice, found, 'index', 1)] : [false, parsePart(string, found, 'index', 1)]
  },
}

/** Nodes other than the primary have no link. `true` twice means that there was nothing to do. */
const place = either(string, exactly(true))
const pathAndLink = tuple(place, place)
const pathLinkAndUri = tuple(place, orNull(place), orNull(string))
export const assembled: Shape<readonly [dev: string | true, link: string | true | null, uri?: string | null]> = {
  schema: { type: 'array' },
  parse: (value) => (Array.isArray(value) && value.length === 2 ? pathAndLink : pathLinkAndUri).parse(value),
}

/** MiB; null if the node could not find out. */
const storage: Shape<StorageInfo> = known({
  type: string,
  name: string,
  storage_free: orNull(figure),
  storage_size: orNull(figure),
})

const hypervisor: Shape<HypervisorInfo> = known({
  memory_total: figure,
  memory_free: figure,
  memory_dom0: figure,
  cpu_total: figure,
  cpu_nodes: figure,
  cpu_sockets: figure,
  cpu_dom0: figure,
  memory_hv: optional(figure),
  hv_version: optional(either(stringOrNumber, listOf(stringOrNumber))),
})

export const nodeInfo: Shape<NodeInfo> = tuple(
  string,
  orNull(listOf(orNull(storage))),
  orNull(listOf(orNull(hypervisor))),
)

const migrationFields = {
  status: string,
  transferred_ram: optional(float),
  total_ram: optional(float),
  postcopy_status: optional(string),
}

export const migration: Shape<MigrationStatus> = known(migrationFields)

export const migrationSide: Shape<MigrationSideStatus> = known({ ...migrationFields, switched: optional(bool) })

export const transfer: Shape<ImpExpStatus> = known({
  recent_output: defaulted(strings, () => []),
  listen_port: optional(int),
  connected: optional(bool),
  progress_mbytes: optional(float),
  progress_throughput: optional(float),
  progress_eta: optional(float),
  progress_percent: optional(float),
  exit_status: optional(int),
  error_message: optional(string),
  ctime: defaulted(float, () => 0),
  mtime: defaulted(float, () => 0),
})

/** They become words of a command line, which must not pass for options. */
const word = refine(
  string,
  { format: 'name or address' },
  (value) => /^[\w.:%[\]]?[\w.:%[\]-]*$/.test(value),
  () => 'expected a name or an address',
)

export const consoleInfo: Shape<ConsoleInfo> = known({
  instance: string,
  kind: oneOf('ConsoleKind', ['msg', 'spice', 'ssh', 'vnc']),
  message: optional(printableText),
  host: optional(word),
  port: optional(int),
  user: optional(word),
  command: optional(strings),
  display: optional(int),
})

const parameters = listOf(tuple(string, string))

export const osDiagnosis: Shape<OsDiagnosis> = tuple(
  string,
  string,
  bool,
  string,
  strings,
  parameters,
  listOf(int),
  bool,
)

export const extStorage = tuple(string, string, bool, string, parameters)
export const volume: Shape<VolumeInfo> = known({ name: string, size: string, dev: string, vg: string })
export const logicalVolumes = dictOf(tuple(string, bool, bool), string)
export const sizes = dictOf(figure, string)
/** A field of a storage unit. */
export const storageValue: Shape<unknown> = orNull(either(printableText, either(figure, bool)))
export const seenDevices = dictOf(known({ numbers: string, held: orNull(string) }), string)
export const hookResult = tuple(string, oneOf('HookStatus', [0, 1, 2]), printableText)

/** Nodes and their failures; empty if there are none. */
export const messagesOfNodes = mapped(orNull(listOf(tuple(string, string))), (messages) => messages ?? [])

const size = known({ size: optional(float) })
export const fileInfo = tuple(
  bool,
  mapped(orNull(size), (info) => info ?? {}),
)

/** The parts of a unique id; their meaning depends on the storage. */
export const uniqueId = listOf(stringOrNumber)
/** A node reports neither secrets nor a port that is not used yet; these are null. */
export const madeId = listOf(orNull(stringOrNumber))

export const distributedFile: Shape<DistributedFile> = known({
  base64: string,
  owner: string,
  group: string,
  mode: int,
})
export const storedFile: Shape<StoredFile> = tuple(string, float)
export const configStatus: Shape<ConfigStatus> = known({
  config_serial: int,
  gantry_serial: int,
  forks: listOf(tuple(string, int)),
  master: string,
})

export const replicaContents: Shape<ReplicaContents> = known({
  config_serial: orNull(int),
  config: optional(orNull(configStatus)),
  serial: optional(int),
  jobs: listOf(tuple(int, bool)),
})
