import { Get, Path, Query, Route, Security, Tags } from '../../../../http/decorators'
import { NODE_VIEW, type NodeView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface NodePage {
  items: NodeView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/nodes')
@Tags('nodes')
@Security('basic')
@Security('bearer')
export class NodesV3Controller extends V3Resource {
  /**
   * Nodes: one page of them, in the order of their names.
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
  ): Promise<NodePage> {
    return this.page<NodeView>({ what: 'node', shown: NODE_VIEW, fields, filter, limit, after })
  }

  /**
   * One node.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() fields?: string): Promise<NodeView> {
    return this.one<NodeView>('node', name, NODE_VIEW, fields)
  }
}
