// Ends the jobs of a master that stops for good, so that none goes on without it: they get a moment, then they are
// killed. luxid writes their ends, here and at the candidates. Waiting jobs stay in the queue for the next master.
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import { isServed } from '../lib/net/json-socket'
import type { Paths } from '../lib/paths'
import type { Processes } from '../lib/programs/processes'
import { holdersIn } from '../jobs/livelocks'
import { JOBS_END_S } from '../model/limits/master'
import type { JobChange } from '../rpc/luxi/calls'
import type { Master } from '../rpc/luxi/master'

export async function endJobs(master: Master, clock: Clock, say: (text: string) => void): Promise<void> {
  const deadline_ms = clock.monotonic_ms() + JOBS_END_S * 1000
  const jobs = (await master.gantry?.park()) ?? []
  if (jobs.length > 0) say(`waiting up to ${JOBS_END_S} s for ${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.join(', ')}`)
  for (const job of jobs) {
    if (await awaitJob(master, clock, job, (deadline_ms - clock.monotonic_ms()) / 1000)) continue
    const [, text] = await master.cancelJob(job, true)
    say(`job ${job} did not end in time: ${text}`)
  }
}

/** Returns whether it ended in time. */
export async function awaitJob(master: Master, clock: Clock, job: number, limit_s: number): Promise<boolean> {
  const end_ms = clock.monotonic_ms() + limit_s * 1000
  let observed: unknown = null
  let serial: number | null = null
  for (;;) {
    const left_s = (end_ms - clock.monotonic_ms()) / 1000
    if (left_s <= 0) return false
    const wait_s = Math.max(1, Math.floor(left_s))
    const change: JobChange | 'nochange' = await master.waitForJobChange(job, ['status'], observed, serial, wait_s)
    if (change === 'nochange') continue
    const [fields, log] = change
    observed = fields
    // Skips log lines that are already known.
    serial = log.at(-1)?.[0] ?? serial
    if (['success', 'error', 'canceled'].includes(String(fields[0]))) return true
  }
}

/**
 * Kills job processes directly if luxid cannot be asked: a living process listens on its live-lock. Returns the jobs.
 */
export async function killJobProcesses(paths: Paths, disk: Disk, processes: Processes): Promise<number[]> {
  const killed: number[] = []
  for (const [job, { livelock, process_id }] of holdersIn(paths.livelockDir, await disk.list(paths.livelockDir))) {
    if (!(await isServed(livelock))) continue
    processes.signal(process_id, 'SIGKILL')
    killed.push(job)
  }
  return killed
}
