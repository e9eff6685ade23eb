// The serving end of following: the followers and their messages, and the `follow` socket. wconfd serves it on the
// master, noded on other candidates. When a candidate becomes master, its noded gives up the socket and the files.
import { encodeDelta, type Delta } from '../../config/delta'
import { encodeGantry, snapshotPieces } from '../../config/encode'
import { breathe } from '../../lib/clock'
import { isServed, type FramedConnection, type FramedServer } from '../../lib/net/json-socket'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { Documents, GantryData } from '../../model/config'
import { MAINTENANCE } from '../../model/maintenance'
import { FOLLOW_FRAME_BYTES_MAX, WCONFD_ANSWER_S, WCONFD_BUFFER_BYTES_MAX } from '../../model/limits/wconfd'
import { ANSWERED, JsonClient, PeerError, serveCalls } from '../json-protocol'

export class FollowFeed {
  /** Followers, with the messages that wait while the snapshot is being sent. */
  private readonly followers = new Map<FramedConnection, string[] | null>()

  constructor(
    private readonly documents: () => Documents,
    /** gantry.data contains secrets: only followers on wconfd's own socket get all of it. */
    private readonly withGantry: boolean,
  ) {}

  /** Answers the call, slice by slice. Disconnects a follower that reads too slowly; it may come back. */
  async attach(connection: FramedConnection): Promise<void> {
    const { config, gantry } = this.documents()
    const { head, objects } = snapshotPieces(config)
    const waiting: string[] = []
    this.followers.set(connection, waiting)
    void connection.closed.then(() => this.followers.delete(connection))
    const reported = encodeGantry(this.withGantry ? gantry : publicPart(gantry))
    connection.send(`{"success":true,"result":{"config":${head},"gantry":${reported}}}`)
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

  /** They come back, and get a new snapshot. */
  disconnectAll(): void {
    for (const follower of this.followers.keys()) follower.destroy()
  }
}

/** The sections that confd tells everybody who has the cluster's key. */
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
  /** Gives up the files behind the socket, which is closed afterwards. Absent if the server does not yield. */
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

/** Asks the process that serves the socket to give up the files, and waits until it has. */
export async function yieldFollow(path: string, clock: Clock): Promise<void> {
  if (!(await isServed(path))) return
  const client = new JsonClient({ path, clock, peer: 'the keeper of the configuration replica (noded)' })
  try {
    await client.call('gantryYield', [], WCONFD_ANSWER_S)
  } catch (error) {
    // The server closes the socket when it has yielded.
    if (!(error instanceof PeerError) || error.kind !== 'lost' || (await isServed(path))) throw error
  } finally {
    client.close()
  }
}
