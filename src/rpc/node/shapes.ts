// Shapes of the arguments of node calls. Handlers and callers see plain text and local paths; the wire has Ganeti's
// encodings. Unknown keys are kept, because other versions of Ganeti have some.
import * as zlib from 'node:zlib'
import { dictOf, either, listOf, orNull, tuple } from '../../lib/shapes/containers'
import { bool, exactly, float, int, json, keyed, string, stringOrNumber } from '../../lib/shapes/leaves'
import { type Fields, defaulted, objectOf, optional } from '../../lib/shapes/objects'
import { printable } from '../../lib/text/printable'
import { Mismatch, type Shape, lazy, mapped, refine } from '../../lib/shapes/shape'
import { COMPRESS_FROM_BYTES, UPLOAD_BYTES_MAX } from '../../model/limits/node-calls'
import { withoutMarks } from '../../model/marks'
import type {
  ConsoleRequest,
  DiskDict,
  ImpExpOptions,
  InstanceDict,
  MasterParams,
  MetadataDict,
  NetworkDict,
  NicDict,
  ReasonTrail,
  UploadedFile,
} from './dicts'

export interface Arg<T> {
  readonly name: string
  readonly shape: Shape<T>
  /** Writes it as JSON, if there is a faster or different way than the usual. */
  write?(value: T): string
}

export const arg = <T>(name: string, shape: Shape<T>, write?: (value: T) => string): Arg<T> => ({
  name,
  shape,
  ...(write && { write }),
})

/** An object that may have other keys too. */
export const known = <const F extends Fields>(fields: F) => objectOf(fields, { others: 'kept' })

export const strings = listOf(string)
export const stringMap = dictOf(string, string)
export const paramsMap = dictOf(keyed, string)

/** A finite number that leaves sums as they are good for: a node's figures are added to those of others. */
export const figure: Shape<number> = refine(
  float,
  { minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  (value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER,
  (value) => `${value} is no figure`,
)
export const amount: Shape<number> = refine(
  figure,
  { minimum: 0 },
  (value) => value >= 0,
  (value) => `${value} is less than nothing`,
)

/** What people read. */
export const printableText: Shape<string> = mapped(string, printable)

/** Ganeti's debug levels arrive as a number, or as true and false. */
export const level: Shape<number> = either(int, mapped(bool, Number))

/** A text, or the lines of one. */
export const textOrLines = either(string, strings)

/** A file or directory: a local path here, Ganeti's layout (marked in a virtual cluster) on the wire. */
export const path: Shape<string> = {
  schema: string.schema,
  parse(value, files) {
    const wire = string.parse(value)
    if (wire.includes('\0')) throw new Mismatch('expected a path without NUL')
    if (!wire.startsWith('/')) throw new Mismatch(`expected an absolute path, got ${JSON.stringify(wire)}`)
    if (wire.split('/').includes('..')) throw new Mismatch(`expected a path without "..", got ${JSON.stringify(wire)}`)
    return files === undefined ? wire : files.fromWire(wire)
  },
  encode: (value, files) => files.toWire(value),
}

/** `[0, text]`, or `[1, base64 of zlib data]` for longer ones. */
export const compressed: Shape<string> = {
  schema: {},
  parse(value) {
    if (!Array.isArray(value) || value.length !== 2 || typeof value[1] !== 'string')
      throw new Mismatch('expected [0, text] or [1, base64 of zlib data]')
    if (value[0] === 0) return value[1]
    if (value[0] !== 1) throw new Mismatch('expected compression method 0 or 1')
    return zlib.inflateSync(Buffer.from(value[1], 'base64'), { maxOutputLength: UPLOAD_BYTES_MAX }).toString('utf8')
  },
  encode(value) {
    if (value.length < COMPRESS_FROM_BYTES) return [0, value]
    return [1, zlib.deflateSync(value, { level: 3 }).toString('base64')]
  },
}

const fileFields = tuple(path, compressed, orNull(int), orNull(string), orNull(string), orNull(float), orNull(float))

/** upload_file's only argument: a list of seven. */
export const uploadedFile: Shape<UploadedFile> = {
  schema: fileFields.schema,
  parse(value, files) {
    const [path, content, mode, owner, group, atime, mtime] = fileFields.parse(value, files)
    return { path, content, mode, owner, group, atime, mtime }
  },
  encode: ({ path, content, mode, owner, group, atime, mtime }, files) =>
    fileFields.encode?.([path, content, mode, owner, group, atime, mtime], files),
}

/** Names become parts of paths on the node. */
const INSTANCE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/

export const instanceName: Shape<string> = refine(
  string,
  { format: 'instance name' },
  (name) => INSTANCE_NAME.test(name),
  (name) => `${JSON.stringify(name)} is no instance name`,
)

export const disk: Shape<DiskDict> = known({
  // Ganeti omits it for volumes that are not in the configuration yet.
  uuid: defaulted(string, () => ''),
  name: optional(string),
  dev_type: string,
  // A DRBD disk that must not be connected yet has a null port.
  logical_id: optional(listOf(orNull(stringOrNumber))),
  children: defaulted(listOf(lazy((): Shape<DiskDict> => disk)), () => []),
  nodes: optional(strings),
  iv_name: optional(string),
  size: float,
  mode: optional(string),
  params: optional(keyed),
  dynamic_params: optional(keyed),
  spindles: optional(int),
})

export const disks = listOf(disk)

/** False stands for a disk that is not available. */
export const diskOrFalse = either(disk, exactly(false))

const network: Shape<NetworkDict> = known({
  uuid: string,
  name: string,
  network: string,
  gateway: optional(string),
  network6: optional(string),
  gateway6: optional(string),
  mac_prefix: optional(string),
  tags: optional(strings),
})

export const nic: Shape<NicDict> = known({
  uuid: string,
  name: optional(string),
  mac: string,
  ip: optional(string),
  network: optional(string),
  nicparams: defaulted(known({ mode: optional(string), link: optional(string), vlan: optional(string) }), () => ({})),
  netinfo: optional(network),
})

export const instance: Shape<InstanceDict> = known({
  name: instanceName,
  uuid: string,
  primary_node: string,
  secondary_nodes: defaulted(strings, () => []),
  os: string,
  hypervisor: string,
  hvparams: keyed,
  beparams: known({
    minmem: int,
    maxmem: int,
    vcpus: int,
    auto_balance: bool,
    always_failover: bool,
    spindle_use: int,
  }),
  osparams: defaulted(stringMap, () => ({})),
  osparams_private: defaulted(stringMap, () => ({})),
  admin_state: string,
  admin_state_source: optional(string),
  nics: listOf(nic),
  disks: defaulted(strings, () => []),
  disks_info: defaulted(disks, () => []),
  disk_template: optional(string),
  disks_active: bool,
  network_port: optional(int),
})

/** Ganeti's master sends it from its configuration; parameters need not be filled. */
export const metadata: Shape<MetadataDict> = known({
  name: instanceName,
  uuid: string,
  os: string,
  nics: defaulted(listOf(nic), () => []),
  disks_info: defaulted(disks, () => []),
  tags: optional(strings),
  osparams: defaulted(stringMap, () => ({})),
  osparams_private: optional(stringMap),
  osparams_secret: optional(stringMap),
})

export const masterParams: Shape<MasterParams> = known({
  uuid: string,
  ip: string,
  netmask: int,
  netdev: string,
  ip_family: int,
})

export const transferOptions: Shape<ImpExpOptions> = known({
  key_name: optional(string),
  ca_pem: optional(string),
  compress: optional(string),
  magic: optional(string),
  ipv6: optional(bool),
  connect_timeout: optional(float),
})

const wholeTrail = listOf(tuple(string, string, float))

/**
 * `[source, reason, nanoseconds]`, oldest first. Our own marks end at the master: calls carry none, and a node keeps
 * none from a master of an earlier version.
 */
export const reasonTrail: Shape<ReasonTrail> = {
  schema: wholeTrail.schema,
  parse: (value) => withoutMarks(wholeTrail.parse(value)),
  encode: (trail) => withoutMarks(trail),
}
export const transferEnd = tuple(string, listOf(json))
export const storageUnit = tuple(string, string, listOf(json))

const consoleRequest: Shape<ConsoleRequest> = known({
  instance: known({ name: string, hypervisor: string, network_port: optional(int) }),
  node: known({ name: optional(string), ndparams: optional(keyed) }),
  group: known({ ndparams: optional(keyed) }),
  hvParams: keyed,
  beParams: keyed,
})

/** By instance. */
export const consoleRequests = dictOf(consoleRequest, string)

/** Most requests have the same node, group and parameters as the previous one; these are encoded once. */
export function writeConsoleRequests(requests: Readonly<Record<string, ConsoleRequest>>): string {
  const [node, group, hvParams, beParams] = [rewriter(), rewriter(), rewriter(), rewriter()]
  const texts = Object.entries(requests).map(
    ([name, request]) =>
      `${JSON.stringify(name)}:{"instance":${JSON.stringify(request.instance)},"node":${node(request.node)},` +
      `"group":${group(request.group)},"hvParams":${hvParams(request.hvParams)},"beParams":${beParams(request.beParams)}}`,
  )
  return `{${texts.join(',')}}`
}

/** Encodes objects as JSON; the same object is encoded only once. */
function rewriter(): (value: object) => string {
  let last: object | undefined
  let text = ''
  return (value) => {
    if (value !== last) [last, text] = [value, JSON.stringify(value)]
    return text
  }
}
