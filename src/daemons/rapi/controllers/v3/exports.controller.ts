import { Get, Query, Route, Security, Tags } from '../../../../http/decorators'
import { EXPORT_VIEW, type ExportView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface ExportPage {
  items: ExportView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/exports')
@Tags('exports')
@Security('basic')
@Security('bearer')
export class ExportsV3Controller extends V3Resource {
  /**
   * Exports of instances that the nodes have: one page of them. Every node is asked; one that does not tell has one item whose
   * `export` is null. An export is made with `POST /3/instances/{name}/export`, and removed with `DELETE`.
   * @param fields Names of fields, separated by commas; all when left out.
   * @param filter A filter of the query language as JSON: `["==", "node", "..."]`.
   * @param limit Objects on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('')
  list(
    @Query() fields?: string,
    @Query() filter?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<ExportPage> {
    return this.page<ExportView>({ what: 'export', shown: EXPORT_VIEW, fields, filter, limit, after })
  }
}
