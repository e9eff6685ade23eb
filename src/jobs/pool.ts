// The pool of job processes. A running job has exactly one process, which can be killed alone. A few idle processes are
// kept warm. A process that ended its job cleanly takes the next one; it is replaced after some jobs, or after any
// failure.
import { errorText } from '../lib/system-failure'
import { hearAll, type Clock, type Timer } from '../lib/clock'
import { connectFramed, type FramedConnection, isServed } from '../lib/net/json-socket'
import type { Log } from '../lib/log'
import { nodeFlags } from '../lib/programs/node-flags'
import type { Paths } from '../lib/paths'
import type { Processes } from '../lib/programs/processes'
import { FRUGAL } from '../model/limits/daemons'
import {
  JOBS_PER_PROCESS_MAX,
  JOB_CONNECT_S,
  JOB_PROCESSES_STARTING_MAX,
  JOB_PROCESSES_WARM,
  JOB_PROCESS_DRAIN_S,
  JOB_PROCESS_IDLE_S,
  JOB_PROCESS_PATIENCE_S,
  JOB_PROCESS_START_S,
  JOB_PROGRESS_BYTES_MAX,
} from '../model/limits/job-processes'
import type { JobId } from '../rpc/luxi/calls'
import type { Job } from './job'
import { livelockName } from './livelocks'
import { type FromProcess, type ToJob, type ToProcess, readMessage } from './messages'
import type { JobListener, JobOrder, JobRunner, PreparedJob, Progress, RunningJob } from './runner'

export interface JobProgram {
  /** The program of a job process. Its arguments are the virtual root and the host name. */
  entry: string
  execArgv?: string[]
  processes: JobProcesses
}

export interface PoolOptions extends JobProgram {
  paths: Paths
  clock: Clock
  log: Log
  warm?: number
}

/** Where job processes come from. */
export interface JobProcesses {
  start(options: PoolOptions): JobChild
  kill(pid: number): void
}

/** What the pool uses of a child process. */
export interface JobChild {
  readonly pid?: number
  readonly connected: boolean
  readonly exitCode: number | null
  readonly signalCode: string | null
  on(event: 'message', listener: (message: FromProcess | Progress) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'close', listener: (code: number | null, signal: string | null) => void): unknown
  send(message: ToProcess | ToJob, sent: () => void): unknown
  kill(signal: 'SIGKILL'): unknown
  disconnect(): void
  unref(): void
}

export const forkedJobs = (processes: Processes): JobProcesses => ({
  start: ({ entry, paths, execArgv }) =>
    processes.fork(entry, [paths.root, paths.hostname], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: execArgv ?? nodeFlags(FRUGAL.job),
    }),
  kill: (pid) => void processes.signal(pid, 'SIGKILL'),
})

interface Waiting {
  readonly since_ms: number
  resolve(worker: Worker): void
  reject(error: Error): void
}

export class JobPool implements JobRunner {
  private readonly idle: Worker[] = []
  private readonly workers = new Set<Worker>()
  private readonly waiting: Waiting[] = []
  private starting = 0
  private growing: Timer | undefined
  /** Jobs that ended since the pool last considered growing. */
  private ended = 0
  private trim: Timer | undefined
  private closed = false

  constructor(private readonly options: PoolOptions) {}

  private get warm(): number {
    return this.options.warm ?? JOB_PROCESSES_WARM
  }

  /** Starts a process for the first job. More are kept warm once they were needed. */
  warmUp(): void {
    if (this.warm > 0) this.spawn()
  }

  async prepare(id: JobId): Promise<PreparedJob> {
    const worker = await this.take()
    return {
      livelock: this.livelockPath(id, worker.pid),
      pid: worker.pid,
      abandon: () => worker.kill(),
      begin: (order, listener) => this.begin(worker, order, listener),
    }
  }

  async adopt(job: Job, listener: JobListener): Promise<RunningJob | undefined> {
    const { livelock, process_id } = job
    if (livelock === undefined || process_id === undefined || !(await isServed(livelock))) return undefined
    try {
      const { processes } = this.options
      // It is no child of ours, so another process may have its number after its end. While it lives, it serves its live-lock.
      const kill = async () => ((await isServed(livelock)) ? processes.kill(process_id) : undefined)
      return await follow(livelock, listener, () => void kill())
    } catch {
      // It ended between the two checks.
      return undefined
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.trim?.cancel()
    this.growing?.cancel()
    for (const { reject } of this.waiting.splice(0)) reject(new Error('luxid is stopping'))
    for (const worker of this.workers) worker.letGo()
  }

  private async begin(worker: Worker, order: JobOrder, listener: JobListener): Promise<RunningJob> {
    const [begun, idle] = [worker.next('begun'), worker.next('idle')]
    idle.catch(() => undefined)
    const running = worker.run(order, listener)
    // A process that hangs has not begun, so another one can have the job.
    let hangs = true
    const kill = () => void hearAll().then(() => (hangs ? worker.kill() : undefined))
    const late = this.options.clock.after(JOB_PROCESS_START_S * 1000, kill, { background: true })
    await begun.finally(() => {
      hangs = false
      late.cancel()
    })
    const ended = idle.then(
      () => this.reuse(worker),
      () => this.workers.delete(worker),
    )
    // The job's place is free when its process can take the next one.
    void ended.then(() => listener.gone())
    return running
  }

  /**
   * Starting a process costs as much as many short jobs, and waiting for a free one is usually faster. So another
   * process is started only for a job that has waited a while, and only if the existing processes cannot soon take all
   * waiting jobs.
   */
  private take(): Promise<Worker> {
    if (this.closed) return Promise.reject(new Error('luxid is stopping'))
    const worker = this.idle.pop()
    if (worker) return Promise.resolve(worker)
    return new Promise((resolve, reject) => {
      this.waiting.push({ since_ms: this.options.clock.monotonic_ms(), resolve, reject })
      this.growSoon()
    })
  }

  private growSoon(): void {
    if (this.waiting.length === 0 || this.growing !== undefined || this.starting >= JOB_PROCESSES_STARTING_MAX) return
    const patience_ms = this.workers.size === 0 ? 0 : JOB_PROCESS_PATIENCE_S * 1000
    this.ended = 0
    const look = () => {
      this.growing = undefined
      if (!this.closed && this.isShort(patience_ms)) this.spawn()
      this.growSoon()
    }
    this.growing = this.options.clock.after(patience_ms, look, { background: true })
  }

  private isShort(patience_ms: number): boolean {
    const [oldest] = this.waiting
    if (oldest === undefined || this.options.clock.monotonic_ms() - oldest.since_ms < patience_ms) return false
    return this.ended * (JOB_PROCESS_DRAIN_S / JOB_PROCESS_PATIENCE_S) < this.waiting.length
  }

  private offer(worker: Worker): void {
    const next = this.waiting.shift()
    if (next) return next.resolve(worker)
    this.idle.push(worker)
    this.trim ??= this.options.clock.after(JOB_PROCESS_IDLE_S * 1000, () => this.dropIdle(), { background: true })
  }

  private reuse(worker: Worker): void {
    this.ended++
    if (!this.closed && ++worker.jobs < JOBS_PER_PROCESS_MAX) return this.offer(worker)
    this.workers.delete(worker)
    worker.letGo()
  }

  private dropIdle(): void {
    this.trim = undefined
    for (const worker of this.idle.splice(0, Math.max(0, this.idle.length - this.warm))) {
      this.workers.delete(worker)
      worker.letGo()
    }
  }

  private spawn(): void {
    this.starting++
    const worker = new Worker(this.options, () => {
      this.workers.delete(worker)
      const at = this.idle.indexOf(worker)
      if (at >= 0) this.idle.splice(at, 1)
    })
    this.workers.add(worker)
    worker.ready
      .then(
        () => (this.closed ? worker.letGo() : this.offer(worker)),
        (error: unknown) => this.waiting.shift()?.reject(error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => {
        this.starting--
        this.growSoon()
      })
  }

  private livelockPath(id: JobId, pid: number): string {
    const seconds = Math.floor(this.options.clock.now_ms() / 1000)
    return `${this.options.paths.livelockDir}/${livelockName(id, seconds, pid)}`
  }
}

/** One process, and what we expect from it. */
class Worker {
  jobs = 0
  readonly ready: Promise<void>
  private readonly child: JobChild
  private hear: (message: Progress) => void = () => undefined
  private readonly expected = new Map<FromProcess['say'], { resolve(): void; reject(error: Error): void }>()

  constructor(options: PoolOptions, onGone: () => void) {
    this.child = options.processes.start(options)
    this.child.on('message', (message) => ('kind' in message ? this.hear(message) : this.check(message)))
    const gone = (why: string) => {
      this.fail(why)
      onGone()
    }
    this.child.on('error', (error) => gone(`job process cannot be started: ${errorText(error)}`))
    // `close` comes after `exit`, when all earlier messages have arrived.
    this.child.on('close', (code, signal) => gone(`job process ended with ${signal ?? `exit code ${code ?? '?'}`}`))
    this.ready = this.next('ready')
    const late = options.clock.after(JOB_PROCESS_START_S * 1000, () => this.kill(), { background: true })
    this.ready.then(
      () => late.cancel(),
      (error: unknown) => options.log.error({ err: error }, 'a job process did not come up'),
    )
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  run(order: JobOrder, listener: JobListener): RunningJob {
    const send = (message: ToJob) => this.send(message)
    const hearing = new Hearing(listener)
    this.hear = (message) => hearing.hear(message, send)
    this.send({ do: 'begin', order })
    return { ...ordersBy(send), kill: () => this.kill(), leave: () => hearing.leave() }
  }

  send(message: ToProcess | ToJob): void {
    // We notice a dead process by its exit.
    if (this.child.connected) this.child.send(message, () => undefined)
  }

  /** Resolves with the next message of this kind. Rejects if the process reports a failure, or dies. */
  next(say: FromProcess['say']): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        return reject(new Error('job process has ended'))
      this.expected.set(say, { resolve, reject })
    })
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** An idle process ends; a busy one finishes its job first. */
  letGo(): void {
    if (this.child.connected) this.child.disconnect()
    this.child.unref()
  }

  private check(message: FromProcess): void {
    if (message.say === 'failed') return this.fail(message.text)
    this.expected.get(message.say)?.resolve()
    this.expected.delete(message.say)
  }

  private fail(why: string): void {
    for (const { reject } of this.expected.values()) reject(new Error(why))
    this.expected.clear()
  }
}

/** Passes a job process's messages to the listener, and answers the process. */
class Hearing {
  private left = false
  private answered: Promise<void> = Promise.resolve()

  constructor(private readonly listener: JobListener) {}

  hear(message: Progress, send: (answer: ToJob) => void): void {
    // When luxid has stopped answering, the process writes its transitions itself.
    if (this.left) return
    const received = this.listener.progress(message)
    if (message.kind === 'log') return
    this.answered = received.then(
      () => send({ do: 'written', error: null }),
      (error: unknown) => send({ do: 'written', error: errorText(error) }),
    )
  }

  /** Resolves when all received messages are answered. */
  async leave(): Promise<void> {
    this.left = true
    await this.answered
  }
}

const ordersBy = (send: (message: ToJob) => void) => ({
  cancel: () => send({ do: 'cancel' }),
  setPriority: (priority: number) => send({ do: 'priority', priority }),
})

/** Follows a job over its live-lock socket until the job has ended or nobody serves the socket. */
async function follow(livelock: string, listener: JobListener, kill: () => void): Promise<RunningJob> {
  let left = false
  const hearing = new Hearing(listener)
  const send = (message: ToJob, connection = current) => void connection.send(JSON.stringify(message))
  const open = async () => {
    const connection = await connectFramed({
      path: livelock,
      connectTimeout_s: JOB_CONNECT_S,
      maxFrame: JOB_PROGRESS_BYTES_MAX,
      onMessage(text, connection) {
        const message = readMessage<Progress>(text, 'kind')
        if (message) hearing.hear(message, (answer) => send(answer, connection))
      },
    })
    void connection.closed.then(reopen)
    send({ do: 'follow' }, connection)
    return connection
  }
  const reopen = async () => {
    if (left) return
    try {
      if (!listener.over() && (await isServed(livelock))) current = await open()
      else listener.gone()
    } catch {
      listener.gone()
    }
  }
  let current: FramedConnection = await open()
  return {
    ...ordersBy(send),
    kill,
    async leave() {
      left = true
      await hearing.leave()
      current.destroy()
    },
  }
}
