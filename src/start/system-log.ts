// The journal where systemd started this daemon, or else syslog, for lines with a priority in front. `logger` takes them to syslog, since
// Node cannot send datagrams to a Unix socket.
import { spawn } from 'node:child_process'
import { writesToJournal } from '../lib/service-manager'

export function systemLog(program: string): { write(line: string): unknown } {
  if (writesToJournal()) return process.stderr
  const logger = spawn('logger', ['--prio-prefix', '--priority', 'daemon.info', '--tag', program], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // A log that nobody takes must not end the daemon; its file has all.
  logger.on('error', () => undefined)
  logger.stdin.on('error', () => undefined)
  logger.unref()
  return logger.stdin
}
