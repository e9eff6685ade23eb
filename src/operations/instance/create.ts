// OP_INSTANCE_CREATE: checks, places, makes and installs a new instance, and starts it.
import { change } from '../../config/changes'
import { DEFAULT_FILE_DRIVER } from '../../model/constants/disks'
import { HYPERVISORS_WITH_PORT } from '../../model/constants/hypervisors'
import type { ConfigData, Disk, Instance, Node } from '../../model/config'
import { HELPER_SHUTDOWN_TIMEOUT_S, HELPER_STARTUP_TIMEOUT_S } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceCreate } from '../../opcodes/instance'
import { findGroup, findNode } from '../find'
import { exclusive, logicalUnit, type LockPlan } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkBridges, checkNodeFreeMemory } from './checks'
import { communicates, communicationNics, updateMetadata } from './communication'
import {
  checkArguments,
  checkChoices,
  checkPolicy,
  newInstance,
  startsNever,
  texts,
  wantedInstance,
  wantedTemplate,
  withInstance,
  type CreateOp,
  type Wanted,
} from './create/plan'
import { checkDiskParams, checkNames, checkTemplate } from './disks/spec'
import { checkHvParamsOnNodes, checkOsParams } from './parameters/params'
import { fillHvParams, fillNdParams } from '../../config/filled'
import { checkFileSpace } from './disks/file-space'
import { envOfView } from './hook-env'
import { install, makeInstance, startCreated } from './create/run'
import { shutdownDisks } from './disks/activation'
import { settleNic, vlanOf } from './nics/spec'
import { allocatorsFor, firstThatFinds } from './placement/allocator'
import { chooseNodes, type PlacementRequest } from './placement/placement'
import { contentEnv, contentOf, importDisks, sourceNodes, type Content } from './create/content'
import { newAddress, newName } from './create/resolve'
import { hookNodes, viewOf, type InstanceView } from './view'
import { type DiskTemplate, factsOf, isFileBased, isMirroredInside } from '../../model/templates'

/** An instance that is about to be created, with its configuration as if it existed. */
export interface Creation {
  /** The opcode; for an import, the export has filled in missing parameters. */
  readonly op: CreateOp
  readonly content: Content
  readonly wanted: Wanted
  readonly view: InstanceView
}

export const instanceCreate = logicalUnit(OpInstanceCreate, {
  async locks(given, ctx): Promise<LockPlan> {
    checkArguments(given)
    const op = await namedInFull(ctx, given)
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
    checkNameIsFree(config, name)
    const named = allocators === undefined ? await givenPrimary(ctx, op) : undefined
    const nodes = named === undefined ? Object.values(config.nodes).map((node) => node.uuid) : [named.uuid]
    const opportunistic = allocators !== undefined && op.opportunistic_locking ? { opportunistic: 1 } : {}
    const source = op.mode === 'import' ? await sourceNodes(ctx, config, op) : []
    const want = { ...exclusive([...new Set([...nodes, ...source])]), ...opportunistic }
    return { instance: exclusive([name]), node: want, 'node-res': want }
  },
  /** The job locks the storage of exactly those nodes that it got. */
  declare: async (level, op, ctx) =>
    level === 'node-res' && op.opportunistic_locking ? exclusive(ctx.locks.holds('node')) : undefined,
  async check(ctx, given): Promise<Creation> {
    checkArguments(given)
    checkChoices(given)
    const named = await namedInFull(ctx, given)
    const before = await ctx.config.read({ instances: [named.instance_name] })
    checkNameIsFree(before, named.instance_name)
    const { op, content } = await contentOf(ctx, named, before)
    const resolvedIp = op.name_check ? await newAddress(ctx, given.instance_name, op.ip_check) : undefined
    const wanted = await wantedInstance(ctx, before.cluster, op, resolvedIp, (fields) => ctx.note(fields))
    const node = await primaryFor(ctx, before, { op, wanted, content })
    const config = await ctx.config.read({ nodes: [node.uuid] })
    await checkOnNode(ctx, config, op, wanted, node)
    const nics = []
    for (const [index, nic] of wanted.nics.entries())
      nics.push(await settleNic(ctx, config, nic, index, node, op.conflicts_check))
    await checkBridges(ctx, config, { nics }, node)
    const { instance, disks } = newInstance(ctx, op, wanted, node, nics)
    return { op, content, wanted, view: await viewWith(ctx, config, instance, disks) }
  },
  hooks: {
    path: 'instance-add',
    type: 'INSTANCE',
    env: (_ctx, op, { view, wanted, content }) => ({
      ADD_MODE: op.mode,
      ...contentEnv(content, view),
      ...envOfView(view, wanted.start),
    }),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  dryRun: (_op, { view }) => [view.primary.uuid],
  async run(ctx, _given, { op, content, wanted, view }) {
    const withPort = await givePort(ctx, view)
    const made = await makeInstance(ctx, withPort, op.wait_for_sync)
    await ctx.locks.keepOnly('node', content.kind === 'export' ? [content.source.node.uuid] : [])
    await ctx.locks.keepOnly('node-res', [])
    if (content.kind !== 'new') await importDisks(ctx, made, content, op)
    else await install(ctx, made, op, wanted.install)
    if (communicates(made)) await updateMetadata(ctx, made, texts(op.osparams_secret ?? {}))
    if (wanted.start) await startCreated(ctx, made)
    else await shutdownDisks(ctx, made)
    return [view.primary.name]
  },
})

/** With its whole name, and the NIC for communication if it is to have one. */
async function namedInFull(ctx: UnitContext, op: CreateOp): Promise<CreateOp> {
  const instance_name = await newName(ctx, op.instance_name, op.name_check)
  if (!op.instance_communication) return { ...op, instance_name }
  const { cluster } = await ctx.config.read({})
  const nics = communicationNics(cluster, instance_name, op.nics)
  ctx.note({ nics })
  return { ...op, instance_name, nics }
}

function checkNameIsFree(config: ConfigData, name: string): void {
  if (Object.values(config.instances).some((instance) => instance.name === name))
    throw new OpPrereqError(`Instance '${name}' is already in the cluster`, ECODE.EXISTS)
}

async function givenPrimary(ctx: UnitContext, op: CreateOp): Promise<Node> {
  const { object: node } = await findNode(ctx, op.pnode ?? '', op.pnode_uuid)
  ctx.note({ pnode: node.name, pnode_uuid: node.uuid })
  return node
}

/** Devices and disk template, step by step with what the job shows of parameters that were left out. */
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
  if (factsOf(template).ownParams !== true) for (const disk of op.disks) checkDiskParams(disk)
  if (isFileBased(template)) ctx.note({ file_driver: op.file_driver ?? DEFAULT_FILE_DRIVER })
}

function ignoreSecondary(ctx: UnitContext, op: CreateOp, template: DiskTemplate): void {
  if ((op.snode ?? op.snode_uuid) === undefined || isMirroredInside(template)) return
  ctx.log.warning('Secondary node will be ignored on non-mirrored disk template')
  ctx.note({ snode: null })
}

/** The node given, or chosen by the allocator; the locks of the others are given back. */
async function primaryFor(
  ctx: UnitContext,
  config: ConfigData,
  { op, wanted, content }: Pick<Creation, 'op' | 'wanted' | 'content'>,
): Promise<Node> {
  const allocators = await allocatorsFor(ctx, 'allocate', config, op.iallocator, op.pnode)
  if (allocators === undefined) return givenPrimary(ctx, op)
  const request = await placementFor(ctx, op, wanted)
  const [node] = await firstThatFinds(ctx, allocators, (allocator) => chooseNodes(ctx, allocator, request))
  ctx.note({ pnode: node.name, pnode_uuid: node.uuid })
  const source = content.kind === 'export' ? [content.source.node.uuid] : []
  await ctx.locks.keepOnly('node-res', [node.uuid])
  await ctx.locks.keepOnly('node', [node.uuid, ...source])
  return node
}

/** The requirements of a new instance for its nodes. */
export async function placementFor(ctx: UnitContext, op: CreateOp, wanted: Wanted): Promise<PlacementRequest> {
  const group = op.group_name === undefined ? undefined : (await findGroup(ctx, op.group_name)).object.name
  const { tags, ignore_ipolicy: ignorePolicy, opportunistic_locking: opportunistic } = op
  return { wanted, tags, group, ignorePolicy, opportunistic, among: ctx.locks.holds('node') }
}

async function checkOnNode(
  ctx: UnitContext,
  config: ConfigData,
  op: CreateOp,
  wanted: Wanted,
  node: Node,
): Promise<void> {
  const refuse = (what: string) => new OpPrereqError(`Cannot use ${what} primary node '${node.name}'`, ECODE.STATE)
  if (node.offline) throw refuse('offline')
  if (node.drained) throw refuse('drained')
  if (!node.vm_capable) throw refuse('non-vm_capable')
  if (factsOf(wanted.template).exclusive !== true && fillNdParams(config, node).exclusive_storage)
    throw new OpPrereqError(
      `Disk template ${wanted.template} not supported with exclusive storage, which node '${node.name}' has`,
      ECODE.STATE,
    )
  checkPolicy(config, wanted, node, op.ignore_ipolicy)
  if (factsOf(wanted.template).empty === true && op.disks.length > 0)
    ctx.log.warning('An instance of the template diskless gets no disks; those given are ignored')
  const asked_mib = wanted.disks.reduce((sum, { size }) => sum + size, 0)
  await checkFileSpace(ctx, { ...config, node, template: wanted.template }, asked_mib, op.ignore_ipolicy)
  const { hypervisor, hvparams } = wanted
  const os = op.os_type ?? ''
  const filled = fillHvParams(config.cluster, { hypervisor, os, hvparams })
  await checkHvParamsOnNodes(ctx, [node], hypervisor, filled)
  await checkOsParams(ctx, [node], { os }, wanted.osparams, op.force_variant)
  if (wanted.start)
    await checkNodeFreeMemory(ctx, node, `creating instance ${wanted.name}`, wanted.be.minmem, hypervisor, filled)
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

/** Some hypervisors need a port for the console or display. It is freed when the instance is removed. */
async function givePort(ctx: UnitContext, view: InstanceView): Promise<InstanceView> {
  if (!HYPERVISORS_WITH_PORT.includes(view.instance.hypervisor)) return view
  const [port] = await ctx.config.change([change('allocatePort')])
  const instance: Instance = { ...view.instance, network_port: Number(port) }
  return viewOf(withInstance(view.config, instance, view.disks), instance)
}
