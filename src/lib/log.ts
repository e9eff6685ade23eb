// One logger per process, one child per piece of work. Daemons log lines of JSON to their file or to standard error. We
// wrote our own, because a package takes more memory than everything else that a small daemon loads.
import { hostname } from 'node:os'
import { systemClock } from './clock'
import { environmentValue } from './environment'
import type { LogFile } from './file/log-file'

export interface Log {
  readonly debug: Written
  readonly info: Written
  readonly warn: Written
  readonly error: Written
  /** A log whose lines also have these fields. */
  child(fields: object): Log
}

/** A message, or fields and a message. Errors go under the key `err`. */
type Written = (fields: object | string, message?: string) => void

const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Infinity }
type Level = keyof typeof LEVELS

/** Values under these keys never reach a log file. */
const SECRETS: readonly string[] = ['password', 'osparams_secret', 'osparams_private', 'authorization', 'hmac', 'key']

export interface LogOptions {
  write(line: string, level: number): void
  /** The lowest level that is written. */
  readonly level?: string
  /** Fields of every line. */
  readonly fields?: object
  /** False omits the time. */
  readonly timed?: boolean
  showError?(error: Error): unknown
}

/** Takes lines of a log. */
interface Lines {
  write(line: string): unknown
}

interface Created {
  /** Default: standard error. */
  readonly file?: LogFile | undefined
  /** Gets each line with its priority in front, as the journal and syslog want it. */
  readonly system?: Lines | undefined
  readonly level?: string | undefined
}

export function createLog(role: string, { file, system, level }: Created = {}): Log {
  const plain: Lines | undefined = file ?? (system === undefined ? process.stderr : undefined)
  return openLog({
    level: level ?? environmentValue('GANTRY_LOG_LEVEL') ?? 'info',
    fields: { pid: process.pid, hostname: hostname(), name: role },
    write(line, value) {
      plain?.write(line)
      system?.write(`<${priorityOf(value)}>${line}`)
    },
  })
}

/** Syslog's number for a level: error, warning, info or debug. */
function priorityOf(level: number): number {
  if (level >= LEVELS.error) return 3
  if (level >= LEVELS.warn) return 4
  return level >= LEVELS.info ? 6 : 7
}

export function openLog(options: LogOptions): Log {
  const { level = 'info' } = options
  const least = isLevel(level) ? LEVELS[level] : LEVELS.info
  const writing =
    (name: Level): Written =>
    (fields, message) => {
      if (LEVELS[name] >= least) options.write(`${lineOf(LEVELS[name], fields, message, options)}\n`, LEVELS[name])
    }
  return {
    ...{ debug: writing('debug'), info: writing('info'), warn: writing('warn'), error: writing('error') },
    child: (fields) => openLog({ ...options, fields: { ...options.fields, ...fields } }),
  }
}

/** For tests and for libraries without a log. */
export const silentLog: Log = openLog({ level: 'silent', write: () => undefined })

function isLevel(name: string): name is Level {
  return Object.hasOwn(LEVELS, name)
}

function lineOf(level: number, given: object | string, message: string | undefined, options: LogOptions): string {
  const { timed = true, fields: always, showError = errorFields } = options
  const shown = (key: string, value: unknown): unknown => {
    if (SECRETS.includes(key)) return '<redacted>'
    return value instanceof Error ? showError(value) : value
  }
  const time = timed ? { time: new Date(systemClock.now_ms()).toISOString() } : {}
  const fields = typeof given === 'string' ? {} : given instanceof Error ? { err: given } : given
  const msg = typeof given === 'string' ? given : message
  try {
    return JSON.stringify({ level, ...time, ...always, ...fields, msg }, shown)
  } catch (error) {
    // Fields may contain themselves, for example. We log the message anyway.
    return JSON.stringify({ level, ...time, ...always, msg, fields: `they cannot be written: ${String(error)}` }, shown)
  }
}

const errorFields = (error: Error): object => ({
  ...{ type: error.constructor.name, message: error.message, stack: error.stack },
  ...(error.cause !== undefined && { cause: error.cause }),
  ...error,
})
