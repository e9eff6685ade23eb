// A call that waits for its answer, and a node that loses its power meanwhile: its connection tells nothing of that.
import { once } from 'node:events'
import * as https from 'node:https'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { NODE_REACH_S } from '../../../../src/model/limits/node-calls'
import { exchange } from '../../../../src/rpc/node/exchange'
import { SteppedClock } from '../../../support/stepped-clock'

const HOUR_S = 3600
const sockets: Socket[] = []
const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
const agent = new https.Agent()
let endpoint: { agent: https.Agent; host: string; port: number; headers: Record<string, string> }

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endpoint = { agent, host: '127.0.0.1', port: (server.address() as AddressInfo).port, headers: {} }
})
afterAll(async () => {
  agent.destroy()
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
})

/** Once the call has reached the node, which will say nothing. */
async function reached(): Promise<void> {
  const [socket] = (await once(server, 'connection')) as [Socket]
  await once(socket, 'data')
}

test('it fails soon after the node can no longer be reached', async () => {
  const clock = new SteppedClock()
  const probes = [true, false, true, false, false]
  const waiting = exchange(endpoint, 'drbd_wait_sync', '[]', HOUR_S, clock, () =>
    Promise.resolve(probes.shift() ?? true),
  )
  const failed = expect(waiting).rejects.toThrow('no connection within 5 s any more')
  await reached()
  for (let at = 0; at < 3; at++) await clock.pass(NODE_REACH_S)
  await failed
  // One look that fails may be a mistake.
  expect(probes).toEqual([])
})

test('it goes on waiting for a node that answers slowly, and looks no more once it ended', async () => {
  const clock = new SteppedClock()
  let probes = 0
  const waiting = exchange(endpoint, 'drbd_wait_sync', '[]', 100, clock, () => Promise.resolve(++probes > 0))
  const failed = expect(waiting).rejects.toThrow('no answer within 100 s')
  await reached()
  for (let at = 0; at < 8; at++) await clock.pass(NODE_REACH_S)
  await failed
  const before = probes
  for (let at = 0; at < 3; at++) await clock.pass(NODE_REACH_S)
  expect(probes).toBe(before)
  expect(before).toBeGreaterThan(3)
})
