// The copy of the configuration on one master candidate. In sync, it gets each journal record before the change is
// acknowledged. A candidate that fails or is too slow is out of sync: changes do not wait for it, and a full copy with
// all later records brings it back.
import { errorText } from '../lib/system-failure'
import { within, type Clock, type Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import {
  CANDIDATE_CALL_S,
  CONFIG_BACKLOG_BYTES_MAX,
  CONFIG_CATCH_UP_S,
  CONFIG_COPY_S,
  REPLICATION_S,
} from '../model/limits/replication'
import { GROUP, MODE, USER } from '../model/constants/daemons'
import type { Documents } from '../model/config'
import { isUnknownCall, type NodeClient, type NodeTarget } from '../rpc/node/client'
import type { ReplicaStatus } from '../rpc/wconfd/calls'
import { newerOn } from './config-status'

export interface CopyOptions {
  nodes: NodeClient
  clock: Clock
  log: Log
  paths: Pick<Paths, 'configFile'>
  /** Both documents, with every record that was handed to `append` before. */
  texts(): { config: string; gantry: string }
  documents(): Documents
  /** Tells people about the copy of a node. */
  note(node: string, text: string): void
}

/** A person must say which copy counts. */
class HasMore extends Error {}

export class CandidateCopy {
  private state: ReplicaStatus['state'] = 'out of sync'
  private reason: string | null = 'it has not been reached yet'
  private hasMore = false
  /** Changes during a full copy. */
  private backlog: Buffer[] | undefined
  private backlogBytes = 0
  private running: Promise<void> | undefined
  private timer: Timer | undefined
  private closed = false

  constructor(
    public target: NodeTarget,
    private readonly options: CopyOptions,
  ) {}

  status(): ReplicaStatus {
    const { state, reason, target, hasMore } = this
    return { node: target.uuid, name: target.name, state, reason, ...(hasMore && { has_more: true }) }
  }

  /** Resolves when the candidate has the record, or is out of sync. */
  async append(record: Buffer): Promise<void> {
    if (this.backlog) {
      this.backlog.push(record)
      this.backlogBytes += record.length
      if (this.state === 'in sync') await this.copied()
    } else if (this.state === 'in sync') {
      await this.send(record, REPLICATION_S).catch((error: unknown) => this.lost(error))
    }
  }

  /** A candidate that gets a new copy while it is in sync stays so: changes wait for the copy. */
  private async copied(): Promise<void> {
    const { clock } = this.options
    const done = this.running?.then(() => true) ?? true
    if ((await within(clock, CANDIDATE_CALL_S, Promise.resolve(done))) === undefined)
      this.lost(new Error(`no full copy within ${CANDIDATE_CALL_S} s`))
  }

  /** config.data was rewritten, which is all that Ganeti's noded takes. */
  async checkpoint(config: Buffer): Promise<void> {
    if (this.state === 'checkpoints')
      await this.upload(config.toString('utf8')).catch((error: unknown) => this.lost(error))
  }

  /** Sends a full copy and then the later records. Resolves when that has succeeded or failed. */
  catchUp(): Promise<void> {
    this.timer?.cancel()
    this.running ??= this.copyAll()
      .catch((error: unknown) => this.lost(error))
      .finally(() => {
        this.running = undefined
        this.backlog = undefined
      })
    return this.running
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
  }

  private async copyAll(): Promise<void> {
    const { nodes, texts, documents, log, clock } = this.options
    if (this.state === 'out of sync') {
      const newer = await newerOn(this.target, documents(), this.options, CONFIG_COPY_S)
      if (newer !== undefined) throw new HasMore(`it has ${newer}, and is not overwritten with less`)
    }
    this.backlog = []
    this.backlogBytes = 0
    const { config, gantry } = texts()
    try {
      const sent = nodes.one(this.target, 'gantry_config_replace', [config, gantry])
      const kept = await within(clock, CONFIG_COPY_S, sent)
      if (kept === undefined) throw new Error(`no full copy within ${CONFIG_COPY_S} s`)
      if (kept !== null && kept.length > 0)
        this.options.note(this.target.name, `the master lacks what this copy had; it is kept as ${kept.join(' and ')}`)
    } catch (error) {
      if (!isUnknownCall(error)) throw error
      await this.upload(config)
      return this.become('checkpoints')
    }
    while (this.backlog.length > 0) {
      if (this.backlogBytes > CONFIG_BACKLOG_BYTES_MAX) throw new Error('too much was changed while it was copied')
      const records = Buffer.concat(this.backlog.splice(0))
      this.backlogBytes = 0
      await this.send(records, CANDIDATE_CALL_S)
    }
    // No change can slip in here, because nothing was awaited since the backlog was found empty.
    this.backlog = undefined
    this.become('in sync')
    log.info({ node: this.target.name }, 'master candidate has the whole configuration')
  }

  private become(state: 'in sync' | 'checkpoints'): void {
    this.timer?.cancel()
    this.state = state
    this.reason = null
    this.hasMore = false
  }

  private async send(records: Buffer, limit_s: number): Promise<void> {
    const { nodes, clock } = this.options
    const sent = nodes.one(this.target, 'gantry_config_append', [records.toString('utf8')])
    if ((await within(clock, limit_s, sent)) === undefined) throw new Error(`no answer within ${limit_s} s`)
  }

  private async upload(content: string): Promise<void> {
    const { nodes, paths } = this.options
    const file = { path: paths.configFile, content, mode: MODE.config, owner: USER.masterd, group: GROUP.confd }
    await nodes.one(this.target, 'upload_file', [{ ...file, atime: null, mtime: null }])
  }

  private lost(error: unknown): void {
    const { clock, log } = this.options
    const reason = errorText(error)
    const hasMore = error instanceof HasMore
    // The text names the master's own number, which changes all the time.
    const isKnown = this.state === 'out of sync' && (hasMore ? this.hasMore : this.reason === reason)
    if (!isKnown) {
      log.error(
        { node: this.target.name, reason },
        'master candidate is out of sync: it does not take the configuration; it gets a full copy as soon as it answers',
      )
      if (hasMore) this.options.note(this.target.name, reason)
    }
    this.state = 'out of sync'
    this.reason = reason
    this.hasMore = hasMore
    if (this.closed) return
    this.timer?.cancel()
    this.timer = clock.after(CONFIG_CATCH_UP_S * 1000, () => void this.catchUp(), { background: true })
  }
}
