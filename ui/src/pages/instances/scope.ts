// A new instance has to be in the scope of its user's token: by a tag, by its group, or by both.
import type { Session } from '../../api/session-store'
import { type Values, wordsOf } from '../../forms/schema'
import { texts } from '../../texts'

const own = texts.instances.create

/** What the form begins with, so that it need not be typed. */
export function typedInScope(scope: Session['scope']): Values {
  const [tag] = scope?.tags ?? []
  const [group] = scope?.groups ?? []
  return { ...(tag !== undefined && { tags: [tag] }), ...(group !== undefined && { group_name: group }) }
}

/** Why the server would refuse it; undefined when it is inside, as far as it is known here. */
export function outsideScope(scope: Session['scope'], body: Values): string | undefined {
  if (scope === null) return undefined
  const { tags, groups } = scope
  const given = wordsOf(body['tags'])
  if (tags.length > 0 && !given.some((tag) => tags.includes(tag))) return own.outsideTags(tags)
  const { group_name: group, pnode: node } = body
  const isPlaced = group === undefined ? node !== undefined : groups.includes(String(group))
  return groups.length > 0 && !isPlaced ? own.outsideGroups(groups) : undefined
}
