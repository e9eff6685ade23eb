import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { finishAnswer } from '../../../src/lib/finish-answer'
import { SteppedClock } from '../../support/stepped-clock'

test('a refused body is dropped no further when it comes in far too many pieces', async () => {
  const clock = new SteppedClock()
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'Content-Length': 2 })
    void finishAnswer(response, Buffer.from('no'), clock, { bytes: 1 << 20, seconds: 10 })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined).resume()
  client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  client.write('1\r\n \r\n'.repeat(12_000))
  await new Promise<void>((resolve) => client.once('close', () => resolve()))
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
