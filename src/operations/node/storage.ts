// OP_NODE_QUERY_STORAGE, OP_NODE_MODIFY_STORAGE and OP_REPAIR_NODE_STORAGE: nodes' storage for disks.
import { pythonRepr } from '../../lib/text/python-text'
import { instanceNodes } from '../../config/lookup'
import type { Cluster, ConfigData, Instance, Node } from '../../model/config'
import { LOCAL_DISK_STATUS } from '../../model/constants/disks'
import { STORAGE_TYPES_NODE_STORAGE } from '../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSortBy } from '../../model/nice-sort'
import { OpNodeModifyStorage, OpNodeQueryStorage, OpRepairNodeStorage } from '../../opcodes/node'
import { namedNode, nodesOrAll } from '../find'
import { diskDicts, viewOf } from '../instance/view'
import { exclusive, logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { runningOn } from '../instance/checks'
import { checkFields, lockNodesForReading } from './reading'
import { factsOf, isStorageEnabled, NO_DISKS, placeOf, type StorageType } from '../../model/templates'

const FIELDS: readonly string[] = ['allocatable', 'free', 'name', 'node', 'size', 'type', 'used']
/** Known here, so nodes are not asked. */
const OWN_FIELDS: readonly string[] = ['node', 'type']
const MODIFIABLE: Readonly<Partial<Record<StorageType, readonly string[]>>> = { 'lvm-pv': ['allocatable'] }
const REPAIRABLE: readonly StorageType[] = ['lvm-vg']

export const nodeQueryStorage = logicalUnit(OpNodeQueryStorage, {
  question: true,
  locks(op, ctx) {
    checkFields(FIELDS, op.output_fields)
    return lockNodesForReading(op, ctx)
  },
  async check(ctx, op) {
    const nodes = await nodesOrAll(ctx, op.nodes)
    const { cluster } = await ctx.config.read({})
    if (op.storage_type !== undefined) checkTypeEnabled(cluster, op.storage_type)
    return { nodes, cluster, type: op.storage_type ?? defaultType(cluster) }
  },
  async run(ctx, op, { nodes, cluster, type }) {
    const requested = [...new Set(['name', ...op.output_fields])].filter((field) => !OWN_FIELDS.includes(field))
    const results = await ctx.nodes.many(nodes, 'storage_list', [
      type,
      placeOf(cluster, type),
      op.name ?? null,
      requested,
    ])
    return niceSortBy(nodes, (node) => node.uuid).flatMap((node) => {
      const result = results.get(node.uuid)
      if (result?.ok !== true) {
        if (result?.offline !== true)
          ctx.log.warning(`Can't get storage data from node ${node.name}: ${result?.error ?? 'no answer'}`)
        return []
      }
      const own: Readonly<Record<string, unknown>> = { node: node.name, type }
      const rows = niceSortBy(result.payload, (row) => String(row[requested.indexOf('name')]))
      return rows.map((row) => op.output_fields.map((field) => own[field] ?? row[requested.indexOf(field)]))
    })
  },
})

export const nodeModifyStorage = logicalUnit(OpNodeModifyStorage, {
  async locks(op, ctx) {
    const { object: node } = await namedNode(ctx, op)
    const fields = MODIFIABLE[op.storage_type]
    if (fields === undefined)
      throw new OpPrereqError(`Storage units of type '${op.storage_type}' can not be modified`, ECODE.INVAL)
    const fixed = Object.keys(op.changes).filter((field) => !fields.includes(field))
    if (fixed.length > 0)
      throw new OpPrereqError(
        `The following fields can not be modified for storage units of type '${op.storage_type}': ${pythonRepr(fixed)}`,
        ECODE.INVAL,
      )
    return { node: exclusive([node.uuid]) }
  },
  check: (ctx, op) => checkUnit(ctx, op),
  async run(ctx, op, { node, cluster, name }) {
    const what = `Failed to modify storage unit '${name}' on ${node.name}`
    const args = [op.storage_type, placeOf(cluster, op.storage_type), name, op.changes] as const
    await ctx.nodes.call(node, what, 'storage_modify', [...args])
    return null
  },
})

export const repairNodeStorage = logicalUnit(OpRepairNodeStorage, {
  async locks(op, ctx) {
    const { object: node } = await namedNode(ctx, op)
    if (!REPAIRABLE.includes(op.storage_type))
      throw new OpPrereqError(`Storage units of type '${op.storage_type}' can not be repaired`, ECODE.INVAL)
    return { node: exclusive([node.uuid]) }
  },
  async check(ctx, op) {
    const unit = await checkUnit(ctx, op)
    const config = await ctx.config.read({ instances: 'all', nodes: [unit.node.uuid] })
    await checkOtherCopies(ctx, config, unit.node, op.ignore_consistency)
    return unit
  },
  async run(ctx, op, { node, cluster, name }) {
    ctx.log.say(`Repairing storage unit '${name}' on ${node.name} ...`)
    const what = `Failed to repair storage unit '${name}' on ${node.name}`
    const args = [op.storage_type, placeOf(cluster, op.storage_type), name, 'fix-consistency'] as const
    await ctx.nodes.call(node, what, 'storage_execute', [...args])
    return null
  },
})

interface NamesUnit {
  readonly node_name: string
  readonly node_uuid?: string | undefined
  readonly storage_type: StorageType
  readonly name?: string | undefined
}

async function checkUnit(ctx: UnitContext, op: NamesUnit): Promise<{ node: Node; cluster: Cluster; name: string }> {
  const { config, object: node } = await namedNode(ctx, op)
  checkTypeEnabled(config.cluster, op.storage_type)
  if (op.name === undefined) throw new OpPrereqError('The name of the storage unit is missing', ECODE.INVAL)
  return { node, cluster: config.cluster, name: op.name }
}

/** During the repair of this node's storage, the other nodes have the only good copies. */
async function checkOtherCopies(ctx: UnitContext, config: ConfigData, node: Node, ignore: boolean): Promise<void> {
  const running = await runningOn(ctx, config, Object.values(config.nodes))
  for (const instance of Object.values(config.instances)) {
    const nodes = instanceNodes(config, instance)
    const isUsed = (instance.disks_active || running.has(instance.name)) && !instance.forthcoming
    if (!isUsed || !nodes.includes(node.uuid)) continue
    for (const uuid of nodes) {
      const other = config.nodes[uuid]
      if (other === undefined || uuid === node.uuid) continue
      const problem = await faultyCopy(ctx, config, instance, other)
      if (problem === undefined) continue
      if (!ignore) throw problem
      ctx.log.warning(problem.message)
    }
  }
}

async function faultyCopy(
  ctx: UnitContext,
  config: ConfigData,
  instance: Instance,
  node: Node,
): Promise<OpPrereqError | undefined> {
  const disks = diskDicts(viewOf(config, instance))
  const result = await ctx.nodes.attempt(node, 'blockdev_getmirrorstatus', [disks])
  if (!result.ok)
    return new OpPrereqError(`Failed to get disk status from node ${node.name}: ${result.error}`, ECODE.ENVIRON)
  const faulty = result.payload.some((status) => status.ldisk_status === LOCAL_DISK_STATUS.faulty)
  if (!faulty) return undefined
  return new OpPrereqError(`Instance '${instance.name}' has faulty disks on node '${node.name}'`, ECODE.STATE)
}

function checkTypeEnabled(cluster: Cluster, type: StorageType): void {
  if (isStorageEnabled(cluster, type)) return
  const requested = type === 'lvm-pv' ? 'lvm-vg' : type
  throw new OpPrereqError(
    `No disk template of storage type '${requested}' is enabled in this cluster. Enabled disk templates are: ${cluster.enabled_disk_templates.join(',')}`,
  )
}

function defaultType(cluster: Cluster): StorageType {
  const [template = NO_DISKS] = cluster.enabled_disk_templates
  const type = factsOf(template).storage
  if (STORAGE_TYPES_NODE_STORAGE.includes(type)) return type
  throw new OpPrereqError(
    `Storage reporting for storage type '${type}' is not supported. Please use the --storage-type option to specify one of the supported storage types (${STORAGE_TYPES_NODE_STORAGE.join(', ')}) or set the default disk template to one that supports storage reporting.`,
  )
}
