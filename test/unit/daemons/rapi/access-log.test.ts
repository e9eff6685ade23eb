// What the log of the remote API says of requests, and what it keeps to itself.
import type { Master } from '../../../../src/rpc/luxi/master'
import type { AccessLevel } from '../../../../src/lib/access-level'
import { openLog } from '../../../../src/lib/log'
import { basic, Harness, RecordedMaster } from './harness'

/** The lines in the log after some requests. */
async function lines(accessLog: AccessLevel, count: number, act: (harness: Harness) => Promise<unknown>) {
  const written: string[] = []
  const log = openLog({ write: (line) => void written.push(line) })
  const harness = await Harness.start(new RecordedMaster() as unknown as Master, { accessLog, log })
  await act(harness)
  const reported = () => written.filter((line) => line.includes('"request"')).length
  // A line is written when the answer has gone out, which its reader may know first.
  while (reported() < count) await new Promise((resolve) => setImmediate(resolve))
  await harness.stop()
  const entries = written.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { entries: entries.filter(({ msg }) => msg === 'request'), text: written.join('') }
}

const read = (harness: Harness) => harness.ask('GET', '/2/info?bulk=1')
const change = (harness: Harness) => harness.ask('PUT', '/2/redistribute-config?reason=hush')
const refused = (harness: Harness) => harness.ask('GET', '/2/info', { as: basic('admin', 'wrong-password') })

test('a change is told with who, what, how long and which job, and without its arguments', async () => {
  const { entries, text } = await lines('changes', 1, change)
  expect(entries).toEqual([
    expect.objectContaining({
      ...{ user: 'admin', address: '127.0.0.1', method: 'PUT', path: '/2/redistribute-config', status: 200 },
      ...{ job: expect.any(Number), ms: expect.any(Number) },
    }),
  ])
  expect(text).not.toMatch(/hush|secret|Basic/)
})

test('by default reads that went well are left out, and what was refused is told', async () => {
  const { entries, text } = await lines('changes', 1, async (harness) => [await read(harness), await refused(harness)])
  expect(entries).toEqual([expect.objectContaining({ path: '/2/info', status: 401 })])
  expect(text).not.toContain('wrong-password')
})

test('all requests are told, or none', async () => {
  const all = async (harness: Harness) => [await read(harness), await change(harness), await refused(harness)]
  expect((await lines('all', 3, all)).entries.map(({ method, status }) => [method, status])).toEqual([
    ['GET', 200],
    ['PUT', 200],
    ['GET', 401],
  ])
  expect((await lines('none', 0, all)).entries).toEqual([])
})
