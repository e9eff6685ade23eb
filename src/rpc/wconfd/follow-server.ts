// The serving end of following: who follows and what they are sent, and the `follow` socket. On the master wconfd serves that socket,
// on the other candidates noded does; when a candidate becomes master, its noded yields the socket and the files behind it.
import { encodeDelta, type Delta } from '../../config/delta'
import { encodeConfig, encodeGantry } from '../../config/encode'
import { isServed, type FramedConnection, type FramedServer } from '../../lib/json-socket'
import type { Log } from '../../lib/log'
import type { Documents } from '../../model/config'
import { WCONFD_ANSWER_S, WCONFD_BUFFER_BYTES_MAX } from '../../model/limits'
import { ANSWERED, JsonClient, PeerError, serveCalls } from '../json-protocol'

const FRAME_BYTES_MAX = 4096

export class FollowFeed {
  private readonly followers = new Set<FramedConnection>()

  constructor(
    private readonly documents: () => Documents,
    /** gantry.data holds secrets: only followers on wconfd's own socket get it. */
    private readonly withGantry: boolean,
  ) {}

  /** Answers the call. A follower that reads too slowly is disconnected and may come again. */
  attach(connection: FramedConnection): void {
    const { config, gantry } = this.documents()
    const tail = this.withGantry ? `,"gantry":${encodeGantry(gantry)}` : ''
    connection.send(`{"success":true,"result":{"config":${encodeConfig(config)}${tail}}}`)
    this.followers.add(connection)
    void connection.closed.then(() => this.followers.delete(connection))
  }

  publish(delta: Delta): void {
    if (this.followers.size === 0) return
    const askers = delta.askers === undefined ? '' : `,"askers":${JSON.stringify(delta.askers)}`
    const text = `{"delta":${encodeDelta(this.withGantry ? delta : { ...delta, gantry: undefined })}${askers}}`
    for (const follower of this.followers) follower.send(text)
  }

  /** They come again, and get a snapshot. */
  disconnectAll(): void {
    for (const follower of this.followers) follower.destroy()
  }
}

export interface FollowServerOptions {
  path: string
  log: Log
  /** Gives up the files behind the socket; it is closed afterwards. Absent where that is nobody's business. */
  onYield?: () => Promise<void>
}

export function serveFollow({ path, log, onYield }: FollowServerOptions, feed: FollowFeed): Promise<FramedServer> {
  return serveCalls(
    { path, mode: 0o660, log, maxFrame: FRAME_BYTES_MAX, maxBuffered: WCONFD_BUFFER_BYTES_MAX },
    {
      gantryFollow: (_, connection) => {
        feed.attach(connection)
        return ANSWERED
      },
      ...(onYield && { gantryYield: onYield }),
    },
  )
}

/** Asks whoever serves the socket to give up the files behind it, and waits until that is done. */
export async function yieldFollow(path: string): Promise<void> {
  if (!(await isServed(path))) return
  const client = new JsonClient({ path, peer: 'the keeper of the configuration replica (noded)' })
  try {
    await client.call('gantryYield', [], WCONFD_ANSWER_S)
  } catch (error) {
    // Closing the socket is the last thing that yielding does.
    if (!(error instanceof PeerError) || error.kind !== 'lost' || (await isServed(path))) throw error
  } finally {
    client.close()
  }
}
