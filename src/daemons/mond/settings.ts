// Which collectors are active, and their intervals. Asks confd regularly, so that nothing needs a restart. Without an
// answer the last settings stay.
import type { Switch } from '../../collectors/monitor'
import { fieldsOf, type NodeSources } from '../../collectors/report'
import type { Clock, Timer } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import { COLLECTOR_SETTINGS_S, COLLECTOR_SETTINGS_SOON_S } from '../../model/limits/mond'
import { CONFD } from '../../rpc/confd/protocol'

export interface SettingsOptions extends Pick<NodeSources, 'ask'> {
  readonly clock: Clock
  readonly log: Log
  /** Called with each answer, even an unchanged one. */
  onTold(switches: ReadonlyMap<string, Switch>): void
}

export class CollectorSettings {
  private told_ms: number | undefined
  private told: ReadonlyMap<string, Switch> | undefined
  private timer: Timer | undefined
  private failing = false
  private noteFirst: () => void = () => undefined
  /** Resolves with the first answer. */
  readonly known = new Promise<void>((resolve) => (this.noteFirst = resolve))
  private closed = false

  constructor(private readonly options: SettingsOptions) {}

  /** Goes on until it is closed. */
  async start(): Promise<void> {
    await this.askOnce()
    if (this.closed) return
    const wait_s = this.told === undefined ? COLLECTOR_SETTINGS_SOON_S : COLLECTOR_SETTINGS_S
    this.timer = this.options.clock.after(wait_s * 1000, () => void this.start(), { background: true })
  }

  /** The collectors that the configuration names. */
  named(): ReadonlySet<string> | undefined {
    return this.told && new Set(this.told.keys())
  }

  /** Seconds since the last answer. */
  age_s(): number | undefined {
    return this.told_ms === undefined ? undefined : (this.options.clock.monotonic_ms() - this.told_ms) / 1000
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
  }

  private async askOnce(): Promise<void> {
    const { ask, clock, onTold } = this.options
    try {
      const answer = await ask(CONFD.dataCollectors, '')
      if (this.closed) return
      this.told = switchesIn(answer)
      this.told_ms = clock.monotonic_ms()
      this.note(undefined)
      onTold(this.told)
      this.noteFirst()
    } catch (error) {
      this.note(errorText(error))
    }
  }

  /** Logged when a failure begins and when it ends. */
  private note(failure: string | undefined): void {
    const { log } = this.options
    if (failure !== undefined && !this.failing)
      log.warn(
        { failure },
        'nobody tells the settings of collectors; if candidates run, compare their clocks with this one',
      )
    if (failure === undefined && this.failing) log.info('the settings of collectors are known')
    this.failing = failure !== undefined
  }
}

const MICROSECONDS = 1e6

/** `{name: {active, interval}}`; entries that make no sense count as missing. */
function switchesIn(answer: unknown): ReadonlyMap<string, Switch> {
  const found = Object.entries(fieldsOf(answer)).flatMap(([name, value]) => {
    const { active, interval } = fieldsOf(value)
    if (typeof active !== 'boolean' || typeof interval !== 'number' || !(interval > 0)) return []
    return [[name, { active, interval_s: interval / MICROSECONDS }] as const]
  })
  return new Map(found)
}
