// wconfd: the configuration, the locks and the temporary reservations, behind a Unix socket with LUXI's framing. A
// second socket lets others follow the configuration. This file only has transport; nothing below knows sockets.
import type { Timer } from '../../lib/clock'
import { isServed } from '../../lib/net/json-socket'
import type { SelfMetrics } from '../../lib/self-metrics'
import { ConfigurationError } from '../../model/errors'
import {
  LOCK_CLEANUP_S,
  WCONFD_BUFFER_BYTES_MAX,
  WCONFD_CONNECTIONS_MAX,
  WCONFD_FRAME_BYTES_MAX,
} from '../../model/limits/wconfd'
import { serveCalls } from '../../rpc/json-protocol'
import { takeOverConfig } from '../../replication/config-owner'
import { FollowFeed, serveFollow } from '../../rpc/wconfd/follow-server'
import { serveWconfd } from './calls'
import { WconfdState, type WconfdOptions } from './state'

/** The caller has already asked for the votes (services/votes). */
export async function startWconfd(options: WconfdOptions): Promise<{ close(): Promise<void>; tell(): SelfMetrics }> {
  const { paths, log, disk } = options
  const path = paths.socket('wconfd')
  // Checked before anything is read: two daemons on the same files would destroy them.
  if (await isServed(path)) throw new Error(`another wconfd already serves ${path}; stop it first`)
  await disk.makeDirectory(paths.socketDir)
  const lock = await takeOverConfig(options)
  const opened: { state?: WconfdState } = {}
  const documents = () => {
    if (opened.state) return opened.state.store.documents()
    throw new ConfigurationError('The configuration is being read; ask again in a moment')
  }
  const [feed, publicFeed] = [new FollowFeed(documents, true), new FollowFeed(documents, false)]
  const follow = await serveFollow({ path: paths.socket('follow'), log }, publicFeed)
  const state = await WconfdState.open(options).catch(async (error: unknown) => {
    await follow.close()
    lock.release()
    throw error
  })
  opened.state = state
  state.store.subscribe((delta) => {
    feed.publish(delta)
    publicFeed.publish(delta)
  })
  const server = await serveCalls(
    {
      ...{ path, mode: 0o600, log },
      maxFrame: WCONFD_FRAME_BYTES_MAX,
      maxBuffered: WCONFD_BUFFER_BYTES_MAX,
      maxConnections: WCONFD_CONNECTIONS_MAX,
    },
    state.measures.measured(serveWconfd(state, feed)),
  )
  const cleaning = cleanRegularly(state, options)
  log.info({ serial: state.store.current().serial_no }, 'wconfd is ready')
  return {
    tell() {
      const { owners, waiting } = state.locks.table
      const held = { lock_owners: owners.size, lock_requests_waiting: waiting.size }
      return { ...held, config_serial: state.store.current().serial_no }
    },
    async close() {
      cleaning.cancel()
      // First stops answering, then writes everything that was promised.
      await state.locks.close()
      await server.close()
      await state.close()
      await follow.close()
      lock.release()
    },
  }
}

/** luxid reports jobs that died; this finds the others. */
function cleanRegularly(state: WconfdState, { clock, log }: WconfdOptions): Timer {
  let timer: Timer
  let cancelled = false
  const again = () => {
    timer = clock.after(LOCK_CLEANUP_S * 1000, () => void run(), { background: true })
  }
  const run = async () => {
    await state.releaseDead().catch((error: unknown) => log.error({ err: error }, 'cannot look after lock owners'))
    if (!cancelled) again()
  }
  again()
  return {
    cancel() {
      cancelled = true
      timer.cancel()
    },
  }
}
