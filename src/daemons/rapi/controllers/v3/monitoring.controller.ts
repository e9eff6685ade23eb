// Requests of /3 about how the nodes are by their own account.
import { badRequest } from '../../../../http/errors'
import { Get, Query, Route, Security, Tags } from '../../../../http/decorators'
import { MONITORING_FIELDS, type MonitoringReport, type NodeMonitoring } from '../../../../model/monitoring'
import type { MonitoredNode } from '../../../../rpc/luxi/monitoring'
import { cursorOf, readCursor, readLimit, V3Resource } from './resource'

/** One page of what was asked for. */
export interface MonitoringPage {
  items: NodeMonitoring[]
  /** The value of `after` for the next page; null on the last one. */
  next: string | null
}

@Route('3/monitoring')
@Tags('monitoring')
@Security('basic')
@Security('bearer')
export class MonitoringV3Controller extends V3Resource {
  /**
   * What the nodes report of themselves: one page of nodes, in the order of their names. The monitoring daemons of all nodes on the page
   * are asked at the same time; a node that does not answer within 4 seconds, or answers nonsense, is an item that says so. Who asks
   * again within a second is told the same.
   * @param node Only these nodes: names, separated by commas.
   * @param category Only reports of these categories, separated by commas: `instance`, `storage`, `daemon`, `hypervisor`, `node`, and
   *   `default` for those without one. Only they make the status.
   * @param collector Only reports of collectors with these names, separated by commas.
   * @param fields Names of fields, separated by commas; all when left out. Without `reports` the answer is short.
   * @param limit Nodes on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('')
  async list(
    @Query() node?: string,
    @Query() category?: string,
    @Query() collector?: string,
    @Query() fields?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<MonitoringPage> {
    const shown = readFields(fields)
    const { identity, gantry } = this.v3
    const { items, next } = await gantry.monitoring(identity, {
      ...{ nodes: words(node), categories: words(category), collectors: words(collector) },
      ...{ reports: shown.includes('reports'), after: readCursor('monitoring', after) },
      limit: readLimit(limit),
    })
    return { items: items.map((item) => viewOf(item, shown)), next: cursorOf('monitoring', next) }
  }
}

const words = (list: string | undefined): string[] =>
  (list ?? '').split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))

type Field = (typeof MONITORING_FIELDS)[number]

function readFields(text: string | undefined): readonly Field[] {
  if (text === undefined) return MONITORING_FIELDS
  return text.split(',').map((name) => {
    const field = MONITORING_FIELDS.find((known) => known === name.trim())
    if (field === undefined) throw badRequest(`fields: there is no '${name}', only ${MONITORING_FIELDS.join(', ')}`)
    return field
  })
}

function viewOf({ reports, ...item }: MonitoredNode, shown: readonly Field[]): NodeMonitoring {
  // As src/rpc/mond/reports.ts has read them.
  const told = reports === null ? null : (JSON.parse(reports) as MonitoringReport[])
  const view: NodeMonitoring = { ...item, reports: told }
  return Object.fromEntries(Object.entries(view).filter(([name]) => shown.some((field) => field === name)))
}
