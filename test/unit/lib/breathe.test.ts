// Long work leaves room for others in the event loop.
import { Socket } from 'node:net'
import { breathe } from '../../../src/lib/clock'
import { FramedConnection } from '../../../src/lib/net/json-socket'

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('however much long work there is, one slice of it is done in each turn of the event loop', async () => {
  let slices = 0
  let working = 5
  const work = async () => {
    for (let n = 0; n < 10; n++) {
      await breathe()
      slices++
    }
    working--
  }
  const all = Promise.all([work(), work(), work(), work(), work()])
  const each: number[] = []
  while (working > 0) {
    const before = slices
    await new Promise((resolve) => setImmediate(resolve))
    each.push(slices - before)
  }
  await all
  expect(slices).toBe(50)
  expect(Math.max(...each)).toBe(1)
})

test('while clients ask, long work rests between its slices; afterwards it goes on at once', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
  let slices = 0
  const work = async () => {
    for (let n = 0; n < 4; n++) {
      await breathe()
      slices++
    }
  }
  const socket = new Socket()
  new FramedConnection(socket, { maxFrame: 100, givesWay: true, onMessage: () => undefined })
  socket.emit('data', Buffer.from('{}\x03'))
  const all = work()
  await turns()
  expect(slices).toBe(0)
  jest.advanceTimersByTime(1)
  await turns()
  expect(slices).toBe(1)
  jest.advanceTimersByTime(20)
  await all
  expect(slices).toBe(4)
  jest.useRealTimers()
})
