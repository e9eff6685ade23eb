// How tests wait for the end of a job.
import type { Master } from '../../src/rpc/luxi/master'

/** Waits until a job has ended, successfully or not. */
export async function jobEnd(master: Master, id: number): Promise<void> {
  for (let observed: unknown = null; ;) {
    const change = await master.waitForJobChange(id, ['status'], observed, null, 30)
    if (change === null) throw new Error(`there is no job ${id}`)
    if (change === 'nochange') continue
    if (['success', 'error', 'canceled'].includes(String(change[0][0]))) return
    observed = change[0]
  }
}
