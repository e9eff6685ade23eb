// OP_INSTANCE_RECREATE_DISKS: recreates lost disks, empty, in their old places or on other nodes.
import { change } from '../../config/changes'
import { fillBeParams, fillNdParams } from '../../config/filled'
import { diskTemplateOf, drbdId, nodesOfGroup } from '../../config/lookup'
import type { Disk, Node } from '../../model/config'
import { OWN_NAMES } from '../../model/disk-parameters'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceRecreateDisks } from '../../opcodes/instance'
import { wantedNodes } from '../find'
import { exclusive, logicalUnit, shared, type Op } from '../logical-unit'
import type { UnitLevel, Want } from '../lock-session'
import type { Change, UnitContext } from '../unit-context'
import { allocatorsFor, firstThatFinds } from './placement/allocator'
import { checkInstanceState, checkNodeOnline, NOT_RUNNING, refuseReadOnly } from './checks'
import { shutdownDisks } from './disks/activation'
import { createDisks, wipeDisks } from './disks/files'
import { changedOwn, checkDiskParams, checkSpindles } from './disks/spec'
import { checkFileSpace } from './disks/file-space'
import { checkVolumeSpace, volumeNeeds } from './disks/volume-space'
import { instanceHookEnv } from './hook-env'
import { chooseNodes } from './placement/placement'
import { refuseSnapshots } from './snapshots/notes'
import { allNodes, hookNodes, locksOfInstance, movedTo, readInstance, withNodes, type InstanceView } from './view'
import { isMirroredOutside, NO_DISKS } from '../../model/templates'

interface Wanted {
  readonly disk: Disk
  /** The disk with its new parameters, if any were given. */
  readonly changed: Disk
}

/** Parameters of a disk that may change. */
const CHANGEABLE = ['size', 'mode', 'spindles']

const instanceLocks = locksOfInstance(['node', 'node-res'])

export const instanceRecreateDisks = logicalUnit(OpInstanceRecreateDisks, {
  async locks(op, ctx) {
    ctx.note({ disks: op.disks.map((entry) => (typeof entry === 'number' ? [entry, {}] : entry)) })
    checkGiven(op)
    const nodes = await givenNodes(ctx, op)
    if (nodes.length > 0) noteNodes(ctx, nodes)
    if (op.iallocator !== undefined)
      await allocatorsFor(ctx, 'allocate', await ctx.config.read({}), op.iallocator, op.nodes[0])
    return instanceLocks.locks(op, ctx)
  },
  async declare(level, op, ctx) {
    if (op.iallocator !== undefined) return groupLocks(level, op, ctx)
    if (op.nodes.length === 0 || (level !== 'node' && level !== 'node-res'))
      return instanceLocks.declare(level, op, ctx)
    return exclusive((await givenNodes(ctx, op)).map((node) => node.uuid))
  },
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    const nodes = await givenNodes(ctx, op)
    if (nodes.length > 0) checkReplacement(view, nodes)
    const elsewhere = nodes.length > 0 || op.iallocator !== undefined
    for (const node of elsewhere ? nodes : allNodes(view)) checkNodeOnline(node)
    if (view.disks.length === 0) throw new OpPrereqError(`Instance '${view.instance.name}' has no disks`, ECODE.INVAL)
    // If the old primary node is offline, nobody can tell whether the instance runs there.
    const failed = !elsewhere || !view.primary.offline ? await checkNotRunning(ctx, view) : false
    const desired = wantedDisks(view, op)
    const lost = desired.map(({ disk }) => disk)
    await refuseSnapshots(ctx, view, lost, 'it cannot be recreated')
    refuseReadOnly(
      view.instance,
      view.disks.map(
        (own) => desired.find(({ disk, changed }) => disk === own && changed.mode !== own.mode)?.changed.mode,
      ),
    )
    if (elsewhere && desired.length !== view.disks.length)
      throw new OpPrereqError("Can't recreate disks partially and change the nodes at the same time", ECODE.INVAL)
    const others = nodes.length > 0 ? nodes : await chosenNodes(ctx, view, op.iallocator)
    const there = others.length > 0 ? await viewOn(ctx, view, others) : view
    checkGivenSpindles(there, desired, allNodes(there))
    const template = desired[0]?.changed.dev_type ?? NO_DISKS
    const size_mib = desired.reduce((sum, { changed }) => sum + changed.size, 0)
    await checkFileSpace(ctx, { ...there.config, node: there.primary, template }, size_mib, true)
    if (others.length > 0)
      await checkVolumeSpace(ctx, there.config, allNodes(there), volumeNeeds(desired.map(({ changed }) => changed)))
    return { view, wanted: desired, there, failed }
  },
  hooks: {
    path: 'instance-recreate-disks',
    type: 'INSTANCE',
    env: (ctx, _op, { view }) => instanceHookEnv(ctx, view.instance.uuid),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, op, { view, wanted: desired, there, failed }) {
    const elsewhere = op.nodes.length > 0 || op.iallocator !== undefined
    const disks: Disk[] = []
    for (const { changed } of desired) disks.push(elsewhere ? await placedOn(ctx, there, changed) : changed)
    if (elsewhere)
      ctx.log.warning(
        "Changing the instance's nodes, you will have to remove any disks left on the older nodes manually",
      )
    await createDisks(ctx, there, disks, { unique: false })
    await ctx.config.change([
      // Otherwise it would be restarted automatically, with empty disks.
      ...(failed ? [change('setInstanceStatus', view.instance.uuid, 'down', null, 'admin')] : []),
      ...(there.primary.uuid === view.primary.uuid ? [] : movedTo(view, there.primary)),
      ...disks.flatMap((disk, index) => changesOf(desired[index]?.disk, disk)),
    ])
    if (view.config.cluster.prealloc_wipe_disks) await wipeDisks(ctx, there, disks)
    // The disks are active since they were made, and all nodes may need them.
    const outside = disks.filter(({ dev_type }) => isMirroredOutside(dev_type))
    if (!view.instance.disks_active) await shutdownDisks(ctx, there, { disks: outside })
    return null
  },
})

/**
 * An instance with lost disks fails to start: it is marked as up, but does not run. Ganeti refuses it here too. Returns
 * whether this is such an instance.
 */
async function checkNotRunning(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const { instance, primary } = view
  if (instance.admin_state !== 'up' || primary.offline) {
    await checkInstanceState(ctx, view, NOT_RUNNING, 'cannot recreate disks')
    return false
  }
  await checkInstanceState(
    ctx,
    { ...view, instance: { ...instance, admin_state: 'down' } },
    NOT_RUNNING,
    'cannot recreate disks',
  )
  ctx.log.info(
    `Instance ${instance.name} is marked to be up, but does not run: it is marked down, as its disks will be empty`,
  )
  return true
}

/** Only if volume groups are given to instances as whole disks. */
function checkGivenSpindles({ config }: InstanceView, desired: readonly Wanted[], nodes: readonly Node[]): void {
  const input = desired.filter(({ disk, changed }) => changed.spindles !== disk.spindles)
  if (input.length === 0) return
  const specs = input.map(({ changed: { size, mode, spindles, name } }) => ({
    ...{ size, mode, name },
    ...(spindles !== undefined && { spindles }),
  }))
  const exclusive = nodes.every((node) => fillNdParams(config, node).exclusive_storage)
  checkSpindles(specs, exclusive)
}

/** The instance as if it were on those nodes. */
async function viewOn(ctx: UnitContext, view: InstanceView, nodes: readonly Node[]): Promise<InstanceView> {
  const [primary = view.primary, ...secondaries] = nodes
  const config = await withNodes(
    ctx,
    view,
    nodes.map(({ uuid }) => uuid),
  )
  return { ...view, config, primary, secondaries }
}

/** The disk on its new nodes; a mirror gets new minors there. */
async function placedOn(ctx: UnitContext, { primary, secondaries }: InstanceView, disk: Disk): Promise<Disk> {
  const id = drbdId(disk)
  const [secondary] = secondaries
  if (id === undefined || secondary === undefined) return disk
  const nodes = [primary.uuid, secondary.uuid]
  const [minorA = 0, minorB = 0] = await ctx.env.wconfd.gantryReserveMinors(ctx.env.client, disk.uuid, nodes)
  return { ...disk, nodes, logical_id: [...nodes, id.port, minorA, minorB, id.secret] }
}

function changesOf(before: Disk | undefined, disk: Disk): Change[] {
  if (before === undefined || before === disk) return []
  const { size, mode, spindles, children, logical_id, nodes, params } = disk
  const placed = logical_id === before.logical_id ? {} : { logical_id, nodes }
  return [
    change('patchDisk', disk.uuid, {
      ...{ size, mode, ...(spindles !== undefined && { spindles }) },
      ...(params !== before.params && { params }),
      ...{ ...(children.length > 0 && { children }), ...placed },
    }),
  ]
}

/** The allocator may choose any node of the instance's group. */
async function groupLocks(
  level: UnitLevel,
  op: Op<typeof OpInstanceRecreateDisks>,
  ctx: UnitContext,
): Promise<Want | undefined> {
  if (level !== 'nodegroup' && level !== 'node' && level !== 'node-res') return undefined
  const { group } = (await readInstance(ctx, op)).primary
  if (level === 'nodegroup') return shared([group])
  const config = await ctx.config.read({ nodes: 'all' })
  return exclusive(nodesOfGroup(config, group).map((node) => node.uuid))
}

/** The nodes that a new instance like this one would get. As in Ganeti, the instance's present usage counts as well. */
async function chosenNodes(
  ctx: UnitContext,
  view: InstanceView,
  iallocator: string | undefined,
): Promise<readonly Node[]> {
  const { config, instance, primary, disks } = view
  const allocators = iallocator && (await allocatorsFor(ctx, 'allocate', config, iallocator))
  if (!allocators) return []
  const groups = ctx.locks.holds('nodegroup')
  if (groups !== 'all' && !groups.includes(primary.group))
    throw new OpPrereqError(
      `Instance ${instance.name}'s node groups changed since locks were acquired, current groups are '${primary.group}', owning groups '${groups.join(', ')}'; retry the operation`,
      ECODE.STATE,
    )
  const template = diskTemplateOf(config, instance)
  if (template === 'mixed')
    throw new OpPrereqError('No allocator places disks of mixed templates; name the node instead', ECODE.INVAL)
  const { name, os, hypervisor, tags } = instance
  const be = fillBeParams(config.cluster, instance.beparams)
  const specs = disks.map(({ size, mode, name: title, spindles }) => ({
    ...{ size, mode, name: title },
    ...(spindles !== undefined && { spindles }),
  }))
  const { networks } = await ctx.config.read({ networks: 'all' })
  const nics = instance.nics.map(({ mac, ip, name: nic, network, nicparams, uuid }) => {
    const known = network === undefined ? undefined : networks[network]
    return { mac, ip, name: nic, network: known, nicparams, uuid, fromPool: false }
  })
  const request = {
    wanted: { name, os, hypervisor, template, be, disks: specs, nics },
    tags,
    group: undefined,
    ...{ ignorePolicy: false, opportunistic: false },
    among: ctx.locks.holds('node'),
  }
  const nodes = await firstThatFinds(ctx, allocators, (allocator) => chooseNodes(ctx, allocator, request))
  noteNodes(ctx, nodes)
  const uuids = nodes.map(({ uuid }) => uuid)
  await ctx.locks.keepOnly('node', uuids)
  await ctx.locks.keepOnly('node-res', uuids)
  return nodes
}

function noteNodes(ctx: UnitContext, nodes: readonly Node[]): void {
  ctx.note({ nodes: nodes.map(({ name }) => name), node_uuids: nodes.map(({ uuid }) => uuid) })
}

function checkGiven({ disks }: Op<typeof OpInstanceRecreateDisks>): void {
  const observed = new Set<number>()
  for (const entry of disks) {
    const [index, params] = typeof entry === 'number' ? [entry, {}] : entry
    if (observed.has(index))
      throw new OpPrereqError(`Some disks have been specified more than once: ${index}`, ECODE.INVAL)
    observed.add(index)
    checkDiskParams(params)
    const unknown = Object.keys(params).filter((key) => !CHANGEABLE.includes(key) && !OWN_NAMES.includes(key))
    if (unknown.length > 0)
      throw new OpPrereqError(
        `Parameters for disk ${index} try to change unmodifyable parameter(s): ${unknown.join(', ')}`,
        ECODE.INVAL,
      )
  }
}

const givenNodes = (ctx: UnitContext, op: Op<typeof OpInstanceRecreateDisks>): Promise<Node[]> =>
  wantedNodes(ctx, op.nodes, op.node_uuids)

function checkReplacement(view: InstanceView, nodes: readonly Node[]): void {
  const { length } = allNodes(view)
  if (nodes.length !== length)
    throw new OpPrereqError(
      `Instance ${view.instance.name} currently has ${length} nodes, but ${nodes.length} replacement nodes were specified`,
      ECODE.INVAL,
    )
}

/** No list means all disks. */
function wantedDisks(view: InstanceView, { disks }: Op<typeof OpInstanceRecreateDisks>): Wanted[] {
  if (disks.length === 0) return view.disks.map((disk) => ({ disk, changed: disk }))
  return disks.map((entry) => {
    const [index, params] = typeof entry === 'number' ? [entry, {}] : entry
    const disk = view.disks[index]
    if (disk === undefined) throw new OpPrereqError(`Invalid disk index '${index}'`, ECODE.INVAL)
    const { size = disk.size, mode = disk.mode, spindles = disk.spindles } = params
    const own = changedOwn(disk, params)
    const counted = { ...(spindles !== undefined && { spindles }), ...(own && { params: own }) }
    return { disk, changed: Object.keys(params).length === 0 ? disk : { ...sized(disk, size), mode, ...counted } }
  })
}

/** A mirror's data is on its first part. */
const sized = (disk: Disk, size: number): Disk => ({
  ...disk,
  size,
  children: disk.children.map((child, index) => (index === 0 ? { ...child, size } : child)),
})
