// What a transfer tells: it does not end because that cannot be written, and it does not fill the disk with what its programs say.
import type { Disk } from '../../../../src/lib/disk'
import { OS_LOG_BYTES_MAX } from '../../../../src/model/limits/node'
import { TransferStatus } from '../../../../src/node/transfer/status'
import { SteppedClock } from '../../../support/stepped-clock'

let written: string[]
let hasRoom: boolean
const disk = {
  write: (_file: string, data: string) =>
    hasRoom ? Promise.resolve(void written.push(data)) : Promise.reject(new Error('ENOSPC')),
} as unknown as Disk

let logged: string[]
let status: TransferStatus
beforeEach(() => {
  ;[written, logged, hasRoom] = [[], [], true]
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(String(text)) > 0)
  status = new TransferStatus('/status', { clock: new SteppedClock(), disk })
})

test('a status that cannot be written once is written again later', async () => {
  hasRoom = false
  status.listening(1)
  await Promise.resolve()
  hasRoom = true
  status.listening(2)
  await status.finished(undefined)
  expect(written.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { listen_port: 2 },
    { listen_port: 2, exit_status: 0 },
  ])
  expect(logged).toEqual(['the status cannot be written: ENOSPC\n'])
})

test('of what programs say, the log keeps so much and no more', () => {
  const line = 'x'.repeat(1 << 20)
  for (let said = 0; said < 2 * OS_LOG_BYTES_MAX; said += line.length) status.log(line)
  status.say('the end')
  expect(logged.length).toBe(OS_LOG_BYTES_MAX / line.length + 1)
  expect(logged.at(-1)).toContain('not kept')
})
