import { Get, Path, Query, Route, Security, Tags } from '../../../../http/decorators'
import { GROUP_VIEW, type GroupView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface GroupPage {
  items: GroupView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/groups')
@Tags('groups')
@Security('basic')
@Security('bearer')
export class GroupsV3Controller extends V3Resource {
  /**
   * Node groups: one page of them, in the order of their names.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   * @param filter A filter of the query language as JSON: `["==", "name", "..."]`.
   * @param limit Objects on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('')
  list(
    @Query() fields?: string,
    @Query() filter?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<GroupPage> {
    return this.page<GroupView>({ what: 'group', shown: GROUP_VIEW, fields, filter, limit, after })
  }

  /**
   * One node group.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() fields?: string): Promise<GroupView> {
    return this.one<GroupView>('group', name, GROUP_VIEW, fields)
  }
}
