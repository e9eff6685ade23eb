// A job process begins nothing for a luxid that has left.
import { watch } from 'node:fs'
import * as path from 'node:path'
import { newJob } from '../../../src/jobs/job'
import { type Channel, serveJobs } from '../../../src/jobs/job-process'
import type { ToJob, ToProcess } from '../../../src/jobs/messages'
import { hearAll, systemClock } from '../../../src/lib/clock'
import { systemDisk } from '../../../src/lib/disk'
import { silentLog } from '../../../src/lib/log'
import { JobCancelled } from '../../../src/operations/environment'
import { eventually } from '../../support/faults'
import { delay, removeRoot, temporaryPaths } from '../../support/queue-in-process'

const paths = temporaryPaths()
afterAll(() => removeRoot(paths))

test('a job is not begun when luxid has left before its live-lock was there', async () => {
  const said: unknown[] = []
  const executed: unknown[] = []
  let hear: (message: ToProcess | ToJob) => void = () => undefined
  let disconnect: () => void = () => undefined
  const channel: Channel = {
    pid: 1,
    send: (message) => void said.push(message),
    onMessage: (listener) => void (hear = listener),
    onDisconnect: (listener) => void (disconnect = listener),
    exit: (code) => void said.push(`exit ${code}`),
  }
  serveJobs(channel, {
    ...{ paths, clock: systemClock, disk: systemDisk, log: silentLog, Cancelled: JobCancelled },
    execute: async (op) => executed.push(op),
  })
  await systemDisk.makeDirectory(paths.livelockDir)
  const livelock = `${paths.livelockDir}/job_1`
  const observed = new Set<string | null>()
  const watcher = watch(paths.livelockDir, (_, name) => observed.add(name))
  hear({ do: 'begin', order: { job: { ...newJob(1, [delay(0)], [1, 1]), livelock }, secrets: [], verdicts: [] } })
  disconnect()
  await eventually('the live-lock', () => observed.has(path.basename(livelock)), 5)
  watcher.close()
  await hearAll()
  await hearAll()
  expect(said).toEqual([{ say: 'ready' }, 'exit 0'])
  expect(executed).toEqual([])
})
