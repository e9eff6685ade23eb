import { Get, Path, Query, Route, Security, Tags } from '../../../../http/decorators'
import { LOCK_VIEW, type LockView } from '../../../../generated/resource-views'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface LockPage {
  items: LockView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/locks')
@Tags('locks')
@Security('basic')
@Security('bearer')
export class LocksV3Controller extends V3Resource {
  /**
   * Locks that are held or waited for: one page of them.
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
  ): Promise<LockPage> {
    return this.page<LockView>({ what: 'lock', shown: LOCK_VIEW, fields, filter, limit, after })
  }

  /**
   * One lock, by its name with the slash encoded: `instance%2Fvm1`.
   * @param fields Names of fields, separated by commas; without it those that are known without asking a node.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() fields?: string): Promise<LockView> {
    return this.one<LockView>('lock', name, LOCK_VIEW, fields)
  }
}
