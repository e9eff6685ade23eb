// A submission does not wait behind those of others.
import type { V3Request } from '../../../../src/daemons/rapi/context'
import { submit } from '../../../../src/daemons/rapi/v3/submission'
import { JOB_PREFER_WAITS_PER_USER_MAX } from '../../../../src/model/limits/rapi-v3'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'

/** A master whose jobs end when it is told so. */
function masterOf() {
  const waiting: ((ended: boolean) => void)[] = []
  const gantry: Partial<GantryMaster> = {
    submit: async () => ({ job: 7, replayed: false }),
    wait: () => new Promise((resolve) => waiting.push(resolve)),
    view: async (_identity, { fields }) => ({ rows: [fields.map(() => null)], next: null }),
  }
  return { gantry: gantry as GantryMaster, end: () => waiting.splice(0).forEach((ended) => ended(true)) }
}

function submittedBy(gantry: GantryMaster, user: string) {
  const reply = { headers: {}, status: 200 }
  const identity = { user, token: null, permissions: ['*'] }
  const requested = { ...{ ops: [], reason: null, plan: null, key: undefined, ifMatch: undefined }, prefer: 'wait=60' }
  const v3 = { identity, gantry, reply } as Partial<V3Request> as V3Request
  return submit(v3, requested, () => new AbortController().signal).then(() => reply.status)
}

test('a user whose submissions all wait gets the number of the next job at once, while another waits', async () => {
  const { gantry, end } = masterOf()
  const waiting = Array.from({ length: JOB_PREFER_WAITS_PER_USER_MAX }, () => submittedBy(gantry, 'anna'))
  expect(await submittedBy(gantry, 'anna')).toBe(202)
  const other = submittedBy(gantry, 'bert')
  // The request of the other has come to wait.
  await new Promise(setImmediate)
  end()
  expect(await Promise.all([...waiting, other])).toEqual(Array(JOB_PREFER_WAITS_PER_USER_MAX + 1).fill(200))
  const again = submittedBy(gantry, 'anna')
  await new Promise(setImmediate)
  end()
  expect(await again).toBe(200)
})
