// Checks an opcode's parameters one by one, and turns them into the configuration objects of a new instance.
import {
  fillBeParams,
  fillHvParams,
  fillIPolicy,
  fillNdParams,
  fillOsParams,
  fillPrivateOsParams,
} from '../../../config/filled'
import { checkTag } from '../../../config/changes/tags'
import type { BeParams, Cluster, ConfigData, Disk, Hypervisor, Instance, Nic } from '../../../model/config'
import type { Node, Params } from '../../../model/config'
import { checkHvParams } from '../../../model/hv-check'
import { asReal } from '../../../model/disk'
import { instanceUuid } from '../../../model/ids'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { normalHostname } from '../../../model/names'
import type { OpInstanceCreate } from '../../../opcodes/instance'
import type { Op } from '../../logical-unit'
import type { UnitContext } from '../../unit-context'
import { type DiskPlace, newDisks } from '../disks/new-disks'
import { diskSpecs, fileStorageFolder, type DiskSpec } from '../disks/spec'
import { countedSpindles, policyViolations } from '../placement/ipolicy'
import { osImage } from './os-image'
import { wantedNics, type WantedNic } from '../nics/spec'
import { beParams, checkNotClusterOnly, givenOsParams, hvParamTypes } from '../parameters/params'
import type { InstanceView } from '../view'
import { MAX_DISKS } from '../../../model/constants/disks'
import { MAX_NICS } from '../../../model/constants/params'
import { enforceTypes } from '../../../model/param-types'
import { type DiskTemplate, NO_DISKS } from '../../../model/templates'

export type CreateOp = Op<typeof OpInstanceCreate>

/** Everything about the instance except its node, which the allocator may still choose. */
export interface Wanted {
  readonly name: string
  readonly os: string
  readonly hypervisor: Hypervisor
  readonly template: DiskTemplate
  readonly hvparams: Params
  readonly beparams: Partial<BeParams>
  readonly be: BeParams
  readonly disks: readonly DiskSpec[]
  readonly nics: readonly WantedNic[]
  readonly folder: string | undefined
  readonly install: boolean
  readonly start: boolean
  /** The parameters of all levels, including private and secret ones, for the scripts and their check. */
  readonly osparams: Readonly<Record<string, string>>
}

/** Refuses mistakes that do not depend on the cluster. */
export function checkArguments(op: CreateOp): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  if (op.forthcoming && op.commit)
    throw refuse('Reserving an instance and committing to it exclude each other; give one of the two')
  if (op.forthcoming && op.mode !== 'create')
    throw refuse('Only new instances can be reserved; those that are imported bring their data')
  if ((op.forthcoming || op.commit) && op.disks.some(({ adopt }) => adopt !== undefined))
    throw refuse('Disks that are adopted cannot be reserved; add the instance when it is to be made')
  if (op.ip_check && !op.name_check) throw refuse('Cannot do IP address check without a name check')
}

/** Checks that need the default values. */
export function checkChoices(op: CreateOp): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  if (op.opportunistic_locking && op.pnode !== undefined)
    throw refuse('Opportunistic locking is only available in combination with an instance allocator')
  if (op.mode === 'create' && osImage(op.osparams) === undefined && op.os_type === undefined)
    throw refuse('No guest OS or OS image specified')
}

export const wantedTemplate = (cluster: Cluster, op: CreateOp): DiskTemplate =>
  op.disk_template ?? cluster.enabled_disk_templates[0] ?? NO_DISKS

export async function wantedInstance(
  ctx: UnitContext,
  cluster: Cluster,
  op: CreateOp,
  resolvedIp?: string,
  /** Shows the resulting parameters in the job, even if it fails later. */
  note: (fields: Readonly<Record<string, unknown>>) => void = () => undefined,
): Promise<Wanted> {
  const name = normalHostname(op.instance_name)
  const template = wantedTemplate(cluster, op)
  note({ hypervisor: op.hypervisor ?? cluster.enabled_hypervisors[0] })
  const hypervisor = wantedHypervisor(cluster, op.hypervisor)
  const os = op.os_type ?? ''
  if (cluster.blacklisted_os.includes(os.split('+')[0] ?? os))
    throw new OpPrereqError(`Guest OS '${os}' is not allowed for installation`, ECODE.INVAL)
  for (const tag of op.tags) checkTag(tag)
  const hvparams = wantedHvParams(cluster, op, hypervisor, os)
  const beparams = wantedBeParams(cluster, op)
  note({ beparams, ...givenOsParams(op) })
  return {
    name,
    os,
    hypervisor,
    template,
    hvparams,
    beparams,
    be: fillBeParams(cluster, beparams),
    disks: diskSpecs(op.disks, template),
    nics: await wantedNics(ctx, cluster, op.nics, resolvedIp),
    folder: fileStorageFolder(cluster, template, name, op.file_storage_dir),
    install: op.no_install !== true,
    start: op.start && !startsNever(op),
    osparams: allOsParams(cluster, op, os),
  }
}

/** An instance without an installed system does not start. An imported instance has its system. */
export const startsNever = (op: CreateOp): boolean => op.mode === 'create' && op.no_install === true

function wantedHypervisor(cluster: Cluster, input: Hypervisor | undefined): Hypervisor {
  const hypervisor = input ?? cluster.enabled_hypervisors[0]
  if (hypervisor !== undefined && cluster.enabled_hypervisors.includes(hypervisor)) return hypervisor
  throw new OpPrereqError(
    `Selected hypervisor (${hypervisor}) not enabled in the cluster (${cluster.enabled_hypervisors.join(',')})`,
    ECODE.STATE,
  )
}

function wantedHvParams(cluster: Cluster, op: CreateOp, hypervisor: Hypervisor, os: string): Params {
  const input = enforceTypes(op.hvparams, hvParamTypes(hypervisor), ['default'])
  const own = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== 'default'))
  checkNotClusterOnly(own, 'instance', 'cluster')
  checkHvParams(hypervisor, fillHvParams(cluster, { hypervisor, os, hvparams: own }))
  if (!op.identify_defaults) return own
  const defaults = fillHvParams(cluster, { hypervisor, os, hvparams: {} })
  return differing(own, { ...defaults })
}

function wantedBeParams(cluster: Cluster, op: CreateOp): Partial<BeParams> {
  const input = Object.entries(op.beparams).map(([name, value]): [string, unknown] => [
    name,
    value === 'auto' ? 'default' : value,
  ])
  const own = beParams(cluster, Object.fromEntries(input))
  return op.identify_defaults ? differing(own, { ...cluster.beparams.default }) : own
}

/** Only values that differ from the defaults. */
function differing<T extends object>(own: T, defaults: Readonly<Record<string, unknown>>): T {
  const kept = { ...own }
  for (const [name, value] of Object.entries(own)) if (value === defaults[name]) Reflect.deleteProperty(kept, name)
  return kept
}

function allOsParams(cluster: Cluster, op: CreateOp, os: string): Record<string, string> {
  const secret = op.osparams_secret ?? {}
  const kinds = [op.osparams, op.osparams_private ?? {}, secret]
  const names = kinds.flatMap((params) => Object.keys(params))
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  if (twice.length > 0)
    throw new OpPrereqError(`OS parameters given with more than one visibility: ${twice.join(', ')}`, ECODE.INVAL)
  return {
    ...texts(fillOsParams(cluster, os, texts(op.osparams))),
    ...texts(fillPrivateOsParams(cluster, os, texts(op.osparams_private ?? {}))),
    ...texts(secret),
  }
}

/** Converts OS parameters to texts, because scripts get them in their environment. */
export const texts = (params: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))

export function checkPolicy(config: ConfigData, desired: Wanted, primary: Node, ignore: boolean): void {
  const group = config.nodegroups[primary.group]
  const violations = policyViolations(fillIPolicy(config.cluster, group), {
    memory_mib: desired.be.maxmem,
    vcpus: desired.be.vcpus,
    diskSizes_mib: desired.disks.map((disk) => disk.size),
    nics: desired.nics.length,
    spindles: countedSpindles(desired.disks, desired.be, fillNdParams(config, primary).exclusive_storage),
    template: desired.template,
  })
  if (!ignore && violations.length > 0)
    throw new OpPrereqError(
      `Instance allocation to group ${group?.uuid} (${group?.name}) violates policy: ${violations.join(', ')}`,
      ECODE.INVAL,
    )
  if (desired.nics.length > MAX_NICS) throw new OpPrereqError(`An instance has at most ${MAX_NICS} NICs`, ECODE.INVAL)
  if (desired.disks.length > MAX_DISKS)
    throw new OpPrereqError(`An instance has at most ${MAX_DISKS} disks`, ECODE.INVAL)
}

/** The objects for the configuration. A reserved instance keeps its uuid, port and disks. */
export function newInstance(
  ctx: UnitContext,
  op: CreateOp,
  desired: Wanted,
  place: DiskPlace,
  { nics, reserved }: { nics: readonly Nic[]; reserved: InstanceView | undefined },
): { instance: Instance; disks: Disk[] } {
  const { primary } = place
  const disks =
    reserved?.disks.map(asReal) ?? newDisks(ctx, desired.disks, desired.template, place, { driver: op.file_driver })
  const network_port = reserved?.instance.network_port
  const instance: Instance = {
    name: desired.name,
    primary_node: primary.uuid,
    os: op.os_type ?? '',
    hypervisor: desired.hypervisor,
    hvparams: desired.hvparams,
    beparams: desired.beparams,
    osparams: texts(op.osparams),
    osparams_private: texts(op.osparams_private ?? {}),
    admin_state: 'down',
    admin_state_source: 'admin',
    nics,
    disks: disks.map((disk) => disk.uuid),
    disks_active: disks.length > 0 && !op.forthcoming,
    ...(network_port !== undefined && { network_port }),
    uuid: reserved?.instance.uuid ?? instanceUuid(ctx.env.random.uuid()),
    tags: [...new Set(op.tags)].sort(),
    serial_no: 1,
    ctime: 0,
    mtime: 0,
  }
  return { instance, disks }
}

/** The configuration as if it contained the instance, to fill its parameters beforehand. */
export const withInstance = (config: ConfigData, instance: Instance, disks: readonly Disk[]): ConfigData => ({
  ...config,
  instances: { [instance.uuid]: instance },
  disks: Object.fromEntries(disks.map((disk) => [disk.uuid, disk])),
})
