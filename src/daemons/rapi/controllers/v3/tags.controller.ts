// Requests of /3 about the tags of everything.
import { Get, Query, Route, Security, Tags } from '../../../../http/decorators'
import { TAGGED_OBJECTS_SHOWN_MAX } from '../../../../model/limits/rapi-v3'
import type { TagUse } from '../../../../rpc/luxi/resources'
import { V3Resource, cursorOf, readCursor, readLimit } from './resource'

/** An object that has a tag. */
export interface TaggedObject {
  /** `cluster`, `instance`, `node`, `group` or `network`. */
  kind: string
  name: string
}

/** A tag, and what has it. */
export interface TagView {
  tag: string
  /** How many objects have it. @isInt */
  count: number
  /** Those objects, by kind and name; the first hundred of them. */
  objects: TaggedObject[]
}

/** One page of what was asked for. */
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
   * @param like Only tags that have these letters, in whatever case.
   * @param limit Tags on a page: 100 when left out, 1000 at most.
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
