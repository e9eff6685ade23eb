// The configuration objects of new disks. A DRBD disk gets its unique values (port, minors and secret) from wconfd when
// it is about to be made: a check reserves nothing.
import { change } from '../../../config/changes'
import { fillDiskParams } from '../../../config/filled'
import { drbdId } from '../../../config/lookup'
import type { ConfigData, Disk, LogicalId, Node } from '../../../model/config'
import { BLOCKDEV_DRIVER, DEFAULT_FILE_DRIVER, DEFAULT_VG } from '../../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { diskUuid } from '../../../model/ids'
import { type DiskTemplate, DRBD_META_SIZE_MIB, factsOf, isDrbd, isMirroredOutside } from '../../../model/templates'
import type { UnitContext } from '../../unit-context'
import type { DiskSpec } from './spec'

/** The place of new disks. */
export interface DiskPlace {
  readonly config: Pick<ConfigData, 'cluster' | 'nodegroups'>
  readonly primary: Node
  /** The node of a mirror's other side. */
  readonly secondary?: Node | undefined
  /** The folder of the instance's files. */
  readonly folder?: string | undefined
}

const NO_IDENTITY = [0, 0, 0, ''] as const

/** `first` is the index of the first disk. */
export function newDisks(
  ctx: UnitContext,
  specs: readonly DiskSpec[],
  template: DiskTemplate,
  place: DiskPlace,
  options: { driver?: string | undefined; first?: number } = {},
): Disk[] {
  return specs.map((spec, offset) => {
    const index = (options.first ?? 0) + offset
    if (isDrbd(template)) return drbdDisk(ctx, spec, place, index)
    return {
      logical_id: newId(ctx.env.random.uuid(), spec, template, place, { driver: options.driver, index }),
      dev_type: template,
      children: [],
      // All nodes reach an externally mirrored disk, so it has no nodes of its own.
      nodes: isMirroredOutside(template) ? [] : [place.primary.uuid],
      ...common(ctx, spec, `disk/${index}`),
      ...(spec.spindles !== undefined && { spindles: spec.spindles }),
    }
  })
}

function newId(
  uuid: string,
  spec: DiskSpec,
  template: DiskTemplate,
  place: DiskPlace,
  { driver = DEFAULT_FILE_DRIVER, index }: { driver: string | undefined; index: number },
): LogicalId {
  const name = `${uuid}.${template}.disk${index}`
  switch (factsOf(template).id) {
    case 'volume':
      return [dataVg(spec, place), `${uuid}.disk${index}`]
    case 'device':
      return [BLOCKDEV_DRIVER, spec.adopt ?? '']
    case 'image':
      return [template, name]
    case 'provider':
      return [spec.provider ?? '', name]
    default:
      // Without a folder for each instance, the file is below the volume's root.
      return [driver, place.folder === undefined ? `ganeti/${uuid}.${index}` : `${place.folder}/${name}`]
  }
}

function drbdDisk(ctx: UnitContext, spec: DiskSpec, place: DiskPlace, index: number): Disk {
  const { primary, secondary } = place
  if (secondary === undefined) throw new OpPrereqError('The networked disk templates need a mirror node', ECODE.INVAL)
  const nodes = [primary.uuid, secondary.uuid]
  const name = spec.stem ?? `${ctx.env.random.uuid()}.disk${index}`
  const volume = (vg: string, suffix: string, size: number): Disk => ({
    logical_id: [vg, `${name}_${suffix}`],
    dev_type: 'plain',
    children: [],
    nodes,
    ...common(ctx, { size, mode: 'rw', name: undefined }, ''),
  })
  return {
    logical_id: [...nodes, ...NO_IDENTITY],
    dev_type: 'drbd',
    children: [
      volume(dataVg(spec, place), 'data', spec.size),
      volume(spec.metavg ?? metaVg(place), 'meta', DRBD_META_SIZE_MIB),
    ],
    nodes,
    ...common(ctx, spec, `disk/${index}`),
  }
}

const common = (ctx: UnitContext, { size, mode, name, provider, own, access, params }: DiskSpec, iv_name: string) => ({
  iv_name,
  size,
  mode,
  ...(name !== undefined && { name }),
  params: { ...(provider !== undefined && { provider, ...own }), ...(access !== undefined && { access }), ...params },
  uuid: diskUuid(ctx.env.random.uuid()),
  serial_no: 1,
  ctime: 0,
  mtime: 0,
})

export const dataVg = (spec: DiskSpec, { config }: DiskPlace): string =>
  spec.vg ?? config.cluster.volume_group_name ?? DEFAULT_VG

const metaVg = ({ config, primary }: Pick<DiskPlace, 'config' | 'primary'>): string =>
  String(fillDiskParams(config.cluster, config.nodegroups[primary.group], 'drbd')['metavg'])

/**
 * The same disks with ports, minors and secrets. If a job ends before they are in the configuration, these are free
 * again.
 */
export async function withIdentities(ctx: UnitContext, disks: readonly Disk[]): Promise<Disk[]> {
  const identified: Disk[] = []
  try {
    for (const disk of disks) identified.push(await withIdentity(ctx, disk))
  } catch (error) {
    await returnPorts(ctx, identified)
    throw error
  }
  return identified
}

async function withIdentity(ctx: UnitContext, disk: Disk): Promise<Disk> {
  const id = drbdId(disk)
  if (id === undefined || id.port !== 0) return disk
  const { wconfd, client } = ctx.env
  const secret = await wconfd.generateDRBDSecret(client)
  const [minorA, minorB] = await wconfd.gantryReserveMinors(client, disk.uuid, [id.nodeA, id.nodeB])
  const [port] = await ctx.config.change([change('allocatePort')])
  const logical_id: LogicalId = [id.nodeA, id.nodeB, Number(port), minorA ?? 0, minorB ?? 0, secret]
  return { ...disk, logical_id }
}

/** For disks that did not get into the configuration. */
export async function returnPorts(ctx: UnitContext, disks: readonly Disk[]): Promise<void> {
  const ports = disks.flatMap((disk) => drbdId(disk)?.port ?? []).filter((port) => port !== 0)
  await ctx.config.change(ports.map((port) => change('addTcpUdpPort', port)))
}
