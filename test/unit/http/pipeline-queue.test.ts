// Requests that a client sends ahead are answered in turn, and bounded.
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PipelineQueue } from '../../../src/http/pipeline-queue'

const PIPELINED = 3

/** A connection, and a request on it whose work is noted. */
function connection() {
  const oneByOne = new PipelineQueue(PIPELINED)
  const begun: number[] = []
  const socket = { destroyed: false, destroy: () => void (socket.destroyed = true) }
  const ask = (id: number) => {
    const response = new EventEmitter()
    const work = () => begun.push(id)
    oneByOne.begin({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse, work)
    return () => response.emit('close')
  }
  const isBusy = () => oneByOne.isBusy(socket as unknown as Socket)
  return { socket, begun, ask, isBusy }
}

test('a request is begun when the one before it on its connection has been answered', () => {
  const { begun, ask, isBusy } = connection()
  expect(isBusy()).toBe(false)
  const [first, second] = [ask(1), ask(2)]
  expect(begun).toEqual([1])
  first()
  expect(begun).toEqual([1, 2])
  expect(isBusy()).toBe(true)
  second()
  expect(isBusy()).toBe(false)
  ask(3)
  expect(begun).toEqual([1, 2, 3])
})

test('a connection on which too many wait is closed, and what waited is not begun', () => {
  const { socket, begun, ask } = connection()
  const first = ask(0)
  for (let id = 1; id <= PIPELINED; id++) ask(id)
  expect(socket.destroyed).toBe(false)
  ask(-1)
  expect(socket.destroyed).toBe(true)
  first()
  expect(begun).toEqual([0])
})
