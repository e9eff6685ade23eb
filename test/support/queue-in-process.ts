// A luxid's queue over a temporary directory, with real job processes that run test/support/tiny-job.ts.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemProcesses } from '../../src/lib/programs/processes'
import { forkedJobs } from '../../src/jobs/pool'
import type { OwnerDied } from '../../src/jobs/execution'
import { type Job, isFinished, isFurther } from '../../src/jobs/job'
import { parseJob } from '../../src/jobs/job-file'
import { JobPool } from '../../src/jobs/pool'
import { JobQueue, type Submission } from '../../src/jobs/queue'
import { noReplicas } from '../../src/jobs/replicas'
import { QueueStore } from '../../src/jobs/store'
import { systemClock } from '../../src/lib/clock'
import { type Disk, systemDisk } from '../../src/lib/disk'
import { journalContents } from '../../src/lib/file/journal'
import { silentLog } from '../../src/lib/log'
import { type Paths, pathsOf } from '../../src/lib/paths'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { killHard } from './faults'

export const tinyJob = path.join(__dirname, 'tiny-job.ts')
export const runTypescript = ['--require', path.join(__dirname, 'run-typescript.js')]

export function temporaryPaths(): Paths {
  const root = mkdtempSync(path.join(os.tmpdir(), 'gq'))
  return pathsOf(`${root}/n1`, 'n1')
}

/** Job processes outlive their luxid, and could still write. */
export async function removeRoot(paths: Paths): Promise<void> {
  const ofThis = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(paths.root))
  await Promise.all(ofThis.map((pid) => killHard(Number(pid))))
  rmSync(path.dirname(paths.root), { recursive: true, force: true })
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

export interface TestQueue {
  queue: JobQueue
  store: QueueStore
  close(): Promise<void>
}

export async function openTestQueue(
  paths: Paths,
  options: { maxRunning?: number; ownerDied?: OwnerDied; disk?: Disk; warm?: number } = {},
): Promise<TestQueue> {
  const { maxRunning = 4, disk = systemDisk, warm = 1 } = options
  await disk.makeDirectory(paths.livelockDir)
  const store = new QueueStore(disk, paths, silentLog, noReplicas, systemClock)
  const runner = new JobPool({
    entry: tinyJob,
    processes: forkedJobs(systemProcesses),
    paths,
    clock: systemClock,
    log: silentLog,
    execArgv: runTypescript,
    warm,
  })
  const queue = new JobQueue({
    store,
    runner,
    ownerDied: options.ownerDied ?? (async () => []),
    clock: systemClock,
    log: silentLog,
  })
  await queue.recover()
  queue.configure(maxRunning, [])
  return {
    queue,
    store,
    async close() {
      await queue.close()
      await store.close()
    },
  }
}

export const delay = (duration: number, more: Record<string, unknown> = {}): WireOpCode => ({
  OP_ID: 'OP_TEST_DELAY',
  duration,
  on_master: true,
  on_nodes: [],
  repeat: 0,
  interruptible: false,
  no_locks: true,
  priority: 0,
  depends: null,
  comment: null,
  reason: [],
  ...more,
})

export function idOf(submission: Submission | undefined): number {
  if (submission === undefined || 'error' in submission) throw new Error(submission?.error ?? 'nothing submitted')
  return submission.id
}

export async function submitOne(queue: JobQueue, ...ops: WireOpCode[]): Promise<number> {
  return idOf((await queue.submit([ops]))[0])
}

export function until(queue: JobQueue, id: number, holds: (job: Job) => boolean, timeout_s = 20): Promise<Job> {
  return new Promise((resolve, reject) => {
    const look = (job: Job | undefined) => {
      if (job === undefined || !holds(job)) return false
      stop()
      timer.cancel()
      resolve(job)
      return true
    }
    const stop = queue.subscribe(id, look)
    const timer = systemClock.after(timeout_s * 1000, () => {
      stop()
      reject(new Error(`job ${id} did not come so far: ${JSON.stringify(queue.job(id))}`))
    })
    look(queue.job(id))
  })
}

export const ended = (queue: JobQueue, id: number): Promise<Job> => until(queue, id, isFinished)

/** The opcodes that were really executed, as `job.opcode`, in order. */
export function executed(paths: Paths): string[] {
  try {
    return readFileSync(`${paths.root}/ran`, 'utf8').trim().split('\n')
  } catch {
    return []
  }
}

export const livelocks = (paths: Paths): string[] => readdirSync(paths.livelockDir)

type QueuePaths = Pick<Paths, 'queueDir' | 'queueJournal'>

/** The newest text of a file of the queue, wherever it is stored. */
export function queueText(paths: QueuePaths, name: string): string | undefined {
  // The order matters, because the content of a journal moves on to the next place meanwhile.
  const newest = journalContents(textOf(paths.queueJournal)).get(name)
  const newer = newest ?? journalContents(textOf(`${paths.queueJournal}.old`)).get(name)
  const file = `${paths.queueDir}/${name}`
  const written = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  return newer !== undefined && written !== undefined && isJobName(name) && isWrittenFurther(written, newer)
    ? written
    : (newer ?? written)
}

/**
 * The content of a journal, or an empty text if it is missing. Checking first whether it exists would be useless, because writers rename
 * and remove journals.
 */
function textOf(journal: string): string {
  try {
    return readFileSync(journal, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

const isJobName = (name: string) => name.startsWith('job-')
const isWrittenFurther = (written: string, newer: string) => isFurther(parseJob(written), parseJob(newer))

export function lastWritten(paths: QueuePaths, id: number): Job {
  return parseJob(queueText(paths, `job-${id}`) ?? '')
}

/** Ids of all jobs that were written. */
export function writtenJobs(paths: QueuePaths): number[] {
  const journals = [paths.queueJournal, `${paths.queueJournal}.old`]
  const newer = journals.flatMap((file) => [...journalContents(textOf(file)).keys()])
  return [...new Set([...readdirSync(paths.queueDir), ...newer])]
    .flatMap((name) => /^job-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
}
