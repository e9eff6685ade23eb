// OP_CLUSTER_REPAIR_DISK_SIZES: corrects the configuration to the disks' real sizes.
import { change } from '../../config/changes'
import { fillNdParams } from '../../config/filled'
import { instanceDisks } from '../../config/lookup'
import { diskDict } from '../../config/rpc-dicts'
import type { ConfigData, Disk, Instance } from '../../model/config'
import { OpClusterRepairDiskSizes } from '../../opcodes/cluster'
import { instancesOrAll } from '../find'
import { all, logicalUnit, shared } from '../logical-unit'
import type { UnitContext } from '../unit-context'

type Row = [instance: string, disk: number, what: 'size' | 'spindles', value: number]

export const clusterRepairDiskSizes = logicalUnit(OpClusterRepairDiskSizes, {
  async locks(op, ctx) {
    if (op.instances.length === 0) return { instance: shared(all), 'node-res': shared(all) }
    const instances = await instancesOrAll(ctx, op.instances)
    return {
      instance: shared(instances.map((instance) => instance.name)),
      'node-res': shared([...new Set(instances.map((instance) => instance.primary_node))]),
    }
  },
  async check(ctx, op) {
    const names = (await instancesOrAll(ctx, op.instances)).map((instance) => instance.name)
    return ctx.config.read({ instances: names })
  },
  async run(ctx, _op, config) {
    const rows: Row[] = []
    for (const instance of Object.values(config.instances)) rows.push(...(await repair(ctx, config, instance)))
    return rows
  },
})

async function repair(ctx: UnitContext, config: ConfigData, instance: Instance): Promise<Row[]> {
  if (instance.forthcoming) return []
  const node = config.nodes[instance.primary_node]
  const disks = instanceDisks(config, instance)
  if (node === undefined || disks.length === 0) return []
  const dicts = disks.map((disk) => diskDict(config, disk, config.nodegroups[node.group]))
  const result = await ctx.nodes.attempt(node, 'blockdev_getdimensions', [dicts])
  if (!result.ok) {
    ctx.log.warning(`Failure in blockdev_getdimensions call to node ${node.name}, ignoring: ${result.error}`)
    return []
  }
  const exclusive = fillNdParams(config, node).exclusive_storage
  const rows: Row[] = []
  for (const [index, disk] of disks.entries()) {
    const dimensions = result.payload[index] ?? null
    if (dimensions === null) {
      ctx.log.warning(`Disk ${index} of instance ${instance.name} did not return size information, ignoring`)
      continue
    }
    const [bytes, spindles] = dimensions
    const found = { size: Math.floor(bytes / (1 << 20)), ...(exclusive && spindles !== null && { spindles }) }
    rows.push(...(await correct(ctx, instance, index, disk, found)))
  }
  return rows
}

async function correct(
  ctx: UnitContext,
  instance: Instance,
  index: number,
  disk: Disk,
  found: { readonly size: number; readonly spindles?: number },
): Promise<Row[]> {
  const rows: Row[] = []
  for (const what of ['size', 'spindles'] as const) {
    const actual = found[what]
    if (actual === undefined || actual === disk[what]) continue
    const figures = `recorded ${disk[what] ?? 'nothing'}, actual ${actual}`
    ctx.log.info(`Disk ${index} of instance ${instance.name} has mismatched ${what}, correcting: ${figures}`)
    rows.push([instance.name, index, what, actual])
  }
  const small = disk.children[0] !== undefined && disk.children[0].size < found.size
  if (small) ctx.log.info(`Child disk of disk ${index} of instance ${instance.name} is recorded too small, correcting`)
  if (rows.length > 0 || small) {
    const children = disk.children.map((child, place) =>
      place === 0 && small ? { ...child, size: found.size } : child,
    )
    await ctx.config.change([change('patchDisk', disk.uuid, { ...found, children })])
  }
  return rows
}
