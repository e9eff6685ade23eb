// A new instance must be in the scope of the user's token: by a tag, by its group, or by both.
import type { Session } from '../../api/session-store'
import { type Values, wordsOf } from '../../forms/schema'
import { texts } from '../../texts'

const own = texts.instances.create

/** Initial values of the form, so that the instance is in the scope. */
export function typedInScope(scope: Session['scope']): Values {
  const [tag] = scope?.tags ?? []
  const [group] = scope?.groups ?? []
  return { ...(tag !== undefined && { tags: [tag] }), ...(group !== undefined && { group_name: group }) }
}

/** Why the server would refuse the instance; undefined if it is in the scope, or if the page cannot know. */
export function outsideScope(scope: Session['scope'], body: Values): string | undefined {
  if (scope === null) return undefined
  const { tags, groups } = scope
  const input = wordsOf(body['tags'])
  if (tags.length > 0 && !input.some((tag) => tags.includes(tag))) return own.outsideTags(tags)
  const { group_name: group, pnode: node } = body
  const isPlaced = group === undefined ? node !== undefined : groups.includes(String(group))
  return groups.length > 0 && !isPlaced ? own.outsideGroups(groups) : undefined
}
