// The wait for guests that end without a request.
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
  const requested = guestEnds({ ...context, caller: leaving.signal }, 3600, ['vm0'])
  leaving.abort()
  expect(await requested).toEqual(['vm0'])
})

test('a guest whose QEMU is gone has ended too, until it runs again', async () => {
  const base = paths.local('/var/run/ganeti/kvm-hypervisor')
  const note = (pid: number) => fs.writeFileSync(path.join(base, 'pid', 'crashed'), `${pid}\n`)
  fs.rmSync(mark('vm0'), { force: true })
  note(process.pid)
  fs.writeFileSync(path.join(base, 'conf', 'crashed.runtime'), '')
  expect(await guestEnds(context, 0, [])).toEqual([])
  const ended = guestEnds(context, 3600, [])
  note(2 ** 22 + 1)
  // kvmd does this when its connection ends. Nobody would wait for the periodic check here.
  fs.writeFileSync(path.join(base, 'ctrl', 'crashed.kvmd'), '')
  expect(await ended).toEqual(['crashed'])
  const again = guestEnds(context, 3600, ['crashed'])
  note(process.pid)
  expect(await again).toEqual([])
})
