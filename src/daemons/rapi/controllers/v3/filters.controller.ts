import { Get, Path, Query, Route, Security, Tags } from '@tsoa/runtime'
import { FILTER_VIEW, type FilterView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface FilterPage {
  items: FilterView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/filters')
@Tags('filters')
@Security('basic')
@Security('bearer')
export class FiltersV3Controller extends V3Resource {
  /**
   * Filters of the job queue: one page of them.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   * @param filter A filter of the query language as JSON: `["==", "uuid", "..."]`.
   * @param limit Objects on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('')
  list(
    @Query() fields?: string,
    @Query() filter?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<FilterPage> {
    return this.page<FilterView>({ what: 'filter', shown: FILTER_VIEW, fields, filter, limit, after })
  }

  /**
   * One filter of the job queue, by its uuid.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() fields?: string): Promise<FilterView> {
    return this.one<FilterView>('filter', name, FILTER_VIEW, fields)
  }
}
