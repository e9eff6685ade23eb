// Messages of a daemon to systemd, if systemd started it: ready, stopping, and regular signs of life. Node cannot send
// datagrams to Unix sockets, so `systemd-notify`, which comes with systemd, sends them.
import { execFile } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { systemClock, type Timer } from '../clock'
import { environmentValue } from '../environment'

const PROGRAM = 'systemd-notify'
/** Seconds for systemd to take a message. */
const TOLD_S = 10
/** The watchdog tolerates two missing signs. */
const SIGNS_IN_TIME = 3

export interface ServiceManager {
  /** The daemon can be used from now on. */
  ready(): void
  stopping(): void
}

/**
 * Does nothing without a service manager. A child must not speak for its parent, so the variables are removed from the
 * environment.
 */
export function serviceManager(): ServiceManager {
  const socket = environmentValue('NOTIFY_SOCKET')
  const patience_us = Number(environmentValue('WATCHDOG_USEC') ?? 0)
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete process.env[name]
  if (socket === undefined) return { ready: () => undefined, stopping: () => undefined }
  // If a message gets lost, systemd's own time limit acts.
  const tell = (word: string) =>
    void execFile(
      PROGRAM,
      [`--pid=${process.pid}`, word],
      { env: { ...process.env, NOTIFY_SOCKET: socket }, timeout: TOLD_S * 1000, killSignal: 'SIGKILL' },
      () => undefined,
    )
  let alive: Timer | undefined
  const live = () => {
    tell('WATCHDOG=1')
    alive = systemClock.after(patience_us / 1000 / SIGNS_IN_TIME, live, { background: true })
  }
  return {
    ready() {
      tell('READY=1')
      if (patience_us > 0) live()
    },
    stopping() {
      alive?.cancel()
      tell('STOPPING=1')
    },
  }
}

/** Whether standard error is the journal, which records time, process and priority itself. */
export function writesToJournal(): boolean {
  const [device, inode] = (environmentValue('JOURNAL_STREAM') ?? '').split(':')
  try {
    const stat = fstatSync(2)
    return device === String(stat.dev) && inode === String(stat.ino)
  } catch {
    return false
  }
}
