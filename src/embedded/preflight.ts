// Finds problems that would make a start fail later, with one clear line for each.
import { errorText } from '../lib/system-failure'
import { createSocket } from 'node:dgram'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { errorCode } from '../lib/disk'
import type { Place, Role } from '../roles/role'
import { ROLES } from '../roles/table'
import type { Settings } from './layout'
import { UsageError } from './options'

/**
 * Makes the root folder. Returns whether it was made now. Makes one folder at a time, because Node's recursive mkdir never ends in places
 * like /proc, and elsewhere gives no reason.
 */
export function makeRoot(root: string): boolean {
  try {
    const exists = fs.existsSync(root)
    if (exists) fs.accessSync(`${root}/.`, fs.constants.W_OK)
    else {
      makeRoot(path.dirname(root))
      fs.mkdirSync(root, { mode: 0o755 })
    }
    return !exists
  } catch (error) {
    if (error instanceof UsageError) throw error
    const why = errorText(error)
    throw new UsageError(`nothing can be kept in ${root} (${why}); name a --root that you may write`)
  }
}

/**
 * The ports without which there is no cluster, or also those of its parts: a node starts without a part, and says which. A daemon that
 * runs on demand opens no port, since guests of virtual nodes reach metad by sockets.
 */
export async function checkPorts(settings: Settings, { parts = false } = {}): Promise<void> {
  const roles: readonly Role[] = ROLES
  const here = roles.filter(
    ({ nodes, place, part }) =>
      nodes !== (settings.simulated ? 'real' : 'simulated') && place !== 'demand' && (parts || part === undefined),
  )
  const desired = here.flatMap(({ place, port }) =>
    port === undefined ? [] : addressesOf(place, settings).map((address) => [address, port] as const),
  )
  await Promise.all(desired.map(([address, port]) => checkPort(address, port)))
}

/** The addresses to check. The master's ports are used at the first node's address and at the cluster's. */
function addressesOf(place: Place, { nodes, clusterAddress }: Settings): string[] {
  const addresses = nodes.map(({ address }) => address)
  return place === 'master' ? [...addresses.slice(0, 1), clusterAddress] : addresses
}

async function checkPort(address: string, { protocol, number: port }: NonNullable<Role['port']>): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      if (protocol === 'tcp') {
        const server = net.createServer().once('error', reject)
        return server.listen(port, address, () => server.close(() => resolve()))
      }
      const socket = createSocket('udp4').once('error', reject)
      return socket.bind(port, address, () => socket.close(resolve))
    })
  } catch (error) {
    const code = errorCode(error)
    const advice = 'choose other addresses with --base-address, such as 127.0.2.0'
    if (code === 'EADDRNOTAVAIL') throw new UsageError(`this machine has no address ${address}; ${advice}`)
    throw new UsageError(`${errorText(error)}, or ${advice}`)
  }
}
