// Resolves host names, and checks whether something answers at an address.
import * as dgram from 'node:dgram'
import * as dns from 'node:dns/promises'
import * as net from 'node:net'
import { errorText } from '../system-failure'

export async function resolveHost(name: string, family: 0 | 4 | 6 = 0): Promise<{ ip: string } | { error: string }> {
  // Node's resolver returns no address for it, but no error either.
  if (name === '') return { error: 'an empty name is the name of nothing' }
  try {
    return { ip: (await dns.lookup(name, family)).address }
  } catch (error) {
    return { error: errorText(error) }
  }
}

interface Resolver {
  address(name: string, family: 0 | 4 | 6): Promise<{ ip: string } | { error: string }>
  /** The name of an address; rejects when it has none. */
  nameOf(ip: string): Promise<string>
}

const systemResolver: Resolver = {
  address: resolveHost,
  nameOf: async (ip) => (await dns.lookupService(ip, 0)).hostname,
}

/** The address of a name, and its full name: the resolver's name for that address, or the given name. */
export async function resolveFully(
  name: string,
  family: 0 | 4 | 6 = 0,
  resolver = systemResolver,
): Promise<{ ip: string; name: string } | { error: string }> {
  const found = await resolver.address(name, family)
  if ('error' in found) return found
  const called = net.isIP(name) > 0 ? name : await resolver.nameOf(found.ip).catch(() => name)
  // Without a name the resolver returns the address, and every machine calls itself localhost.
  const isNone = net.isIP(called) > 0 || /^localhost(\.|$)/i.test(called)
  return { ip: found.ip, name: (isNone ? name : called).toLowerCase().replace(/\.$/, '') }
}

/** A refused connection is an answer too: the address is in use. */
export const answersTcp = (ip: string, port: number, timeout_s: number): Promise<boolean> =>
  connects({ host: ip, port, timeout: timeout_s * 1000 }, true)

/** Whether somebody listens, seen from an address of this machine. */
export const servesTcp = (ip: string, port: number, timeout_s: number, source?: string): Promise<boolean> =>
  connects(
    { host: ip, port, timeout: timeout_s * 1000, ...(source === undefined ? {} : { localAddress: source }) },
    false,
  )

function connects(options: net.TcpNetConnectOpts, refused: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(options)
    const end = (answered: boolean) => {
      socket.destroy()
      resolve(answered)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', (error: NodeJS.ErrnoException) => end(refused && error.code === 'ECONNREFUSED'))
  })
}

/** Whether an address belongs to this machine: only then a socket can bind it. */
export function ownsAddress(ip: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket(net.isIPv6(ip) ? 'udp6' : 'udp4')
    socket.once('error', () => socket.close(() => resolve(false)))
    socket.bind(0, ip, () => socket.close(() => resolve(true)))
  })
}
