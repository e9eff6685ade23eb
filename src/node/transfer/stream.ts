// The stream between two nodes: mutual TLS, with a magic value before the data and maybe a compression tool around both, as
// Ganeti's import/export daemon sends it through socat. One end may therefore be Ganeti's.
import { errorText } from '../../lib/system-failure'
import { once } from 'node:events'
import * as fs from 'node:fs'
import type { AddressInfo } from 'node:net'
import * as tls from 'node:tls'
import type { Clock } from '../../lib/clock'
import { TRANSFER_CONNECT_PAUSE_S } from '../../model/limits/transfers'
import type { TransferSpec } from './spec'
import type { TransferStatus } from './status'

/** A node that died without a word is noticed, though nothing may be sent for long. */
const KEEP_ALIVE_MS = 60_000

/** Listens until one caller has shown a certificate of the other end. */
export async function accept(spec: TransferSpec, status: TransferStatus, clock: Clock): Promise<tls.TLSSocket> {
  const server = tls.createServer({ ...credentials(spec), requestCert: true, rejectUnauthorized: true })
  server.on('tlsClientError', (error) => status.say(`a connection was refused: ${error.message}`))
  // Before anybody can connect, so that no connection is missed.
  const connection = once(server, 'secureConnection')
  connection.catch(() => undefined)
  server.listen(0, spec.bind)
  await once(server, 'listening')
  status.listening((server.address() as AddressInfo).port)
  const late = clock.after(spec.connectTimeout_s * 1000, () =>
    server.emit('error', new Error(`no connection was established in time (${spec.connectTimeout_s}s)`)),
  )
  try {
    const [socket] = (await connection) as [tls.TLSSocket]
    return socket.setKeepAlive(true, KEEP_ALIVE_MS)
  } finally {
    late.cancel()
    server.close()
  }
}

/** The importing end may need a moment until it listens, so a failure is tried again. */
export async function connect(spec: TransferSpec, status: TransferStatus, clock: Clock): Promise<tls.TLSSocket> {
  for (let left = spec.connectRetries; ; left--) {
    try {
      return await connectOnce(spec, clock)
    } catch (error) {
      if (left <= 0) throw error
      status.say(`cannot connect, trying again: ${errorText(error)}`)
      await clock.sleep(TRANSFER_CONNECT_PAUSE_S * 1000)
    }
  }
}

async function connectOnce(spec: TransferSpec, clock: Clock): Promise<tls.TLSSocket> {
  const { host, port } = spec
  // The other end is known by its certificate, not by its name.
  const socket = tls.connect({ ...credentials(spec), host, port: port ?? 0, checkServerIdentity: () => undefined })
  const late = clock.after(spec.connectTimeout_s * 1000, () =>
    socket.destroy(new Error(`${host}:${port} did not answer in ${spec.connectTimeout_s}s`)),
  )
  try {
    await once(socket, 'secureConnect')
    return socket.setKeepAlive(true, KEEP_ALIVE_MS)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    late.cancel()
  }
}

const credentials = ({ keyFile, certFile, ca }: TransferSpec) => ({
  key: fs.readFileSync(keyFile),
  cert: fs.readFileSync(certFile),
  ca,
  minVersion: 'TLSv1.2' as const,
})
