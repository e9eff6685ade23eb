import { createServer } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { refuse } from '../../../../src/daemons/rapi/refusal'
import { createCertificate } from '../../../../src/lib/tls'

test('a client that does not end its handshake is hung up on', async () => {
  const pem = await createCertificate()
  const server = createServer({ key: pem, cert: pem, handshakeTimeout: 50 })
  server.on('clientError', refuse)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  await new Promise<void>((resolve) => client.resume().once('close', () => resolve()))
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
