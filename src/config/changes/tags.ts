// Tags of any object.
import type { ConfigData, ObjectKinds, Tagged } from '../../model/config'
import { TAGS_PER_OBJECT_MAX, TAG_CHARS_MAX } from '../../model/limits/config'
import type { TagKind } from '../../model/object-kinds'
import { TagError } from '../../model/errors'
import { compareText } from '../../model/nice-sort'
import { done, get, put, putCluster, touched, type ChangeContext, type Changed } from '../edit'

const TAG = /^[\w.+*/:@-]+$/

export function addTags(
  config: ConfigData,
  context: ChangeContext,
  kind: TagKind,
  uuid: string,
  tags: readonly string[],
): Changed<null> {
  for (const tag of tags) checkTag(tag)
  return done(changeTags(config, context, kind, uuid, (old) => [...old, ...tags]))
}

/** Removes these tags. If the object lacks one of them, throws and removes none. */
export function removeTags(
  config: ConfigData,
  context: ChangeContext,
  kind: TagKind,
  uuid: string,
  tags: readonly string[],
): Changed<null> {
  return done(
    changeTags(config, context, kind, uuid, (old) => {
      const missing = tags.filter((tag) => !old.includes(tag))
      if (missing.length > 0) throw new TagError(`Tag(s) not found: ${missing.join(', ')}`)
      return old.filter((tag) => !tags.includes(tag))
    }),
  )
}

/** Throws TagError if this cannot be a tag. */
export function checkTag(tag: unknown): void {
  if (typeof tag !== 'string') throw new TagError('Invalid tag type (not a string)')
  if (tag === '') throw new TagError('Tags cannot be empty')
  if (tag.length > TAG_CHARS_MAX) throw new TagError(`Tag too long (>${TAG_CHARS_MAX} characters)`)
  if (!TAG.test(tag)) throw new TagError('Tag contains invalid characters')
}

const CONTAINER = { node: 'nodes', nodegroup: 'nodegroups', instance: 'instances', network: 'networks' } as const

function changeTags(
  config: ConfigData,
  context: ChangeContext,
  kind: TagKind,
  uuid: string,
  change: (tags: readonly string[]) => readonly string[],
): ConfigData {
  if (kind === 'cluster') {
    const tags = asSet(change(config.cluster.tags))
    return putCluster(config, touched({ ...config.cluster, tags }, context))
  }
  return retag(config, context, CONTAINER[kind], uuid, change)
}

function retag<K extends 'nodes' | 'nodegroups' | 'instances' | 'networks'>(
  config: ConfigData,
  context: ChangeContext,
  kind: K,
  uuid: string,
  change: (tags: readonly string[]) => readonly string[],
): ConfigData {
  const object: ObjectKinds[K] & Tagged = get(config, kind, uuid)
  return put(config, kind, touched({ ...object, tags: asSet(change(object.tags)) }, context))
}

function asSet(tags: readonly string[]): string[] {
  const set = [...new Set(tags)].sort(compareText)
  if (set.length > TAGS_PER_OBJECT_MAX) throw new TagError('Too many tags')
  return set
}
