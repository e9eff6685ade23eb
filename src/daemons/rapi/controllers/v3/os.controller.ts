import { Get, Path, Query, Route, Security, Tags } from '@tsoa/runtime'
import { OS_VIEW, type OsView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface OsPage {
  items: OsView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/os')
@Tags('os')
@Security('basic')
@Security('bearer')
export class OsV3Controller extends V3Resource {
  /**
   * Operating systems that the nodes have: one page of them. Every node is asked.
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
  ): Promise<OsPage> {
    return this.page<OsView>({ what: 'os', shown: OS_VIEW, fields, filter, limit, after })
  }

  /**
   * One operating system.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() fields?: string): Promise<OsView> {
    return this.one<OsView>('os', name, OS_VIEW, fields)
  }
}
