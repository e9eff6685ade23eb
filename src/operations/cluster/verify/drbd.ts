// DRBD on nodes: the helper program of the module, one version in the whole group, and a device for each disk that
// should be active.
import { drbdId } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { Cluster, ConfigData, Instance } from '../../../model/config'
import { isDrbd } from '../../../model/templates'
import type { GroupState, NodeImage } from './group-state'
import { endOfMinor } from './node-commands'
import type { VerifyReport } from './report'

/** The program that nodes must have set; undefined if the cluster has no such disks. */
export const drbdHelperOf = (cluster: Cluster): string | undefined =>
  cluster.enabled_disk_templates.some(isDrbd) ? cluster.drbd_usermode_helper : undefined

/** The part of the request to nodes. */
export function drbdRequest(cluster: Cluster): Record<string, unknown> {
  const helper = drbdHelperOf(cluster)
  return helper === undefined ? {} : { 'drbd-version': null, 'drbd-list': null, 'drbd-helper': helper }
}

interface Minor {
  readonly disk: string
  /** The instance to which the disk is attached. */
  readonly instance: string | undefined
  /** Whether its device should exist. */
  readonly expected: boolean
}

/** By node and minor. Includes reservations of jobs, whose devices may exist or not. */
export type Minors = ReadonlyMap<string, ReadonlyMap<number, Minor>>

export function minorsOf(
  config: ConfigData,
  isUsed: (instance: Instance) => boolean,
  map: readonly (readonly [node: string, minors: readonly (readonly [minor: number, disk: string])[]])[],
): Minors {
  const owners = new Map(
    recordValues(config.instances).flatMap((instance) => instance.disks.map((disk) => [disk as string, instance])),
  )
  const found = (uuid: string, node: string): Minor => {
    const owner = owners.get(uuid)
    const disk = recordValues(config.disks).find((one) => one.uuid === uuid)
    const id = disk && drbdId(disk)
    const active = owner !== undefined && disk?.forthcoming !== true && isUsed(owner)
    return {
      disk: uuid,
      instance: owner?.name,
      expected: active && (id?.nodeA === node || id?.nodeB === node),
    }
  }
  return new Map(
    map.map(([node, minors]) => [node, new Map(minors.map(([minor, disk]) => [minor, found(disk, node)]))]),
  )
}

export function verifyDrbd(report: VerifyReport, { config }: GroupState, image: NodeImage, minors: Minors): void {
  const { node, answer } = image
  const helper = drbdHelperOf(config.cluster)
  if (helper === undefined) return
  verifyHelper(report, node.name, helper, answer['drbd-helper'])
  const used: unknown = answer['drbd-list'] ?? []
  const numbers = Array.isArray(used) ? used.filter((minor) => typeof minor === 'number') : undefined
  if (numbers === undefined) {
    report.error('ENODEDRBD', node.name, `cannot parse drbd status file: ${String(used)}`)
    return
  }
  const known = minors.get(node.uuid) ?? new Map<number, Minor>()
  for (const [minor, { disk, instance, expected }] of known) {
    const owner = instance === undefined ? '(detached)' : `(attached in instance '${instance}')`
    const text = `drbd minor ${minor} of disk ${disk} ${owner} is not active`
    report.when(expected && !numbers.includes(minor), 'ENODEDRBD', node.name, text)
  }
  for (const minor of numbers) {
    const text = `unallocated drbd minor ${minor} is in use; ${endOfMinor(image, minor)}`
    report.when(!known.has(minor), 'ENODEDRBD', node.name, text)
  }
}

function verifyHelper(report: VerifyReport, node: string, desired: string, reported: unknown): void {
  const [works, text]: unknown[] = Array.isArray(reported) ? reported : []
  if (typeof works !== 'boolean') return report.error('ENODEDRBDHELPER', node, 'no drbd usermode helper returned')
  if (!works) return report.error('ENODEDRBDHELPER', node, `drbd usermode helper check unsuccessful: ${String(text)}`)
  const wrong = `wrong drbd usermode helper: ${String(text)}; the cluster's is ${desired}`
  report.when(text !== desired, 'ENODEDRBDHELPER', node, wrong)
}

/** Nodes with different versions may not understand each other. */
export function verifyDrbdVersions(report: VerifyReport, images: readonly NodeImage[]): void {
  const versions = images.flatMap(({ node, answer }) => {
    const version = answer['drbd-version']
    return typeof version === 'string' && version !== '' ? [{ node: node.name, version }] : []
  })
  if (new Set(versions.map(({ version }) => version)).size <= 1) return
  for (const { node, version } of versions)
    report.error('ENODEDRBDVERSION', node, `DRBD version mismatch: ${version}`, 'WARNING')
}
