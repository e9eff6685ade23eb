// Changes to nodes and node groups.
import type { ConfigData, Node, NodeGroup } from '../../model/config'
import { ConfigurationError } from '../../model/errors'
import { groupUuid } from '../../model/ids'
import { nodesOfGroup, primaryInstances, secondaryInstances } from '../lookup'
import { keyByName, recordValues } from '../records'
import { removeCandidateCert } from './cluster'
import {
  checkSerial,
  done,
  drop,
  fresh,
  get,
  patched,
  put,
  touchCluster,
  touched,
  type ChangeContext,
  type Changed,
} from '../edit'

export function addNode(config: ConfigData, context: ChangeContext, node: Node): Changed<null> {
  if (config.nodes[node.uuid] !== undefined || keyByName(config.nodes, node.name) !== undefined)
    throw new ConfigurationError(`Node ${node.name} cannot be added: its name or uuid is in use`)
  get(config, 'nodegroups', node.group)
  return done(touchCluster(put(config, 'nodes', fresh(node, context)), context))
}

export function removeNode(config: ConfigData, context: ChangeContext, uuid: string): Changed<null> {
  const node = get(config, 'nodes', uuid)
  if (uuid === config.cluster.master_node) throw new ConfigurationError(`Node ${node.name} is the master`)
  const [user] = [...primaryInstances(config, uuid), ...secondaryInstances(config, uuid)]
  if (user) throw new ConfigurationError(`Node ${node.name} holds instance ${user.name}`)
  const without = removeCandidateCert(drop(config, 'nodes', uuid), context, uuid).config
  return done(touchCluster(without, context))
}

export function updateNode(
  config: ConfigData,
  context: ChangeContext,
  node: Node,
): Changed<[serial_no: number, mtime: number]> {
  checkSerial('nodes', node, get(config, 'nodes', node.uuid))
  const { config: next, result } = storeNode(config, context, node)
  return { config: next, result: [result.serial_no, result.mtime] }
}

export function patchNode(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  fields: Readonly<Record<string, unknown>>,
): Changed<null> {
  return done(storeNode(config, context, patched(get(config, 'nodes', uuid), fields)).config)
}

function storeNode(config: ConfigData, context: ChangeContext, node: Node): Changed<Node> {
  get(config, 'nodegroups', node.group)
  if ((keyByName(config.nodes, node.name) ?? node.uuid) !== node.uuid)
    throw new ConfigurationError(`A node named ${node.name} exists`)
  const changed = touched(node, context)
  return { config: touchCluster(put(config, 'nodes', changed), context), result: changed }
}

/**
 * Promotes nodes until the cluster has as many candidates as it wants and its nodes allow. Returns the promoted nodes'
 * uuids. `exceptions` are not promoted. Chance decides which nodes, as in Ganeti, so that they spread.
 */
export function maintainCandidatePool(
  config: ConfigData,
  context: ChangeContext,
  exceptions: readonly string[] = [],
): Changed<string[]> {
  const able = (node: Node) => node.master_capable && !node.offline && !node.drained
  const nodes = recordValues(config.nodes)
  const candidates = nodes.filter((node) => node.master_candidate).length
  const desired = Math.min(config.cluster.candidate_pool_size, nodes.filter(able).length)
  const spare = nodes.filter((node) => able(node) && !node.master_candidate && !exceptions.includes(node.uuid))
  const promoted: string[] = []
  let next = config
  while (candidates + promoted.length < desired && spare.length > 0) {
    const [node] = spare.splice(context.random.below(spare.length), 1)
    if (!node) break
    next = storeNode(next, context, { ...node, master_candidate: true }).config
    promoted.push(node.uuid)
  }
  return { config: next, result: promoted }
}

export function addNodeGroup(config: ConfigData, context: ChangeContext, group: NodeGroup): Changed<null> {
  if (config.nodegroups[group.uuid] !== undefined || keyByName(config.nodegroups, group.name) !== undefined)
    throw new ConfigurationError(`Node group ${group.name} cannot be added: its name or uuid is in use`)
  return done(touchCluster(put(config, 'nodegroups', fresh(group, context)), context))
}

export function removeNodeGroup(config: ConfigData, context: ChangeContext, uuid: string): Changed<null> {
  const group = get(config, 'nodegroups', uuid)
  const [member] = nodesOfGroup(config, uuid)
  if (member) throw new ConfigurationError(`Node group ${group.name} is not empty: it holds ${member.name}`)
  if (Object.keys(config.nodegroups).length === 1)
    throw new ConfigurationError(`Node group ${group.name} is the only one and cannot be removed`)
  return done(touchCluster(drop(config, 'nodegroups', uuid), context))
}

export function updateNodeGroup(
  config: ConfigData,
  context: ChangeContext,
  group: NodeGroup,
): Changed<[serial_no: number, mtime: number]> {
  checkSerial('nodegroups', group, get(config, 'nodegroups', group.uuid))
  const { config: next, result } = storeGroup(config, context, group)
  return { config: next, result: [result.serial_no, result.mtime] }
}

export function patchNodeGroup(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  fields: Readonly<Record<string, unknown>>,
): Changed<null> {
  return done(storeGroup(config, context, patched(get(config, 'nodegroups', uuid), fields)).config)
}

function storeGroup(config: ConfigData, context: ChangeContext, group: NodeGroup): Changed<NodeGroup> {
  if ((keyByName(config.nodegroups, group.name) ?? group.uuid) !== group.uuid)
    throw new ConfigurationError(`A node group named ${group.name} exists`)
  const changed = touched(group, context)
  return { config: put(config, 'nodegroups', changed), result: changed }
}

/** Moves nodes into groups: `[[node uuid, group uuid], ...]`. The nodes and the groups both count as changed. */
export function assignGroupNodes(
  config: ConfigData,
  context: ChangeContext,
  moves: readonly (readonly [node: string, group: string])[],
): Changed<null> {
  const groups = new Set<string>()
  let next = config
  for (const [uuid, group] of moves) {
    const node = get(next, 'nodes', uuid)
    get(next, 'nodegroups', group)
    if (node.group === group) continue
    next = put(next, 'nodes', touched({ ...node, group: groupUuid(group) }, context))
    groups.add(node.group).add(group)
  }
  for (const group of groups) next = put(next, 'nodegroups', touched(get(next, 'nodegroups', group), context))
  return done(groups.size === 0 ? config : touchCluster(next, context))
}
