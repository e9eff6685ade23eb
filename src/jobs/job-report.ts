// Makes a running job's progress durable and known. luxid writes it, here and at the candidates, for many jobs at once,
// and then confirms. While luxid is away, this process writes the file itself, and nobody is told. There is one writer
// at a time: each transition is written before the next one is sent, and the writer of transitions also writes log
// lines.
import type { Clock, Timer } from '../lib/clock'
import type { Disk } from '../lib/disk'
import { Mutex } from '../lib/work/mutex'
import { JOB_LOG_WRITE_S } from '../model/limits/queue'
import type { Job } from './job'
import { encodeJob } from './job-file'
import type { Progress } from './runner'

export interface JobReportOptions {
  file: string
  disk: Disk
  clock: Clock
}

export class JobReport {
  private luxid: Link | undefined
  private readonly turns = new Mutex()
  private timer: Timer | undefined
  private latest: Job | undefined

  constructor(private readonly options: JobReportOptions) {}

  /** From now on luxid writes the job's progress. */
  begin(job: Job, luxid: Link): void {
    this.latest = job
    this.luxid = luxid
  }

  /** A new luxid is there. It gets the job's state, and writes everything after that. */
  follow(luxid: Link): void {
    void this.turns.runExclusive(async () => {
      if (this.latest === undefined || (await luxid.ask({ kind: 'job', job: this.latest })) === 'lost') return
      this.luxid = luxid
    })
  }

  /** Resolves when the transition is durable here and at the candidates in sync. */
  save(job: Job, progress: Progress): Promise<void> {
    this.timer?.cancel()
    this.timer = undefined
    this.latest = job
    return this.turns.runExclusive(async () => {
      const answer = (await this.luxid?.ask(progress)) ?? 'lost'
      if (answer === 'saved') return
      if (answer !== 'lost') throw new Error(answer.error)
      const { disk, file } = this.options
      this.luxid = undefined
      await disk.write(file, encodeJob(job))
    })
  }

  /** A log entry is published at once and written soon. If the machine crashes, it may be lost. */
  log(job: Job, progress: Progress): void {
    const { clock, disk, file } = this.options
    this.latest = job
    this.luxid?.tell(progress)
    const write = async () => {
      if (this.latest !== undefined && this.luxid?.isLost !== false)
        await disk.write(file, encodeJob(this.latest)).catch(() => undefined)
    }
    const writeNow = () => {
      this.timer = undefined
      void this.turns.runExclusive(write)
    }
    this.timer ??= clock.after(JOB_LOG_WRITE_S * 1000, writeNow, { background: true })
  }

  async close(): Promise<void> {
    this.timer?.cancel()
    await this.turns.idle()
  }
}

type Answer = 'saved' | 'lost' | { readonly error: string }

/** A connection to luxid, which answers in the order of the requests. */
export class Link {
  private readonly asked: ((answer: Answer) => void)[] = []
  private over = false

  constructor(readonly tell: (message: Progress) => void) {}

  get isLost(): boolean {
    return this.over
  }

  ask(progress: Progress): Promise<Answer> {
    if (this.over) return Promise.resolve('lost')
    return new Promise((resolve) => {
      this.asked.push(resolve)
      this.tell(progress)
    })
  }

  /** luxid has answered the oldest unanswered request: written, or an error. */
  written(error: string | null): void {
    this.asked.shift()?.(error === null ? 'saved' : { error })
  }

  lost(): void {
    this.over = true
    for (const answer of this.asked.splice(0)) answer('lost')
  }
}
