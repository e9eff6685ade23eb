// Writes one job's file while the job runs: in order, the latest content only, here and at the candidates.
import type { Clock, Timer } from '../lib/clock'
import type { Disk } from '../lib/disk'
import { JOB_LOG_WRITE_S } from '../model/limits'
import type { NodeClient, NodeTarget } from '../rpc/node/client'
import type { Job } from './job'
import { encodeJob } from './job-file'
import { withinTime } from './replicas'

export interface JobWriterOptions {
  file: string
  /** Says which candidates are in sync: not true any more when one fails and luxid is not there to hear of it. */
  replicasFile: string
  disk: Disk
  clock: Clock
  nodes: NodeClient
  replicas: readonly NodeTarget[]
  onLagging(node: string, reason: string): void
}

export class JobWriter {
  private replicas: readonly NodeTarget[]
  private writing: Promise<void> = Promise.resolve()
  private timer: Timer | undefined
  private latest: Job | undefined

  constructor(private readonly options: JobWriterOptions) {
    this.replicas = options.replicas
  }

  /** Resolves when the job is durable here and at the candidates in sync. */
  save(job: Job): Promise<void> {
    this.timer?.cancel()
    this.timer = undefined
    this.latest = job
    const done = this.writing.then(async () => {
      const text = encodeJob(job)
      await Promise.all([this.options.disk.write(this.options.file, text), this.replicate(text, this.replicas)])
    })
    this.writing = done.catch(() => undefined)
    return done
  }

  /** Only this machine's file, not synced: log entries that a crash of the machine may lose. */
  saveSoon(job: Job): void {
    this.latest = job
    this.timer ??= this.options.clock.after(
      JOB_LOG_WRITE_S * 1000,
      () => {
        this.timer = undefined
        this.writing = this.writing.then(async () => {
          if (this.latest === undefined) return
          await this.options.disk
            .write(this.options.file, encodeJob(this.latest), { durable: false })
            .catch(() => undefined)
        })
      },
      { background: true },
    )
  }

  /** Candidates that came into sync get the file as it is now. */
  setReplicas(replicas: readonly NodeTarget[]): void {
    const added = replicas.filter((target) => !this.replicas.some((old) => old.uuid === target.uuid))
    this.replicas = replicas
    this.writing = this.writing.then(async () => {
      if (this.latest !== undefined) await this.replicate(encodeJob(this.latest), added)
    })
  }

  async close(): Promise<void> {
    this.timer?.cancel()
    await this.writing
  }

  private async replicate(text: string, targets: readonly NodeTarget[]): Promise<void> {
    const { nodes, clock, file } = this.options
    await Promise.all(
      targets.map(async (target) => {
        try {
          await withinTime(clock, nodes.one(target, 'jobqueue_update', [file, text]))
        } catch (error) {
          this.replicas = this.replicas.filter((replica) => replica.uuid !== target.uuid)
          await this.options.disk.remove(this.options.replicasFile).catch(() => undefined)
          this.options.onLagging(target.uuid, error instanceof Error ? error.message : String(error))
        }
      }),
    )
  }
}
