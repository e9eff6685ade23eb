// Calls the process that has this node's mirrored disks. Starts it when the first disk begins.
import * as path from 'node:path'
import type { Clock } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { isServed } from '../../lib/net/json-socket'
import { GanetiError } from '../../model/errors'
import { PATH } from '../../model/constants/paths'
import {
  MIRRORS_QUIT_S,
  MIRRORS_START_S,
  MIRROR_ALIVE_S,
  MIRROR_CALL_S,
  MIRROR_GIVE_BACK_S,
  MIRROR_LIST_S,
} from '../../model/limits/mirror'
import { JsonClient, PeerError } from '../../rpc/json-protocol'
import type { NodeContext } from '../context'
import { fail } from '../failure'
import type { Lending } from './handshake'
import type { MirrorStatus } from './server'

export type MirrorPlaces = Pick<NodeContext, 'paths' | 'files' | 'processes' | 'clock' | 'hostname' | 'mirrorProgram'>

type Asking = Pick<MirrorPlaces, 'paths' | 'clock' | 'hostname'>

export const mirrorsSocket = ({ paths }: Pick<MirrorPlaces, 'paths'>): string =>
  path.join(paths.socketDir, 'gantry-mirrors')

const PEER = 'the process of this node that has its mirrored disks'

/** The status of each disk, by minor. Empty if the process does not run. */
export async function mirrorList(places: Asking): Promise<ReadonlyMap<number, MirrorStatus>> {
  const list = () => mirrorCall(places, 'list', {}, 'Cannot list mirrored disks', MIRROR_LIST_S)
  const isThere = await isServed(mirrorsSocket(places))
  return new Map((isThere ? await unlessEnded(places, list, () => []) : []) as [number, MirrorStatus][])
}

/** Starts the process if it does not run. */
export async function beginMirror(places: MirrorPlaces, minor: number, what: string): Promise<void> {
  const begin = async () => {
    await startMirrors(places)
    await mirrorCall(places, 'begin', { minor }, what)
  }
  await unlessEnded(places, begin, begin)
}

/** The process ends after its last disk, perhaps while it has a call. Then it has no disks, and the call has done nothing. */
async function unlessEnded<T>(places: Asking, work: () => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (await isServed(mirrorsSocket(places))) throw error
    return otherwise()
  }
}

export async function mirrorCall(
  places: Asking,
  method: string,
  args: Readonly<Record<string, unknown>>,
  what: string,
  limit_s = MIRROR_CALL_S,
): Promise<unknown> {
  const client = mirrorClient(mirrorsSocket(places), places.clock)
  try {
    return await client.call(method, args, limit_s)
  } catch (error) {
    if (error instanceof GanetiError || error instanceof PeerError)
      fail(`${what} on node ${places.hostname}: ${errorText(error)}`)
    throw error
  } finally {
    client.close()
  }
}

const mirrorClient = (path: string, clock: Clock): JsonClient => new JsonClient({ path, peer: PEER, clock })

export interface Loan {
  readonly socket: string
  readonly minor: number
  readonly how: Lending
}

/** Gives `work` the file with the data. Ends when the other node has got what was written, which may take long. */
export async function withLent<T>(
  clock: Clock,
  { socket, minor, how }: Loan,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const client = mirrorClient(socket, clock)
  try {
    const file = await client.call('lend', { minor, how }, MIRROR_CALL_S)
    const result = await work(String(file))
    await whileAlive(clock, socket, client.call('giveBack', { minor }, MIRROR_GIVE_BACK_S))
    return result
  } finally {
    client.close()
  }
}

/** Rejects if the process hangs meanwhile. */
async function whileAlive(clock: Clock, socket: string, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const look = async () => {
    for (;;) {
      await clock.sleep(MIRROR_ALIVE_S * 1000, over.signal)
      const client = mirrorClient(socket, clock)
      await client.call('list', {}, MIRROR_ALIVE_S).finally(() => client.close())
    }
  }
  await Promise.race([work, look()]).finally(() => over.abort())
}

/** The process survives this daemon. */
async function startMirrors(places: MirrorPlaces): Promise<void> {
  const { files, paths, processes, clock, hostname, mirrorProgram } = places
  const socket = mirrorsSocket(places)
  if (await isServed(socket)) return
  if (mirrorProgram === undefined) fail(`Node ${hostname} has no program for mirrored disks`)
  const log = await files.open(paths.logFile('mirrors'), 'a', 0o600)
  try {
    const started = await processes.start([...mirrorProgram, paths.root, hostname], log.fd)
    started.feed('')
  } finally {
    await log.close()
  }
  const deadline_ms = clock.monotonic_ms() + MIRRORS_START_S * 1000
  while (!(await isServed(socket))) {
    if (clock.monotonic_ms() > deadline_ms)
      fail(`The process for mirrored disks does not start on node ${hostname}: ${paths.logFile('mirrors')} says why`)
    await clock.sleep(20)
  }
}

/** Ends the process, for a node that is switched off. */
export async function stopMirrors(places: Asking): Promise<void> {
  if (await isServed(mirrorsSocket(places)))
    await mirrorCall(places, 'quit', {}, 'Cannot stop the mirrored disks', 2 * MIRRORS_QUIT_S)
}

/** The place where the nodes of one machine find each other's disks. */
export const mirrorAddress = ({ paths }: Pick<MirrorPlaces, 'paths'>, address: string): string =>
  path.join(paths.local(PATH.MIRROR_LINKS_DIR), address)
