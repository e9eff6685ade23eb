// Checks whether a node may join: its name and addresses, its group, and its role.
import { findGroup, primaryInstances, secondaryInstances } from '../../config/lookup'
import type { ConfigData, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { nodeUuid, type GroupUuid } from '../../model/ids'
import { type IpVersion, versionOf } from '../../model/ip'
import { normalHostname } from '../../model/names'
import type { OpNodeAdd } from '../../opcodes/node'
import { pick } from '../find'
import { checkNameIsFree } from '../free-name'
import { resolvedHost } from '../host-names'
import { checkNodeLevel, updatedDiskState, updatedHvState, updatedNdParams } from '../group/params'
import type { Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { lacksCandidate } from './roles'
import { checkIsIp4, checkReachable, isSingleHomed } from './secondary-ip'

type NodeAdd = Op<typeof OpNodeAdd>
type Addresses = Pick<Node, 'name' | 'primary_ip' | 'secondary_ip'>

/** The node's future configuration object. */
export async function checkNewNode(ctx: UnitContext, op: NodeAdd, config: ConfigData): Promise<Node> {
  const existing = pick(config.nodes, await newNodeName(ctx, op, config))
  const addresses = await addressesOf(ctx, op, config, existing)
  if (!op.readd && existing !== undefined)
    throw new OpPrereqError(`Node ${addresses.name} is already in the configuration`, ECODE.EXISTS)
  if (op.readd && existing === undefined)
    throw new OpPrereqError(`Node ${addresses.name} is not in the configuration`, ECODE.NOENT)
  await checkNameIsFree(ctx, addresses.name, existing?.uuid)
  checkAddresses(config, addresses, existing)
  const { master_capable = existing?.master_capable ?? true, vm_capable = existing?.vm_capable ?? true } = op
  ctx.note({ master_capable, vm_capable })
  const node = wantedNode(ctx, { ...op, master_capable, vm_capable }, config, addresses, existing)
  if (existing !== undefined && !node.vm_capable) checkHostsNothing(config, existing)
  checkHoming(config, addresses)
  if (!isSingleHomed(node)) await checkReachable(ctx, node, node.secondary_ip)
  return node
}

/** The full name. If the caller knows the node's address, it also knows its name. */
export async function newNodeName(ctx: UnitContext, op: NodeAdd, { cluster }: ConfigData): Promise<string> {
  const version = versionOf(cluster.primary_ip_family)
  const found = op.primary_ip === undefined ? await resolvedHost(ctx, op.node_name, version) : undefined
  return found !== undefined && 'name' in found ? found.name : normalHostname(op.node_name)
}

/** The job shows the addresses even if it is refused. */
async function addressesOf(
  ctx: UnitContext,
  op: NodeAdd,
  config: ConfigData,
  existing: Node | undefined,
): Promise<Addresses> {
  const name = existing?.name ?? (await newNodeName(ctx, op, config))
  const version = versionOf(config.cluster.primary_ip_family)
  const primary_ip = op.primary_ip ?? (await resolved(ctx, op.node_name, version, existing))
  ctx.note({ primary_ip })
  if (op.secondary_ip === undefined && version === 6)
    throw new OpPrereqError(
      'When using a IPv6 primary address, a valid IPv4 address must be given as secondary',
      ECODE.INVAL,
    )
  const secondary_ip = op.secondary_ip ?? primary_ip
  ctx.note({ secondary_ip })
  checkIsIp4(secondary_ip)
  return { name, primary_ip, secondary_ip }
}

/** A former member keeps its addresses, unless its name resolves to others. */
async function resolved(
  ctx: UnitContext,
  name: string,
  version: IpVersion,
  existing: Node | undefined,
): Promise<string> {
  const found = await resolvedHost(ctx, name, version)
  if ('ip' in found) return found.ip
  if (existing !== undefined) return existing.primary_ip
  throw new OpPrereqError(`The given name (${name}) does not resolve: ${found.error}`, ECODE.RESOLVER)
}

function checkAddresses(config: ConfigData, desired: Addresses, existing: Node | undefined): void {
  if (existing !== undefined && existing.secondary_ip !== desired.secondary_ip)
    throw new OpPrereqError("Readded node doesn't have the same IP address configuration as before", ECODE.INVAL)
  const own = [desired.primary_ip, desired.secondary_ip]
  for (const node of Object.values(config.nodes))
    if (node.uuid !== existing?.uuid && [node.primary_ip, node.secondary_ip].some((ip) => own.includes(ip)))
      throw new OpPrereqError(`New node ip address(es) conflict with existing node ${node.name}`, ECODE.NOTUNIQUE)
}

function wantedNode(
  ctx: UnitContext,
  op: NodeAdd & Pick<Node, 'master_capable' | 'vm_capable'>,
  config: ConfigData,
  addresses: Addresses,
  existing: Node | undefined,
): Node {
  const ndparams = op.ndparams ?? {}
  checkNodeLevel(ndparams)
  const { master_capable, vm_capable } = op
  const basis: Pick<Node, 'uuid' | 'tags' | 'serial_no' | 'ctime' | 'mtime' | 'group'> = existing ?? {
    ...{ uuid: nodeUuid(ctx.env.random.uuid()), tags: [], serial_no: 1, ctime: 0, mtime: 0 },
    group: groupFor(config, op.group),
  }
  return {
    ...basis,
    ...addresses,
    offline: false,
    drained: false,
    powered: true,
    master_candidate: master_capable && lacksCandidate(config, existing === undefined ? [] : [existing.uuid]),
    master_capable,
    vm_capable,
    ndparams: updatedNdParams({}, ndparams),
    ...(op.hv_state && { hv_state_static: updatedHvState({}, op.hv_state) }),
    ...(op.disk_state && { disk_state_static: updatedDiskState({}, op.disk_state) }),
  }
}

function groupFor(config: ConfigData, name: string | undefined): GroupUuid {
  if (name !== undefined) {
    const group = findGroup(config, name)
    if (group === undefined) throw new OpPrereqError(`Node group '${name}' not found`, ECODE.NOENT)
    return group.uuid
  }
  const [only, ...others] = Object.values(config.nodegroups)
  if (only === undefined || others.length > 0)
    throw new OpPrereqError('More than one node group exists. Target group must be specified explicitly.', ECODE.INVAL)
  return only.uuid
}

function checkHostsNothing(config: ConfigData, node: Node): void {
  if (primaryInstances(config, node.uuid).length + secondaryInstances(config, node.uuid).length > 0)
    throw new OpPrereqError(
      `Node ${node.name} being re-added with vm_capable flag set to false, but it already holds instances`,
      ECODE.STATE,
    )
}

/** Either all nodes have a second address, or none. */
function checkHoming(config: ConfigData, desired: Addresses): void {
  const master = config.nodes[config.cluster.master_node]
  if (master === undefined || isSingleHomed(master) === isSingleHomed(desired)) return
  throw new OpPrereqError(
    isSingleHomed(master)
      ? 'The master has no secondary ip but the new node has one'
      : "The master has a secondary ip but the new node doesn't have one",
    ECODE.INVAL,
  )
}
