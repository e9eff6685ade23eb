// Processes tell their own figures over a socket, to a reader who trusts none of them.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../src/lib/clock'
import { readMetrics, serveMetrics } from '../../../src/lib/self-metrics'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-figures-'))
const socket = path.join(folder, 'x.figures')
afterAll(() => fs.rmSync(folder, { recursive: true }))

const read = (limit_s = 60) => readMetrics(socket, systemClock, limit_s)

/** What a wrong end says. */
async function against(answer: (connection: net.Socket) => unknown, limit_s?: number): Promise<unknown> {
  const connections: net.Socket[] = []
  const server = net.createServer((connection) => {
    connections.push(connection)
    answer(connection)
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  try {
    return await read(limit_s).catch((error: unknown) => (error instanceof Error ? error.message : error))
  } finally {
    for (const connection of connections) connection.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
}

test('a process tells its figures as they are then, over a socket that one before it has left, too', async () => {
  expect(await read()).toBeUndefined()
  let jobs = 1
  const first = await serveMetrics(socket, () => ({ jobs: jobs++ }))
  expect([await read(), await read()]).toEqual([{ jobs: 1 }, { jobs: 2 }])
  first.close()
  fs.writeFileSync(socket, '')
  const second = await serveMetrics(socket, () => ({ jobs: 7 }))
  expect(await read()).toEqual({ jobs: 7 })
  second.close()
  expect(await read()).toBeUndefined()
})

test('who says nothing in time, too much, or no figures is refused', async () => {
  expect(await against(() => undefined, 0.05)).toBe('no answer within 0.05 s')
  expect(await against((connection) => connection.write('1'.repeat(5000)))).toBe('it says too much')
  expect(await against((connection) => connection.end('[1]'))).toBe('it tells no figures')
  expect(await against((connection) => connection.end('no'))).toBe('it tells no figures')
  expect(await against((connection) => connection.end('{"a":1,"b":"x"}'))).toEqual({ a: 1 })
})
