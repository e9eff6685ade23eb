// Users who change the memory of their own instances. Some do not wait for a daemon that does not answer. They remember the promise of each
// job whose end they have seen.
import * as https from 'node:https'
import { systemClock } from '../../src/lib/clock'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { LuxiClient } from '../../src/rpc/luxi/client'
import type { Random } from '../../src/lib/random'
import type { EmbeddedCluster } from './embedded-cluster'
import { pause, withWconfd } from './faults'

/** A way to talk to the cluster. It throws if there was no answer. */
export interface Door {
  submit(op: WireOpCode): Promise<number>
  /** The job's status as far as it is known now. */
  status(job: number): Promise<string>
}

const FINAL = ['success', 'error', 'canceled']

export function luxiDoor(cluster: EmbeddedCluster, patience_s: number): Door {
  const open = () => new LuxiClient({ clock: systemClock, path: cluster.socket, timeout_s: patience_s })
  const asking = async <T>(ask: (client: LuxiClient) => Promise<T>): Promise<T> => {
    const client = open()
    return ask(client).finally(() => client.close())
  }
  return {
    submit: (op) => asking((client) => client.submitJob([op])),
    status: async (job) => String((await asking((client) => client.queryJobs([job], ['status'])))[0]?.[0]),
  }
}

/** Ganeti's remote API, with a new connection for each request, as most scripts have it. */
export function rapiDoor(cluster: EmbeddedCluster, patience_s: number): Door {
  const call = (method: string, path: string, body?: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const auth = `admin:${cluster.password}`
      const headers = { 'Content-Type': 'application/json' }
      const options = { method, auth, headers, agent: false, rejectUnauthorized: false }
      const request = https.request(new URL(path, cluster.url), options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.once('end', () =>
          response.statusCode === 200
            ? resolve(JSON.parse(text))
            : reject(new Error(`${response.statusCode}: ${text}`)),
        )
        response.once('error', reject)
      })
      const limit = setTimeout(() => request.destroy(new Error('nobody waits any more')), patience_s * 1000)
      request.once('error', reject).once('close', () => clearTimeout(limit))
      request.end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    async submit({ OP_ID, instance_name, ...params }) {
      const name = String(instance_name)
      const [method, path, body] = REQUESTS[OP_ID]?.(name, params) ?? []
      return Number(await call(method ?? '', path ?? '', body))
    },
    async status(job) {
      const answer = await call('GET', `/2/jobs/${job}`)
      return typeof answer === 'object' && answer !== null && 'status' in answer ? String(answer.status) : ''
    },
  }
}

const REQUESTS: Readonly<Record<string, (name: string, params: object) => [string, string, unknown?]>> = {
  OP_INSTANCE_CREATE: (name, params) => ['POST', '/2/instances', { __version__: 1, instance_name: name, ...params }],
  OP_INSTANCE_SET_PARAMS: (name, params) => ['PUT', `/2/instances/${name}/modify`, params],
  OP_INSTANCE_MIGRATE: (name, params) => ['PUT', `/2/instances/${name}/migrate`, params],
  OP_INSTANCE_REMOVE: (name) => ['DELETE', `/2/instances/${name}`],
}

/** A job that changes an instance's memory. */
interface Change {
  memory: number
  status: string
  start_s: number
  end_s: number
}

const seconds = (time: unknown): number => (Array.isArray(time) ? Number(time[0]) + Number(time[1]) / 1e6 : 0)

export class Owner {
  /** The known state of each instance: its memory, or that it is gone. */
  readonly known = new Map<string, number | 'gone'>()
  readonly wrong: string[] = []
  private readonly history = new Map<string, string[]>()
  changes = 0
  unanswered = 0
  private stopped = false

  constructor(
    private readonly name: string,
    private readonly cluster: EmbeddedCluster,
    private readonly door: Door,
    private readonly random: Random,
    private readonly instanceOptions: Readonly<Record<string, unknown>>,
  ) {}

  stop(): void {
    this.stopped = true
  }

  async work(): Promise<void> {
    for (let round = 1; !this.stopped; round++) await this.life(`${this.name}-${round}.gantry.local`)
  }

  private async life(instance_name: string): Promise<void> {
    const made = await this.job({ OP_ID: 'OP_INSTANCE_CREATE', instance_name, ...this.instanceOptions })
    if (!made) return
    for (let step = 0; step < 8 && !this.stopped; step++) {
      if (this.random.below(4) === 0) await this.job({ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name })
      else await this.change(instance_name)
    }
    if (this.random.below(2) === 0) return
    this.known.delete(instance_name)
    if (await this.job({ OP_ID: 'OP_INSTANCE_REMOVE', instance_name, shutdown_timeout: 2 }))
      this.known.set(instance_name, 'gone')
  }

  private async change(instance_name: string): Promise<void> {
    await this.look(instance_name)
    this.known.delete(instance_name)
    for (let size_mib = 36; size_mib < 256; size_mib += 4) {
      const beparams = { maxmem: size_mib, minmem: size_mib }
      const done = await this.job({ OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name, beparams })
      // A user who gets no answer asks again; the last request counts.
      if (done === undefined) continue
      if (done) this.known.set(instance_name, size_mib)
      if (done) this.changes++
      return
    }
  }

  /** A promised value must stay until another is requested, and an earlier request must not take effect late. */
  private async look(name: string): Promise<void> {
    const desired = this.known.get(name)
    if (desired === undefined) return
    const found = await this.memoryOf(name)
    if (found === undefined || found === desired || (await this.wasAskedForBefore(name))) return
    this.known.delete(name)
    this.wrong.push(
      `${name} should have ${desired} MiB, and has ${String(found)}: ${this.history.get(name)?.join(', ')}`,
    )
  }

  /** Undefined as long as wconfd does not answer. */
  private async memoryOf(name: string): Promise<unknown> {
    const answer = await withWconfd(this.cluster, (wconfd) => wconfd.gantryRead({ instances: [name] })).catch(
      () => undefined,
    )
    if (answer === undefined) return undefined
    const found = Object.values(answer.instances).find((instance) => instance.name === name)
    return found === undefined ? 'gone' : found.beparams['maxmem']
  }

  /**
   * A submission without an answer may have arrived. Its job may change the memory during or after the job whose end its owner has seen,
   * because jobs that want the same lock have no order. Such a job explains the present memory.
   */
  private async wasAskedForBefore(name: string): Promise<boolean> {
    for (;;) {
      const jobs = await this.changesOf(name)
      const found = await this.memoryOf(name)
      const same = JSON.stringify(await this.changesOf(name)) === JSON.stringify(jobs)
      if (same && jobs?.every(({ status }) => FINAL.includes(status))) {
        const done = jobs.filter(({ status }) => status === 'success')
        const latest = done.filter((job) => !done.some((other) => other.start_s > job.end_s))
        if (found !== undefined) return latest.some((job) => job.memory === found)
      }
      await pause(0.1)
    }
  }

  /** Undefined as long as luxid does not answer. */
  private async changesOf(name: string): Promise<Change[] | undefined> {
    const rows = await this.cluster.master
      .queryJobs(null, ['ops', 'status', 'start_ts', 'end_ts'])
      .catch(() => undefined)
    return rows?.flatMap((row) => {
      const [ops, status, start, end] = row ?? []
      const op = (ops as WireOpCode[])[0]
      if (op?.OP_ID !== 'OP_INSTANCE_SET_PARAMS' || op['instance_name'] !== name) return []
      const { maxmem } = op['beparams'] as { maxmem: number }
      return [{ memory: maxmem, status: String(status), start_s: seconds(start), end_s: seconds(end) }]
    })
  }

  async lookAtAll(): Promise<void> {
    for (const name of this.known.keys()) await this.look(name)
  }

  /** Whether the job was seen to succeed. Undefined if it was not acknowledged. */
  private async job(op: WireOpCode): Promise<boolean | undefined> {
    let id: number
    try {
      id = await this.door.submit({ reason: [], ...op })
    } catch (error) {
      this.note(op, `no answer: ${error instanceof Error ? error.message : ''}`)
      this.unanswered++
      await pause(0.1)
      return undefined
    }
    for (;;) {
      const status = await this.door.status(id).catch(() => '')
      if (FINAL.includes(status)) {
        this.note(op, `job ${id} ${status}`)
        return status === 'success'
      }
      await pause(0.05)
    }
  }

  /** For a person who examines a failure. */
  private note({ OP_ID, instance_name, beparams }: WireOpCode, outcome: string): void {
    const name = String(instance_name)
    const text = `${OP_ID.replace('OP_INSTANCE_', '')} ${JSON.stringify(beparams ?? null)} ${outcome}`
    this.history.set(name, [...(this.history.get(name) ?? []), text])
  }
}
