// Waiting for jobs before daemons are stopped costs no polling.
import { awaitJob } from '../../../src/bootstrap/end-jobs'
import type { JobChange, LogEntry } from '../../../src/rpc/luxi/calls'
import { FakeMaster } from '../../support/fake-master'
import { clockAt } from '../../support/instant-clock'

/** As luxid: it answers at once if the caller does not know all of the job's log, and else when the job ends. */
class TalkingMaster extends FakeMaster {
  asked = 0

  override async waitForJobChange(
    _id: number,
    _fields: unknown,
    observed: unknown,
    serial: unknown,
  ): Promise<JobChange> {
    this.asked++
    const log: LogEntry[] = [[4, [1, 0], 'message', 'working']]
    const news = log.filter(([number]) => number > Number(serial ?? 0))
    if (this.asked > 10) throw new Error('the caller asks again and again')
    return [[news.length === 0 && observed !== null ? 'success' : 'running'], news]
  }
}

test('whoever waits for a job that writes a log is told of its end, and does not ask in between', async () => {
  const master = new TalkingMaster()
  expect(await awaitJob(master, clockAt(0), 7, 10)).toBe(true)
  expect(master.asked).toBe(2)
})
