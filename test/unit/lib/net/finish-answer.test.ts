// The rest of a refused body is not read for ever.
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { finishAnswer } from '../../../../src/lib/net/finish-answer'
import { SteppedClock } from '../../../support/stepped-clock'

const PIECES = 12_000

test('a refused body is dropped no further when it comes in far too many pieces', async () => {
  const server = createServer()
  const outcome = new Promise<string>((resolve) => {
    server.on('request', (request, response) => {
      let read = 0
      request.on('data', (chunk: Buffer) => {
        read += chunk.length
        if (read === PIECES) resolve('all was read')
      })
      response.writeHead(401, { 'Content-Length': 2 })
      const bounds = { bytes: 1 << 20, seconds: 10 }
      void finishAnswer(response, Buffer.from('no'), new SteppedClock(), bounds).then(() => resolve('it was given up'))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined).resume()
  client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  client.write('1\r\n \r\n'.repeat(PIECES))
  expect(await outcome).toBe('it was given up')
  client.destroy()
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
