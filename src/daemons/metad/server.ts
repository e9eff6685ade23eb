// The metadata daemon: an instance asks it over plain HTTP about itself. Everybody else gets 404. An instance is
// recognized by the address of its communication NIC, or by the Unix socket that only its own machine has. noded
// supplies the data.
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve, type Served } from '../../http/serve'
import type { AccessLevel } from '../../lib/access-level'
import type { Clock } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import { METAD_CONNECTIONS_MAX, METAD_FRAME_BYTES_MAX, METAD_HTTP_LIMITS } from '../../model/limits/metad'
import { serveCalls } from '../../rpc/json-protocol'
import { metadHandlers } from '../../rpc/metad/calls'
import { type MetadApiOptions, REFUSAL_WORDS } from './api'
import { metadApplication } from './application'
import type { NodeFiles } from './context'
import { Instances } from './instances'
import { Relays } from './relays'

export interface MetadOptions {
  readonly paths: Pick<Paths, 'socket' | 'socketDir' | 'metadataDir' | 'metadataSocketDir'>
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  readonly files: Files
  readonly disk: Disk
  readonly node: NodeFiles
  readonly accessLog: AccessLevel
  readonly addresses: readonly string[]
  /** An address that the node may get later: the door retries until then. */
  readonly lateAddress?: string
  /** 0 chooses a free port. */
  readonly port: number
  /** Whether a connection from this address can only come from its instance, because answers reach nobody else. */
  readonly isOwn: (address: string) => Promise<boolean>
}

export interface RunningMetad {
  readonly addresses: readonly AddressInfo[]
  close(): Promise<void>
}

export async function startMetad(options: MetadOptions): Promise<RunningMetad> {
  const { paths, disk, clock, log, addresses, lateAddress, isOwn } = options
  const relays: Relays = new Relays({
    ...{ disk, log, folder: paths.metadataSocketDir },
    open: (path, address) => openDoor(options, [path], () => Promise.resolve(instances.at(address))),
  })
  const onAddresses = (known: readonly string[]) => relays.follow(known)
  const instances = new Instances({ disk, clock, log, folder: paths.metadataDir, onAddresses })
  await disk.makeDirectory(paths.socketDir)
  await instances.load()
  const calls = await serveCalls(
    {
      ...{ path: paths.socket('metad'), mode: 0o600, log },
      ...{ maxFrame: METAD_FRAME_BYTES_MAX, maxConnections: METAD_CONNECTIONS_MAX },
    },
    metadHandlers({
      echo: (text) => Promise.resolve(text),
      updateConfig: (instance) => instances.update(instance),
      gantryShow: (instance) => instances.show(instance),
      gantryForget: (name) => instances.forget(name),
    }),
  )
  /** Headers do not count: a client behind a proxy has the proxy's address. */
  const whoAsks = async ({ socket }: IncomingMessage) => {
    const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
    const guest = instances.at(address)
    return guest !== undefined && (await isOwn(address)) ? guest : undefined
  }
  const door = await openDoor(options, addresses, whoAsks, lateAddress)
  return {
    addresses: door.addresses,
    async close() {
      await calls.close()
      await door.close()
      await relays.close()
      instances.close()
    },
  }
}

function openDoor(
  { log, clock, random, files, accessLog, port, node }: MetadOptions,
  addresses: readonly string[],
  whoAsks: MetadApiOptions['whoAsks'],
  lateAddress?: string,
): Promise<Served> {
  return serve({
    ...{ addresses, port, log, clock, random, files, limits: METAD_HTTP_LIMITS, words: REFUSAL_WORDS },
    application: metadApplication({ log, clock, files, accessLog, node, whoAsks }),
    ...(lateAddress !== undefined && { lateAddress }),
  })
}
