import { Get, Path, Query, Route, Security, Tags } from '../../../../http/decorators'
import { INSTANCE_VIEW, type InstanceView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface InstancePage {
  items: InstanceView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/instances')
@Tags('instances')
@Security('basic')
@Security('bearer')
export class InstancesV3Controller extends V3Resource {
  /**
   * Instances: one page of them, in the order of their names.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node, and what nodes told last. Fields that nodes have to tell are asked for when they are named: a node that does not answer within 5 seconds has none.
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
  ): Promise<InstancePage> {
    return this.page<InstanceView>({ what: 'instance', shown: INSTANCE_VIEW, fields, filter, limit, after })
  }

  /**
   * One instance.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node, and what nodes told last. Fields that nodes have to tell are asked for when they are named: a node that does not answer within 5 seconds has none.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() fields?: string): Promise<InstanceView> {
    return this.one<InstanceView>('instance', name, INSTANCE_VIEW, fields)
  }
}
