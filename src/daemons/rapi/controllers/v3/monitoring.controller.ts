// Requests of /3 about what the nodes report on themselves.
import { badRequest } from '../../../../http/errors'
import { Get, Query, Route, Security, Tags } from '../../../../http/decorators'
import { MONITORING_FIELDS, type MonitoringReport, type NodeMonitoring } from '../../../../model/monitoring'
import type { MonitoredNode } from '../../../../rpc/luxi/monitoring'
import { cursorOf, readCursor, readLimit, V3Resource } from './resource'

/** One page of nodes. */
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
   * What the nodes report on themselves: one page of nodes, in the order of their names. The monitoring daemons of all nodes on the page
   * are asked at the same time. If a node does not answer within 4 seconds, or its answer cannot be read, its item says so. A second
   * request within a second gets the same answer.
   * @param node Only these nodes: names, separated by commas.
   * @param category Only reports of these categories, separated by commas: `instance`, `storage`, `daemon`, `hypervisor`, `node`, and
   * `default` for those without one. The status counts only these.
   * @param collector Only reports of collectors with these names, separated by commas.
   * @param fields Names of fields, separated by commas. The default is all. Without `reports`, the answer is short.
   * @param limit Nodes on a page: 100 by default, at most 1000.
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
    const displayed = readFields(fields)
    const { identity, gantry } = this.v3
    const { items, next } = await gantry.monitoring(identity, {
      ...{ nodes: words(node), categories: words(category), collectors: words(collector) },
      ...{ reports: displayed.includes('reports'), after: readCursor('monitoring', after) },
      limit: readLimit(limit),
    })
    return { items: items.map((item) => viewOf(item, displayed)), next: cursorOf('monitoring', next) }
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

function viewOf({ reports, ...item }: MonitoredNode, displayed: readonly Field[]): NodeMonitoring {
  // src/rpc/mond/reports.ts has read it, so it has this form.
  const reported = reports === null ? null : (JSON.parse(reports) as MonitoringReport[])
  const view: NodeMonitoring = { ...item, reports: reported }
  return Object.fromEntries(Object.entries(view).filter(([name]) => displayed.some((field) => field === name)))
}
