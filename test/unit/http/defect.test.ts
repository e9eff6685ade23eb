// Whoever asks gets an answer, also when the code that should give it fails.
import * as net from 'node:net'
import { once } from 'node:events'
import { serve, type Served } from '../../../src/http/serve'
import { showSite } from '../../../src/http/show-site'
import { systemClock as clock } from '../../../src/lib/clock'
import { systemFiles as files, type Files } from '../../../src/lib/files'
import { openLog } from '../../../src/lib/log'
import { systemRandom as random } from '../../../src/lib/random'
import { createApplication, type Middleware } from '../../../src/http/application'
import { HTTP_LIMITS } from '../../../src/model/limits/http'

let door: Served
let lines: string[]
afterEach(() => door.close())

const words = { type: 'text/plain', body: ({ message }: { message: string }) => Buffer.from(message) }

async function open(part: Middleware): Promise<void> {
  lines = []
  const log = openLog({ write: (line) => void lines.push(line) })
  const reported = { addresses: ['127.0.0.1'], port: 0, limits: HTTP_LIMITS, words }
  door = await serve({ ...reported, files, log, clock, random, application: createApplication().use(part) })
}

/** All that a connection says after these requests. */
async function say(...paths: string[]): Promise<string> {
  const socket = net.connect(door.addresses[0]?.port ?? 0, '127.0.0.1')
  let said = ''
  socket.setEncoding('utf8').on('data', (text: string) => (said += text))
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
  await once(socket, 'close')
  return said
}

test.each<[how: string, part: Middleware]>([
  ['rejects', () => Promise.reject(new Error('a defect'))],
  [
    'throws',
    () => {
      throw new Error('a defect')
    },
  ],
])('a part that %s: the client gets 500, and the log has the stack', async (_, part) => {
  await open(part)
  expect(await say('/where?token=secret')).toMatch(
    /^HTTP\/1.1 500 [^]*\r\n\r\nInternal error; the log of this daemon has the details$/,
  )
  expect(lines.join('')).toMatch(/"message":"a defect","stack":[^]*a request was not answered because of a defect/)
  expect(lines.join('')).not.toContain('secret')
})

test('a client that already has the beginning of an answer is disconnected', async () => {
  await open(async (_, response) => {
    response.writeHead(200).write('the beginning')
    await Promise.reject(new Error('a defect'))
  })
  expect(await say('/')).toContain('the beginning')
})

test('a file of the console that cannot be read is told, whatever the reason', async () => {
  const full = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' })
  const broken = { ...files, readFile: () => Promise.reject(full) } as unknown as Files
  await open(showSite({ folder: '/nowhere', files: broken, random }))
  expect(await say('/ui/')).toMatch(/^HTTP\/1.1 500 [^]*too many/i)
})
