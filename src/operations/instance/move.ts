// OP_INSTANCE_MOVE: stops the instance, copies its disks to another node, and starts it there.
import type { Node } from '../../model/config'
import { fillBeParams } from '../../config/filled'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpInstanceMove } from '../../opcodes/instance'
import { findNode } from '../find'
import { exclusive, logicalUnit, type Op } from '../logical-unit'
import { checkCompressionTool, copyDisks } from '../transfer/copy'
import type { UnitContext } from '../unit-context'
import {
  checkBridges,
  checkNodeFreeMemory,
  checkNodeNotDrained,
  checkNodeOnline,
  checkNodeVmCapable,
  checkStartsOn,
  hvParamsOf,
} from './checks'
import { createDisks, removeDisks } from './disks/files'
import { assembleDisks, shutdownDisks } from './disks/activation'
import { checkFileSpace } from './disks/file-space'
import { noteRealSizes } from './disks/real-sizes'
import { Undo } from './disks/undo'
import { checkVolumeSpace, volumeNeeds } from './disks/volume-space'
import { instanceHookEnv } from './hook-env'
import { checkTargetPolicy } from './moves/plan'
import { refuseSnapshots } from './snapshots/notes'
import { startOn, undoStart } from './startup'
import {
  dictOf,
  diskDictOf,
  locksOfInstance,
  movedTo,
  readInstance,
  reread,
  withNodes,
  type InstanceView,
} from './view'
import { waitForStop } from './wait-for-stop'
import { factsOf } from '../../model/templates'

type MoveOp = Op<typeof OpInstanceMove>

interface Move {
  readonly view: InstanceView
  readonly target: Node
}

export const instanceMove = logicalUnit(OpInstanceMove, {
  locks: (op, ctx) => locksOfInstance([]).locks(op, ctx),
  async declare(level, op, ctx) {
    if (level !== 'node' && level !== 'node-res') return undefined
    const [{ primary }, target] = [await readInstance(ctx, op), await targetOf(ctx, op)]
    return exclusive([...new Set([primary.uuid, target.uuid])])
  },
  check: (ctx, op) => checkMove(ctx, op),
  hooks: {
    path: 'instance-move',
    type: 'INSTANCE',
    env: (ctx, op, { view, target }) =>
      instanceHookEnv(ctx, view.instance.uuid, { TARGET_NODE: target.name, SHUTDOWN_TIMEOUT: op.shutdown_timeout }),
    nodes: (_ctx, _op, { view, target }) => {
      const nodes = [...new Set<string>([view.config.cluster.master_node, view.primary.uuid, target.uuid])]
      return { pre: nodes, post: nodes }
    },
  },
  async run(ctx, op, move) {
    await stop(ctx, op, move)
    await copy(ctx, op, move)
    await record(ctx, move)
    ctx.log.info('Removing the disks on the original node')
    await removeDisks(ctx, move.view, move.view.disks)
    if (move.view.instance.admin_state === 'up') await start(ctx, move)
    return null
  },
})

/** If the configuration cannot be changed, only the source's disks remain. */
async function record(ctx: UnitContext, { view, target }: Move): Promise<void> {
  const there = { ...view, config: await withNodes(ctx, view, [target.uuid]), primary: target }
  const undo = new Undo(ctx)
  undo.push(`remove the copied disks on node ${target.name}`, async () =>
    (await removeDisks(ctx, there, view.disks))
      ? { ok: true, payload: null }
      : { ok: false, error: 'the log says why', offline: false },
  )
  await undo.around(async () => {
    const isMade = async () => (await reread(ctx, view)).instance.primary_node === target.uuid
    await ctx.config.change(movedTo(view, target), isMade)
  })
}

async function targetOf(ctx: UnitContext, op: MoveOp): Promise<Node> {
  const { object: node } = await findNode(ctx, op.target_node, op.target_node_uuid)
  ctx.note({ target_node: node.name, target_node_uuid: node.uuid })
  return node
}

async function checkMove(ctx: UnitContext, op: MoveOp): Promise<Move> {
  const view = await readInstance(ctx, op)
  const { instance, config } = view
  for (const [index, disk] of view.disks.entries())
    if (factsOf(disk.dev_type).copyable !== true)
      throw new OpPrereqError(
        `Instance disk ${index} has disk type ${disk.dev_type} and is not suitable for copying`,
        ECODE.STATE,
      )
  await refuseSnapshots(ctx, view, view.disks, 'it cannot be copied to another node and deleted here')
  const target = await targetOf(ctx, op)
  if (target.uuid === view.primary.uuid)
    throw new OpPrereqError(`Instance ${instance.name} is already on the node ${target.name}`, ECODE.STATE)
  checkNodeOnline(target)
  checkNodeNotDrained(target)
  checkNodeVmCapable(target)
  checkCompressionTool(config.cluster, op.compress)
  await checkTargetPolicy(ctx, view, target, op.ignore_ipolicy)
  if (instance.admin_state === 'up') {
    const { maxmem } = fillBeParams(config.cluster, instance.beparams)
    const reason = `failing over instance ${instance.name}`
    await checkNodeFreeMemory(ctx, target, reason, maxmem, instance.hypervisor, hvParamsOf(view))
    await checkStartsOn(ctx, view, target)
  } else ctx.log.info('Not checking memory on the secondary node as instance will not be started')
  await checkBridges(ctx, config, instance, target)
  await checkRoom(ctx, view, target, op)
  return { view, target }
}

/** The instance is not stopped for disks that have no room there. */
async function checkRoom(ctx: UnitContext, { disks }: InstanceView, node: Node, op: MoveOp): Promise<void> {
  const config = await ctx.config.read({ nodes: [node.uuid] })
  await checkVolumeSpace(ctx, config, [node], volumeNeeds(disks))
  for (const template of new Set(disks.map(({ dev_type }) => dev_type))) {
    const wanted_mib = disks.reduce((sum, { dev_type, size }) => sum + (dev_type === template ? size : 0), 0)
    await checkFileSpace(ctx, { cluster: config.cluster, node, template }, wanted_mib, op.ignore_ipolicy)
  }
}

async function stop(ctx: UnitContext, op: MoveOp, { view }: Move): Promise<void> {
  const { instance, primary } = view
  ctx.log.info(`Shutting down instance ${instance.name} on source node ${primary.name}`)
  const args = [dictOf(view), op.shutdown_timeout, ctx.reason] as const
  const result = await waitForStop(
    ctx,
    { name: instance.name, limit_s: op.shutdown_timeout },
    ctx.nodes.attempt(primary, 'instance_shutdown', [...args]),
  )
  if (result.ok) return
  const text = `Could not shutdown instance ${instance.name} on node ${primary.name}`
  if (!op.ignore_consistency) throw new OpExecError(`${text}: ${result.error}`)
  ctx.log.warning(
    `${text}. Proceeding anyway. Please make sure node ${primary.name} is down. Error details: ${result.error}`,
  )
}

/** Makes the disks on the target and fills them. On failure only the source's disks remain. */
async function copy(ctx: UnitContext, op: MoveOp, { view: before, target }: Move): Promise<void> {
  const view = await noteRealSizes(ctx, before)
  const there = { ...view, config: await withNodes(ctx, view, [target.uuid]), primary: target }
  await createDisks(ctx, there, view.disks)
  const plan = { from: view.primary, to: target, instance: dictOf(view), compress: op.compress }
  const transfers = view.disks.map((disk, index) => {
    return {
      name: `disk/${index}`,
      source: ['raw', [diskDictOf(view, disk)]],
      target: ['raw', [diskDictOf(there, disk)]],
    } as const
  })
  const copied = await copyDisks(ctx, plan, transfers)
  if (copied.every((ok) => ok)) return
  ctx.log.warning('Some disks failed to copy, aborting')
  await removeDisks(ctx, there, view.disks)
  throw new OpExecError('Errors during disk copy: Failed to transfer instance data')
}

async function start(ctx: UnitContext, { view, target }: Move): Promise<void> {
  const { instance } = view
  ctx.log.info(`Starting instance ${instance.name} on node ${target.name}`)
  const { ok, view: active } = await assembleDisks(ctx, await reread(ctx, view), { ignoreSecondaries: true })
  if (!ok) {
    await shutdownDisks(ctx, active)
    throw new OpExecError("Can't activate the instance's disks")
  }
  const result = await startOn(ctx, target, dictOf(active))
  if (result.ok) return
  await undoStart(ctx, active, result)
  throw new OpExecError(`Could not start instance ${instance.name} on node ${target.name}: ${result.error}`)
}
