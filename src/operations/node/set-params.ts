// OP_NODE_SET_PARAMS: a node's role, capabilities, second address and parameters.
import { pythonText } from '../../lib/text/python-text'
import { change } from '../../config/changes'
import { instanceDisks, instanceNodes, primaryInstances, secondaryInstances } from '../../config/lookup'
import { fillNdParams } from '../../config/filled'
import type { ConfigData, Instance, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpNodeSetParams } from '../../opcodes/node'
import { sendAncillaryFiles } from '../cluster/ancillary-files'
import { namedNode } from '../find'
import { sameNames } from '../group/members'
import { checkNodeLevel, updatedDiskState, updatedHvState, updatedNdParams } from '../group/params'
import { all, exclusive, logicalUnit, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { addSshKey, certificateDigest, DEMOTED, fillCandidatePool, removeSshKey, settleKvmDaemon } from './candidates'
import {
  candidateStats,
  flagsOf,
  lacksCandidate,
  ROLE_FLAGS,
  roleAfter,
  roleOf,
  type AskedFlags,
  type Role,
} from './roles'
import { checkSecondaryIp } from './new-secondary-ip'
import { checkIsIp4 } from './secondary-ip'
import { isMirroredInside } from '../../model/templates'

type SetParams = Op<typeof OpNodeSetParams>

interface Checked {
  readonly config: ConfigData
  readonly node: Node
  readonly asked: AskedFlags
  readonly role: { readonly old: Role; readonly new: Role }
  readonly fields: Partial<Node>
}

export const nodeSetParams = logicalUnit(OpNodeSetParams, {
  async locks(op, ctx) {
    const { config, object: node } = await namedNode(ctx, op)
    checkArguments(op)
    const nodes = exclusive(locksAll(op) ? all : [node.uuid])
    const instances = op.secondary_ip === undefined ? [] : mirroredInstances(await readAll(ctx, config), node)
    return { instance: shared(instances.map(({ name }) => name)), node: nodes, 'node-res': nodes }
  },
  async check(ctx, op): Promise<Checked> {
    const { config: slice, object } = await namedNode(ctx, op)
    const config = await readAll(ctx, slice)
    const node = config.nodes[object.uuid] ?? object
    const affected = checkAffectedInstances(ctx, op, config, node)
    checkRoleRequest(op, config, node)
    const requested = effectiveFlags(ctx, op, config, node)
    const role = { old: roleOf(node), new: roleAfter(roleOf(node), requested) }
    if (role.old === 'offline' && role.new !== 'offline') await checkIsUp(ctx, node)
    if (op.secondary_ip !== undefined) await checkSecondaryIp(ctx, config, node, op.secondary_ip, op.force, affected)
    return { config, node, asked: requested, role, fields: newFields(op, node) }
  },
  hooks: {
    path: 'node-modify',
    type: 'NODE',
    env: (_ctx, op, { asked: requested, node }) => ({
      OP_TARGET: node.name,
      MASTER_CANDIDATE: requested.master_candidate,
      OFFLINE: requested.offline,
      DRAINED: requested.drained,
      MASTER_CAPABLE: op.master_capable,
      VM_CAPABLE: op.vm_capable,
    }),
    nodes: (_ctx, _op, { config, node }) => {
      const nodes = [...new Set<string>([config.cluster.master_node, node.uuid])]
      return { pre: nodes, post: nodes }
    },
  },
  run: (ctx, op, checked) => modify(ctx, op, checked),
})

const mightDemote = (op: SetParams): boolean =>
  op.master_candidate === false || op.offline === true || op.drained === true || op.master_capable === false

/** To promote any other node, all must be locked. */
const locksAll = (op: SetParams): boolean => op.auto_promote && mightDemote(op)

const readAll = (ctx: UnitContext, config: ConfigData): Promise<ConfigData> =>
  ctx.config.read({ nodes: 'all', instances: 'all', groups: Object.keys(config.nodegroups) })

function checkArguments(op: SetParams): void {
  const flags = [op.offline, op.master_candidate, op.drained, op.master_capable, op.vm_capable]
  const others = [op.secondary_ip, op.ndparams, op.hv_state, op.disk_state, op.powered]
  if ([...flags, ...others].every((value) => value === undefined))
    throw new OpPrereqError('Please pass at least one modification', ECODE.INVAL)
  if (flags.filter((value) => value === true).length > 1)
    throw new OpPrereqError("Can't set the node into more than one state at the same time", ECODE.INVAL)
  if (op.secondary_ip !== undefined) checkIsIp4(op.secondary_ip)
}

const mirroredInstances = (config: ConfigData, node: Node): Instance[] =>
  Object.values(config.instances).filter(
    (instance) =>
      instanceNodes(config, instance).includes(node.uuid) &&
      instanceDisks(config, instance).some((disk) => isMirroredInside(disk.dev_type)),
  )

/** Instances that use the address to be changed. */
function checkAffectedInstances(ctx: UnitContext, op: SetParams, config: ConfigData, node: Node): Instance[] {
  if (op.secondary_ip === undefined) return []
  const affected = mirroredInstances(config, node)
  const desired = affected.map(({ name }) => name)
  const held = ctx.locks.holds('instance')
  if (held !== 'all' && !sameNames(held, desired))
    throw new OpPrereqError(
      `Instances affected by changing node ${node.name}'s secondary IP address have changed since locks were acquired, wanted '${desired.join(', ')}', have '${held.join(', ')}'; retry the operation`,
      ECODE.STATE,
    )
  return affected
}

function checkRoleRequest(op: SetParams, config: ConfigData, node: Node): void {
  const isMaster = node.uuid === config.cluster.master_node
  if (isMaster && ROLE_FLAGS.some((flag) => op[flag] !== undefined))
    throw new OpPrereqError('The master role can be changed only via master-failover', ECODE.INVAL)
  if (op.master_candidate && !(op.master_capable ?? node.master_capable))
    throw new OpPrereqError(`Node ${node.name} is not master capable, cannot make it a master candidate`, ECODE.STATE)
  const users = [...primaryInstances(config, node.uuid), ...secondaryInstances(config, node.uuid)]
  if (op.vm_capable === false && users.length > 0)
    throw new OpPrereqError(`Node ${node.name} hosts instances, cannot unset the vm_capable flag`, ECODE.STATE)
  if (node.master_candidate && mightDemote(op) && !locksAll(op)) checkEnoughRemain(config, node)
  if (isMaster && op.master_capable === false) throw new OpPrereqError('Master must remain master capable', ECODE.STATE)
}

function checkEnoughRemain(config: ConfigData, node: Node): void {
  const { now, wanted: desired } = candidateStats(config, [node.uuid])
  if (now < desired)
    throw new OpPrereqError(
      'Not enough master candidates, please pass auto promote option to allow promotion (--auto-promote or RAPI auto_promote=True)',
      ECODE.STATE,
    )
}

/** The requested flags, without those that are already set, plus those that follow from them. */
function effectiveFlags(ctx: UnitContext, op: SetParams, config: ConfigData, node: Node): AskedFlags {
  const requested: AskedFlags = {}
  for (const flag of ROLE_FLAGS) {
    if (op[flag] === false && !node[flag]) ctx.log.info(`Ignoring request to unset flag ${flag}, already unset`)
    else requested[flag] = op[flag]
  }
  checkPower(op, config, node, requested)
  const returns =
    requested.drained === false || requested.offline === false || (op.master_capable && !node.master_capable)
  const isCapable = op.master_capable ?? node.master_capable
  const isRegular = roleAfter(roleOf(node), { ...requested, master_candidate: undefined }) === 'regular'
  if (returns && isCapable && isRegular && lacksCandidate(config)) {
    requested.master_candidate = true
    ctx.log.info('Auto-promoting node to master candidate')
  }
  if (op.master_capable === false && node.master_candidate) {
    requested.master_candidate = false
    ctx.log.info('Demoting from master candidate')
  }
  return requested
}

/** The power state is known only if out-of-band commands work. */
function checkPower(op: SetParams, config: ConfigData, node: Node, requested: AskedFlags): void {
  const supported = fillNdParams(config, node).oob_program !== ''
  if (supported && requested.offline === false && !node.powered && op.powered !== true)
    throw new OpPrereqError(
      `Node ${node.name} needs to be turned on before its offline status can be reset`,
      ECODE.STATE,
    )
  if (!supported && op.powered !== undefined)
    throw new OpPrereqError(
      `Unable to change powered state for node ${node.name} as it does not support out-of-band handling`,
      ECODE.STATE,
    )
}

async function checkIsUp(ctx: UnitContext, node: Node): Promise<void> {
  const result = await ctx.nodes.attempt(node, 'version', [])
  if (!result.ok)
    throw new OpPrereqError(
      `Node ${node.name} is being de-offlined but fails to report its version: ${result.error}`,
      ECODE.STATE,
    )
  ctx.log.warning(
    'Transitioning node from offline to online state without using re-add. Please make sure the node is healthy!',
  )
}

function newFields(op: SetParams, node: Node): Partial<Node> {
  if (op.ndparams) checkNodeLevel(op.ndparams)
  return {
    ...(op.ndparams && { ndparams: updatedNdParams(node.ndparams, op.ndparams) }),
    ...(op.powered !== undefined && { powered: op.powered }),
    ...(op.hv_state && { hv_state_static: updatedHvState(node.hv_state_static, op.hv_state) }),
    ...(op.disk_state && { disk_state_static: updatedDiskState(node.disk_state_static, op.disk_state) }),
    ...(op.master_capable !== undefined && { master_capable: op.master_capable }),
    ...(op.vm_capable !== undefined && { vm_capable: op.vm_capable }),
    ...(op.secondary_ip !== undefined && { secondary_ip: op.secondary_ip }),
  }
}

async function modify(ctx: UnitContext, op: SetParams, checked: Checked): Promise<[string, string][]> {
  const { node, role, fields } = checked
  const flags = flagsOf(role.new)
  const after: Node = { ...node, ...fields, ...flags }
  const changes = [change('patchNode', node.uuid, { ...fields, ...(role.new !== role.old && flags) })]
  const [promoted, demoted] = [role.new === 'candidate', role.old === 'candidate']
  // Asked before anything changes: a candidate with an unknown certificate could not become master.
  if (promoted && !demoted) changes.push(change('addCandidateCert', node.uuid, await certificateDigest(ctx, after)))
  if (demoted && !promoted) changes.push(change('removeCandidateCert', node.uuid))
  await ctx.config.change(changes)
  if (role.new !== role.old) await followRole(ctx, op, after, role)
  await settleKvmDaemon(ctx, after, !checked.config.cluster.enabled_hypervisors.includes('kvm'))
  // Only nodes that host instances have the files of hypervisors.
  if (after.vm_capable && !node.vm_capable) await sendAncillaryFiles(ctx, [after])
  return results(op, node, role)
}

async function followRole(ctx: UnitContext, op: SetParams, node: Node, role: Checked['role']): Promise<void> {
  // The node no longer receives the configuration, and sets its copy aside.
  if (role.old === 'candidate' && role.new !== 'offline') {
    const result = await ctx.nodes.attempt(node, 'node_demote_from_mc', [])
    if (!result.ok) ctx.log.warning(`Node failed to demote itself: ${result.error}`)
  }
  if (locksAll(op)) await fillCandidatePool(ctx, [node.uuid])
  if (role.old === 'candidate') await removeSshKey(ctx, node, DEMOTED)
  if (role.new === 'candidate') await addSshKey(ctx, node)
}

function results(op: SetParams, node: Node, role: Checked['role']): [string, string][] {
  const capable = (['master_capable', 'vm_capable'] as const).flatMap((flag): [string, string][] =>
    op[flag] === undefined ? [] : [[flag, pythonText(op[flag])]],
  )
  const address: [string, string][] = op.secondary_ip === undefined ? [] : [['secondary_ip', op.secondary_ip]]
  const flags = flagsOf(role.new)
  const changed = ROLE_FLAGS.flatMap((flag): [string, string][] =>
    role.new === role.old || node[flag] === flags[flag] ? [] : [[flag, pythonText(flags[flag])]],
  )
  return [...capable, ...address, ...changed]
}
