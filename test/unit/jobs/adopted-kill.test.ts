// A job's process that an earlier luxid started is killed by its number, but only while that is its number.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { JobPool } from '../../../src/jobs/pool'
import { systemClock as clock } from '../../../src/lib/clock'
import { silentLog as log } from '../../../src/lib/log'
import { serveFramed } from '../../../src/lib/net/json-socket'
import { pathsOf } from '../../../src/lib/paths'
import { eventually } from '../daemons/wconfd/support'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gk-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test.each([
  ['a process that lives is killed', true],
  ['another process that has the number by now is not', false],
])('%s', async (_, lives) => {
  const livelock = path.join(folder, `job_000001_1_${lives ? 41 : 42}`)
  const server = await serveFramed({ path: livelock, maxFrame: 1 << 20, onMessage: () => undefined })
  const kill = jest.fn()
  const processes = { kill, start: () => { throw new Error('none is started') } } // prettier-ignore
  const pool = new JobPool({ entry: '', processes, paths: pathsOf(folder, 'node1'), clock, log })
  const gone = jest.fn()
  const listener = { progress: () => Promise.resolve(), gone, over: () => false }
  const job = { livelock, process_id: 4711 } as unknown as Parameters<JobPool['adopt']>[0]
  const running = await pool.adopt(job, listener)
  if (!lives) await server.close()
  running?.kill()
  await eventually(() => expect(lives ? kill : gone).toHaveBeenCalled())
  expect(kill.mock.calls).toEqual(lives ? [[4711]] : [])
  await running?.leave()
  if (lives) await server.close()
})
