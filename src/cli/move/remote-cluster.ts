// One of the two clusters of a move: questions to it, and jobs for it.
import type { Clock } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { MOVE_PATIENCE_S, MOVE_RETRY_S } from '../../model/limits/move'
import { errorFromWire, type GanetiError } from '../../model/errors'
import { type Rapi, RapiRefusal, RapiSilence, type RapiVerb } from '../../rpc/rapi/client'

/** `[serial number, time, type, message]` of a line of a job's log. */
export type LogLine = readonly [serial: number, time: unknown, type: string, message: unknown]

/** A job that has ended without success. */
export class JobFailure extends Error {
  constructor(
    text: string,
    readonly why: GanetiError | undefined,
  ) {
    super(text)
  }
}

export type Fields = Readonly<Record<string, unknown>>

export class RemoteCluster {
  constructor(
    /** Its name for users: `source cluster NAME`. */
    readonly title: string,
    private readonly rapi: Rapi,
    private readonly clock: Clock,
    private readonly debug: (text: string) => void = () => undefined,
  ) {}

  /** The answer as an object. */
  async request(verb: RapiVerb, resource: string, body?: unknown): Promise<unknown> {
    this.debug(`${this.title}: ${verb} ${resource}`)
    try {
      return await this.rapi.call(verb, resource, body)
    } catch (error) {
      if (error instanceof RapiRefusal && [401, 403].includes(error.status))
        throw new RapiRefusal(
          error.status,
          `${this.title} refuses this user, who needs a name and a password that may write (${error.message})`,
        )
      if (error instanceof RapiRefusal) throw new RapiRefusal(error.status, `${this.title}: ${error.message}`)
      if (error instanceof RapiSilence) throw new RapiSilence(`${this.title}: ${error.message}`)
      throw error
    }
  }

  async fields(resource: string): Promise<Fields> {
    return fieldsOf(await this.request('GET', resource))
  }

  /** Undefined if there is none of this name. */
  instance = (name: string): Promise<Fields | undefined> => this.there(instancePath(name))

  /** Ganeti has no version 3 of the remote API. */
  isGantry = async (): Promise<boolean> => (await this.there('/3/session')) !== undefined

  private async there(resource: string): Promise<Fields | undefined> {
    try {
      return await this.fields(resource)
    } catch (error) {
      if (error instanceof RapiRefusal && error.status === 404) return undefined
      throw error
    }
  }

  /** Submits a job with one opcode and waits for its result. Rejects with a JobFailure if it fails. */
  async run(
    verb: RapiVerb,
    resource: string,
    body?: unknown,
    hear: (line: LogLine) => void = () => undefined,
  ): Promise<unknown> {
    const id = Number(await this.request(verb, resource, body))
    this.debug(`${this.title}: job ${id}`)
    let observed: readonly unknown[] | null = null
    let serial: number | null = null
    for (;;) {
      const change = await this.news(id, observed, serial)
      if (change === undefined) continue
      for (const line of change.log) {
        serial = Math.max(serial ?? 0, line[0])
        hear(line)
      }
      observed = change.info
      const [status, results] = change.info
      const [result] = Array.isArray(results) ? (results as unknown[]) : []
      if (status === 'success') return result
      if (status === 'error') throw this.failure(id, errorFromWire(result))
      if (status === 'canceled') throw new JobFailure(`Job ${id} of ${this.title} was canceled`, undefined)
    }
  }

  private failure(id: number, why: GanetiError): JobFailure {
    return new JobFailure(`Job ${id} of ${this.title} has failed: ${why.message}`, why)
  }

  /** Undefined if there is no news yet. Asks a silent cluster again: its job goes on without us. */
  private async news(
    id: number,
    observed: readonly unknown[] | null,
    serial: number | null,
  ): Promise<{ info: readonly unknown[]; log: LogLine[] } | undefined> {
    const body = { fields: ['status', 'opresult'], previous_job_info: observed, previous_log_serial: serial }
    const until_ms = this.clock.monotonic_ms() + MOVE_PATIENCE_S * 1000
    for (;;)
      try {
        const answer = await this.request('GET', `/2/jobs/${id}/wait`, body)
        if (answer === null) return undefined
        const { job_info, log_entries } = fieldsOf(answer)
        if (!Array.isArray(job_info)) throw new JobFailure(`Job ${id} of ${this.title} is not known there`, undefined)
        return { info: job_info, log: Array.isArray(log_entries) ? log_entries.filter(isLogLine) : [] }
      } catch (error) {
        if (!(error instanceof RapiSilence)) throw error
        if (this.clock.monotonic_ms() > until_ms)
          throw new RapiSilence(`${errorText(error)}; its job ${id} may still go on`)
        this.debug(`${this.title}: ${error.message}; asking again`)
        await this.clock.sleep(MOVE_RETRY_S * 1000)
      }
  }
}

export const instancePath = (name: string): string => `/2/instances/${encodeURIComponent(name)}`

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

const isLogLine = (line: unknown): line is LogLine =>
  Array.isArray(line) && typeof line[0] === 'number' && typeof line[2] === 'string'
