// What a daemon tells systemd, where that started it: that it can be used, that it stops, and again and again that it is not stuck. Node
// cannot send datagrams to a Unix socket, so `systemd-notify`, which comes with systemd, sends them.
import { execFile } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { systemClock, type Timer } from './clock'
import { environmentValue } from './environment'

const PROGRAM = 'systemd-notify'
/** systemd puts up with two that do not come. */
const SIGNS_IN_TIME = 3

export interface ServiceManager {
  /** The daemon can be used from now on. */
  ready(): void
  stopping(): void
}

/** Does nothing where no service manager waits for words. What a child inherits must not speak for its parent: the variables go. */
export function serviceManager(): ServiceManager {
  const socket = environmentValue('NOTIFY_SOCKET')
  const patience_us = Number(environmentValue('WATCHDOG_USEC') ?? 0)
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete process.env[name]
  if (socket === undefined) return { ready: () => undefined, stopping: () => undefined }
  // A word that is lost has the end that systemd gives it: no sign of life, or a start that takes too long.
  const tell = (word: string) =>
    void execFile(
      PROGRAM,
      [`--pid=${process.pid}`, word],
      { env: { ...process.env, NOTIFY_SOCKET: socket } },
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

/** Whether standard error is the journal, which keeps what is written with its time, its process and its priority. */
export function writesToJournal(): boolean {
  const [device, inode] = (environmentValue('JOURNAL_STREAM') ?? '').split(':')
  try {
    const stat = fstatSync(2)
    return device === String(stat.dev) && inode === String(stat.ino)
  } catch {
    return false
  }
}
