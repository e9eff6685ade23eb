// One logger per process, one child per module. Daemons log JSON lines to their file or to stderr.
import pino from 'pino'

export type Log = pino.Logger

/** Values under these keys never reach a log file. */
const SECRETS = ['password', 'osparams_secret', 'osparams_private', 'authorization', 'hmac', 'key']

export function createLog(role: string, options: { file?: string; level?: string } = {}): Log {
  const paths = SECRETS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`])
  const settings: pino.LoggerOptions = {
    name: role,
    level: options.level ?? process.env['GANTRY_LOG_LEVEL'] ?? 'info',
    redact: { paths, censor: '<redacted>' },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(
    settings,
    pino.destination({ dest: options.file ?? 2, sync: true, mkdir: true, append: true, mode: 0o600 }),
  )
}

/** For tests and libraries that were given no log. */
export const silentLog: Log = pino({ level: 'silent' })
