// An address that somebody else still has: a door takes it when it is free, and lets it go when it closes.
import { createServer, type Server } from 'node:net'
import { type Served, serve } from '../../../src/http/serve'
import { type Clock, systemClock } from '../../../src/lib/clock'
import { systemFiles as files } from '../../../src/lib/files'
import { silentLog as log } from '../../../src/lib/log'
import { systemRandom as random } from '../../../src/lib/random'
import { HTTP_LIMITS as limits } from '../../../src/model/limits/http'

const LATE = '127.0.0.2'

const listening = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server: Server = createServer()
      .once('error', reject)
      .listen(port, LATE, () => resolve(server))
  })
const closed = (server: Server) => new Promise((resolve) => server.close(resolve))
const portOf = (server: Server) => (server.address() as { port: number }).port

test('a door that closes while it takes its late address lets it go again', async () => {
  const other = await listening(0)
  const port = portOf(other)
  const rings: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    after(_delay_ms, action) {
      rings.push(action)
      return { cancel: () => undefined }
    },
  }
  let door: Served | undefined
  try {
    door = await serve({
      ...{ addresses: ['127.0.0.1'], lateAddress: LATE, port, files, limits, log, clock, random },
      application: (_request, response) => response.end(),
      words: { type: 'text/plain', body: () => Buffer.alloc(0) },
    })
  } finally {
    await closed(other)
  }
  const [again] = rings
  again?.()
  await door.close()
  await closed(await listening(port))
})
