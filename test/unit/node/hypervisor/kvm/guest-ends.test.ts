// The wait for guests that their users shut down.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock as clock } from '../../../../../src/lib/clock'
import { thisMachine } from '../../../../../src/lib/machine'
import { pathsOf } from '../../../../../src/lib/paths'
import { guestEnds } from '../../../../../src/node/hypervisor/kvm/guest-ends'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gends-'))
const paths = pathsOf(path.join(root, 'node1'), 'node1')
const context = { paths, clock, ...thisMachine }
const mark = (name: string) => path.join(paths.local('/var/run/ganeti/kvm-hypervisor/ctrl'), `${name}.shutdown`)
afterAll(() => fs.rmSync(root, { recursive: true }))

test('a question for the ends of guests waits until there are others than those that are known', async () => {
  expect(await guestEnds(context, 0, [])).toEqual([])
  const one = guestEnds(context, 3600, [])
  fs.writeFileSync(mark('vm1'), '')
  expect(await one).toEqual(['vm1'])
  fs.writeFileSync(mark('vm0'), '')
  expect(await guestEnds(context, 3600, ['vm1'])).toEqual(['vm0', 'vm1'])
  const gone = guestEnds(context, 3600, ['vm0', 'vm1'])
  fs.rmSync(mark('vm1'))
  expect(await gone).toEqual(['vm0'])
})

test('a caller that is gone is not waited for', async () => {
  const leaving = new AbortController()
  const asked = guestEnds({ ...context, caller: leaving.signal }, 3600, ['vm0'])
  leaving.abort()
  expect(await asked).toEqual(['vm0'])
})
