// The disks that a user asks for, checked and turned into configuration objects.
import * as path from 'node:path'
import type { Cluster, Disk, DiskMode } from '../../../model/config'
import { DEFAULT_FILE_DRIVER } from '../../../model/constants/disks'
import { ECODE, OpPrereqError, TypeEnforcementError } from '../../../model/errors'
import { diskUuid, type NodeUuid } from '../../../model/ids'
import { DISK_PARAM_NAMES, type DiskParams } from '../../../opcodes/types'
import { enforceType } from '../../../model/param-types'
import type { UnitContext } from '../../unit-context'
import { directoryOf, type DiskTemplate, factsOf, isMirroredOutside } from '../../../model/templates'

export interface DiskSpec {
  readonly size: number
  readonly mode: DiskMode
  readonly name: string | undefined
}

export function checkTemplate(cluster: Cluster, template: DiskTemplate): void {
  if (!cluster.enabled_disk_templates.includes(template))
    throw new OpPrereqError(
      `Disk template '${template}' is not enabled in cluster. Enabled disk templates are: ${cluster.enabled_disk_templates.join(',')}`,
    )
  if (factsOf(template).made !== true)
    throw new OpPrereqError(`Disks of template '${template}' cannot be made by this version yet`, ECODE.INVAL)
}

export function diskSpecs(given: readonly DiskParams[], template: DiskTemplate): DiskSpec[] {
  checkNames('disk', given)
  // Clients that must always give some are not refused for it.
  if (factsOf(template).empty === true) return []
  return given.map((disk) => diskSpec(disk, template))
}

export function diskSpec(disk: DiskParams, template: DiskTemplate): DiskSpec {
  // Providers of external storage have parameters of their own.
  if (factsOf(template).ownParams !== true) checkDiskParams(disk)
  if (disk.adopt !== undefined)
    throw new OpPrereqError('Disks of file templates are made, existing ones cannot be adopted', ECODE.INVAL)
  const { vg, metavg, access } = disk
  const other = Object.entries({ vg, metavg, access }).find(([, value]) => value !== undefined)
  if (other !== undefined)
    throw new OpPrereqError(`Disks of template '${template}' have no '${other[0]}'; leave it out`, ECODE.INVAL)
  if (disk.spindles !== undefined)
    throw new OpPrereqError(
      'Spindles in instance disks cannot be specified when exclusive storage is not active',
      ECODE.INVAL,
    )
  if (disk.provider !== undefined)
    throw new OpPrereqError(
      `The 'provider' option is only valid for the ext disk template, not ${template}`,
      ECODE.INVAL,
    )
  if (disk.size === undefined) throw new OpPrereqError('Missing disk size', ECODE.INVAL)
  if (!Number.isInteger(disk.size) || disk.size <= 0)
    throw new OpPrereqError(`Invalid disk size '${disk.size}'`, ECODE.INVAL)
  return { size: disk.size, mode: disk.mode ?? 'rw', name: nameOf(disk.name) }
}

/** A parameter that is not known is a slip of the pen. */
export function checkDiskParams(disk: DiskParams, known = DISK_PARAM_NAMES): void {
  const unknown = Object.keys(disk).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeEnforcementError(`Unknown parameter '${unknown}'`)
  if (disk.size !== undefined) enforceType('size', disk.size, 'size')
}

const nameOf = (name: string | undefined): string | undefined =>
  name === undefined || name.toLowerCase() === 'none' ? undefined : name

/** Disks and NICs are also addressed by number, so a name is neither a number nor given twice. */
export function checkNames(kind: string, devices: readonly { readonly name?: string | undefined }[]): void {
  const seen = new Set<string>()
  for (const { name } of devices) {
    const real = nameOf(name)
    if (real === undefined) continue
    if (/^\d+$/.test(real))
      throw new OpPrereqError(`Invalid name '${real}'. Purely numeric ${kind} names are not allowed`, ECODE.INVAL)
    if (seen.has(real)) throw new OpPrereqError(`${kind} name '${real}' already used`, ECODE.NOTUNIQUE)
    seen.add(real)
  }
}

/** The folder of an instance's files, undefined for other templates. */
export function fileStorageFolder(
  cluster: Cluster,
  template: DiskTemplate,
  instanceName: string,
  below: string | undefined,
): string | undefined {
  const base = directoryOf(cluster, template)
  if (base === undefined) return undefined
  if (base === '') throw new OpPrereqError('Cluster file storage dir not defined', ECODE.STATE)
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

/** Configuration objects for new disks; `first` is the index of the first. */
export function newDisks(
  ctx: UnitContext,
  specs: readonly DiskSpec[],
  template: DiskTemplate,
  folder: string | undefined,
  primary: NodeUuid,
  options: { driver?: string | undefined; first?: number } = {},
): Disk[] {
  const { random } = ctx.env
  return specs.map((spec, offset) => {
    const index = (options.first ?? 0) + offset
    return {
      logical_id: [options.driver ?? DEFAULT_FILE_DRIVER, `${folder}/${random.uuid()}.${template}.disk${index}`],
      dev_type: template,
      children: [],
      // All nodes reach an externally mirrored disk, so it belongs to none of them.
      nodes: isMirroredOutside(template) ? [] : [primary],
      iv_name: `disk/${index}`,
      size: spec.size,
      mode: spec.mode,
      ...(spec.name !== undefined && { name: spec.name }),
      params: {},
      uuid: diskUuid(random.uuid()),
      serial_no: 1,
      ctime: 0,
      mtime: 0,
    }
  })
}
