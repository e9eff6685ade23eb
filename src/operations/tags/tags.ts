// OP_TAGS_GET, OP_TAGS_SEARCH, OP_TAGS_SET and OP_TAGS_DEL: tags of the cluster and of everything in it.
import { change } from '../../config/changes'
import { checkTag } from '../../config/changes/tags'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpTagsDel, OpTagsGet, OpTagsSearch, OpTagsSet } from '../../opcodes/tags'
import type { TagKind } from '../../rpc/luxi/calls'
import { findGroup, findInstance, findNetwork, findNode } from '../find'
import { exclusive, logicalUnit, shared, type LockPlan, type Want } from '../logical-unit'
import type { UnitContext } from '../unit-context'

interface TagOwner {
  readonly kind: TagKind
  readonly name?: string | undefined
}
interface Owner {
  readonly uuid: string
  /** What its lock is called; the cluster has none. */
  readonly lock: string
  readonly tags: readonly string[]
}

export const tagsGet = logicalUnit(OpTagsGet, {
  locks: (op, ctx) => (op.use_locking ? lockOf(ctx, op, shared) : {}),
  check: ownerOf,
  run: async (_ctx, _op, owner) => [...owner.tags],
})

export const tagsSet = logicalUnit(OpTagsSet, {
  locks: (op, ctx) => lockOf(ctx, op, exclusive),
  async check(ctx, op) {
    for (const tag of op.tags) checkTag(tag)
    return ownerOf(ctx, op)
  },
  changes: (_ctx, op, owner) => [change('addTags', op.kind, owner.uuid, op.tags)],
})

export const tagsDel = logicalUnit(OpTagsDel, {
  locks: (op, ctx) => lockOf(ctx, op, exclusive),
  async check(ctx, op) {
    for (const tag of op.tags) checkTag(tag)
    const owner = await ownerOf(ctx, op)
    const missing = op.tags.filter((tag) => !owner.tags.includes(tag)).sort()
    if (missing.length > 0)
      throw new OpPrereqError(`Tag(s) ${missing.map((tag) => `'${tag}'`).join(', ')} not found`, ECODE.NOENT)
    return owner
  },
  changes: (_ctx, op, owner) => [change('removeTags', op.kind, owner.uuid, op.tags)],
})

export const tagsSearch = logicalUnit(OpTagsSearch, {
  check(_ctx, op) {
    try {
      return Promise.resolve(new RegExp(op.pattern))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new OpPrereqError(`Invalid search pattern '${op.pattern}': ${reason}`, ECODE.INVAL)
    }
  },
  async run(ctx, _op, pattern) {
    const config = await ctx.config.read({ instances: 'all', nodes: 'all', groups: 'all', networks: 'all' })
    const owners: [path: string, tags: readonly string[]][] = [
      ['/cluster', config.cluster.tags],
      ...Object.values(config.instances).map((one): [string, readonly string[]] => [
        `/instances/${one.name}`,
        one.tags,
      ]),
      ...Object.values(config.nodes).map((one): [string, readonly string[]] => [`/nodes/${one.name}`, one.tags]),
      ...Object.values(config.nodegroups).map((one): [string, readonly string[]] => [
        `/nodegroup/${one.name}`,
        one.tags,
      ]),
      ...Object.values(config.networks).map((one): [string, readonly string[]] => [`/network/${one.name}`, one.tags]),
    ]
    return owners.flatMap(([path, tags]) => tags.filter((tag) => pattern.test(tag)).map((tag) => [path, tag]))
  },
})

const LEVEL = { instance: 'instance', node: 'node', nodegroup: 'nodegroup', network: 'network' } as const

async function lockOf(ctx: UnitContext, op: TagOwner, want: (names: string[]) => Want): Promise<LockPlan> {
  const { lock } = await ownerOf(ctx, op)
  return op.kind === 'cluster' ? {} : { [LEVEL[op.kind]]: want([lock]) }
}

async function ownerOf(ctx: UnitContext, { kind, name = '' }: TagOwner): Promise<Owner> {
  switch (kind) {
    case 'cluster': {
      const { cluster } = await ctx.config.read({})
      return { uuid: cluster.uuid, lock: '', tags: cluster.tags }
    }
    case 'instance': {
      const { object } = await findInstance(ctx, name)
      return { uuid: object.uuid, lock: object.name, tags: object.tags }
    }
    default: {
      const find = { node: findNode, nodegroup: findGroup, network: findNetwork }[kind]
      const { object } = await find(ctx, name)
      return { uuid: object.uuid, lock: object.uuid, tags: object.tags }
    }
  }
}
