// How much of an answer is read: a node that is broken, or in the hands of somebody else, cannot take the memory of its master.
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as http from 'node:http'
import * as os from 'node:os'
import * as path from 'node:path'
import { ReadingRoom } from '../../../../src/lib/net/reading-room'
import { ALLOCATOR_OUTPUT_BYTES_MAX } from '../../../../src/model/limits/node'
import {
  NODE_ANSWER_BYTES,
  NODE_ANSWER_BYTES_PER_VALUE,
  NODE_ANSWERS_BYTES_MAX,
} from '../../../../src/model/limits/node-calls'
import { CALL_DEPTH_MAX } from '../../../../src/model/limits/wires'
import { type CallName, callOf, nodeCalls } from '../../../../src/rpc/node/calls'
import { type Endpoint, exchange } from '../../../../src/rpc/node/exchange'
import { decodeAnswer } from '../../../../src/rpc/node/protocol'
import { SteppedClock } from '../../../support/stepped-clock'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-bounds-'))
const socketPath = path.join(folder, 'node')
const agent = new http.Agent()
const endpoint: Endpoint = { agent, socketPath, headers: {} }
const PIECE = Buffer.alloc(64 << 10, ' ')
let sent = 0

/** Answers some calls, and never stops to answer anything else. */
const answers: Partial<Record<string, string>> = {
  '/drbd_helper': '[true, "x"]',
  '/export_list': `[true, [${'[],'.repeat(NODE_ANSWER_BYTES.long / 4)}[]]]`,
  '/vg_list': `[true, ${'['.repeat(NODE_ANSWER_BYTES.usual / 4)}${']'.repeat(NODE_ANSWER_BYTES.usual / 4)}]`,
}
const server = http.createServer((request, response) => {
  const answer = answers[String(request.url)]
  if (answer !== undefined) return void response.end(answer)
  const flood = () => {
    while (!response.destroyed) {
      sent += PIECE.length
      if (!response.write(PIECE)) return void response.once('drain', flood)
    }
  }
  response.on('error', () => undefined).writeHead(200)
  flood()
})

beforeAll(async () => {
  server.listen(socketPath)
  await once(server, 'listening')
})
afterAll(async () => {
  agent.destroy()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  fs.rmSync(folder, { recursive: true })
})

const ask = (call: CallName, room?: ReadingRoom) =>
  exchange(endpoint, call, '[]', 3600, new SteppedClock(), () => Promise.resolve(true), room)

test.each<[CallName, number]>([
  ['version', NODE_ANSWER_BYTES.usual],
  ['instance_list', NODE_ANSWER_BYTES.long],
])('an endless answer to %s is read up to the bound of this call, which the error names', async (call, bound) => {
  sent = 0
  await expect(ask(call)).rejects.toThrow(`the answer of ${socketPath} to ${call} is longer than the ${bound} bytes`)
  // What the sockets of both ends hold is sent in vain.
  expect(sent).toBeLessThan(bound + (4 << 20))
})

test.each<[CallName, number]>([
  ['export_list', NODE_ANSWER_BYTES.long],
  ['vg_list', NODE_ANSWER_BYTES.usual],
])(
  'an answer to %s of short values, which take many times the memory of their text, is not parsed',
  async (call, bound) => {
    const values = bound / NODE_ANSWER_BYTES_PER_VALUE
    await expect(ask(call)).rejects.toThrow(`the answer of ${socketPath} to ${call} has more than the ${values} values`)
  },
)

test('an answer may be nested as deep as a call', () => {
  const nested = (levels: number) => `[true, ${'['.repeat(levels)}${']'.repeat(levels)}]`
  expect(decodeAnswer(nested(CALL_DEPTH_MAX - 1)).ok).toBe(true)
  expect(() => decodeAnswer(nested(CALL_DEPTH_MAX))).toThrow('the answer is nested deeper than 200 levels')
})

test('all answers together have a bound: the longest is given up, and the others get through', async () => {
  const room = new ReadingRoom(2 << 20)
  const floods = [ask('instance_list', room), ask('lv_list', room)]
  const reported = await Promise.allSettled([...floods, ask('drbd_helper', room)])
  expect(reported.at(-1)).toMatchObject({ status: 'fulfilled', value: { text: '[true, "x"]' } })
  const failures = reported.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
  expect(failures).toHaveLength(2)
  expect(failures.join()).toContain('was given up: it is the longest of messages that have more than 2097152 bytes')
})

test('room is given back, however a message ends', () => {
  const room = new ReadingRoom(10)
  const givenUp: string[] = []
  const enter = (name: string) => room.enter(() => void givenUp.push(name))
  const [one, two] = [enter('one'), enter('two')]
  one.grow(6)
  two.grow(4)
  expect(givenUp).toEqual([])
  two.grow(1)
  expect(givenUp).toEqual(['one'])
  one.grow(100)
  two.grow(5)
  two.leave()
  enter('three').grow(10)
  expect(givenUp).toEqual(['one'])
})

test('the longest answer that is meant to come fits, and few calls have a large bound', () => {
  const large = Object.keys(nodeCalls).filter((name) => callOf(name as CallName).answer_bytes > NODE_ANSWER_BYTES.long)
  expect(large).toEqual(['iallocator_runner'])
  expect(NODE_ANSWER_BYTES.allocation).toBeGreaterThan(ALLOCATOR_OUTPUT_BYTES_MAX)
  expect(NODE_ANSWERS_BYTES_MAX).toBeGreaterThan(NODE_ANSWER_BYTES.allocation)
})
