// Finds configuration objects by the names that users give, with Ganeti's errors for unknown ones.
import type { ConfigData, Container, Instance, Network, Node, NodeGroup } from '../model/config'
import { ECODE, OpPrereqError } from '../model/errors'
import type { UnitContext } from './unit-context'

/** An object with the slice of the configuration around it. */
export interface Found<T> {
  readonly config: ConfigData
  readonly object: T
}

export async function findInstance(ctx: UnitContext, name: string, uuid?: string): Promise<Found<Instance>> {
  const config = await ctx.config.read({ instances: [name] })
  const object = pick(config.instances, name)
  if (object === undefined) throw new OpPrereqError(`Instance '${name}' not known`, ECODE.NOENT)
  expectUuid('instance', name, object.uuid, uuid)
  return { config, object }
}

export async function findNode(ctx: UnitContext, name: string, uuid?: string): Promise<Found<Node>> {
  const config = await ctx.config.read({ nodes: [name] })
  const object = pick(config.nodes, name)
  if (object === undefined) throw new OpPrereqError(`Node '${name}' not known`, ECODE.NOENT)
  expectUuid('node', name, object.uuid, uuid)
  return { config, object }
}

/** The node that an opcode names; the job shows its full name and uuid. */
export async function namedNode(
  ctx: UnitContext,
  op: { readonly node_name: string; readonly node_uuid?: string | undefined },
): Promise<Found<Node>> {
  const found = await findNode(ctx, op.node_name, op.node_uuid)
  ctx.note({ node_name: found.object.name, node_uuid: found.object.uuid })
  return found
}

export async function findGroup(ctx: UnitContext, name: string): Promise<Found<NodeGroup>> {
  const config = await ctx.config.read({ groups: [name] })
  const object = pick(config.nodegroups, name)
  if (object === undefined) throw new OpPrereqError(`Node group '${name}' not found`, ECODE.NOENT)
  return { config, object }
}

export async function findNetwork(ctx: UnitContext, name: string): Promise<Found<Network>> {
  const config = await ctx.config.read({ networks: [name] })
  const object = pick(config.networks, name)
  if (object === undefined) throw new OpPrereqError(`Network '${name}' not found`, ECODE.NOENT)
  return { config, object }
}

/** The named nodes, in the same order. If their uuids are given too, there is one for each name. */
export async function wantedNodes(
  ctx: UnitContext,
  names: readonly string[],
  uuids: readonly string[] = [],
): Promise<Node[]> {
  if (uuids.length > 0 && uuids.length !== names.length)
    throw new OpPrereqError(
      `There are ${uuids.length} UUIDs of nodes for ${names.length} names; give one for each name, or none`,
      ECODE.INVAL,
    )
  if (names.length === 0) return []
  const { nodes } = await ctx.config.read({ nodes: [...names] })
  return names.map((name, index) => {
    const node = pick(nodes, name)
    if (node === undefined) throw new OpPrereqError(`Node '${name}' not known`, ECODE.NOENT)
    expectUuid('node', name, node.uuid, uuids[index])
    return node
  })
}

/** The named nodes, or all if none is named. */
export async function nodesOrAll(ctx: UnitContext, names: readonly string[]): Promise<Node[]> {
  if (names.length > 0) return wantedNodes(ctx, names)
  return Object.values((await ctx.config.read({ nodes: 'all' })).nodes)
}

/** The named instances, or all if none is named. */
export async function instancesOrAll(ctx: UnitContext, names: readonly string[]): Promise<Instance[]> {
  const { instances } = await ctx.config.read({ instances: names.length > 0 ? [...names] : 'all' })
  if (names.length === 0) return Object.values(instances)
  return names.map((name) => {
    const instance = pick(instances, name)
    if (instance === undefined) throw new OpPrereqError(`Instance '${name}' not known`, ECODE.NOENT)
    return instance
  })
}

/** By uuid, by full name, or by a short name that fits only one object. */
export function pick<T extends { readonly uuid: string; readonly name: string }>(
  objects: Container<T>,
  desired: string,
): T | undefined {
  if (Object.hasOwn(objects, desired)) return objects[desired]
  const lower = desired.toLowerCase()
  const all = Object.values(objects)
  const exact = all.find((object) => object.name.toLowerCase() === lower)
  if (exact !== undefined) return exact
  const starting = all.filter((object) => object.name.toLowerCase().startsWith(`${lower}.`))
  return starting.length === 1 ? starting[0] : undefined
}

/** luxid resolved the name at submission. Another object may have that name by now. */
export function expectUuid(kind: string, name: string, uuid: string, expected: string | undefined): void {
  if (expected === undefined || expected === uuid) return
  throw new OpPrereqError(
    `The ${kind} '${name}' has UUID ${uuid}, but this job was submitted for UUID ${expected}; it was replaced meanwhile`,
    ECODE.NOTUNIQUE,
  )
}
