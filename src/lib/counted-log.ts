// Limits log lines that anybody can cause: the first is written at once, the following ones are counted for a while and
// written as one line.
import type { TLSSocket, Server } from 'node:tls'
import type { Clock } from './clock'
import { errorCode } from './disk'
import type { Log } from './log'

/** Reasons that are counted separately; all others are counted together. */
const REASONS_MAX = 10

export class CountedLog {
  private readonly counts = new Map<string, number>()
  private counting = false

  constructor(
    private readonly options: { clock: Clock; log: Log; every_s: number },
    private readonly text: string,
  ) {}

  add(reason: string, details: object): void {
    if (!this.counting) {
      this.options.log.info({ reason, ...details }, this.text)
      return this.count()
    }
    const known = this.counts.has(reason) || this.counts.size < REASONS_MAX ? reason : 'others'
    this.counts.set(known, (this.counts.get(known) ?? 0) + 1)
  }

  private count(): void {
    this.counting = true
    const { clock, log, every_s } = this.options
    const tell = () => {
      const times = [...this.counts.values()].reduce((sum, count) => sum + count, 0)
      if (times === 0) return void (this.counting = false)
      log.info({ times, seconds: every_s, reasons: Object.fromEntries(this.counts) }, this.text)
      this.counts.clear()
      this.count()
    }
    clock.after(every_s * 1000, tell, { background: true })
  }
}

/** Counts failed handshakes, because anybody can cause them. */
export function countRefused(server: Server, { clock, log }: { clock: Clock; log: Log }, every_s: number): void {
  const refused = new CountedLog({ clock, log, every_s }, 'TLS handshake refused')
  server.on('tlsClientError', (error: Error, socket: TLSSocket) =>
    refused.add(errorCode(error) ?? error.message.slice(0, 100), {
      error: error.message,
      address: socket.remoteAddress,
    }),
  )
}
