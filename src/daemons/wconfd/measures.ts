// Durations in wconfd: calls, waits for locks, and writes. Returned as prom-client's JSON, which /metrics puts
// together.
import { Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../../lib/clock'
import type { WriteKind } from '../../config/store-files'
import type { CallHandler } from '../../rpc/json-protocol'

/** This call mostly waits for other owners, so its time is counted separately. */
const LOCK_REQUEST = 'gantryAcquire'

export class WconfdMeasures {
  private readonly registry = new Registry()
  private readonly calls = this.histogram(
    'gantry_wconfd_call_duration_seconds',
    'Time that wconfd took to answer a call',
    [0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5],
    'call',
  )
  private readonly waits = this.histogram(
    'gantry_lock_wait_seconds',
    'Time that requests waited for their locks',
    [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600],
  )
  private readonly writes = this.histogram(
    'gantry_config_write_duration_seconds',
    'Time of one write: of journal records to the disk, of a checkpoint, of a copy to the master candidates',
    [0.0005, 0.002, 0.01, 0.05, 0.25, 1, 5],
    'kind',
  )

  constructor(private readonly clock: Clock) {}

  /** The journal's size is read on demand. */
  journalSize(bytes: () => number): void {
    new Gauge({
      name: 'gantry_journal_size_bytes',
      help: 'Journal records since the last checkpoint',
      registers: [this.registry],
      collect() {
        this.set(bytes())
      },
    })
  }

  wrote = (kind: WriteKind, duration_s: number): void => this.writes.observe({ kind }, duration_s)

  measured<C extends Readonly<Record<string, CallHandler>>>(handlers: C): C {
    const entries = Object.entries(handlers).map(([name, handle]): [string, CallHandler] => [
      name,
      (args, connection) => {
        const start_ms = this.clock.monotonic_ms()
        const done = () => this.answered(name, (this.clock.monotonic_ms() - start_ms) / 1000)
        const answer = handle(args, connection)
        if (answer instanceof Promise) return answer.finally(done)
        done()
        return answer
      },
    ])
    // The same names, and handlers of the same types.
    return Object.fromEntries(entries) as C
  }

  private answered(call: string, duration_s: number): void {
    if (call === LOCK_REQUEST) this.waits.observe(duration_s)
    else this.calls.observe({ call }, duration_s)
  }

  told(): Promise<unknown[]> {
    return this.registry.getMetricsAsJSON()
  }

  private histogram<L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] })
  }
}
