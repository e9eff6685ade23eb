// OP_INSTANCE_CREATE: checks, places, makes, installs and starts a new instance.
import { change } from '../../config/changes'
import { DEFAULT_FILE_DRIVER } from '../../model/constants/disks'
import { HYPERVISORS_WITH_PORT } from '../../model/constants/hypervisors'
import type { ConfigData, Disk, Instance, Nic } from '../../model/config'
import { HELPER_SHUTDOWN_TIMEOUT_S, HELPER_STARTUP_TIMEOUT_S } from '../../model/constants/words'
import { isHalfMade } from '../../model/instance'
import { OpInstanceCreate } from '../../opcodes/instance'
import { exclusive, logicalUnit, type LockPlan } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkBridges } from './checks'
import { communicates, communicationNics, updateMetadata } from './communication'
import {
  checkArguments,
  checkChoices,
  newInstance,
  startsNever,
  texts,
  wantedInstance,
  wantedTemplate,
  withInstance,
  type CreateOp,
  type Wanted,
} from './create/plan'
import { adopts, checkAdoption, withAdopted } from './disks/adoption'
import { checkOnNodes, givenNodes, listOf, nodesFor } from './create/nodes'
import { checkDiskParams, checkNames, checkTemplate } from './disks/spec'
import { checkVolumeSpace, volumeNeeds } from './disks/volume-space'
import { checkNameIsFree } from '../free-name'
import { envOfView } from './hook-env'
import { asReserved, checkHeld, readReservation } from './create/reservation'
import { install, makeInstance, reserveInstance, startCreated } from './create/run'
import { shutdownDisks } from './disks/activation'
import { settleNic, vlanOf } from './nics/spec'
import { allocatorsFor } from './placement/allocator'
import { contentEnv, contentOf, importDisks, sourceNodes, type Content } from './create/content'
import { newAddress, newName } from './create/resolve'
import { allNodes, hookNodes, viewOf, type InstanceView } from './view'
import { type DiskTemplate, factsOf, isFileBased, isMirroredInside } from '../../model/templates'

/** An instance that is about to be created, with a configuration as if it existed. */
export interface Creation {
  /** The opcode; for an import, the export has filled in missing parameters. */
  readonly op: CreateOp
  readonly content: Content
  readonly wanted: Wanted
  readonly view: InstanceView
  /** The reservation from which it is made, if there was one. */
  readonly reserved: InstanceView | undefined
}

export const instanceCreate = logicalUnit(OpInstanceCreate, {
  async locks(input, ctx): Promise<LockPlan> {
    checkArguments(input)
    const { op, reserved } = await inFull(ctx, input)
    const name = op.instance_name
    const config = await ctx.config.read({ instances: [name], nodes: 'all' })
    if (op.start && startsNever(op)) {
      ctx.log.info('No-installation mode selected, disabling startup')
      ctx.note({ start: false })
    }
    settleArguments(ctx, config, op)
    const allocators = await allocatorsFor(ctx, 'allocate', config, op.iallocator, op.pnode)
    if (allocators === undefined) ignoreSecondary(ctx, op, wantedTemplate(config.cluster, op))
    checkChoices(op)
    if (op.mode === 'import') ctx.note({ force_variant: true, src_path: op.src_path ?? op.instance_name })
    if (reserved === undefined) await checkNameIsFree(ctx, name)
    const mirrored = isMirroredInside(wantedTemplate(config.cluster, op))
    const named = allocators === undefined ? listOf(await givenNodes(ctx, op, mirrored)) : Object.values(config.nodes)
    const nodes = named.map((node) => node.uuid)
    const opportunistic = allocators !== undefined && op.opportunistic_locking ? { opportunistic: 1 } : {}
    const source = op.mode === 'import' ? await sourceNodes(ctx, config, op) : []
    const want = { ...exclusive([...new Set([...nodes, ...source])]), ...opportunistic }
    return { instance: exclusive([name]), node: want, 'node-res': want }
  },
  /** The job locks the storage of exactly the nodes that it got. */
  declare: async (level, op, ctx) =>
    level === 'node-res' && op.opportunistic_locking ? exclusive(ctx.locks.holds('node')) : undefined,
  async check(ctx, input): Promise<Creation> {
    checkArguments(input)
    const { op: named, reserved } = await inFull(ctx, input)
    checkChoices(named)
    const before = await ctx.config.read({ instances: [named.instance_name] })
    if (reserved === undefined) await checkNameIsFree(ctx, named.instance_name)
    else checkHeld(ctx, reserved)
    const { op, content } = await contentOf(ctx, named, before)
    const resolvedIp = op.name_check ? await newAddress(ctx, input.instance_name, op.ip_check) : undefined
    const requested = await wantedInstance(ctx, before.cluster, op, resolvedIp, (fields) => ctx.note(fields))
    const placed = await nodesFor(ctx, before, { op, wanted: requested, content })
    const node = placed.primary
    const config = await ctx.config.read({ nodes: listOf(placed).map(({ uuid }) => uuid) })
    const place = { config, ...placed, folder: requested.folder }
    const desired = await withAdopted(ctx, requested, place)
    await checkOnNodes(ctx, config, op, desired, placed)
    const own = reserved?.instance.nics ?? []
    const nics: Nic[] = []
    for (const [index, nic] of desired.nics.entries()) {
      const settled = await settleNic(ctx, nic, index, { config, node, conflictsCheck: op.conflicts_check, own })
      nics.push({ ...settled, uuid: own[index]?.uuid ?? settled.uuid })
    }
    await checkBridges(ctx, config, { nics }, node)
    const { instance, disks } = newInstance(ctx, op, desired, place, { nics, reserved })
    // The parts that a dead creation has left are removed first, so they need no space.
    const isBegun = reserved !== undefined && isHalfMade(reserved.instance)
    if (!adopts(desired) && !isBegun) await checkVolumeSpace(ctx, config, listOf(placed), volumeNeeds(disks))
    return { op, content, wanted: desired, view: await viewWith(ctx, config, instance, disks), reserved }
  },
  hooks: {
    path: 'instance-add',
    type: 'INSTANCE',
    env: (_ctx, op, { view, wanted: desired, content }) => ({
      ADD_MODE: op.mode,
      ...contentEnv(content, view),
      ...envOfView(view, desired.start),
    }),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  dryRun: (_op, { view }) => allNodes(view).map(({ uuid }) => uuid),
  async run(ctx, _given, { op, content, wanted: desired, view, reserved }) {
    const withPort = await givePort(ctx, view)
    const names = allNodes(view).map(({ name }) => name)
    if (op.forthcoming) {
      await reserveInstance(ctx, withPort)
      if (Object.keys(op.osparams_secret ?? {}).length > 0)
        ctx.log.warning('Secret OS parameters are kept nowhere, so they have to be given again with the commit')
      return names
    }
    const made = await makeInstance(ctx, withPort, { wanted: desired, wait: op.wait_for_sync, reserved })
    await ctx.locks.keepOnly('node', content.kind === 'export' ? [content.source.node.uuid] : [])
    await ctx.locks.keepOnly('node-res', [])
    if (content.kind !== 'new') await importDisks(ctx, made, content, op)
    // An adopted volume already has its data.
    else if (!adopts(desired)) await install(ctx, made, op, desired.install)
    if (communicates(made)) await updateMetadata(ctx, made, texts(op.osparams_secret ?? {}))
    if (desired.start) await startCreated(ctx, made)
    else await shutdownDisks(ctx, made)
    return names
  },
})

/** Completes the parameters: the full name, the values of the reservation, and the NIC for communication if the instance gets one. */
async function inFull(
  ctx: UnitContext,
  input: CreateOp,
): Promise<{ op: CreateOp; reserved: InstanceView | undefined }> {
  const instance_name = await newName(ctx, input.instance_name, input.name_check)
  const reserved = input.commit ? await readReservation(ctx, instance_name) : undefined
  const op = reserved === undefined ? { ...input, instance_name } : await asReserved(ctx, input, reserved)
  if (!op.instance_communication) return { op, reserved }
  const { cluster } = await ctx.config.read({})
  const nics = communicationNics(cluster, op.instance_name, op.nics)
  ctx.note({ nics })
  return { op: { ...op, nics }, reserved }
}

/** Settles devices and disk template. The job shows the values of omitted parameters. */
function settleArguments(ctx: UnitContext, { cluster }: ConfigData, op: CreateOp): void {
  const { helper_startup_timeout = HELPER_STARTUP_TIMEOUT_S, helper_shutdown_timeout = HELPER_SHUTDOWN_TIMEOUT_S } = op
  const template = wantedTemplate(cluster, op)
  ctx.note({ instance_name: op.instance_name, helper_startup_timeout, helper_shutdown_timeout })
  checkNames('NIC', op.nics)
  if (op.nics.some(({ vlan }) => vlan !== undefined))
    ctx.note({ nics: op.nics.map((nic) => (nic.vlan === undefined ? nic : { ...nic, vlan: vlanOf(nic.vlan) })) })
  checkNames('disk', op.disks)
  ctx.note({ disk_template: template })
  checkTemplate(cluster, template)
  checkAdoption(op, template)
  if (factsOf(template).ownParams !== true) for (const disk of op.disks) checkDiskParams(disk)
  if (isFileBased(template)) ctx.note({ file_driver: op.file_driver ?? DEFAULT_FILE_DRIVER })
}

function ignoreSecondary(ctx: UnitContext, op: CreateOp, template: DiskTemplate): void {
  if ((op.snode ?? op.snode_uuid) === undefined || isMirroredInside(template)) return
  ctx.log.warning('Secondary node will be ignored on non-mirrored disk template')
  ctx.note({ snode: null })
}

async function viewWith(
  ctx: UnitContext,
  config: ConfigData,
  instance: Instance,
  disks: readonly Disk[],
): Promise<InstanceView> {
  const networks = instance.nics.flatMap((nic) => nic.network ?? [])
  const known = networks.length > 0 ? (await ctx.config.read({ networks })).networks : {}
  const full = { ...config, networks: { ...config.networks, ...known } }
  return viewOf(withInstance(full, instance, disks), instance)
}

/** Some hypervisors need a port for the console or display. Removing the instance frees it. */
async function givePort(ctx: UnitContext, view: InstanceView): Promise<InstanceView> {
  if (!HYPERVISORS_WITH_PORT.includes(view.instance.hypervisor) || view.instance.network_port !== undefined) return view
  const [port] = await ctx.config.change([change('allocatePort')])
  const instance: Instance = { ...view.instance, network_port: Number(port) }
  return viewOf(withInstance(view.config, instance, view.disks), instance)
}
