// How programs of the storage are run.
import { DEVICE_ANSWER_S, DEVICE_ORDER_S } from '../../../../src/model/limits/storage'
import { attempt } from '../../../../src/node/storage/tools'
import { recordedPrograms } from '../../../support/recorded-programs'
import { SteppedClock } from '../../../support/stepped-clock'

test('each program has a time limit, and is kept from a device that does not answer', async () => {
  const lines = ['lvs', 'drbdsetup show', 'lvremove -f xenvg/a', 'blkdiscard /dev/b']
  const programs = recordedPrograms(lines.map((argv) => ({ argv })))
  const tools = { run: programs.run, hostname: 'node1', clock: new SteppedClock() }
  for (const line of lines) await attempt(tools, line.split(' '))
  expect(programs.asked.map(({ options: { timeout_s, about } }) => [timeout_s, about])).toEqual([
    [DEVICE_ANSWER_S, undefined],
    [DEVICE_ANSWER_S, undefined],
    [DEVICE_ORDER_S, undefined],
    [DEVICE_ORDER_S, '/dev/b'],
  ])
})
