// Where we answer otherwise than the recorded cluster on purpose. The list says why; this says that it is true.
import type { Master } from '../../../../src/rpc/luxi/master'
import differences from '../../../golden/differences.json'
import { Harness, RecordedMaster } from './harness'

let harness: Harness

beforeAll(async () => {
  harness = await Harness.start(new RecordedMaster() as unknown as Master)
})
afterAll(() => harness.stop())

interface Answer {
  status: number
  message: string | null
}
/** One request tells the difference; the others show in a running cluster only, and are told in words. */
const inOneAnswer = differences.flatMap(({ recording, request, gantry }) =>
  request !== undefined && typeof gantry !== 'string' ? [{ recording, request, gantry: gantry satisfies Answer }] : [],
)

test.each(inOneAnswer.map((entry) => [entry.recording, entry] as const))(
  '%s is answered otherwise than recorded, as the list says',
  async (_, { request, gantry }) => {
    // The answer to HEAD has no body that would tell where it ends: the connection's end does.
    const answer = await harness.raw(request.replace('\r\n', '\r\nConnection: close\r\n'))
    expect([answer.status, messageOf(answer.body)]).toEqual([gantry.status, gantry.message])
  },
)

test('each recording is listed once, with what differs and why', () => {
  const recordings = differences.map(({ recording }) => recording)
  expect(new Set(recordings).size).toBe(recordings.length)
  for (const { ganeti, gantry, reason } of differences) {
    expect(gantry).not.toEqual(ganeti)
    expect(reason).toMatch(/^[A-Z3].*\.$/)
  }
})

function messageOf(body: string): string | null {
  const value: unknown = body === '' ? null : JSON.parse(body)
  if (typeof value !== 'object' || value === null || !('message' in value)) return null
  return String(value.message)
}
