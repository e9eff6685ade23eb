// The serving end of following: who follows and what they are sent, and the `follow` socket. On the master wconfd serves that socket,
// on the other candidates noded does; when a candidate becomes master, its noded yields the socket and the files behind it.
import { encodeDelta, type Delta } from '../../config/delta'
import { encodeGantry, snapshotPieces } from '../../config/encode'
import { breathe } from '../../lib/clock'
import { isServed, type FramedConnection, type FramedServer } from '../../lib/json-socket'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { Documents, GantryData } from '../../model/config'
import { MAINTENANCE } from '../../model/maintenance'
import { FOLLOW_FRAME_BYTES_MAX, WCONFD_ANSWER_S, WCONFD_BUFFER_BYTES_MAX } from '../../model/limits/wconfd'
import { ANSWERED, JsonClient, PeerError, serveCalls } from '../json-protocol'

export class FollowFeed {
  /** With what waits until the snapshot is sent, while it is. */
  private readonly followers = new Map<FramedConnection, string[] | null>()

  constructor(
    private readonly documents: () => Documents,
    /** gantry.data holds secrets: only followers on wconfd's own socket get all of it. */
    private readonly withGantry: boolean,
  ) {}

  /** Answers the call, slice by slice. A follower that reads too slowly is disconnected and may come again. */
  async attach(connection: FramedConnection): Promise<void> {
    const { config, gantry } = this.documents()
    const { head, objects } = snapshotPieces(config)
    const waiting: string[] = []
    this.followers.set(connection, waiting)
    void connection.closed.then(() => this.followers.delete(connection))
    const told = encodeGantry(this.withGantry ? gantry : publicPart(gantry))
    connection.send(`{"success":true,"result":{"config":${head},"gantry":${told}}}`)
    for (const slice of objects) {
      if (!connection.send(`{"objects":${slice}}`)) return
      await breathe()
    }
    connection.send('{"complete":true}')
    for (const text of waiting) connection.send(text)
    if (this.followers.has(connection)) this.followers.set(connection, null)
  }

  publish(delta: Delta): void {
    if (this.followers.size === 0) return
    const askers = delta.askers === undefined ? '' : `,"askers":${JSON.stringify(delta.askers)}`
    const text = `{"delta":${encodeDelta(this.withGantry ? delta : publicDelta(delta))}${askers}}`
    for (const [follower, waiting] of this.followers) {
      if (waiting) waiting.push(text)
      else follower.send(text)
    }
  }

  /** They come again, and get a snapshot. */
  disconnectAll(): void {
    for (const follower of this.followers.keys()) follower.destroy()
  }
}

/** The sections that confd tells everybody who has the key of the cluster. */
const PUBLIC: readonly string[] = [MAINTENANCE.settings]

const publicSections = <T>(sections: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(sections).filter(([name]) => PUBLIC.includes(name)))

const publicPart = (gantry: GantryData): GantryData => ({ ...gantry, sections: publicSections(gantry.sections) })

function publicDelta({ gantry, ...delta }: Delta): Delta {
  if (gantry === undefined) return delta
  return { ...delta, gantry: { ...gantry, sections: publicSections(gantry.sections) } }
}

export interface FollowServerOptions {
  path: string
  log: Log
  /** Gives up the files behind the socket; it is closed afterwards. Absent where that is nobody's business. */
  onYield?: () => Promise<void>
}

export function serveFollow({ path, log, onYield }: FollowServerOptions, feed: FollowFeed): Promise<FramedServer> {
  return serveCalls(
    { path, mode: 0o660, log, maxFrame: FOLLOW_FRAME_BYTES_MAX, maxBuffered: WCONFD_BUFFER_BYTES_MAX },
    {
      gantryFollow: async (_, connection) => {
        await feed.attach(connection)
        return ANSWERED
      },
      ...(onYield && { gantryYield: onYield }),
    },
  )
}

/** Asks the process that serves the socket to give up the files behind it, and waits until that is done. */
export async function yieldFollow(path: string, clock: Clock): Promise<void> {
  if (!(await isServed(path))) return
  const client = new JsonClient({ path, clock, peer: 'the keeper of the configuration replica (noded)' })
  try {
    await client.call('gantryYield', [], WCONFD_ANSWER_S)
  } catch (error) {
    // Closing the socket is the last thing that yielding does.
    if (!(error instanceof PeerError) || error.kind !== 'lost' || (await isServed(path))) throw error
  } finally {
    client.close()
  }
}
