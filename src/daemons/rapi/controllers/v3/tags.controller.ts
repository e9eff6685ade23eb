// Requests of /3 about the tags of all objects.
import { Get, Query, Route, Security, Tags } from '../../../../http/decorators'
import { TAGGED_OBJECTS_SHOWN_MAX } from '../../../../model/limits/rapi-v3'
import type { TagUse } from '../../../../rpc/luxi/resources'
import { V3Resource, cursorOf, readCursor, readLimit } from './resource'

/** An object that has a tag. */
interface TaggedObject {
  /** `cluster`, `instance`, `node`, `group` or `network`. */
  kind: string
  name: string
}

/** A tag, and the objects that have it. */
interface TagView {
  tag: string
  /** The number of objects that have it. @isInt */
  count: number
  /** The first hundred of these objects, by kind and name. */
  objects: TaggedObject[]
}

/** One page of tags. */
export interface TagPage {
  items: TagView[]
  /** The value of `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/tags')
@Tags('tags')
@Security('basic')
@Security('bearer')
export class TagsV3Controller extends V3Resource {
  /**
   * The tags of the cluster, of instances, nodes, groups and networks: one page of them, in the order of the tags.
   * @param like Only tags that contain these letters, in upper or lower case.
   * @param limit Tags on a page: 100 by default, at most 1000.
   * @param after The `next` of the page before.
   */
  @Get('')
  async list(@Query() like?: string, @Query() limit?: number, @Query() after?: string): Promise<TagPage> {
    const most = readLimit(limit)
    const last = readCursor('tags', after)
    const letters = (like ?? '').toLowerCase()
    const all = await this.v3.gantry.tags(this.v3.identity)
    const found = all.filter(({ tag }) => tag.toLowerCase().includes(letters))
    const from = last === null ? 0 : found.findIndex(({ tag }) => tag === last) + 1
    const page = found.slice(from, from + most)
    const more = from + most < found.length
    return { items: page.map(viewOf), next: cursorOf('tags', more ? (page.at(-1)?.tag ?? null) : null) }
  }
}

const viewOf = ({ tag, objects }: TagUse): TagView => ({
  ...{ tag, count: objects.length },
  objects: objects.slice(0, TAGGED_OBJECTS_SHOWN_MAX).map((object) => ({ ...object })),
})
