// A separate program, so that a transfer survives a restart of the node daemon: `node program.js STATUS-FILE`, with the
// transfer as JSON on its input. It leads a process group, which ends with it.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { systemClock as clock } from '../../lib/clock'
import { systemDisk as disk } from '../../lib/disk'
import { systemFiles as files } from '../../lib/files'
import { transfer } from './run'
import type { TransferSpec } from './spec'
import { TransferStatus } from './status'

/** This file, as a program for Node. */
export const transferProgram = __filename

const surroundings = { clock, disk, files, spawn }

async function main(statusFile: string): Promise<number> {
  const status = new TransferStatus(statusFile, surroundings)
  // Only the node daemon writes it.
  const spec = JSON.parse(await text(process.stdin)) as TransferSpec
  const stopped = new Promise<never>((_, reject) => {
    process.once('SIGTERM', () => reject(new Error('The transfer was aborted')))
  })
  const error = await Promise.race([transfer(spec, status, surroundings), stopped]).then(
    () => undefined,
    (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
  )
  if (error !== undefined) status.say(error)
  await status.finished(error)
  // Programs of a transfer that failed may hang; they are in this process's group.
  if (error !== undefined) process.kill(-process.pid, 'SIGTERM')
  return error === undefined ? 0 : 1
}

if (require.main === module) {
  const [statusFile] = process.argv.slice(2)
  if (statusFile === undefined) {
    process.stderr.write('usage: program STATUS-FILE < TRANSFER\n')
    process.exit(2)
  }
  main(statusFile).then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
}
