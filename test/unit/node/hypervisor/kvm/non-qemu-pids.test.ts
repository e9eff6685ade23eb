// Processes that are no guests are looked at rarely.
import { NonQemuPids } from '../../../../../src/node/hypervisor/kvm/non-qemu-pids'
import { SteppedClock } from '../../../../support/stepped-clock'

function fixture() {
  const clock = new SteppedClock()
  const strangers = new NonQemuPids(clock)
  const look = (...pids: number[]) => {
    const looked = strangers.unknownOf(pids)
    for (const pid of looked) strangers.note(pid)
    return looked
  }
  return { clock, strangers, look }
}

test('a process that is not ours is left alone once it is no longer young, and looked at again a minute later', async () => {
  const { clock, look } = fixture()
  expect(look(1, 2)).toEqual([1, 2])
  await clock.pass(9)
  expect(look(1, 2)).toEqual([1, 2])
  await clock.pass(1)
  expect(look(1, 2, 3)).toEqual([3])
  await clock.pass(50)
  expect(look(1, 2)).toEqual([1, 2])
  await clock.pass(5)
  expect(look(1, 2)).toEqual([])
})

test('a number that was free meanwhile, or that a PID file names, is looked at', async () => {
  const { clock, strangers, look } = fixture()
  look(1, 2)
  await clock.pass(20)
  expect(look(2)).toEqual([])
  expect(look(1, 2)).toEqual([1])
  strangers.forget(2)
  expect(look(1, 2)).toEqual([1, 2])
})
