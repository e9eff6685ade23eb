// Asks nodes for their reports, and keeps the last ones. A node is asked only on demand, once for all who want its
// report at that moment. No request waits for a node that hangs.
import { type Clock, type Timer, within } from '../../lib/clock'
import { ConcurrencyLimit } from '../../lib/work/concurrency-limit'
import { mapInSlices } from '../../lib/work/slices'
import { errorText } from '../../lib/system-failure'
import type { NodeUuid } from '../../model/ids'
import {
  MONDS_ASKED_AT_ONCE,
  MONDS_ASK_PATIENCE_S,
  MONDS_BEGUN_AT_ONCE,
  MOND_ANSWER_BYTES_MAX,
  MOND_ANSWER_S,
  MONITORING_BYTES_MAX,
  MONITORING_FRESH_S,
  MONITORING_KEPT_S,
  MONITORING_S,
  SILENT_MOND_WAIT_S,
} from '../../model/limits/monitoring'
import type { MonitoringFigures } from '../../model/monitoring'
import type { Node } from '../../model/node'
import { type FailureKind, type MondAnswer, type MondBounds, MondFailure } from '../../rpc/mond/client'
import { type ReadReport, readReports } from '../../rpc/mond/reports'

export interface NodeReportsParts {
  readonly clock: Clock
  /** Rejects with a MondFailure. */
  ask(node: Node, path: string, bounds: MondBounds): Promise<MondAnswer>
}

/** A node's last reports, and its last answer. */
export interface Told {
  /** Undefined before the first answer. */
  outcome: { readonly kind: 'reports' } | { readonly kind: FailureKind; readonly why: string } | undefined
  /** The reports of the last answer, while they are kept. */
  reports: readonly ReadReport[] | undefined
  /** The same without their texts, kept as long as the node answers. */
  statuses: readonly ReportedStatus[]
  figures: MonitoringFigures | undefined
  /** When the oldest figure was measured (this machine's monotonic clock). */
  measured_ms: number | undefined
  clock_ahead_s: number | undefined
  /** The age of the newest report when it arrived. */
  newest_age_s: number | undefined
}

export type ReportedStatus = Pick<ReadReport, 'name' | 'category' | 'status'>

interface Asked extends Told {
  asking: Promise<void> | undefined
  /** When somebody began to wait for it (monotonic clock). */
  begun_ms: number
  /** When the last question ended (monotonic clock). */
  ended_ms: number
  bytes: number
}

const NOTHING: Told = {
  ...{ outcome: undefined, reports: undefined, statuses: [], figures: undefined, measured_ms: undefined },
  ...{ clock_ahead_s: undefined, newest_age_s: undefined },
}

const LATE = {
  outcome: { kind: 'silent', why: `no answer within ${MONITORING_S} s` },
  ...{ reports: undefined, statuses: [] },
} as const satisfies Partial<Told>

export class NodeReports {
  private readonly asked = new Map<NodeUuid, Asked>()
  private readonly pace: ConcurrencyLimit
  /** Bytes of answers that are being read or kept. */
  private bytes = 0
  private timer: Timer | undefined

  constructor(private readonly parts: NodeReportsParts) {
    this.pace = new ConcurrencyLimit({ size: MONDS_ASKED_AT_ONCE, patience_s: MONDS_ASK_PATIENCE_S }, parts.clock)
  }

  /** Resolves when the nodes have answered, or should no longer be waited for. */
  async gather(nodes: readonly Node[]): Promise<void> {
    const { clock } = this.parts
    const all = mapInSlices(nodes, MONDS_BEGUN_AT_ONCE, (node) => {
      const { asking, silent } = this.start(node)
      return asking && silent ? within(clock, SILENT_MOND_WAIT_S, asking) : asking
    })
    const answered = all.then((waits) => Promise.all(waits.flatMap((wait) => wait ?? [])))
    await within(clock, MONITORING_S, answered)
  }

  /** Asks the nodes, and does not wait. The next reader gets the answers. */
  renew(nodes: readonly Node[]): void {
    void mapInSlices(nodes, MONDS_BEGUN_AT_ONCE, (node) => this.start(node))
  }

  reported(node: NodeUuid): Told | undefined {
    const requested = this.asked.get(node)
    const isLate = requested?.asking !== undefined && this.now() - requested.begun_ms >= MONITORING_S * 1000
    return requested !== undefined && isLate ? { ...requested, ...LATE } : requested
  }

  close(): void {
    this.timer?.cancel()
  }

  /** Forgets nodes that left the cluster. */
  keepOnly(there: (node: NodeUuid) => boolean): void {
    for (const [node, requested] of this.asked) {
      if (there(node)) continue
      this.forgetReports(requested)
      this.asked.delete(node)
    }
  }

  private start(node: Node): { readonly asking: Promise<void> | undefined; readonly silent: boolean } {
    const requested = this.askedOf(node.uuid)
    const silent = requested.outcome?.kind === 'silent'
    const isFresh = this.now() - requested.ended_ms < MONITORING_FRESH_S * 1000
    if (requested.asking !== undefined || isFresh) return { asking: requested.asking, silent }
    requested.begun_ms = this.now()
    requested.asking = this.pace
      .run(() => this.ask(node, requested))
      .finally(() => {
        requested.asking = undefined
        requested.ended_ms = this.now()
      })
    return { asking: requested.asking, silent }
  }

  private askedOf(node: NodeUuid): Asked {
    let requested = this.asked.get(node)
    if (requested === undefined) {
      requested = { ...NOTHING, asking: undefined, begun_ms: 0, ended_ms: -Infinity, bytes: 0 }
      this.asked.set(node, requested)
    }
    return requested
  }

  /** Never rejects. */
  private async ask(node: Node, requested: Asked): Promise<void> {
    const { clock, ask } = this.parts
    let reading = 0
    const hasRoom = (bytes: number): boolean => {
      if (this.bytes + bytes > MONITORING_BYTES_MAX) return false
      this.bytes += bytes
      reading += bytes
      return true
    }
    try {
      const bounds = { clock, limit_s: MOND_ANSWER_S, bytes_max: MOND_ANSWER_BYTES_MAX, hasRoom }
      const answer = await ask(node, '/1/report/all', bounds)
      this.hear(requested, answer)
    } catch (error) {
      this.forgetReports(requested)
      requested.statuses = []
      requested.outcome = { kind: error instanceof MondFailure ? error.kind : 'bad', why: errorText(error) }
    } finally {
      this.bytes -= reading
    }
  }

  private hear(requested: Asked, { text, date_ms }: MondAnswer): void {
    const { reports, figures, oldest_ms, newest_ms } = readReports(text)
    const now_ms = this.parts.clock.now_ms()
    this.forgetReports(requested)
    requested.bytes = text.length
    this.bytes += requested.bytes
    // A measurement is never in the node's future, so the node's clock shows at least the time of the newest report.
    const theirs_ms = Math.max(date_ms ?? -Infinity, newest_ms ?? -Infinity)
    const age_s = (seen_ms: number | undefined) => (seen_ms === undefined ? undefined : (theirs_ms - seen_ms) / 1000)
    const figures_s = age_s(oldest_ms)
    Object.assign(requested, {
      ...{ outcome: { kind: 'reports' }, reports, figures, newest_age_s: age_s(newest_ms) },
      statuses: reports.map(({ name, category, status }) => ({ name, category, status })),
      measured_ms: figures_s === undefined ? undefined : this.now() - figures_s * 1000,
      clock_ahead_s: theirs_ms === -Infinity ? undefined : (theirs_ms - now_ms) / 1000,
    } satisfies Told)
    this.forgetLater()
  }

  /** Reports are long, and useless when nobody reads them. */
  private forgetLater(): void {
    this.timer?.cancel()
    const forget = () => {
      for (const requested of this.asked.values()) this.forgetReports(requested)
    }
    this.timer = this.parts.clock.after(MONITORING_KEPT_S * 1000, forget, { background: true })
  }

  private forgetReports(requested: Asked): void {
    this.bytes -= requested.bytes
    requested.bytes = 0
    requested.reports = undefined
  }

  private now = (): number => this.parts.clock.monotonic_ms()
}
