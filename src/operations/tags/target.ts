// The object whose tags a unit reads or changes, by kind and name, and its lock.
import type { TagKind } from '../../model/object-kinds'
import { ECODE, OpPrereqError } from '../../model/errors'
import { findGroup, findInstance, findNetwork, findNode } from '../find'
import type { LockPlan } from '../logical-unit'
import type { UnitLevel, Want } from '../lock-session'
import type { UnitContext } from '../unit-context'

export interface NamesTarget {
  readonly kind: TagKind
  readonly name?: string | undefined
}

export interface TagTarget {
  readonly uuid: string
  /** The object's lock; undefined for the cluster, which has none. */
  readonly lock: { readonly level: UnitLevel; readonly name: string } | undefined
  readonly tags: readonly string[]
}

export async function tagTarget(ctx: UnitContext, { kind, name }: NamesTarget): Promise<TagTarget> {
  if (kind === 'cluster') {
    const { cluster } = await ctx.config.read({})
    return { uuid: cluster.uuid, lock: undefined, tags: cluster.tags }
  }
  if (name === undefined || name === '')
    throw new OpPrereqError(`Tags of a ${kind} need the name of the ${kind}`, ECODE.INVAL)
  const { object } = await FIND[kind](ctx, name)
  return { uuid: object.uuid, lock: { level: LEVEL[kind], name: lockName(kind, object) }, tags: object.tags }
}

export async function lockTarget(ctx: UnitContext, op: NamesTarget, want: LockOn): Promise<LockPlan> {
  const { lock } = await tagTarget(ctx, op)
  return lock === undefined ? {} : { [lock.level]: want([lock.name]) }
}

type LockOn = (names: readonly string[] | 'all') => Want

const FIND = { node: findNode, nodegroup: findGroup, instance: findInstance, network: findNetwork }
const LEVEL = { node: 'node', nodegroup: 'nodegroup', instance: 'instance', network: 'network' } as const

const lockName = (kind: TagKind, object: { uuid: string; name: string }): string =>
  kind === 'instance' ? object.name : object.uuid
