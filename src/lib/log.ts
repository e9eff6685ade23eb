// One logger per process, one child per piece of work. Daemons log lines of JSON to their file, to standard error, to the journal or to
// syslog. pino makes the lines. All our destinations write at once, so nothing has to be flushed when a process ends.
import { hostname } from 'node:os'
import pino from 'pino'
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

/** Values under these keys never reach a log file. */
const SECRETS: readonly string[] = ['password', 'osparams_secret', 'osparams_private', 'authorization', 'hmac', 'key']
const CENSOR = '<redacted>'

/** Deeper values are left out, so that objects that contain themselves have an end. */
const DEPTH_MAX = 10

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
  const { error, warn, info } = pino.levels.values
  if (level >= (error ?? 0)) return 3
  if (level >= (warn ?? 0)) return 4
  return level >= (info ?? 0) ? 6 : 7
}

export function openLog({
  write,
  level = 'info',
  fields = {},
  timed = true,
  showError = errorFields,
}: LogOptions): Log {
  // pino sets `lastLevel` before each line, because of the symbol.
  const destination = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string) => write(line, destination.lastLevel),
  }
  return pino(
    {
      level: level === 'silent' || Object.hasOwn(pino.levels.values, level) ? level : 'info',
      base: fields,
      timestamp: timed && (() => `,"time":"${new Date(systemClock.now_ms()).toISOString()}"`),
      redact: { paths: [...SECRETS], censor: CENSOR },
      // pino's paths reach as deep as they are long; secrets are left out at any depth.
      formatters: {
        log: (input) => writable(input, showError),
        bindings: (input) => writable(input, showError),
      },
      // The formatter has done it.
      serializers: { err: (error: unknown) => error },
    },
    destination,
  )
}

/** For tests and for libraries without a log. */
export const silentLog: Log = openLog({ level: 'silent', write: () => undefined })

/** What a line shows of its fields: errors as objects, no secrets, and an end. */
function writable(fields: Record<string, unknown>, showError: (error: Error) => unknown): Record<string, unknown> {
  const displayed = (value: unknown, depth: number): unknown => {
    if (value instanceof Error) return displayed(showError(value), depth)
    if (typeof value !== 'object' || value === null) return value
    if (depth === DEPTH_MAX) return '...'
    if (isConvertible(value)) return displayed(value.toJSON(), depth + 1)
    if (Array.isArray(value)) return value.map((one) => displayed(one, depth + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, SECRETS.includes(key) ? CENSOR : displayed(one, depth + 1)]),
    )
  }
  try {
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, displayed(value, 1)]))
  } catch (error) {
    // A getter may throw, for example. We log the message anyway.
    return { fields: `they cannot be written: ${String(error)}` }
  }
}

function isConvertible(value: object): value is { toJSON: () => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

function errorFields(error: Error): object {
  return {
    ...{ type: error.constructor.name, message: error.message, stack: error.stack },
    ...(error.cause !== undefined && { cause: error.cause }),
    ...error,
  }
}
