// OP_BACKUP_EXPORT: copies the disks of an instance to a directory of exports on a node, or to another cluster.
import { errorText } from '../../lib/system-failure'
import { RIE_CONNECT_TIMEOUT_S } from '../../model/constants/exports'
import type { Disk, Node } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpBackupExport } from '../../opcodes/backup'
import { findNode } from '../find'
import { checkNodeNotDrained, checkNodeOnline, usesDisks } from '../instance/checks'
import { shutdownDisks, startDisks } from '../instance/disks/activation'
import { realSizes, sizedAs } from '../instance/disks/real-sizes'
import { instanceHookEnv } from '../instance/hook-env'
import { removeInstance } from '../instance/remove'
import { refuseHalfRestored } from '../instance/snapshots/notes'
import { dictOf, locksOfInstance, readInstance, reread, type InstanceView } from '../instance/view'
import { all, exclusive, logicalUnit } from '../logical-unit'
import { checkCompressionTool } from '../transfer/copy'
import { removeKey } from '../transfer/key'
import type { UnitContext } from '../unit-context'
import { HelperMachine } from './helper-machine'
import { copyToNode, type ExportResult } from './local'
import { startOn, undoStart } from '../instance/startup'
import { sendToCluster, verifiedTarget, type ExportOp, type RemoteTarget } from './remote'
import { NoSnapshots, isUncertain, removeSnapshots, takeSnapshots, trySnapshots } from './snapshots'
import { waitForStop } from '../instance/wait-for-stop'
import { checkZeroingArguments, planZeroing, type Zeroing } from './zeroing'

/** The destination of the disks. */
type Target = { readonly kind: 'node'; readonly node: Node } | ({ readonly kind: 'cluster' } & RemoteTarget)

export const backupExport = logicalUnit(OpBackupExport, {
  async locks(op, ctx) {
    checkArguments(op)
    const own = await locksOfInstance([]).locks(op, ctx)
    if (op.mode === 'remote') return own
    await targetNode(ctx, op)
    // An older export may be on any node, and is removed when the new one is complete.
    return { ...own, node: exclusive(all) }
  },
  /** Locks the storage, so that nobody else takes the room of the helper's disk. */
  async declare(level, op, ctx) {
    if (!op.zero_free_space || !(level === 'node-res' || (level === 'node' && op.mode === 'remote'))) return undefined
    return locksOfInstance([level], { primaryOnly: true }).declare(level, op, ctx)
  },
  async check(ctx, op) {
    checkArguments(op)
    const view = await readInstance(ctx, op)
    checkNodeOnline(view.primary)
    await refuseHalfRestored(ctx, view)
    if (op.remove_instance && view.instance.admin_state === 'up' && !op.shutdown)
      throw new OpPrereqError('Can not remove instance without shutting it down before', ECODE.STATE)
    const target = await targetOf(ctx, op, view)
    checkCompressionTool(view.config.cluster, op.compress)
    return { view, target, zeroing: op.zero_free_space ? await planZeroing(ctx, op, view) : undefined }
  },
  hooks: {
    path: 'instance-export',
    type: 'INSTANCE',
    env: (ctx, op, { view }) =>
      instanceHookEnv(ctx, view.instance.uuid, {
        EXPORT_MODE: op.mode,
        EXPORT_NODE: op.target_node,
        EXPORT_DO_SHUTDOWN: op.shutdown,
        SHUTDOWN_TIMEOUT: op.shutdown_timeout,
        REMOVE_INSTANCE: op.remove_instance,
      }),
    nodes: (_ctx, _op, { view, target }) => {
      const nodes = [view.config.cluster.master_node, view.primary.uuid]
      const unique = [...new Set<string>(target.kind === 'node' ? [...nodes, target.node.uuid] : nodes)]
      return { pre: unique, post: unique }
    },
  },
  async run(ctx, op, { view, target, zeroing }) {
    try {
      return await exportInstance(ctx, op, view, target, zeroing)
    } finally {
      // Also for an export that failed before it sent anything.
      if (target.kind === 'cluster') await removeKey(ctx, view.primary, target.keyName)
    }
  },
})

function checkArguments(op: ExportOp): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  if (op.mode === 'remote' && op.x509_key_name === undefined) throw refuse('Missing X509 key name for encryption')
  if (op.mode === 'remote' && op.destination_x509_ca === undefined) throw refuse('Missing destination X509 CA')
  checkZeroingArguments(op)
  if (op.long_sleep && !op.shutdown)
    throw refuse('The long sleep option only makes sense when the instance can be shut down.')
}

async function targetNode(ctx: UnitContext, op: ExportOp): Promise<Node> {
  if (typeof op.target_node !== 'string')
    throw new OpPrereqError('A local export needs the name of a node in target_node', ECODE.INVAL)
  const { object: node } = await findNode(ctx, op.target_node, op.target_node_uuid)
  ctx.note({ target_node: node.name, target_node_uuid: node.uuid })
  return node
}

async function targetOf(ctx: UnitContext, op: ExportOp, view: InstanceView): Promise<Target> {
  if (op.mode === 'remote') return { kind: 'cluster', ...(await verifiedTarget(ctx, op, view)) }
  const node = await targetNode(ctx, op)
  checkNodeOnline(node)
  checkNodeNotDrained(node)
  return { kind: 'node', node }
}

async function exportInstance(
  ctx: UnitContext,
  op: ExportOp,
  view: InstanceView,
  target: Target,
  zeroing: Zeroing | undefined,
): Promise<ExportResult> {
  // Before the instance stops, which would be in vain if they cannot be made.
  if (op.shutdown && isSnapshotted(op, view))
    await trySnapshots(ctx, view).catch((error: unknown) => refuseDowntime(op, error))
  // Made before the instance stops, which would be in vain if the helper machine cannot be made.
  const helper = zeroing && (await HelperMachine.made(ctx, view, zeroing))
  const result = await exportStopped(ctx, op, view, target, helper).finally(() => helper?.discard())
  checkResult(result)
  if (op.remove_instance) {
    ctx.log.say(`Removing instance ${view.instance.name}`)
    await removeInstance(ctx, await reread(ctx, view), op.ignore_remove_failures)
  }
  if (target.kind === 'node') await removeOlderExports(ctx, view, target.node)
  return result
}

async function exportStopped(
  ctx: UnitContext,
  op: ExportOp,
  view: InstanceView,
  target: Target,
  helper: HelperMachine | undefined,
): Promise<ExportResult> {
  const { instance, primary } = view
  if (op.shutdown) {
    ctx.log.say(`Shutting down instance ${instance.name}`)
    const what = `Could not shutdown instance ${instance.name} on node ${primary.name}`
    await waitForStop(
      ctx,
      { name: instance.name, limit_s: op.shutdown_timeout },
      ctx.nodes.call(primary, what, 'instance_shutdown', [dictOf(view), op.shutdown_timeout, ctx.reason]),
    )
  }
  return withDisks(ctx, view, async (active) => {
    if (helper !== undefined) await zero(ctx, op, view, helper)
    // The helper's disk was activated too.
    const instance = { ...active.instance, disks: view.instance.disks }
    return copyAndRestart(ctx, op, { ...active, instance, disks: view.disks }, target)
  })
}

async function zero(ctx: UnitContext, op: ExportOp, view: InstanceView, helper: HelperMachine): Promise<void> {
  try {
    await helper.run(op.shutdown_timeout)
    await helper.discard()
  } catch (error) {
    // The log says why it did not start; the export's own failure matters more.
    if (helper.hasEnded && staysUp(op, view)) await startAgain(ctx, view).catch(() => undefined)
    throw error
  }
}

/** It runs now, and must run again afterwards. */
const staysUp = (op: ExportOp, { instance }: InstanceView): boolean =>
  !op.remove_instance && instance.admin_state === 'up'

/** Without a disk there is nothing to wait for. A caller that allows a long downtime needs no snapshots, which may not be possible. */
const isSnapshotted = (op: ExportOp, view: InstanceView): boolean =>
  staysUp(op, view) && view.disks.length > 0 && !(op.long_sleep && isUncertain(view))

/** Without snapshots an instance with disks cannot run during its export. */
function refuseDowntime(op: ExportOp, error: unknown): void {
  if (!(error instanceof NoSnapshots)) throw error
  const text = 'Not all disks could be snapshotted'
  if (!op.shutdown) throw new OpExecError(`${text}, and you requested a live export; aborting: ${error.message}`)
  if (!op.long_sleep)
    throw new OpExecError(
      `${text}, and you did not allow the instance to remain offline for a longer time through the --long-sleep option; aborting: ${error.message}`,
    )
}

/** Undefined if the disks themselves are copied. */
async function snapshotsFor(ctx: UnitContext, op: ExportOp, view: InstanceView): Promise<readonly Disk[] | undefined> {
  if (!isSnapshotted(op, view)) return undefined
  try {
    return await takeSnapshots(ctx, view)
  } catch (error) {
    refuseDowntime(op, error)
    ctx.log.warning(errorText(error))
    return undefined
  }
}

/** A stopped instance's disks are active only during the work. */
async function withDisks<T>(
  ctx: UnitContext,
  view: InstanceView,
  step: (active: InstanceView) => Promise<T>,
): Promise<T> {
  if (await usesDisks(ctx, view)) return step(view)
  ctx.log.say(`Activating disks for ${view.instance.name}`)
  const active = await startDisks(ctx, view)
  try {
    return await step(active)
  } finally {
    ctx.log.say(`Deactivating disks for ${view.instance.name}`)
    await shutdownDisks(ctx, await reread(ctx, view))
  }
}

async function copyAndRestart(
  ctx: UnitContext,
  op: ExportOp,
  view: InstanceView,
  target: Target,
): Promise<ExportResult> {
  // However the export ends, users want their instance back.
  const restart = async () => {
    if (op.shutdown && staysUp(op, view)) await startAgain(ctx, view)
  }
  const snapshots = await snapshotsFor(ctx, op, view).catch(async (error: unknown) => {
    await restart()
    throw error
  })
  if (snapshots !== undefined) return copySnapshots(ctx, op, view, target, snapshots)
  return copy(ctx, op, view, target).finally(restart)
}

/** Copies snapshots while the instance runs on, or again. */
async function copySnapshots(
  ctx: UnitContext,
  op: ExportOp,
  view: InstanceView,
  target: Target,
  snapshots: readonly Disk[],
): Promise<ExportResult> {
  try {
    if (op.shutdown) await startAgain(ctx, view)
    return await copy(ctx, op, { ...view, disks: snapshots }, target, 'snapshot')
  } finally {
    await removeSnapshots(ctx, view, snapshots)
  }
}

async function copy(
  ctx: UnitContext,
  op: ExportOp,
  view: InstanceView,
  target: Target,
  title: 'disk' | 'snapshot' = 'disk',
): Promise<ExportResult> {
  if (target.kind === 'node') {
    // The importer makes disks of the sizes that are noted there.
    const sized = sizedAs(ctx, view, await realSizes(ctx, view))
    return copyToNode(ctx, sized, target.node, op.compress, title)
  }
  return sendToCluster(ctx, view, target, { compress: op.compress, connectTimeout_s: RIE_CONNECT_TIMEOUT_S })
}

async function startAgain(ctx: UnitContext, view: InstanceView): Promise<void> {
  const { instance, primary } = view
  ctx.log.say(`Starting instance ${instance.name}`)
  const result = await startOn(ctx, primary, dictOf(view))
  if (result.ok) return
  ctx.log.say(`Failed to start instance: ${result.error}`)
  await undoStart(ctx, await reread(ctx, view), result)
  throw new OpExecError(`Could not start instance: ${result.error}`)
}

function checkResult([finalized, disks]: ExportResult): void {
  const failed = disks.flatMap((ok, index) => (ok ? [] : [index]))
  const failures = [
    ...(finalized ? [] : ['export finalization']),
    ...(failed.length === 0 ? [] : [`disk export: disk(s) ${failed.join(', ')}`]),
  ]
  if (failures.length > 0) throw new OpExecError(`Export failed, errors in ${failures.join(', ')}`)
}

async function removeOlderExports(ctx: UnitContext, { instance }: InstanceView, kept: Node): Promise<void> {
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  const others = Object.values(nodes).filter((node) => node.uuid !== kept.uuid)
  if (others.length === 0) return
  ctx.log.say(`Removing old exports for instance ${instance.name}`)
  const lists = await ctx.nodes.many(others, 'export_list', [])
  for (const node of others) {
    const list = lists.get(node.uuid)
    if (list?.ok !== true || !list.payload.includes(instance.name)) continue
    const result = await ctx.nodes.attempt(node, 'export_remove', [instance.name])
    if (!result.ok)
      ctx.log.warning(
        `Could not remove older export for instance ${instance.name} on node ${node.name}: ${result.error}`,
      )
  }
}
