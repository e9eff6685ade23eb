// The process that has a node's mirrored disks, as the kernel has those of DRBD. It runs on while the node's daemon is down. It ends when
// it has no disks any more.
import * as path from 'node:path'
import { serveCalls } from '../../rpc/json-protocol'
import type { FramedConnection } from '../../lib/net/json-socket'
import { within } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { Mutex } from '../../lib/work/mutex'
import { GenericError } from '../../model/errors'
import { MIRRORS_IDLE_MS, MIRRORS_MAX, MIRRORS_QUIT_S, MIRROR_CALL_BYTES_MAX } from '../../model/limits/mirror'
import type { Ends, Lending, MirrorParts } from './handshake'
import { MirroredDisk } from './mirror'

/** The state of a disk. */
export type MirrorStatus = MirroredDisk['status']

export interface MirrorsOptions extends MirrorParts {
  /** The socket for calls. */
  readonly socket: string
  /** The folder for the sockets that serve the disks. */
  readonly folder: string
  /** Called when the process has nothing to do any more. */
  end(): void
}

interface Known {
  readonly disk: MirroredDisk
  /** Lets only one change run at a time. */
  readonly turns: Mutex
  /** The connection of the program that has borrowed the file. */
  lender?: FramedConnection
}

export interface Mirrors {
  close(): Promise<void>
}

export async function serveMirrors(options: MirrorsOptions): Promise<Mirrors> {
  const known = new Map<number, Known>()
  const { files, log, clock, socket, folder } = options
  await files.mkdir(folder, { recursive: true, mode: 0o700 })
  const one = (minor: number): Known => known.get(minor) ?? refuse(`minor ${minor} is not configured`)
  const changing =
    (work: (entry: Known, args: Args, connection: FramedConnection) => Promise<unknown>) =>
    async (input: unknown, connection: FramedConnection) => {
      const args = argsOf(input)
      const entry = one(args.minor)
      return (await entry.turns.runExclusive(() => work(entry, args, connection))) ?? null
    }
  const server = await serveCalls(
    { path: socket, mode: 0o600, maxFrame: MIRROR_CALL_BYTES_MAX, log },
    {
      list: () => [...known].map(([minor, { disk }]) => [minor, disk.status]),
      begin(input) {
        const { minor } = argsOf(input)
        if (known.has(minor)) return refuse(`minor ${minor} is in use already`)
        if (known.size >= MIRRORS_MAX) return refuse(`this node has ${MIRRORS_MAX} mirrored disks already`)
        known.set(minor, { disk: new MirroredDisk(options, path.join(folder, `${minor}.sock`)), turns: new Mutex() })
        return null
      },
      attach: changing(async ({ disk }, { data, meta, size_bytes }) => disk.attach({ data, meta }, size_bytes)),
      detach: changing(async ({ disk }) => disk.detach()),
      connect: changing(async ({ disk }, { ends }) => disk.connect(ends)),
      disconnect: changing(async ({ disk }) => disk.disconnect()),
      primary: changing(async ({ disk }, { force }) => disk.promote(force)),
      secondary: changing(async ({ disk }) => disk.demote()),
      resize: changing(async ({ disk }, { size_bytes }) => disk.resize(size_bytes)),
      pause: async (input) => (await one(argsOf(input).minor).disk.pause(argsOf(input).paused)) ?? null,
      lend: changing(async (entry, { how }, connection) => {
        const file = await entry.disk.lend(how)
        entry.lender = connection
        // A dead borrower never returns the file.
        void connection.closed.then(() => takeBackFromDead(entry, connection, log))
        return file
      }),
      giveBack: changing(async (entry, _, connection) => takeBack(entry, connection)),
      down: changing(async ({ disk }, { minor }) => {
        await disk.down()
        known.delete(minor)
        clock.after(MIRRORS_IDLE_MS, () => (known.size === 0 ? options.end() : undefined))
      }),
      /** Works even if a disk is busy. Then it is like a power failure, which loses no confirmed write. */
      async quit() {
        const inTime = await within(clock, MIRRORS_QUIT_S, endAll([...known.values()], log))
        if (inTime === undefined) log.warn({ seconds: MIRRORS_QUIT_S }, 'a disk does not end in time')
        clock.after(0, () => options.end())
        return null
      },
    },
  )
  return {
    async close() {
      await server.close()
    },
  }
}

async function endAll(all: readonly Known[], log: MirrorsOptions['log']): Promise<true> {
  for (const { disk, turns } of all)
    await turns
      .runExclusive(() => disk.down())
      .catch((error: unknown) => log.warn({ error: errorText(error) }, 'a disk is in use'))
  return true
}

/** It must not fail: nobody waits for it. */
const takeBackFromDead = (entry: Known, connection: FramedConnection, log: MirrorsOptions['log']): Promise<void> =>
  entry.turns
    .runExclusive(() => takeBack(entry, connection))
    .catch((error: unknown) => log.error({ err: error }, 'a lent disk cannot be taken back from a dead borrower'))

/** Only the borrower can return the file. */
async function takeBack(entry: Known, connection: FramedConnection): Promise<void> {
  if (entry.lender !== connection) return
  delete entry.lender
  await entry.disk.giveBack()
}

interface Args {
  readonly minor: number
  readonly data: string
  readonly meta: string
  readonly size_bytes: number
  readonly ends: Ends
  readonly force: boolean
  readonly how?: Lending
  readonly paused: boolean
}

/** Only this node's own daemon can call, so its input is trusted. */
function argsOf(input: unknown): Args {
  const args = input as Args
  return Number.isInteger(args?.minor) ? args : refuse('a minor is missing')
}

function refuse(why: string): never {
  throw new GenericError(why)
}
