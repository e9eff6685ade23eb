// All tags, and the objects that have them.
import { taggedObjects } from '../../config/tagged'
import type { ConfigData } from '../../model/config'
import { niceSortBy } from '../../model/nice-sort'
import type { TagUse } from '../../rpc/luxi/resources'

/** `config` is the part that the caller may know. */
export function tagUses(config: ConfigData): TagUse[] {
  const uses = new Map<string, TagUse['objects'][number][]>()
  for (const { kind, name, tags } of taggedObjects(config))
    for (const tag of tags) {
      const objects = uses.get(tag) ?? []
      objects.push({ kind, name })
      uses.set(tag, objects)
    }
  return niceSortBy([...uses], ([tag]) => tag).map(([tag, objects]) => ({
    tag,
    objects: niceSortBy(objects, ({ kind, name }) => `${kind}/${name}`),
  }))
}
