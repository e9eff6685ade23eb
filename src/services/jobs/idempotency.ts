// Maps Idempotency-Keys to jobs. A key is noted in its job, so it becomes durable together with the job. This index is
// rebuilt from the jobs, also archived ones, when it is first needed after a start.
import { createHash, createHmac } from 'node:crypto'
import { type Job, isFinished } from '../../jobs/job'
import { type EndedJob, endedJob, keysOf } from '../../jobs/ended-jobs'
import { ECODE, OpPrereqError, REFUSED } from '../../model/errors'
import { IDEMPOTENCY_KEYS_PER_USER_MAX, IDEMPOTENCY_S } from '../../model/limits/rapi-v3'
import type { JobId } from '../../rpc/luxi/calls'
import type { MasterContext } from '../master-context'

interface Entry {
  readonly job: JobId
  readonly digest: string
  readonly at_s: number
}

export class IdempotencyKeys {
  /** The entries of each user, by a digest of the user's name, oldest first. */
  private readonly known = new Map<string, Map<string, Entry>>()
  private readonly inFlight = new Set<string>()
  private loading: Promise<void> | undefined

  constructor(private readonly context: Pick<MasterContext, 'queue' | 'clock' | 'disk' | 'paths'>) {}

  /**
   * Returns the job of an earlier submission with this key, or the one that `submit` makes; `submit` gets the text to
   * note in the job. `body` is a digest of the submission. Refuses a key that stands for another body, and one whose
   * submission is in progress.
   */
  async once(
    user: string,
    key: string,
    body: string,
    submit: (note: string) => Promise<JobId>,
  ): Promise<{ job: JobId; replayed: boolean }> {
    const id = sha256(`${user}\0${key}`)
    const owner = sha256(user)
    if (this.inFlight.has(id))
      throw new OpPrereqError('A request with this Idempotency-Key is under way', REFUSED.inFlight)
    this.inFlight.add(id)
    try {
      await (this.loading ??= this.load())
      const digest = await this.keyed(body)
      const entry = this.find(owner, id)
      if (entry?.digest === digest) return { job: entry.job, replayed: true }
      if (entry !== undefined)
        throw new OpPrereqError('The Idempotency-Key was used for a request with another body', REFUSED.otherBody)
      const job = await submit(`${id} ${digest} ${owner}`)
      this.remember(owner, id, { job, digest, at_s: this.now_s() })
      return { job, replayed: false }
    } finally {
      this.inFlight.delete(id)
    }
  }

  /**
   * A body may contain secrets that could be guessed from a plain digest, and job files are copied to other nodes, so
   * the digest is keyed. After a change of the cluster domain secret, earlier keys are refused as if their body
   * differed; nothing is done twice.
   */
  private async keyed(body: string): Promise<string> {
    const { disk, paths } = this.context
    const secret = await disk.read(paths.domainSecret)
    if (secret === undefined)
      throw new OpPrereqError(
        `An Idempotency-Key needs ${paths.domainSecret}, which is missing: gnt-cluster renew-crypto` +
          ' --new-cluster-domain-secret makes it',
        ECODE.ENVIRON,
      )
    return createHmac('sha256', secret).update(`Idempotency-Key\0${body}`).digest('hex')
  }

  private find(owner: string, id: string): Entry | undefined {
    const entry = this.known.get(owner)?.get(id)
    return entry !== undefined && entry.at_s > this.now_s() - IDEMPOTENCY_S ? entry : undefined
  }

  private remember(owner: string, id: string, entry: Entry): void {
    const mine = this.known.get(owner) ?? new Map<string, Entry>()
    this.known.set(owner, mine)
    mine.delete(id)
    mine.set(id, entry)
    const [oldest] = mine.keys()
    if (mine.size > IDEMPOTENCY_KEYS_PER_USER_MAX && oldest !== undefined) mine.delete(oldest)
  }

  /** Jobs of the last day, oldest first. After a failure the next key tries again. */
  private async load(): Promise<void> {
    try {
      const limit_s = this.now_s() - IDEMPOTENCY_S
      const recent: EndedJob[] = []
      for await (const job of this.context.queue.archived.newestFirst()) {
        if (receivedAt(job) < limit_s && isFinished(job)) break
        if (keysOf(job).length > 0) recent.push(endedJob(job))
      }
      for (const job of [...recent.reverse(), ...this.context.queue.all()]) this.note(job, limit_s)
    } catch (error) {
      this.loading = undefined
      throw error
    }
  }

  private note(job: Job | EndedJob, limit_s: number): void {
    const at_s = receivedAt(job)
    if (at_s < limit_s) return
    for (const note of keysOf(job)) {
      const [id, digest, owner] = note.split(' ')
      if (id === undefined || digest === undefined || owner === undefined) continue
      if (this.known.get(owner)?.has(id) !== true) this.remember(owner, id, { job: job.id, digest, at_s })
    }
  }

  private now_s(): number {
    return this.context.clock.now_ms() / 1000
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const receivedAt = (job: Job | EndedJob): number => job.received_timestamp?.[0] ?? 0
