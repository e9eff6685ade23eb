// Shapes of values with a meaning for clusters: enumerations, NIC and disk descriptions, device changes.
import { STORAGE_TYPES } from '../model/constants/disks'
import { HYPERVISORS } from '../model/constants/hypervisors'
import { VERIFY_CODE_NAMES } from '../model/constants/verify-codes'
import { tagKinds } from '../model/object-kinds'
import { dictOf, either, listOf, orNull, readArray, tuple } from '../lib/shapes/containers'
import { any, bool, int, nonEmpty, oneOf, text, withoutNul } from '../lib/shapes/leaves'
import { partialOf } from '../lib/shapes/objects'
import { Explained, type JsonObject, Mismatch, type Shape, refine } from '../lib/shapes/shape'
import { TAGS_PER_OBJECT_MAX } from '../model/limits/config'
import { DISK_TEMPLATES } from '../model/templates'

export const diskTemplate = oneOf('DiskTemplate', DISK_TEMPLATES)
export const hypervisor = oneOf('Hypervisor', HYPERVISORS)
export const allocPolicy = oneOf('AllocPolicy', ['preferred', 'last_resort', 'unallocable'])
export const evacMode = oneOf('EvacMode', ['all', 'primary-only', 'secondary-only'])
export const exportMode = oneOf('ExportMode', ['local', 'remote'])
export const replaceDisksMode = oneOf('ReplaceDisksMode', [
  'replace_auto',
  'replace_new_secondary',
  'replace_on_primary',
  'replace_on_secondary',
])
export const migrationMode = oneOf('MigrationMode', ['live', 'non-live'])
export const nicMode = oneOf('NICMode', ['bridged', 'ext', 'openvswitch', 'pool', 'routed'])
export const instanceCreateMode = oneOf('InstCreateMode', ['create', 'import', 'remote-import'])
export const rebootType = oneOf('RebootType', ['full', 'hard', 'soft'])
export const fileDriver = oneOf('FileDriver', ['blktap', 'blktap2', 'loop'])
export const adminStateSource = oneOf('AdminStateSource', ['admin', 'user'])
export const storageType = oneOf('StorageType', STORAGE_TYPES)
export const tagKind = oneOf('TagKind', tagKinds)
export const ddmSimple = oneOf('DdmSimple', ['add', 'attach', 'detach', 'remove'])
const ddmFull = oneOf('DdmFull', ['add', 'attach', 'detach', 'modify', 'remove'])
export const oobCommand = oneOf('OobCommand', ['health', 'power-cycle', 'power-off', 'power-on', 'power-status'])
export const sshKeyType = oneOf('SshKeyType', ['dsa', 'ecdsa', 'rsa'])
export const queryTypeOp = oneOf('QueryTypeOp', ['cluster', 'instance', 'node', 'group', 'os', 'export', 'network'])
export const queryResultCode = oneOf('QueryResultCode', [0, 1, 2, 3, 4])
export const verifyOptionalChecks = oneOf('VerifyOptionalChecks', ['hvparam_assessment', 'nplusone_mem'])
export const verifyErrorCode = oneOf('CVErrorCode', VERIFY_CODE_NAMES)
export const allocatorTestDir = oneOf('IAllocatorTestDir', ['in', 'out'])
export const allocatorMode = oneOf('IAllocatorMode', [
  'allocate',
  'allocate-secondary',
  'balance',
  'capacity',
  'change-group',
  'multi-allocate',
  'node-evacuate',
  'relocate',
])
export const submitPriority = oneOf('OpSubmitPriority', [-10, 0, 10])
export const finalJobStatus = oneOf('FinalizedJobStatus', ['canceled', 'error', 'success'])

/** A disk of an instance, by index. */
export const diskIndex = refine(
  int,
  { minimum: 0, maximum: 15 },
  (value) => value >= 0 && value < 16,
  (value) => `Invalid value for disk index '${value}', required between 0 and 16`,
)

export const jobId: Shape<number> = {
  schema: { type: 'integer', minimum: 0 },
  parse(value) {
    const id = typeof value === 'string' ? Number(/^-?\d+$/.exec(value)?.[0]) : value
    if (Number.isNaN(id)) throw new Mismatch(`parsing job id: cannot parse string '${String(value)}'`)
    if (typeof id !== 'number') throw new Mismatch(`Wrong type/value for job id: ${JSON.stringify(value)}`)
    if (!Number.isInteger(id)) throw new Mismatch(`Got fractional job ID from master daemon?! Value:${id}`)
    if (!Number.isSafeInteger(id) || id < 0) throw new Mismatch(`Invalid value for job ID ' ${id}'`)
    return id
  },
}

/** MiB as a number, or text with a unit: `512`, `"1g"`, `"2tib"`, `"500mb"`. Stored as whole MiB. */
export const size: Shape<number> = {
  schema: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }] },
  parse: (value) => (typeof value === 'string' ? parseSize(value) : int.parse(value)),
}

/** It becomes a line in an export's description. */
const deviceName: Shape<string> = {
  ...nonEmpty,
  parse(value) {
    const name = nonEmpty.parse(value)
    if (/\p{Cc}/u.test(name)) throw new Mismatch('The name of a device has a control character')
    return name
  },
}

export const nicParams = partialOf(
  {
    mac: nonEmpty,
    ip: text,
    mode: nonEmpty,
    link: nonEmpty,
    bridge: nonEmpty,
    name: deviceName,
    vlan: text,
    network: nonEmpty,
  },
  { others: 'refused' },
)

/** Other keys are parameters of an external storage provider. */
const DISK_PARAMS = {
  size,
  mode: oneOf('DiskMode', ['ro', 'rw']),
  adopt: nonEmpty,
  vg: nonEmpty,
  metavg: nonEmpty,
  name: deviceName,
  provider: nonEmpty,
  spindles: int,
  access: nonEmpty,
}
export const diskParams = withoutNul(partialOf(DISK_PARAMS, { others: 'kept' }))
/** Parameters for a disk of any other template. */
export const DISK_PARAM_NAMES: readonly string[] = [...Object.keys(DISK_PARAMS), 'dev_type']

export type Identifier = number | string

/** `[action, index or name, parameters]`, or one of the two older forms without index or without action. */
export type Modification<T> = readonly [string, Identifier, T] | readonly [string | number, T]

/** Changes to an instance's disks or NICs; all entries of a list have the same form. */
export function modifications<T>(params: Shape<T>): Shape<readonly Modification<T>[]> {
  const readOne = (entry: unknown): Modification<T> => {
    const parts = readArray(entry)
    if (parts.length === 3) return [ddmFull.parse(parts[0]), readIdentifier(parts[1]), params.parse(parts[2])]
    if (parts.length !== 2) throw new Mismatch('Unable to read a device modification')
    const what = typeof parts[0] === 'number' ? int.parse(parts[0]) : ddmSimple.parse(parts[0])
    return [what, params.parse(parts[1])]
  }
  return {
    schema: { type: 'array', items: { type: 'array', items: {}, minItems: 2, maxItems: 3 } },
    parse(value) {
      const read = readArray(value).map(readOne)
      if (new Set(read.map(formOf)).size > 1) throw new Mismatch('Device modifications of different forms in one list')
      return read
    },
  }
}

const formOf = (change: Modification<unknown>): string =>
  change.length === 2 ? 'old' : typeof change[1] === 'number' ? 'indexed' : 'named'

/** Empty for all disks, or their indexes, or `[index, new parameters]` of each. */
export const recreateDisks = either(listOf(diskIndex), listOf(tuple(diskIndex, diskParams)))

/** A node's name; for a remote export `[host, port, magic]` for each disk. */
export const exportTarget = either(nonEmpty, listOf(any))

const submitted = tuple(bool, either(jobId, text))

/** The result of an opcode that submits jobs: `[true, job id]` or `[false, error text]` for each. */
export const jobList = partialOf({ jobs: listOf(submitted) }, { others: 'kept' })

export const multiAllocation = partialOf(
  { jobs: listOf(submitted), allocatable: listOf(text), failed: listOf(text) },
  { others: 'refused' },
)

const fieldDefinition = partialOf({ name: text, title: text, kind: text, doc: text }, { others: 'kept' })

export const queryFieldsAnswer = partialOf({ fields: listOf(fieldDefinition) }, { others: 'refused' })

export const queryAnswer = partialOf(
  { fields: listOf(fieldDefinition), data: listOf(listOf(tuple(int, any))) },
  { others: 'refused' },
)

/** A group's missing volumes: errors by node, instances to activate, missing volumes by instance. */
export const volumeReport = tuple(dictOf(text), listOf(text), dictOf(listOf(listOf(text))))

export const maybeText = orNull(nonEmpty)

function readIdentifier(value: unknown): Identifier {
  return typeof value === 'number' ? int.parse(value) : nonEmpty.parse(value)
}

const UNITS: Record<string, readonly [scale: number, divisor: number]> = {
  '': [1, 1],
  m: [1, 1],
  mib: [1, 1],
  mb: [1e6, 1 << 20],
  g: [1024, 1],
  gib: [1024, 1],
  gb: [1e9, 1 << 20],
  t: [1 << 20, 1],
  tib: [1 << 20, 1],
  tb: [1e12, 1 << 20],
}

function parseSize(value: string): number {
  const [, digits, unit = ''] = /^\s*(\d+)\s*([a-z]*)\s*$/i.exec(value) ?? []
  const factor = UNITS[unit.toLowerCase()]
  if (digits === undefined || factor === undefined)
    throw new Mismatch(`Can't parse a size from ${JSON.stringify(value)}`)
  return Math.trunc((Number(digits) * factor[0]) / factor[1])
}

export type NicParams = ReturnType<typeof nicParams.parse>
export type DiskParams = ReturnType<typeof diskParams.parse> & JsonObject

/** The tags of one object. More than it can have are refused before there is a job. */
export function tagList(tag: Shape<string>): Shape<readonly string[]> {
  const list = listOf(tag)
  return {
    ...list,
    schema: { ...list.schema, maxItems: TAGS_PER_OBJECT_MAX },
    parse(value, files) {
      const tags = list.parse(value, files)
      if (tags.length <= TAGS_PER_OBJECT_MAX) return tags
      throw new Explained(`${tags.length} tags are more than the ${TAGS_PER_OBJECT_MAX} that an object may have`)
    },
  }
}
