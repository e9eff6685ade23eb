// Keeps account of every acknowledged job: each must end once, and its result must not change.
import { GanetiError } from '../../src/model/errors'
import type { JobId, WireOpCode } from '../../src/rpc/luxi/calls'
import type { Master } from '../../src/rpc/luxi/master'
import type { EmbeddedCluster } from './embedded-cluster'
import { pause } from './faults'

export interface Ended {
  status: string
  /** The result or error of the only opcode, as text. */
  result: string
}

const FINAL = ['success', 'error', 'canceled']

export class Ledger {
  readonly ended = new Map<JobId, Ended & { what: string }>()
  readonly open = new Map<JobId, string>()
  /** Submissions without an answer. They may have become jobs or not. */
  unanswered = 0
  /** Events that must never happen. */
  readonly defects: string[] = []

  constructor(
    private readonly cluster: EmbeddedCluster,
    private readonly limit_s: number,
  ) {}

  /** Submits a job and waits for its end. Undefined if the submission was not acknowledged. */
  async run(op: WireOpCode): Promise<Ended | undefined> {
    const what = `${op.OP_ID} ${String(op['instance_name'] ?? op['tags'] ?? '')}`
    let id: JobId
    try {
      id = await this.cluster.master.submitJob([{ reason: [], ...op }])
    } catch (error) {
      if (error instanceof GanetiError && !/is stopping/.test(error.message)) throw error
      this.unanswered++
      await pause(0.2)
      return undefined
    }
    this.open.set(id, what)
    const end = await this.end(id, what)
    this.open.delete(id)
    this.ended.set(id, { ...end, what })
    return end
  }

  /** Asks a question. That no daemon answers is allowed. An error as the answer is a defect. */
  async ask(question: (master: Master) => Promise<unknown>): Promise<void> {
    try {
      await question(this.cluster.master)
    } catch (error) {
      if (error instanceof GanetiError && !/^Instance name .* not found/.test(error.message))
        this.defects.push(`a question was answered with ${error.message}`)
    }
  }

  /** Looks at every job again: none may be lost, and no result may have changed. */
  async check(): Promise<void> {
    const ids = [...this.ended.keys()]
    const rows = await this.cluster.master.queryJobs(ids, ['id', 'status', 'opresult'])
    for (const [index, id] of ids.entries()) {
      const [, status, results] = rows[index] ?? []
      const before = this.ended.get(id)
      const result = resultText(results)
      if (status !== before?.status || result !== before?.result)
        this.defects.push(
          `job ${id} (${before?.what}) ended as ${before?.status} ${before?.result}, and now is ${String(status)} ${result}`,
        )
    }
    for (const [id, status] of await this.cluster.master.queryJobs(null, ['id', 'status']).then(rowsOf))
      if (!FINAL.includes(String(status))) this.defects.push(`job ${String(id)} is still ${String(status)}`)
  }

  private async end(id: JobId, what: string): Promise<Ended> {
    const end = performance.now() + this.limit_s * 1000
    let observed: unknown = null
    while (performance.now() < end) {
      try {
        const change = await this.cluster.master.waitForJobChange(id, ['status', 'opresult'], observed, null, 5)
        if (change === 'nochange') continue
        observed = change[0]
        const [status, results] = change[0]
        if (FINAL.includes(String(status))) return { status: String(status), result: resultText(results) }
      } catch (error) {
        if (error instanceof GanetiError) {
          this.defects.push(`job ${id} (${what}) was acknowledged, and now: ${error.message}`)
          return { status: 'lost', result: error.message }
        }
        await pause(0.1)
      }
    }
    this.defects.push(`job ${id} (${what}) did not end in ${this.limit_s} s: ${JSON.stringify(observed)}`)
    return { status: 'stuck', result: '' }
  }
}

const rowsOf = (rows: readonly (unknown[] | null)[]): unknown[][] => rows.flatMap((row) => (row === null ? [] : [row]))

const resultText = (results: unknown): string => JSON.stringify(Array.isArray(results) ? results[0] : results)
