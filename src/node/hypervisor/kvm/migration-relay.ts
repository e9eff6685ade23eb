// A separate program that carries the connections of one side of a migration between its QEMU and the other node, with TLS. QEMU itself
// would wait for a stranger's handshake in its main thread, and its guest with it. And it would need the cluster's key, in a process that
// its guest may break out to. It runs on while the node daemon is down, and ends with the last connection.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as tls from 'node:tls'
import { once } from 'node:events'
import { systemClock as clock } from '../../../lib/clock'
import { errorText } from '../../../lib/system-failure'
import { clusterTls } from '../../../lib/tls'
import {
  RELAY_CONNECT_S,
  RELAY_CONNECTIONS_MAX,
  RELAY_KEEP_ALIVE_S,
  RELAY_LINES_MAX,
  RELAY_WAIT_S,
} from '../../../model/limits/hypervisor'
import type { MigrationSideName } from '../../../rpc/node/dicts'

/** This file, as a program for Node, with the instance's name and the folder of QEMU's socket. */
export const relayProgram = __filename

export interface RelaySpec {
  readonly side: MigrationSideName
  /** The name of QEMU's socket. The paths of such sockets must be short, so both sides use it within its folder. */
  readonly socket: string
  /** Here the target listens. */
  readonly address: string
  readonly port: number
  /** The file with the cluster's certificate. */
  readonly certificate: string
}

/** What the relay tells the node daemon: undefined if it listens, otherwise why it cannot. */
export interface RelayReady {
  readonly problem?: string
}

type Secure = ReturnType<typeof clusterTls>

const open = new Set<net.Socket>()
let lines = 0

/** Strangers can cause it, so it ends. */
function say(text: string): void {
  if (lines++ < RELAY_LINES_MAX) process.stderr.write(`${text}\n`)
}

async function serve({ side, socket, address, port, certificate }: RelaySpec): Promise<void> {
  const secure = clusterTls(fs.readFileSync(certificate))
  const reached = () => reach(secure, address, port)
  const server = side === 'target' ? fromAfar(secure, socket) : fromQemu(reached, await reached())
  // A silent caller has a place for the time of a handshake.
  server.maxConnections = RELAY_CONNECTIONS_MAX
  server.listen(side === 'target' ? { host: address, port } : { path: socket })
  await once(server, 'listening')
  server.on('error', (error) => say(errorText(error)))
  clock.after(RELAY_WAIT_S * 1000, () => open.size === 0 && process.exit(0))
}

function fromAfar(secure: Secure, path: string): net.Server {
  const timeout = { handshakeTimeout: RELAY_CONNECT_S * 1000, allowHalfOpen: true }
  const server = tls.createServer({ ...secure, ...timeout }, (far) =>
    join(far, net.connect({ path, allowHalfOpen: true })),
  )
  return server.on('tlsClientError', (error, socket) => {
    say(`a connection was refused: ${error.message}`)
    // Node leaves it open when the time for the handshake is over.
    socket.destroy()
  })
}

/**
 * The first connection to the other node is there before QEMU makes its own: a QEMU that goes on with a migration does not get over an end
 * of its connection. It tells its connections apart by their order.
 */
function fromQemu(reached: () => Promise<tls.TLSSocket>, first: tls.TLSSocket): net.Server {
  let next: Promise<tls.TLSSocket> | undefined = Promise.resolve(first)
  let former: Promise<unknown> = next
  return net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    near.on('error', () => near.destroy())
    const far = next ?? former.then(reached)
    next = undefined
    former = far
      .then((one) => join(one, near))
      .catch((error: unknown) => {
        say(`the other node cannot be reached: ${errorText(error)}`)
        near.destroy()
        endIfIdle()
      })
  })
}

async function reach(secure: Secure, host: string, port: number): Promise<tls.TLSSocket> {
  // The other side is recognized by the cluster's certificate, not by its name.
  const place = { host, port, allowHalfOpen: true, checkServerIdentity: () => undefined }
  const far = tls.connect({ ...secure, ...place } as tls.ConnectionOptions)
  far.on('error', (error) => say(errorText(error)))
  const late = clock.after(RELAY_CONNECT_S * 1000, () => far.destroy(new Error('no answer')))
  try {
    await once(far, 'secureConnect')
    return far
  } finally {
    late.cancel()
  }
}

function join(far: tls.TLSSocket, near: net.Socket): void {
  if (far.destroyed) return void near.destroy()
  far.setKeepAlive(true, RELAY_KEEP_ALIVE_S * 1000).setNoDelay(true)
  for (const [from, to] of [
    [far, near],
    [near, far],
  ] as const) {
    open.add(from)
    from.once('error', (error) => {
      say(errorText(error))
      to.destroy()
    })
    from.once('close', () => {
      // What has ended in order is still sent.
      if (!from.readableEnded) to.destroy()
      open.delete(from)
      endIfIdle()
    })
    from.pipe(to)
  }
}

function endIfIdle(): void {
  if (open.size === 0) process.exit(0)
}

if (require.main === module) {
  const [, folder = '.'] = process.argv.slice(2)
  process.chdir(folder)
  process.once('message', (spec: RelaySpec) => {
    serve(spec).then(
      () => process.send?.({} satisfies RelayReady, () => process.disconnect()),
      (error: unknown) => process.send?.({ problem: errorText(error) } satisfies RelayReady, () => process.exit(1)),
    )
  })
}
