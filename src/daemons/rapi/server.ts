// The RAPI daemon: Ganeti's remote API over HTTPS, our own beside it, and their documentation. It owns nothing: it
// translates HTTP to the Master interface and back. It may use services, opcodes and the wire calls, but not the
// configuration, queue or nodes.
import type { AddressInfo } from 'node:net'
import { serve } from '../../http/serve'
import type { AccessLevel } from '../../lib/access-level'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { SelfMetrics } from '../../lib/self-metrics'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import type { CertificateFiles } from '../../lib/tls'
import { HTTP_LIMITS } from '../../model/limits/http'
import type { Master } from '../../rpc/luxi/master'
import { rapiApplication } from './application'
import { REFUSAL_WORDS } from './errors'
import { UsersFile } from './users'

export interface RapiOptions {
  paths: Paths
  master: Master
  log: Log
  clock: Clock
  random: Random
  files: Files
  /** The addresses to listen on. */
  addresses: readonly string[]
  /**
   * The cluster's own address in a virtual cluster. An old master that hangs may still have it, so the daemon retries
   * until it is free.
   */
  clusterAddress?: string
  /** 0 chooses a free port. */
  port: number
  /** Default true; false restores Ganeti's reads without login. */
  requireAuthentication?: boolean
  /** Default `changes`. */
  accessLog?: AccessLevel
  /** Default: the cluster's file, which has both. `none` is plain HTTP, for a proxy on this machine. */
  certificate?: CertificateFiles | 'none'
  /** Connections at once; default `HTTP_LIMITS.connections`. */
  connections?: number | undefined
  /** Default: the cluster's users file. */
  usersFile?: string
}

export interface Rapi {
  readonly addresses: readonly AddressInfo[]
  /** Reads the users again, on SIGHUP. A new certificate is noticed without it. */
  reload(): void
  /** Finishes running requests, then stops. */
  close(): Promise<void>
  tell(): SelfMetrics
}

export async function startRapi(options: RapiOptions): Promise<Rapi> {
  const {
    paths,
    log,
    clock,
    random,
    files,
    addresses,
    port,
    clusterAddress: lateAddress,
    accessLog = 'changes',
    certificate = { key: paths.rapiCert, cert: paths.rapiCert },
    connections = HTTP_LIMITS.connections,
  } = options
  const users = new UsersFile(options.usersFile ?? paths.rapiUsers, { files, random, log })
  users.refresh()
  const served = await serve({
    ...{ addresses, port, log, clock, random, files, limits: { ...HTTP_LIMITS, connections } },
    ...(lateAddress !== undefined && { lateAddress }),
    certificate: certificate === 'none' ? undefined : certificate,
    application: rapiApplication({ ...options, accessLog }, users),
    websockets: true,
    words: REFUSAL_WORDS,
  })
  return { ...served, reload: () => users.refresh(true) }
}
