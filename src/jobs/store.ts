// The queue on disk: one file per job, the last job id, the drain flag, and the archive. A job is acknowledged once its file is
// durable here and at every master candidate in sync. All files that are saved while a write is under way go out together.
import type { Disk } from '../lib/disk'
import { isServed } from '../lib/json-socket'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { QUEUE_COMMIT_FILES_MAX } from '../model/limits'
import type { JobId } from '../rpc/luxi/calls'
import { type EndedJob, endedJob } from './ended-jobs'
import { isFinished, type Job } from './job'
import { encodeJob, parseJob } from './job-file'
import { type Holder, holdersIn } from './livelocks'
import type { Replicas } from './replicas'

const JOBS_PER_ARCHIVE_DIRECTORY = 10000
const JOB_FILE = /^job-(\d+)$/

export interface LoadedQueue {
  /** Those that have not ended. */
  jobs: Job[]
  ended: EndedJob[]
  lastId: JobId
  drained: boolean
  /** Job files that cannot be read; they are left as they are. */
  corrupt: string[]
  /** Jobs that were given to a process, by the live-locks that are there; not all of them are alive. */
  holders: Map<JobId, Holder>
}

interface Write {
  content: string
  waiting: { resolve(): void; reject(error: unknown): void }[]
}

export class QueueStore {
  private readonly pending = new Map<string, Write>()
  private committing = false
  private commits: Promise<void> = Promise.resolve()

  constructor(
    private readonly disk: Disk,
    private readonly paths: Paths,
    private readonly log: Log,
    private readonly replicas: Pick<Replicas, 'update' | 'rename' | 'setDrainFlag' | 'retract'>,
  ) {}

  async load(): Promise<LoadedQueue> {
    const { queueDir } = this.paths
    await this.disk.makeDirectory(queueDir)
    const names = await this.disk.list(queueDir)
    const jobs: Job[] = []
    const ended: EndedJob[] = []
    const corrupt: string[] = []
    for (const name of names) {
      if (!JOB_FILE.test(name)) continue
      try {
        const text = await this.disk.read(`${queueDir}/${name}`)
        const job = text && parseJob(text.toString('utf8'))
        if (job && isFinished(job)) ended.push(endedJob(job))
        else if (job) jobs.push(job)
      } catch (error) {
        this.log.error({ file: `${queueDir}/${name}`, err: error }, 'job file cannot be read and is left as it is')
        corrupt.push(name)
      }
    }
    jobs.sort((a, b) => a.id - b.id)
    const serial = Number((await this.disk.read(`${queueDir}/serial`))?.toString('utf8') ?? 0)
    if (!names.includes('version')) await this.disk.write(`${queueDir}/version`, '1\n')
    const ids = names.map((name) => Number(JOB_FILE.exec(name)?.[1] ?? 0))
    const lastId = ids.reduce((a, b) => Math.max(a, b), Number.isInteger(serial) ? serial : 0)
    const holders = holdersIn(this.paths.livelockDir, await this.disk.list(this.paths.livelockDir))
    return { jobs, ended, lastId, drained: names.includes('drain'), corrupt, holders }
  }

  /** Resolves when the job is durable here and at the candidates. */
  save(job: Job): Promise<void> {
    return this.write(jobFile(this.paths, job.id), encodeJob(job))
  }

  /** The job is refused, because it could not be written here; candidates may have it. */
  async retract(id: JobId): Promise<void> {
    await this.disk.remove(jobFile(this.paths, id), { durable: true }).catch(() => undefined)
    this.replicas.retract('it may have jobs that were refused because they could not be written here')
  }

  saveSerial(last: JobId): Promise<void> {
    return this.write(`${this.paths.queueDir}/serial`, serialContent(last))
  }

  /** The job as its file has it now; undefined when there is none, or none that can be read. */
  async read(id: JobId): Promise<Job | undefined> {
    return this.readFile(jobFile(this.paths, id))
  }

  /** The same as text. */
  async text(id: JobId): Promise<string | undefined> {
    return (await this.disk.read(jobFile(this.paths, id)))?.toString('utf8')
  }

  async readArchived(id: JobId): Promise<Job | undefined> {
    return this.readFile(archivedFile(this.paths, id))
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

  /** `moved` is called when the files are in the archive here. */
  async archive(ids: readonly JobId[], moved: () => void): Promise<void> {
    const renames = ids.map((id) => [jobFile(this.paths, id), archivedFile(this.paths, id)] as const)
    for (const directory of new Set(ids.map((id) => archiveDirectory(this.paths, id))))
      await this.disk.makeDirectory(directory)
    for (const [from, to] of renames) await this.disk.rename(from, to)
    moved()
    await this.replicas.rename(renames)
  }

  async setDrained(drained: boolean): Promise<void> {
    const file = `${this.paths.queueDir}/drain`
    if (drained) await this.disk.write(file, '')
    else await this.disk.remove(file, { durable: true })
    await this.replicas.setDrainFlag(drained)
  }

  /** A socket that nobody serves any more proves nothing, but would stay for ever. */
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

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.commits
  }

  private async readFile(file: string): Promise<Job | undefined> {
    const text = await this.disk.read(file)
    return text === undefined ? undefined : this.parse(file, text.toString('utf8'))
  }

  private parse(file: string, text: string): Job | undefined {
    try {
      return parseJob(text)
    } catch (error) {
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
    })
  }

  private async commit(): Promise<void> {
    this.committing = true
    // What else is submitted in this turn of the event loop belongs to the same commit.
    await Promise.resolve()
    while (this.pending.size > 0) {
      const batch = [...this.pending].slice(0, QUEUE_COMMIT_FILES_MAX)
      for (const [file] of batch) this.pending.delete(file)
      const replicated = this.replicas.update(batch.map(([file, { content }]) => [file, content]))
      await Promise.all(batch.map(([file, write]) => this.commitOne(file, write, replicated)))
    }
    this.committing = false
  }

  private async commitOne(file: string, { content, waiting }: Write, replicated: Promise<void>): Promise<void> {
    try {
      await Promise.all([this.disk.write(file, content), replicated])
      for (const { resolve } of waiting) resolve()
    } catch (error) {
      this.log.error({ file, err: error }, 'cannot write to the job queue')
      for (const { reject } of waiting) reject(error)
    }
  }
}

export const jobFile = (paths: Paths, id: JobId): string => `${paths.queueDir}/job-${id}`
export const serialContent = (last: JobId): string => `${last}\n`

const archiveDirectory = (paths: Paths, id: JobId): string =>
  `${paths.archiveDir}/${Math.floor(id / JOBS_PER_ARCHIVE_DIRECTORY)}`
export const archivedFile = (paths: Paths, id: JobId): string => `${archiveDirectory(paths, id)}/job-${id}`
