// The status file of a transfer, which the node daemon reads for the master (spec: noded-rpc.json "import_export_status").
import { seconds, type Clock, type Timer } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import { errorText } from '../../lib/system-failure'
import { OS_LOG_BYTES_MAX } from '../../model/limits/node'
import { TRANSFER_OUTPUT_LINES, TRANSFER_STATUS_S, TRANSFER_THROUGHPUT_S } from '../../model/limits/transfers'
import type { ImpExpStatus } from '../../rpc/node/dicts'

const MIB = 1 << 20

export class TransferStatus {
  /** Bytes of the disk's data, without magic and before compression. */
  bytes = 0
  /** MiB; known late if a script tells it. */
  expected_mib: number | undefined
  private readonly status: ImpExpStatus
  private readonly samples: { at_ms: number; bytes: number }[] = []
  private timer: Timer | undefined
  private written: Promise<void> = Promise.resolve()
  private logged = 0

  constructor(
    private readonly file: string,
    private readonly surroundings: { readonly clock: Clock; readonly disk: Disk },
  ) {
    const now = seconds(surroundings.clock)
    this.status = { recent_output: [], ctime: now, mtime: now }
  }

  say(line: string): void {
    this.status.recent_output = [...this.status.recent_output, line].slice(-TRANSFER_OUTPUT_LINES)
    this.log(`${new Date(this.surroundings.clock.now_ms()).toISOString()} ${line}\n`)
  }

  /** Our error output is the log file. A script may print for as long as its data flows. */
  log(text: string): void {
    if (this.logged > OS_LOG_BYTES_MAX) return
    this.logged += Buffer.byteLength(text)
    process.stderr.write(
      this.logged <= OS_LOG_BYTES_MAX
        ? text
        : `[what follows is not kept: it is more than ${OS_LOG_BYTES_MAX} bytes]\n`,
    )
  }

  listening(port: number): void {
    this.status.listen_port = port
    this.save()
  }

  /** From now on the progress is written regularly. */
  connected(): void {
    this.status.connected = true
    this.samples.push({ at_ms: this.surroundings.clock.monotonic_ms(), bytes: 0 })
    this.save()
    this.tick()
  }

  async finished(error: string | undefined): Promise<void> {
    this.timer?.cancel()
    this.measure()
    this.status.exit_status = error === undefined ? 0 : 1
    if (error !== undefined) this.status.error_message = error
    this.save()
    await this.written
  }

  private tick(): void {
    this.timer = this.surroundings.clock.after(TRANSFER_STATUS_S * 1000, () => {
      this.measure()
      this.save()
      this.tick()
    })
  }

  private measure(): void {
    const now = { at_ms: this.surroundings.clock.monotonic_ms(), bytes: this.bytes }
    this.samples.push(now)
    while (this.samples.length > 2 && now.at_ms - (this.samples[0]?.at_ms ?? 0) > TRANSFER_THROUGHPUT_S * 1000)
      this.samples.shift()
    const first = this.samples[0] ?? now
    const took_s = (now.at_ms - first.at_ms) / 1000
    const throughput = took_s > 0 ? (now.bytes - first.bytes) / MIB / took_s : 0
    this.status.progress_mbytes = this.bytes / MIB
    this.status.progress_throughput = throughput
    if (this.expected_mib === undefined || this.expected_mib === 0) return
    this.status.progress_percent = Math.min(100, (100 * this.bytes) / MIB / this.expected_mib)
    if (throughput > 0) this.status.progress_eta = Math.max(0, (this.expected_mib - this.bytes / MIB) / throughput)
  }

  /** One write after the other; the last one has the newest state. One that fails, as without room, does not end the transfer. */
  private save(): void {
    this.status.mtime = seconds(this.surroundings.clock)
    const text = JSON.stringify(this.status)
    const write = () => this.surroundings.disk.write(this.file, text, { mode: 0o400, durable: false })
    this.written = this.written.then(write, write)
    this.written.catch((error: unknown) => this.log(`the status cannot be written: ${errorText(error)}\n`))
  }
}
