// One logger per process, one child per module. Daemons log JSON lines to their file or to stderr.
import pino from 'pino'
import type { LogFile } from './log-file'

export type Log = pino.Logger

/** Values under these keys never reach a log file. */
const SECRETS = ['password', 'osparams_secret', 'osparams_private', 'authorization', 'hmac', 'key']

export function createLog(role: string, options: { file?: LogFile; level?: string } = {}): Log {
  const paths = SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`])
  const settings: pino.LoggerOptions = {
    name: role,
    level: options.level ?? process.env['GANTRY_LOG_LEVEL'] ?? 'info',
    redact: { paths, censor: '<redacted>' },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(settings, options.file ?? pino.destination({ dest: 2, sync: true }))
}

/** For tests and libraries that were given no log. */
export const silentLog: Log = pino({ level: 'silent' })
