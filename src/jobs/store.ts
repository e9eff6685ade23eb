// The queue on disk: one file per job, the last job id, the drain flag, and the archive. A job is acknowledged when it
// is durable here and at every master candidate in sync. Everything saved during a write goes out together as the next
// record of a journal. A little later each file is written once.
import * as path from 'node:path'
import type { Clock, Timer } from '../lib/clock'
import { type Disk, isMissing } from '../lib/disk'
import { FileJournal } from '../lib/file/journal'
import { isServed } from '../lib/net/json-socket'
import { eachBounded } from '../lib/work/bounded'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { JOB_FILES_READ_AT_ONCE } from '../model/limits/queries'
import {
  QUEUE_COMMIT_FILES_MAX,
  QUEUE_FOLD_S,
  QUEUE_GATHER_S,
  QUEUE_JOURNAL_BYTES_MAX,
  QUEUE_ROOM_BYTES_MIN,
  QUEUE_SEEN_FILES_MAX,
  QUEUE_UNFOLDED_BYTES_MAX,
} from '../model/limits/queue'
import type { JobId } from '../rpc/luxi/calls'
import { type EndedJob, endedJob } from './ended-jobs'
import { isFinished, isFurther, type Job } from './job'
import { GenericError, JobFileCorrupted } from '../model/errors'
import { encodeJob, parseJob } from './job-file'
import { type Holder, holdersIn } from './livelocks'
import type { Replicas } from './replicas'

const JOBS_PER_ARCHIVE_DIRECTORY = 10000
const JOB_FILE = /^job-(\d+)$/

export interface LoadedQueue {
  /** Unfinished jobs. */
  jobs: Job[]
  ended: EndedJob[]
  lastId: JobId
  drained: boolean
  /** Unreadable job files, which are left as they are. */
  corrupt: string[]
  /** Jobs with a process, by the existing live-locks; some of the processes may be dead. */
  holders: Map<JobId, Holder>
}

interface Write {
  content: string
  waiting: { resolve(): void; reject(error: unknown): void }[]
}

export class QueueStore {
  private readonly pending = new Map<string, Write>()
  private committing = false
  /** Ends the wait for other jobs' writes. */
  private gathered: () => void = () => undefined
  private commits: Promise<void> = Promise.resolve()
  private readonly journal: FileJournal
  /** Durable records that are being written to the files. */
  private folding = new Map<string, string>()
  /** Records that were appended since then. */
  private unfolded = new Map<string, string>()
  private unfoldedBytes = 0
  private foldingNow: Promise<void> | undefined
  private timer: Timer | undefined
  private closed = false

  constructor(
    private readonly disk: Disk,
    private readonly paths: Paths,
    private readonly log: Log,
    private readonly replicas: Pick<Replicas, 'update' | 'fold' | 'rename' | 'setDrainFlag' | 'retract'>,
    private readonly clock: Clock,
    /** How many jobs will soon have something to write. */
    private readonly others: () => number = () => 0,
    private readonly unfoldedBytesMax = QUEUE_UNFOLDED_BYTES_MAX,
  ) {
    const isNews = (file: string, content: string) => this.isNews(file, content)
    const settling = { clock, isOver: () => this.closed }
    this.journal = new FileJournal({ disk, file: paths.queueJournal, isNews, settling })
  }

  async load(): Promise<LoadedQueue> {
    const { queueDir } = this.paths
    await this.disk.makeDirectory(queueDir)
    this.unfolded = await this.journal.contents()
    if (this.unfolded.size > 0) this.foldSoon()
    const newer = [...this.unfolded.keys()].map((file) => path.basename(file))
    const names = [...new Set([...(await this.disk.list(queueDir)), ...newer])]
    const jobs: Job[] = []
    const ended: EndedJob[] = []
    const corrupt: string[] = []
    await eachBounded(
      names.filter((name) => JOB_FILE.test(name)),
      JOB_FILES_READ_AT_ONCE,
      async (name) => {
        try {
          const job = await this.lastOf(`${queueDir}/${name}`)
          if (job && isFinished(job)) ended.push(endedJob(job))
          else if (job) jobs.push(job)
        } catch (error) {
          this.log.error({ file: `${queueDir}/${name}`, err: error }, 'job file cannot be read and is left as it is')
          corrupt.push(name)
        }
      },
    )
    for (const found of [jobs, ended]) found.sort((a, b) => a.id - b.id)
    const serial = Number((await this.textIn(`${queueDir}/serial`)) ?? 0)
    if (!names.includes('version')) await this.disk.write(`${queueDir}/version`, '1\n')
    const ids = names.map((name) => Number(JOB_FILE.exec(name)?.[1] ?? 0))
    const lastId = ids.reduce((a, b) => Math.max(a, b), Number.isInteger(serial) ? serial : 0)
    const holders = holdersIn(this.paths.livelockDir, await this.disk.list(this.paths.livelockDir))
    return { jobs, ended, lastId, drained: names.includes('drain'), corrupt, holders }
  }

  /** Throws, like a write would, if the disk has too little room for more jobs. */
  async checkRoom(): Promise<void> {
    const { queueDir } = this.paths
    if ((await this.disk.room(queueDir)) >= QUEUE_ROOM_BYTES_MIN) return
    throw Object.assign(new Error(`ENOSPC: no space left on device, write '${queueDir}'`), {
      ...{ code: 'ENOSPC', syscall: 'write', path: queueDir },
    })
  }

  /** Resolves when the job is durable here and at the candidates. */
  save(job: Job): Promise<void> {
    return this.write(jobFile(this.paths, job.id), encodeJob(job))
  }

  /**
   * Removes a job that was refused because it could not be written here; candidates may have it. While this rejects, a
   * later luxid would find the job.
   */
  async retract(id: JobId): Promise<void> {
    const file = jobFile(this.paths, id)
    this.replicas.retract('it may have jobs that were refused because they could not be written here')
    await this.journal.alone(() => this.disk.remove(file, { durable: true }))
    for (const known of [this.folding, this.unfolded]) known.delete(file)
  }

  saveSerial(last: JobId): Promise<void> {
    return this.write(`${this.paths.queueDir}/serial`, serialContent(last))
  }

  /** The job as it was last written; undefined if there is none, or it is unreadable. */
  read(id: JobId): Promise<Job | undefined> {
    return this.readable(jobFile(this.paths, id), (file) => this.lastOf(file))
  }

  /** The same as text. */
  text(id: JobId): Promise<string | undefined> {
    return this.textIn(jobFile(this.paths, id))
  }

  readArchived(id: JobId): Promise<Job | undefined> {
    return this.readable(archivedFile(this.paths, id), (file) => this.written(file))
  }

  async isArchived(id: JobId): Promise<boolean> {
    return (await this.disk.read(archivedFile(this.paths, id))) !== undefined
  }

  /** Ids of all archived jobs. */
  async archivedIds(): Promise<JobId[]> {
    const ids: JobId[] = []
    for (const directory of await this.disk.list(this.paths.archiveDir))
      for (const name of await this.disk.list(`${this.paths.archiveDir}/${directory}`)) {
        const id = JOB_FILE.exec(name)?.[1]
        if (id !== undefined) ids.push(Number(id))
      }
    return ids.sort((a, b) => a - b)
  }

  /** `moved` is called when the files are in the local archive. */
  async archive(ids: readonly JobId[], moved: () => void): Promise<void> {
    const renames = ids.map((id) => [jobFile(this.paths, id), archivedFile(this.paths, id)] as const)
    // A file in the archive must not be written here again.
    if (renames.some(([from]) => this.latest(from) !== undefined)) await this.fold()
    for (const directory of new Set(ids.map((id) => archiveDirectory(this.paths, id))))
      await this.disk.makeDirectory(directory)
    for (const [from, to] of renames) await this.moveToArchive(from, to)
    moved()
    await this.replicas.rename(renames)
  }

  /** A file that is gone does not stay in the way of all others: an earlier attempt has moved it, or somebody has removed it. */
  private async moveToArchive(from: string, to: string): Promise<void> {
    try {
      await this.disk.rename(from, to)
    } catch (error) {
      if (!isMissing(error)) throw error
      if ((await this.disk.read(to)) === undefined)
        this.log.error({ file: from }, 'a job leaves the queue without going to the archive: its file is gone')
    }
  }

  async setDrained(drained: boolean): Promise<void> {
    const file = `${this.paths.queueDir}/drain`
    if (drained) await this.disk.write(file, '')
    else await this.disk.remove(file, { durable: true })
    await this.replicas.setDrainFlag(drained)
  }

  /** Removes a socket that nobody serves: it proves nothing, but would stay for ever. */
  async removeLivelock(file: string | undefined): Promise<void> {
    if (file?.startsWith(`${this.paths.livelockDir}/`)) await this.disk.remove(file)
  }

  async removeDeadLivelocks(): Promise<void> {
    const { livelockDir } = this.paths
    for (const name of await this.disk.list(livelockDir)) {
      const file = `${livelockDir}/${name}`
      if (name.startsWith('job_') && !(await isServed(file))) await this.removeLivelock(file)
    }
  }

  /** Writes everything durable to its file, here and at the candidates. */
  async fold(): Promise<void> {
    this.timer?.cancel()
    this.timer = undefined
    const before = new Map([...this.folding, ...this.unfolded])
    this.folding = before
    this.unfolded = new Map()
    const bytes = this.unfoldedBytes
    try {
      await Promise.all([this.journal.fold(), this.replicas.fold()])
    } catch (error) {
      this.foldSoon()
      throw error
    }
    this.unfoldedBytes -= bytes
    for (const [file, content] of before) if (this.folding.get(file) === content) this.folding.delete(file)
  }

  /** Resolves when all writes are done, and the files have everything. */
  async close(): Promise<void> {
    this.closed = true
    await this.commits
    await this.foldingNow
    if (this.unfolded.size + this.folding.size > 0) await this.foldNow()
    this.timer?.cancel()
  }

  private foldSoon(): void {
    this.timer ??= this.clock.after(QUEUE_FOLD_S * 1000, () => void this.foldNow(), { background: true })
  }

  private foldNow(): Promise<void> {
    this.foldingNow ??= this.fold()
      .catch((error: unknown) =>
        this.log.error({ err: error }, 'what is durable cannot be written to the files of the queue yet'),
      )
      .finally(() => (this.foldingNow = undefined))
    return this.foldingNow
  }

  /** While luxid is away the job's process writes its file, so luxid's earlier content is out of date. */
  private async isNews(file: string, content: string): Promise<boolean> {
    if (!JOB_FILE.test(path.basename(file))) return true
    const job = parseJob(content)
    if (isFinished(job)) return true
    const written = await this.readable(file, (one) => this.written(one))
    return written === undefined || !isFurther(written, job)
  }

  private latest(file: string): string | undefined {
    return this.unfolded.get(file) ?? this.folding.get(file)
  }

  private async textIn(file: string): Promise<string | undefined> {
    return this.latest(file) ?? (await this.disk.read(file))?.toString('utf8')
  }

  private async lastOf(file: string): Promise<Job | undefined> {
    const text = this.latest(file)
    const job = text === undefined ? undefined : parseJob(text)
    if (job !== undefined && isFinished(job)) return job
    if (job === undefined) return this.written(file)
    const written = await this.readable(file, (one) => this.written(one))
    if (written === undefined || !isFurther(written, job)) return job
    // Otherwise the files would get an outdated content.
    this.unfolded.set(file, encodeJob(written))
    return written
  }

  private async written(file: string): Promise<Job | undefined> {
    const text = await this.disk.read(file)
    return text && parseJob(text.toString('utf8'))
  }

  private async readable(file: string, read: (file: string) => Promise<Job | undefined>): Promise<Job | undefined> {
    try {
      return await read(file)
    } catch (error) {
      if (!(error instanceof JobFileCorrupted)) throw error
      this.log.error({ file, err: error }, 'job file cannot be read')
      return undefined
    }
  }

  private write(file: string, content: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const write = this.pending.get(file) ?? { content, waiting: [] }
      write.content = content
      write.waiting.push({ resolve, reject })
      this.pending.set(file, write)
      if (!this.committing) this.commits = this.commit()
      else if (this.others() === 0) this.gathered()
    })
  }

  private async commit(): Promise<void> {
    this.committing = true
    // Jobs submitted in the same turn of the event loop share a commit.
    await Promise.resolve()
    while (this.pending.size > 0) {
      if (this.others() > 0) await this.gather()
      const batch = [...this.pending].slice(0, QUEUE_COMMIT_FILES_MAX)
      for (const [file] of batch) this.pending.delete(file)
      await this.commitAll(batch)
    }
    this.committing = false
  }

  /** A commit costs as much as half a job, here and at each candidate, so it waits a moment for other jobs' writes. */
  private gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.clock.after(QUEUE_GATHER_S * 1000, resolve)
      this.gathered = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  private async commitAll(batch: readonly (readonly [file: string, Write])[]): Promise<void> {
    const contents = batch.map(([file, { content }]) => [file, content] as const)
    const waiting = batch.flatMap(([, write]) => write.waiting)
    try {
      await Promise.all([this.append(contents), this.replicas.update(contents)])
      for (const { resolve } of waiting) resolve()
    } catch (error) {
      this.log.error({ files: batch.length, err: error }, 'cannot write to the job queue')
      for (const { reject } of waiting) reject(error)
    }
  }

  private async append(contents: readonly (readonly [file: string, content: string])[]): Promise<void> {
    if (this.unfoldedBytes > this.unfoldedBytesMax)
      throw new GenericError('the files of the job queue cannot be written; the log of luxid says why')
    await this.journal.append(contents)
    for (const [file, content] of contents) {
      this.unfolded.set(file, content)
      this.unfoldedBytes += content.length
    }
    if (this.unfolded.size <= QUEUE_SEEN_FILES_MAX && this.foldingNow === undefined) await this.show(contents)
    if (this.unfoldedBytes > QUEUE_JOURNAL_BYTES_MAX) void this.foldNow()
    else this.foldSoon()
  }

  /**
   * For programs that read the files. It is cheap while there is little to write, and the next fold repairs a failure.
   */
  private async show(contents: readonly (readonly [file: string, content: string])[]): Promise<void> {
    const writes = contents.map(([file, content]) => this.disk.write(file, content, { durable: false }))
    await Promise.allSettled(writes)
  }
}

export const jobFile = (paths: Paths, id: JobId): string => `${paths.queueDir}/job-${id}`
export const serialContent = (last: JobId): string => `${last}\n`

const archiveDirectory = (paths: Paths, id: JobId): string =>
  `${paths.archiveDir}/${Math.floor(id / JOBS_PER_ARCHIVE_DIRECTORY)}`
export const archivedFile = (paths: Paths, id: JobId): string => `${archiveDirectory(paths, id)}/job-${id}`
