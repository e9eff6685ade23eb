// Passes log lines with a priority in front to the journal if systemd started this daemon, otherwise to syslog. Node
// cannot send datagrams to Unix sockets, so `logger` passes them on.
import { spawn } from 'node:child_process'
import { writesToJournal } from '../lib/programs/service-manager'

export function systemLog(program: string): { write(line: string): unknown } {
  if (writesToJournal()) return process.stderr
  const logger = spawn('logger', ['--prio-prefix', '--priority', 'daemon.info', '--tag', program], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // A failing logger must not end the daemon; its log file has everything.
  logger.on('error', () => undefined)
  logger.stdin.on('error', () => undefined)
  logger.unref()
  return logger.stdin
}
