// The stream between two nodes: mutual TLS, with a magic value before the data and maybe a compression tool around both, as
// Ganeti's import/export daemon sends it through socat. One end may therefore be Ganeti's.
import type { spawn } from 'node:child_process'
import { errorText } from '../../lib/system-failure'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import * as tls from 'node:tls'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import { TRANSFER_CONNECT_PAUSE_S } from '../../model/limits/transfers'
import type { TransferSpec } from './spec'
import type { TransferStatus } from './status'

export interface Surroundings {
  readonly clock: Clock
  readonly files: Files
  /** Starts the programs of the stream. */
  readonly spawn: typeof spawn
}

/** Notices a node that died silently, even if nothing is sent for long. */
const KEEP_ALIVE_MS = 60_000

/** Listens until one caller has shown a certificate of the other end. */
export async function accept(
  spec: TransferSpec,
  status: TransferStatus,
  { clock, files }: Surroundings,
): Promise<tls.TLSSocket> {
  const server = tls.createServer({ ...credentials(files, spec), requestCert: true, rejectUnauthorized: true })
  server.on('tlsClientError', (error, socket) => {
    status.say(`a connection was refused: ${error.message}`)
    socket.destroy()
  })
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

/** The importing end may need a moment until it listens, so a failure is retried. */
export async function connect(
  spec: TransferSpec,
  status: TransferStatus,
  { clock, files }: Surroundings,
): Promise<tls.TLSSocket> {
  for (let left = spec.connectRetries; ; left--) {
    try {
      return await connectOnce(spec, clock, files)
    } catch (error) {
      if (left <= 0) throw error
      status.say(`cannot connect, trying again: ${errorText(error)}`)
      await clock.sleep(TRANSFER_CONNECT_PAUSE_S * 1000)
    }
  }
}

async function connectOnce(spec: TransferSpec, clock: Clock, files: Files): Promise<tls.TLSSocket> {
  const { host, port } = spec
  // The other end is recognized by its certificate, not by its name.
  const socket = tls.connect({
    ...credentials(files, spec),
    host,
    port: port ?? 0,
    checkServerIdentity: () => undefined,
  })
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

const credentials = (files: Files, { keyFile, certFile, ca }: TransferSpec) => ({
  key: files.readFileSync(keyFile),
  cert: files.readFileSync(certFile),
  ca,
  minVersion: 'TLSv1.2' as const,
})
