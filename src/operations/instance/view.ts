// An instance with its disks and nodes, read together, and the locks of units on an instance.
import { change } from '../../config/changes'
import { type DiskDict, diskDict, instanceDict, type DictOverrides } from '../../config/rpc-dicts'
import { instanceDisks, secondaryNodes } from '../../config/lookup'
import type { ConfigData, Disk, Instance, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { isHalfMade, isReserved } from '../../model/instance'
import type { InstanceDict } from '../../rpc/node/dicts'
import { findInstance, type Found } from '../find'
import { exclusive, shared, type LockPlan } from '../logical-unit'
import type { UnitLevel, Want } from '../lock-session'
import type { Change, UnitContext } from '../unit-context'

export interface InstanceView {
  readonly config: ConfigData
  readonly instance: Instance
  readonly disks: readonly Disk[]
  readonly primary: Node
  /** Nodes besides the primary that hold its disks. */
  readonly secondaries: readonly Node[]
}

interface NamesInstance {
  readonly instance_name: string
  readonly instance_uuid?: string | undefined
}

/** The instances that a unit accepts; all units accept real ones. */
export type Workable = 'real' | 'real or reserved' | 'all'

export async function readInstance(
  ctx: UnitContext,
  op: NamesInstance,
  workable: Workable = 'real',
): Promise<InstanceView> {
  const { config, object } = await namedInstance(ctx, op)
  checkExists(object, workable)
  return viewOf(config, object)
}

function checkExists(instance: Instance, workable: Workable): void {
  const { name } = instance
  const remove = `remove it with 'gnt-instance remove ${name}'`
  if (isReserved(instance) && workable === 'real')
    throw new OpPrereqError(
      `Instance '${name}' is only reserved, and nothing of it exists yet; make it with 'gnt-instance add --commit ${name}', or ${remove}`,
      ECODE.STATE,
    )
  if (isHalfMade(instance) && workable !== 'all')
    throw new OpPrereqError(
      `The creation of instance '${name}' did not end; make it anew with 'gnt-instance add --commit ${name}', or ${remove}`,
      ECODE.STATE,
    )
}

/** The instance that an opcode names; the job shows its full name and uuid. */
export async function namedInstance(ctx: UnitContext, op: NamesInstance): Promise<Found<Instance>> {
  const found = await findInstance(ctx, op.instance_name, op.instance_uuid)
  ctx.note({ instance_name: found.object.name, instance_uuid: found.object.uuid })
  return found
}

/** The same instance, read again after a change. */
export async function reread(ctx: UnitContext, view: InstanceView): Promise<InstanceView> {
  const { config, object } = await findInstance(ctx, view.instance.uuid)
  return viewOf(config, object)
}

export function viewOf(config: ConfigData, instance: Instance): InstanceView {
  const primary = config.nodes[instance.primary_node]
  if (primary === undefined)
    throw new OpPrereqError(
      `Primary node ${instance.primary_node} of instance ${instance.name} is not in the configuration`,
      ECODE.FAULT,
    )
  const secondaries = secondaryNodes(config, instance).flatMap((uuid) => config.nodes[uuid] ?? [])
  return { config, instance, disks: instanceDisks(config, instance), primary, secondaries }
}

/** The configuration of a view, which has only the instance's nodes, with others and their groups. */
export async function withNodes(
  ctx: UnitContext,
  { config }: Pick<InstanceView, 'config'>,
  uuids: readonly string[],
): Promise<ConfigData> {
  const { nodes, nodegroups } = await ctx.config.read({ nodes: uuids })
  return {
    ...config,
    nodes: { ...config.nodes, ...nodes },
    nodegroups: { ...config.nodegroups, ...nodegroups },
  }
}

export const allNodes = (view: InstanceView): readonly Node[] => [view.primary, ...view.secondaries]

/** The instance in the form for nodes. */
export const dictOf = (view: InstanceView, overrides: DictOverrides = {}): InstanceDict =>
  instanceDict(view.config, view.instance, overrides)

/** A disk of the instance, or a future one, in the form for nodes. */
export const diskDictOf = (view: Pick<InstanceView, 'config' | 'primary'>, disk: Disk): DiskDict =>
  diskDict(view.config, disk, view.config.nodegroups[view.primary.group])

export const diskDicts = (view: InstanceView): DiskDict[] => view.disks.map((disk) => diskDictOf(view, disk))

/** Master, primary and secondaries: most instance hooks run there. */
export function hookNodes(view: InstanceView, more: readonly string[] = []): { pre: string[]; post: string[] } {
  const nodes = [view.config.cluster.master_node, ...allNodes(view).map((node) => node.uuid), ...more]
  const unique = [...new Set<string>(nodes)]
  return { pre: unique, post: unique }
}

/**
 * Locks of a unit on one instance: the instance itself and, at the given levels, its nodes at the time when the
 * instance is locked.
 */
export function locksOfInstance(
  levels: readonly ('node' | 'node-res')[],
  options: { mode?: 'shared'; primaryOnly?: true } = {},
) {
  const want = options.mode === 'shared' ? shared : exclusive
  return {
    async locks(op: NamesInstance, ctx: UnitContext): Promise<LockPlan> {
      const { object } = await namedInstance(ctx, op)
      return { instance: want([object.name]) }
    },
    async declare(level: UnitLevel, op: NamesInstance, ctx: UnitContext): Promise<Want | undefined> {
      if (!levels.some((known) => known === level)) return undefined
      const view = await readInstance(ctx, op, 'all')
      const nodes = options.primaryOnly ? [view.primary] : allNodes(view)
      return want(nodes.map((node) => node.uuid))
    },
  }
}

/** Moves the instance to another node, together with its disks that are on one node only. */
export const movedTo = ({ instance, disks }: InstanceView, node: Node): Change[] => [
  change('setInstancePrimaryNode', instance.uuid, node.uuid),
  ...disks
    .filter((disk) => disk.nodes.length === 1)
    .map((disk) => change('patchDisk', disk.uuid, { nodes: [node.uuid] })),
]
