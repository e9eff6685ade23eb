// Images of operating systems that come from an address whose server is slow, endless, or sends elsewhere.
import * as fs from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { IMAGE_PACE } from '../../../../src/model/limits/node'
import { writeImage } from '../../../../src/node/storage/image'
import { eventually } from '../../../support/faults'
import { testNode, type TestNode } from '../../../support/node-context'
import { SteppedClock } from '../../../support/stepped-clock'

const MIB = 1 << 20
const clock = new SteppedClock()

let node: TestNode
let disk: string
let server: http.Server
let url: string
let answer: (response: http.ServerResponse, path: string) => void

beforeEach(async () => {
  node = testNode('node1.example.com', { clock })
  disk = node.put('/srv/ganeti/file-storage/inst1.example.com/d', '-'.repeat(4 * MIB))
  server = http.createServer((request, response) => answer(response, String(request.url)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  node.remove()
})

const write = (size_mib: number, more = {}) => {
  const logical_id = ['loop', '/srv/ganeti/file-storage/inst1.example.com/d']
  const target = { dev_type: 'file', uuid: 'u', size: 4, params: {}, logical_id, iv_name: 'disk/0' }
  return writeImage({ ...node.context, ...more }, target, `${url}/image`, size_mib)
}
const written = () => fs.readFileSync(disk, 'utf8').lastIndexOf('x') + 1

test('a server that sends a byte now and then is given up', async () => {
  const begun = new Promise<void>((resolve) => {
    answer = (response) => void response.write('x', () => resolve())
  })
  const ended = expect(write(4)).rejects.toThrow(
    `Image '${url}/image' cannot be read: less than ${IMAGE_PACE.bytes} bytes came in ${IMAGE_PACE.seconds} seconds`,
  )
  await begun
  await clock.pass(IMAGE_PACE.seconds)
  await ended
})

test('one that is slow but goes on is waited for', async () => {
  let more = (_text: string, _end?: boolean): void => undefined
  answer = (response) => {
    more = (text, end) => void (end === true ? response.end(text) : response.write(text))
    more('x'.repeat(2 * MIB))
  }
  const ended = write(4)
  await eventually('the first half', () => written() === 2 * MIB || undefined)
  await clock.pass(IMAGE_PACE.seconds)
  more('x'.repeat(2 * MIB), true)
  await ended
  expect(written()).toBe(4 * MIB)
})

test('no more is read of one that never ends than there is room for', async () => {
  const closed = new Promise<void>((resolve) => {
    answer = (response) => {
      const send = (): void =>
        void (
          response.destroyed || (response.write('x'.repeat(MIB)) ? setImmediate(send) : response.once('drain', send))
        )
      response.on('close', () => resolve())
      send()
    }
  })
  await write(2)
  await closed
  expect(written()).toBe(2 * MIB)
})

test('nothing is fetched for a caller that has left', async () => {
  const begun = new Promise<void>((resolve) => {
    answer = (response) => void response.write('x', () => resolve())
  })
  const caller = new AbortController()
  const ended = expect(write(4, { caller: caller.signal })).rejects.toThrow('the caller is gone')
  await begun
  caller.abort()
  await ended
})

test.each([
  ['a file', 'file:///etc/passwd'],
  ['itself', '/image'],
])('a server that sends on to %s is not followed for ever', async (_, location) => {
  let requested = 0
  answer = (response) => void response.writeHead(302, { location }).end(String(requested++))
  await expect(write(4)).rejects.toThrow(`Image '${url}/image' cannot be read: `)
  expect(requested).toBeLessThan(50)
  expect(written()).toBe(0)
})
