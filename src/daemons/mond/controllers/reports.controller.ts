// Requests to mond for reports of collectors.
import { ASKED_CATEGORIES, NO_CATEGORY } from '../../../model/constants/collectors'
import { MOND_LATEST_API_VERSION } from '../../../model/constants/versions'
import { COLLECTORS } from '../../../collectors/registry'
import type { Figures } from '../../../collectors/monitor'
import type { Status } from '../../../collectors/report'
import { Get, Path, Query, Route, Tags } from '../../../http/decorators'
import { type MondContext, written } from '../context'
import { noReport, noSuch } from '../errors'

/** A report of a collector. */
export interface DataReport {
  name: string
  /** `B` for a collector that is built in, `P` for a plugin. */
  version: string
  format_version: number
  /** When it was seen, in nanoseconds. */
  timestamp: number
  /** null for the category `default`. */
  category: string | null
  /** 0 for figures, 1 for a status. */
  kind: number
  /** Its shape depends on the collector: `GET /1/collectors` tells it. Data that cannot be collected have an `error`. */
  data: unknown
}

/** How a collector gets on. */
export interface CollectorView {
  name: string
  category: string
  kind: 'performance' | 'status'
  version: string
  /** One line about what it tells. */
  help: string
  /** Whether others are told of it by `GET /1/list/collectors`. */
  listed: boolean
  /** The JSON schema of its data. */
  schema: { [key: string]: unknown }
  /** When its status has which code. */
  codes: { [code: string]: string }
  /** Seconds between two looks, as it is paced now. */
  interval_s: number
  /** The cost of a look, in milliseconds. */
  cost_ms: number
  looks: number
  failures: number
  /** Seconds since the last look; null before the first. */
  age_s: number | null
  /** Its status of the node; null where it tells figures alone. */
  status: CodedStatus | null
  /** Why nothing was collected; null when something was. */
  error: string | null
}

/** 0: ok, 1: bad but healing, 2: unknown, 4: bad. */
interface CodedStatus {
  code: number
  message: string
}

@Route('')
@Tags('reports')
export class ReportsController {
  constructor(private readonly context: MondContext) {}

  /** The versions of this interface. A browser is shown a page instead. */
  @Get('')
  versions(): number[] {
    return [MOND_LATEST_API_VERSION]
  }

  /** The root of version 1. */
  @Get('1')
  version1(): null {
    return null
  }

  /** Name, category and kind of each active collector that the configuration of the cluster names, and of each plugin. */
  @Get('1/list/collectors')
  async list(): Promise<(string | number)[][]> {
    const named = await this.context.named()
    const listed = this.context.monitor.active().filter((one) => isListed(one, named))
    return listed.map(({ name, category, kind }) => [name, category ?? NO_CATEGORY, kind === 'status' ? 1 : 0])
  }

  /** Every collector that runs on this node, with the shape of its data and how it gets on. */
  @Get('1/collectors')
  async collectors(): Promise<CollectorView[]> {
    const named = await this.context.named()
    const figures = await this.context.monitor.figures()
    return figures.map((one) => this.view(one, isListed(one.watched, named)))
  }

  /**
   * The reports of all active collectors, or of those that are chosen. Parameters that are not named here are ignored, as Ganeti
   * ignores all of them.
   * @param category Only collectors of these categories, separated by commas: `instance`, `storage`, `daemon`, `hypervisor`, `node`,
   *   and `default` for those without one.
   * @param names Only collectors with these names, separated by commas. The report of one that is switched off is missing.
   * @param verbose `0` shortens reports of a status to the status.
   */
  @Get('1/report/all')
  async all(@Query() category = '', @Query() names = '', @Query() verbose = '1'): Promise<DataReport[]> {
    const { monitor } = this.context
    const selection = {
      categories: known('category', words(category), ASKED_CATEGORIES),
      names: known('names', words(names), monitor.names()),
      verbose: isYes(verbose),
    }
    return written(await monitor.reports(selection))
  }

  /**
   * The newest version's reports of all active collectors: an alias of `/1/report/all`. In the same way, `/report/storage/drbd` is an
   * alias of `/1/report/storage/drbd`.
   * @param category As there.
   * @param names As there.
   * @param verbose As there.
   */
  @Get('report')
  newest(@Query() category = '', @Query() names = '', @Query() verbose = '1'): Promise<DataReport[]> {
    return this.all(category, names, verbose)
  }

  /**
   * The report of one collector.
   * @param category Its category; `default` for those without one.
   * @param collector Its name.
   * @param verbose `0` shortens the report of a status to the status.
   */
  @Get('1/report/{category}/{collector}')
  async one(@Path() category: string, @Path() collector: string, @Query() verbose = '1'): Promise<DataReport> {
    const report = await this.context.monitor.report(category, collector, isYes(verbose))
    if (report === undefined) throw noReport()
    return written(report)
  }

  private view(
    { watched, pace, looks: probes, failures, seen_ms, status, error }: Figures,
    listed: boolean,
  ): CollectorView {
    const { name, category, kind, version = 'B', codes = {} } = watched
    const declared = COLLECTORS.find((one) => one.name === name)
    return {
      ...{ name, category: category ?? NO_CATEGORY, kind, version, listed },
      ...{ help: declared?.help ?? 'a plugin of this node', schema: { ...declared?.shape.schema }, codes },
      ...{ interval_s: pace.interval_s, cost_ms: pace.cost_ms, looks: probes, failures },
      age_s: seen_ms === undefined ? null : (this.context.clock.monotonic_ms() - seen_ms) / 1000,
      ...{ status: codedStatus(status), error: error ?? null },
    }
  }
}

/** A cluster made by Ganeti names only Ganeti's collectors, and its clients get only those. */
const isListed = ({ name, version }: Figures['watched'], named: ReadonlySet<string> | undefined): boolean =>
  version !== undefined || named === undefined || named.has(name)

const codedStatus = (status: Status | undefined): CodedStatus | null => (status === undefined ? null : { ...status })

const words = (list: string): string[] => list.split(',').filter((word) => word !== '')

function known(field: string, requested: string[], valid: readonly string[]): string[] {
  const wrong = requested.find((one) => !valid.includes(one))
  if (wrong !== undefined) throw noSuch(field, wrong, valid)
  return requested
}

const NO = ['0', 'false', 'no']
const YES = ['1', 'true', 'yes']

function isYes(text: string): boolean {
  known('verbose', [text], [...NO, ...YES])
  return !NO.includes(text)
}
