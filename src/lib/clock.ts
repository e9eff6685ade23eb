// The only place that reads time or sets timers, so that the simulation can hand in its own.

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall clock in milliseconds since the epoch, with sub-millisecond fraction. May jump. */
  now_ms(): number
  /** Milliseconds that only ever grow; use it for durations and deadlines. */
  monotonic_ms(): number
  /** Runs `action` once after `delay_ms`. Does not keep the process alive when `background` is set. */
  after(delay_ms: number, action: () => void, options?: { background?: boolean }): Timer
  sleep(delay_ms: number, signal?: AbortSignal): Promise<void>
}

const TIMER_MAX_MS = 0x7fffffff

export const systemClock: Clock = {
  now_ms: () => performance.timeOrigin + performance.now() + drift(),
  monotonic_ms: () => performance.now(),
  after(delay_ms, action, options) {
    const handle = setTimeout(action, Math.min(delay_ms, TIMER_MAX_MS))
    if (options?.background) handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
  sleep(delay_ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const stop = () => {
        clearTimeout(handle)
        reject(signal?.reason as Error)
      }
      let handle: NodeJS.Timeout
      // setTimeout would fire at once for a longer delay.
      const wait = (left_ms: number) => {
        const turn_ms = Math.min(left_ms, TIMER_MAX_MS)
        handle = setTimeout(() => (left_ms > turn_ms ? wait(left_ms - turn_ms) : end()), turn_ms)
      }
      const end = () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      wait(delay_ms)
      signal?.addEventListener('abort', stop, { once: true })
    })
  },
}

/** performance.now() ignores changes of the wall clock; this adds them. */
function drift(): number {
  const difference = Date.now() - (performance.timeOrigin + performance.now())
  return Math.abs(difference) < 2 ? 0 : difference
}

/** Seconds since the epoch as a float: Ganeti's ctime and mtime. */
export const seconds = (clock: Clock): number => Math.round(clock.now_ms() * 1000) / 1e6

/** `[seconds, microseconds]`: Ganeti's job timestamps. */
export type Timestamp = [seconds: number, microseconds: number]

export function timestamp(clock: Clock): Timestamp {
  const micros = Math.round(clock.now_ms() * 1000)
  return [Math.floor(micros / 1e6), micros % 1e6]
}

/** Nanoseconds since the epoch: Ganeti's reason trail. Above 2^53, so only good to about 256 ns. */
export const nanoseconds = (clock: Clock): number => Math.round(clock.now_ms() * 1000) * 1000

/** `2026-11-21_03_44_57`: the time as a part of file names. */
export const fileTime = (clock: Clock): string =>
  new Date(clock.now_ms()).toISOString().slice(0, 19).replace('T', '_').replaceAll(':', '_')

/** Resolves in the next turn of the event loop, after events that have arrived meanwhile. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const resting: (() => void)[] = []

/**
 * Lets the event loop serve others between two slices of long work. Each turn of the loop does one slice, however many
 * lists are in work. So short work waits for one slice at most.
 */
export const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    resting.push(resolve)
    if (resting.length === 1) wakeLater()
  })

/** Notes that a request has come, which is probably short. */
export function noteRequest(): void {
  asked_ms = performance.now()
}

/** Milliseconds after a request in which we expect more requests, */
const BUSY_MS = 20
/** and milliseconds for which long work then rests between two slices. A slice takes about as long. */
const REST_MS = 1
let asked_ms = -Infinity

/**
 * When all processors are busy, the kernel lets other processes wait for one that never pauses: the client, and the
 * daemons that answer it.
 */
function wakeLater(): void {
  if (performance.now() - asked_ms < BUSY_MS) setTimeout(wakeOne, REST_MS)
  else setImmediate(wakeOne)
}

function wakeOne(): void {
  resting.shift()?.()
  if (resting.length > 0) wakeLater()
}

/**
 * Waits until all events that are already there have been delivered. The end of a connection is found one turn after
 * its last data. A process that was stopped, or is late, uses this to catch up on missed events.
 */
export async function hearAll(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** The promise's value, or undefined if it takes longer than the limit. */
export async function within<T>(clock: Clock, limit_s: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: Timer | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = clock.after(limit_s * 1000, () => void hearAll().then(() => resolve(undefined)))
  })
  return Promise.race([promise, late]).finally(() => timer?.cancel())
}
