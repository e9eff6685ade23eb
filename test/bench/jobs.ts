// Jobs from their submission until they have ended, through LUXI.
import { performance } from 'node:perf_hooks'
import type { Luxi } from './luxi'

/** An opcode that does nothing for a moment: what is measured is the way of a job. */
export const delayOp = { OP_ID: 'OP_TEST_DELAY', duration: 0.001, on_master: true, no_locks: true, reason: [] }

const FINAL = ['success', 'error', 'canceled']

/** Milliseconds from submission until the job is known to have succeeded. */
export async function oneJob(luxi: Luxi, op: object): Promise<number> {
  const begun = performance.now()
  const id = await luxi.call('SubmitJob', [[op]])
  await ended(luxi, Number(id))
  return performance.now() - begun
}

/** Milliseconds from the submission of all in one call until the last has succeeded. */
export async function manyJobs(luxi: Luxi, count: number, op: object): Promise<number> {
  const begun = performance.now()
  const answers = (await luxi.call('SubmitManyJobs', [Array.from({ length: count }, () => [op])])) as [
    boolean,
    number,
  ][]
  for (const [accepted, id] of answers) {
    if (!accepted) throw new Error(`a job was not accepted: ${id}`)
    await ended(luxi, id)
  }
  return performance.now() - begun
}

async function ended(luxi: Luxi, id: number): Promise<void> {
  let observed: unknown = null
  for (;;) {
    const change = await luxi.call('WaitForJobChange', [id, ['status', 'opresult'], observed, 0, 30])
    if (!Array.isArray(change)) continue
    observed = change[0]
    const [status, results] = observed as [string, unknown]
    if (status === 'success') return
    if (FINAL.includes(status)) throw new Error(`job ${id} ended as ${status}: ${JSON.stringify(results)}`)
  }
}
