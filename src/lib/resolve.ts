// Host names to addresses, and whether something answers at one.
import * as dns from 'node:dns/promises'
import * as net from 'node:net'

export async function resolveHost(name: string): Promise<{ ip: string } | { error: string }> {
  try {
    return { ip: (await dns.lookup(name)).address }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** A refused connection is an answer too: the address is in use. */
export function answersTcp(ip: string, port: number, timeout_s: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: ip, port, timeout: timeout_s * 1000 })
    const end = (answered: boolean) => {
      socket.destroy()
      resolve(answered)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'))
  })
}
