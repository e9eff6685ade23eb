// Checks the disks that a user wants.
import * as path from 'node:path'
import { pythonText } from '../../../lib/text/python-text'
import { DISK_DRIVER_ACCESS } from '../../../model/constants/disks'
import type { Cluster, Disk, DiskMode, Params } from '../../../model/config'
import {
  onlyForMaking,
  OWN_NAMES,
  ownSpecs,
  readOwn,
  valueProblem,
  withoutDefaults,
} from '../../../model/disk-parameters'
import { ECODE, OpPrereqError, TypeEnforcementError } from '../../../model/errors'
import { DISK_PARAM_NAMES, type DiskParams } from '../../../opcodes/types'
import { enforceType } from '../../../model/param-types'
import { directoryOf, type DiskTemplate, factsOf, isDrbd, isOnLvm } from '../../../model/templates'

export interface DiskSpec {
  readonly size: number
  readonly mode: DiskMode
  readonly name: string | undefined
  /** Volume groups other than the cluster's. */
  readonly vg?: string
  readonly metavg?: string
  readonly spindles?: number
  /** The prefix of a mirror's volume names, if the data already has a name. */
  readonly stem?: string
  /** The existing volume or device that becomes this disk with its data. */
  readonly adopt?: string
  /** How hypervisors reach it, if not as the cluster says. */
  readonly access?: string
  /** The external provider, and its own parameters. */
  readonly provider?: string
  readonly own?: Readonly<Record<string, string>>
  /** Its own parameters, over those of the group. */
  readonly params?: Params
}

export function checkTemplate(cluster: Cluster, template: DiskTemplate): void {
  if (!cluster.enabled_disk_templates.includes(template))
    throw new OpPrereqError(
      `Disk template '${template}' is not enabled in cluster. Enabled disk templates are: ${cluster.enabled_disk_templates.join(',')}`,
    )
  if (factsOf(template).made !== true)
    throw new OpPrereqError(`Disks of template '${template}' cannot be made by this version yet`, ECODE.INVAL)
  if (isOnLvm(template) && !cluster.volume_group_name)
    throw new OpPrereqError('Cluster does not support lvm-based instances', ECODE.STATE)
}

export function diskSpecs(input: readonly DiskParams[], template: DiskTemplate): DiskSpec[] {
  checkNames('disk', input)
  // Some clients always send disks, so these are ignored.
  if (factsOf(template).empty === true) return []
  return input.map((disk) => diskSpec(disk, template))
}

export function diskSpec(disk: DiskParams, template: DiskTemplate): DiskSpec {
  const facts = factsOf(template)
  // External providers have their own parameters.
  if (facts.ownParams !== true) checkDiskParams(disk)
  const { vg, metavg, access, adopt, spindles, provider } = disk
  if (adopt !== undefined && !mayAdopt(template))
    throw new OpPrereqError(`Disk adoption is not supported for the '${template}' disk template`, ECODE.INVAL)
  const params = facts.ownParams === true ? {} : ownLevel(disk, template)
  const made = Object.keys(params).find(onlyForMaking)
  if (adopt !== undefined && made !== undefined)
    throw new OpPrereqError(`An adopted disk stays as it was made: leave out '${made}'`, ECODE.INVAL)
  const foreign = {
    ...(!isOnLvm(template) && { vg }),
    ...(!isDrbd(template) && { metavg }),
    ...(facts.access !== true && { access }),
  }
  const other = Object.entries(foreign).find(([, value]) => value !== undefined)
  if (other !== undefined)
    throw new OpPrereqError(`Disks of template '${template}' have no '${other[0]}'; leave it out`, ECODE.INVAL)
  if (facts.ownParams === true && provider === undefined)
    throw new OpPrereqError(
      `Missing provider for template '${template}': give the disk parameter 'provider', such as 'gnt-storage diagnose' lists them`,
      ECODE.INVAL,
    )
  if (access !== undefined && !DISK_DRIVER_ACCESS.some((one) => one === access))
    throw new OpPrereqError(`Disk access is one of ${DISK_DRIVER_ACCESS.join(', ')}, not '${access}'`, ECODE.INVAL)
  if (facts.adoptedOnly === true && adopt === undefined)
    throw new OpPrereqError(
      `Disk template ${template} requires disk adoption, but no 'adopt' parameter given`,
      ECODE.INVAL,
    )
  if (facts.ownParams !== true && provider !== undefined)
    throw new OpPrereqError(
      `The 'provider' option is only valid for the ext disk template, not ${template}`,
      ECODE.INVAL,
    )
  // An adopted volume keeps its size.
  const size = adopt === undefined ? disk.size : (disk.size ?? 0)
  if (size === undefined) throw new OpPrereqError('Missing disk size', ECODE.INVAL)
  if (!Number.isInteger(size) || size < 0 || (size === 0 && adopt === undefined))
    throw new OpPrereqError(`Invalid disk size '${size}'`, ECODE.INVAL)
  const name = nameOf(disk.name)
  return {
    ...{ size, mode: disk.mode ?? 'rw', name },
    ...(vg !== undefined && { vg }),
    ...(metavg !== undefined && { metavg }),
    ...(spindles !== undefined && { spindles }),
    ...(adopt !== undefined && { adopt }),
    ...(access !== undefined && { access }),
    ...(Object.keys(params).length > 0 && { params }),
    ...(provider !== undefined && { provider, own: ownParams(disk) }),
  }
}

/** The disk's own parameters that a user has given. */
function ownLevel(disk: DiskParams, template: DiskTemplate): Params {
  const known = Object.keys(ownSpecs(template))
  const other = Object.keys(disk).find((name) => OWN_NAMES.includes(name) && !known.includes(name))
  if (other !== undefined)
    throw new OpPrereqError(
      `Disks of template '${template}' have no '${other}'; ${known.length > 0 ? `they have ${known.join(', ')}` : 'leave it out'}`,
      ECODE.INVAL,
    )
  const params = withoutDefaults(readOwn(template, disk))
  for (const [name, value] of Object.entries(params)) {
    const problem = valueProblem(name, value)
    if (problem !== undefined) throw new OpPrereqError(`Disk parameter ${problem}`, ECODE.INVAL)
  }
  return params
}

/** All own parameters of a disk that exists, with those that a user has given; `default` removes one. Undefined without a change. */
export function changedOwn(disk: Disk, input: DiskParams): Params | undefined {
  const names = Object.keys(input).filter((name) => OWN_NAMES.includes(name))
  if (names.length === 0 || factsOf(disk.dev_type).ownParams === true) return undefined
  const kept = Object.entries(disk.params ?? {}).filter(([name]) => !names.includes(name))
  return { ...Object.fromEntries(kept), ...ownLevel(input, disk.dev_type) }
}

/** Templates whose disks may exist before their instance. */
export const mayAdopt = (template: DiskTemplate): boolean =>
  factsOf(template).id === 'volume' || factsOf(template).adoptedOnly === true

/** As texts, for the scripts. */
export const ownParams = (disk: DiskParams): Record<string, string> =>
  Object.fromEntries(
    Object.entries(disk)
      .filter(([name]) => !DISK_PARAM_NAMES.includes(name))
      .map(([name, value]) => [name, pythonText(value)]),
  )

/** Spindles are counted only if volume groups are given to instances as whole disks; then they are required. */
export function checkSpindles(specs: readonly DiskSpec[], exclusive: boolean): void {
  if (!exclusive && specs.some(({ spindles }) => spindles !== undefined))
    throw new OpPrereqError(
      'Spindles in instance disks cannot be specified when exclusive storage is not active',
      ECODE.INVAL,
    )
  if (exclusive && specs.some(({ spindles }) => spindles === undefined))
    throw new OpPrereqError('You must specify spindles in instance disks when exclusive storage is active', ECODE.INVAL)
}

const ALL_NAMES = [...DISK_PARAM_NAMES, ...OWN_NAMES]

/** Refuses an unknown parameter, which is probably a typing error. */
export function checkDiskParams(disk: DiskParams, known: readonly string[] = ALL_NAMES): void {
  const unknown = Object.keys(disk).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeEnforcementError(`Unknown parameter '${unknown}'`)
  if (disk.size !== undefined) enforceType('size', disk.size, 'size')
}

const nameOf = (name: string | undefined): string | undefined =>
  name === undefined || name.toLowerCase() === 'none' ? undefined : name

/** Users also address disks and NICs by number, so a name must be unique and no number. */
export function checkNames(kind: string, devices: readonly { readonly name?: string | undefined }[]): void {
  const observed = new Set<string>()
  for (const { name } of devices) {
    const real = nameOf(name)
    if (real === undefined) continue
    if (/^\d+$/.test(real))
      throw new OpPrereqError(`Invalid name '${real}'. Purely numeric ${kind} names are not allowed`, ECODE.INVAL)
    if (observed.has(real)) throw new OpPrereqError(`${kind} name '${real}' already used`, ECODE.NOTUNIQUE)
    observed.add(real)
  }
}

/** The folder of an instance's files; undefined for templates without one. */
export function fileStorageFolder(
  cluster: Cluster,
  template: DiskTemplate,
  instanceName: string,
  below: string | undefined,
): string | undefined {
  const base = directoryOf(cluster, template)
  if (base === undefined) return undefined
  if (base === '') throw new OpPrereqError('Cluster file storage dir not defined', ECODE.STATE)
  if (factsOf(template).namedAfterInstance !== true) return undefined
  if (below !== undefined && path.posix.isAbsolute(below))
    throw new OpPrereqError(
      'The file storage directory is a folder below that of the cluster, not an absolute path',
      ECODE.INVAL,
    )
  const folder = path.posix.join(base, below ?? '', instanceName)
  if (folder !== path.posix.normalize(folder) || !folder.startsWith(`${base}/`))
    throw new OpPrereqError(`File storage directory '${below}' leaves the cluster's file storage`, ECODE.INVAL)
  return folder
}
