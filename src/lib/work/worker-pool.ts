// Runs long computations in threads, so that the event loop goes on. A few run at a time, the others wait. A task that
// takes too long, or that nobody wants any more, is ended with its thread.
import { Worker, parentPort } from 'node:worker_threads'
import type { Clock, Timer } from '../clock'

export interface WorkerPoolOptions {
  /** The program of a thread, which calls `serveTasks`. */
  readonly entry: string
  readonly execArgv?: readonly string[]
  readonly clock: Clock
  readonly threads: number
  /** Seconds after which an idle thread ends, with its memory; without it, idle threads stay. */
  readonly idle_s?: number
  readonly limit_s: number
  readonly memory_mib: number
}

/** The input, in parts small enough to copy to a thread without holding up the event loop. */
export type TaskParts = AsyncIterable<unknown>

/** The task took too long. */
export class TaskTooLong extends Error {}

/** Comes after the last part. */
const END = 'end of the input'

export class WorkerPool {
  private readonly idle: Worker[] = []
  /** Timers that end idle threads. */
  private readonly resting = new WeakMap<Worker, Timer>()
  private readonly all = new Set<Worker>()
  private readonly queue: (() => void)[] = []
  private running = 0

  constructor(private readonly options: WorkerPoolOptions) {}

  /**
   * Runs a task with this input in a thread, and returns its result. Rejects with the signal's reason when it fires.
   */
  async run(parts: TaskParts, signal?: AbortSignal): Promise<unknown> {
    await this.turn(signal)
    const worker = this.take()
    try {
      const result = await this.ask(worker, parts, signal)
      this.rest(worker)
      return result
    } catch (error) {
      await this.end(worker)
      throw error
    } finally {
      this.leave()
    }
  }

  /** The number of threads, busy or idle. */
  get threads(): number {
    return this.all.size
  }

  async close(): Promise<void> {
    await Promise.all([...this.all].map((worker) => this.end(worker)))
  }

  private async turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.running < this.options.threads) return void this.running++
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.queue.splice(this.queue.indexOf(go), 1)
        reject(reasonOf(signal))
      }
      this.queue.push(go)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Gives the place to the first waiter, so that a newcomer cannot take it. */
  private leave(): void {
    const next = this.queue.shift()
    if (next === undefined) this.running--
    else next()
  }

  private rest(worker: Worker): void {
    worker.unref()
    this.idle.push(worker)
    const { clock, idle_s } = this.options
    if (idle_s === undefined) return
    const end = () => {
      this.idle.splice(this.idle.indexOf(worker), 1)
      void this.end(worker)
    }
    this.resting.set(worker, clock.after(idle_s * 1000, end, { background: true }))
  }

  private take(): Worker {
    const known = this.idle.pop()
    if (known !== undefined) {
      this.resting.get(known)?.cancel()
      known.ref()
      return known
    }
    const { entry, execArgv = [], memory_mib } = this.options
    const worker = new Worker(entry, {
      execArgv: [...execArgv],
      resourceLimits: { maxOldGenerationSizeMb: memory_mib },
    })
    this.all.add(worker)
    worker.once('exit', () => {
      this.all.delete(worker)
      const at = this.idle.indexOf(worker)
      if (at >= 0) this.idle.splice(at, 1)
    })
    return worker
  }

  private ask(worker: Worker, parts: TaskParts, signal: AbortSignal | undefined): Promise<unknown> {
    const { clock, limit_s } = this.options
    return new Promise((resolve, reject) => {
      const late = clock.after(limit_s * 1000, () =>
        settle(() => reject(new TaskTooLong(`took more than ${limit_s} s`))),
      )
      const onMessage = (result: unknown) => settle(() => resolve(result))
      const onError = (error: unknown) =>
        settle(() => reject(error instanceof Error ? error : new Error(String(error))))
      const onExit = () => settle(() => reject(new Error('the thread has ended')))
      const onAbort = () => settle(() => reject(reasonOf(signal)))
      const settle = (finish: () => void) => {
        late.cancel()
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        signal?.removeEventListener('abort', onAbort)
        finish()
      }
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      signal?.addEventListener('abort', onAbort, { once: true })
      if (signal?.aborted) return onAbort()
      feed(worker, parts).catch(onError)
    })
  }

  private async end(worker: Worker): Promise<void> {
    this.all.delete(worker)
    await worker.terminate()
  }
}

async function feed(worker: Worker, parts: TaskParts): Promise<void> {
  for await (const part of parts) worker.postMessage(part)
  worker.postMessage(END)
}

const reasonOf = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error('nobody waits for it any more')

/** The loop of a thread: runs one task after the other. */
export function serveTasks(run: (parts: readonly unknown[]) => unknown): void {
  let parts: unknown[] = []
  parentPort?.on('message', (message) => {
    if (message !== END) return void parts.push(message)
    const input = parts
    parts = []
    parentPort?.postMessage(run(input))
  })
}
