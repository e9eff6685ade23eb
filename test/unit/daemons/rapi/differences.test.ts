// Where we answer otherwise than the recorded cluster on purpose. The list says why; this says that it is true.
import type { Master } from '../../../../src/rpc/luxi/calls'
import differences from '../../../golden/differences.json'
import { Harness, RecordedMaster } from './harness'

let harness: Harness

beforeAll(async () => {
  harness = await Harness.start(new RecordedMaster() as unknown as Master)
})
afterAll(() => harness.stop())

test.each(differences.map((entry) => [entry.recording, entry] as const))(
  '%s is answered otherwise than recorded, as the list says',
  async (_, { request, ganeti, gantry, reason }) => {
    // The answer to HEAD has no body that would tell where it ends: the connection's end does.
    const answer = await harness.raw(request.replace('\r\n', '\r\nConnection: close\r\n'))
    expect([answer.status, messageOf(answer.body)]).toEqual([gantry.status, gantry.message])
    expect(gantry).not.toEqual(ganeti)
    expect(reason).toMatch(/^[A-Z3].*\.$/)
  },
)

function messageOf(body: string): string | null {
  const value: unknown = body === '' ? null : JSON.parse(body)
  if (typeof value !== 'object' || value === null || !('message' in value)) return null
  return String(value.message)
}
