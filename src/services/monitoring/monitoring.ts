// The monitoring reports of all nodes, judged, for users, programs and /metrics.
import { findNode } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type { Clock } from '../../lib/clock'
import { ASKED_CATEGORIES, DATA_COLLECTORS, NO_CATEGORY } from '../../model/constants/collectors'
import { MAX_CLOCK_SKEW_S } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { MONITORING_S, NEWEST_REPORT_S } from '../../model/limits/monitoring'
import type { MonitoringFigures, MonitoringProblem } from '../../model/monitoring'
import { niceSortBy } from '../../model/nice-sort'
import type { ConfigData, Node } from '../../model/config'
import type { MeasuredNode, MonitoredNode, MonitoringPage, MonitoringRequest } from '../../rpc/luxi/monitoring'
import type { ReadReport } from '../../rpc/mond/reports'
import type { Access } from '../access/access'
import { pageOf } from '../views/view-page'
import type { NodeReports, ReportedStatus, Told } from './node-reports'

interface Parts {
  readonly clock: Clock
  readonly reports: Pick<NodeReports, 'gather' | 'renew' | 'reported' | 'keepOnly'>
  config(): ConfigData
}

export class MonitoringService {
  constructor(private readonly parts: Parts) {}

  /** Not for a token with a scope: reports cover everything on a node. */
  async page(request: MonitoringRequest): Promise<MonitoringPage> {
    checkCategories(request)
    const config = this.parts.config()
    const { page, next } = pageOf(wantedNodes(config, request.nodes), ({ name }) => name, request)
    this.forgetOthers(config)
    await this.parts.reports.gather(page.filter(({ offline }) => !offline))
    return { items: page.map((node) => this.item(node, request)), next }
  }

  /** The last figures of the nodes that the caller may know. Does not wait: it asks the nodes, and the next reader gets their answers. */
  measured(caller: Access): MeasuredNode[] {
    const config = caller.known(this.parts.config())
    const online = recordValues(config.nodes).filter(({ offline }) => !offline)
    this.forgetOthers(this.parts.config())
    this.parts.reports.renew(online)
    return niceSortBy(online, ({ name }) => name).map((node) => this.numbers(node))
  }

  private forgetOthers({ nodes }: ConfigData): void {
    this.parts.reports.keepOnly((uuid) => nodes[uuid] !== undefined)
  }

  private item({ uuid, name, offline }: Node, desired: MonitoringRequest): MonitoredNode {
    const answer = offline ? undefined : this.parts.reports.reported(uuid)
    const chosen = answer?.reports?.filter((report) => isWanted(report, desired))
    const problems = offline ? [] : [...problemsOf(answer), ...reported(chosen ?? [])]
    return {
      node: name,
      answer: offline ? 'offline' : (answer?.outcome?.kind ?? 'silent'),
      status: offline ? null : worstOf(problems),
      ...{ problems, figures: answer?.figures ?? NO_FIGURES, age_s: this.age_s(answer) },
      clock_ahead_s: rounded(answer?.clock_ahead_s),
      reports: desired.reports && chosen !== undefined ? `[${chosen.map(({ text }) => text).join(',')}]` : null,
    }
  }

  private numbers({ uuid, name }: Node): MeasuredNode {
    const answer = this.parts.reports.reported(uuid)
    const { outcome, statuses = [] } = answer ?? {}
    return {
      ...{ node: name, up: outcome === undefined ? null : outcome.kind === 'reports' },
      status: worstOf([...problemsOf(answer), ...reported(statuses)]),
      ...{ age_s: this.age_s(answer), clock_ahead_s: rounded(answer?.clock_ahead_s) },
      figures: answer?.figures ?? NO_FIGURES,
      codes: statuses.flatMap(({ name: collector, category, status }) =>
        status !== undefined && KNOWN.has(collector)
          ? [[category ?? NO_CATEGORY, collector, status.code] as const]
          : [],
      ),
    }
  }

  private age_s(told: Told | undefined): number | null {
    const { measured_ms } = told ?? {}
    return measured_ms === undefined ? null : rounded((this.parts.clock.monotonic_ms() - measured_ms) / 1000)
  }
}

function wantedNodes(config: ConfigData, names: readonly string[]): Node[] {
  if (names.length === 0) return niceSortBy(recordValues(config.nodes), ({ name }) => name)
  const found = names.map((name) => {
    const node = findNode(config, name)
    if (node === undefined) throw new OpPrereqError(`There is no node ${name}`, ECODE.NOENT)
    return node
  })
  return niceSortBy(new Set(found), ({ name }) => name)
}

/** Any name of a collector is accepted: some node may have a plugin of that name. */
function checkCategories({ categories }: MonitoringRequest): void {
  const wrong = categories.find((one) => !ASKED_CATEGORIES.includes(one))
  if (wrong === undefined) return
  throw new OpPrereqError(`category: there is no '${wrong}', but ${ASKED_CATEGORIES.join(', ')}`, ECODE.INVAL)
}

/** Other names belong to plugins; a node can choose them freely. */
const KNOWN: ReadonlySet<string> = new Set(DATA_COLLECTORS)

const isWanted = ({ name, category }: ReadReport, { categories, collectors }: MonitoringRequest): boolean =>
  (categories.length === 0 || categories.includes(category ?? NO_CATEGORY)) &&
  (collectors.length === 0 || collectors.includes(name))

/** Problems of the node's answer and of its clock. */
function problemsOf(told: Told | undefined): MonitoringProblem[] {
  const own = (code: number, message: string) => ({ collector: null, category: null, code, message })
  const { outcome, clock_ahead_s = 0, newest_age_s = 0 } = told ?? {}
  if (outcome === undefined) return [own(2, `no answer within ${MONITORING_S} s`)]
  if (outcome.kind !== 'reports') return [own(2, outcome.why)]
  const off_s = Math.abs(clock_ahead_s)
  const way = clock_ahead_s > 0 ? 'ahead of' : 'behind'
  if (off_s > MAX_CLOCK_SKEW_S) return [own(4, `its clock is ${Math.round(off_s)} s ${way} the master's`)]
  if (newest_age_s <= NEWEST_REPORT_S) return []
  return [own(2, `its newest report is ${Math.round(newest_age_s)} s old: its collectors stand still`)]
}

const reported = (reports: readonly ReportedStatus[]): MonitoringProblem[] =>
  reports.flatMap(({ name, category, status }) =>
    status === undefined || status.code === 0
      ? []
      : [{ collector: name, category: category ?? NO_CATEGORY, code: status.code, message: status.message }],
  )

const worstOf = (problems: readonly MonitoringProblem[]): number => Math.max(0, ...problems.map(({ code }) => code))

const NO_FIGURES: MonitoringFigures = {
  ...{ load: null, cpu_load: null, cpus: null, memory_total_bytes: null, memory_free_bytes: null, storage: null },
}

const rounded = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.round(seconds * 10) / 10
