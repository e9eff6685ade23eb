// ganeti-noded: serves node calls over HTTPS to callers that the cluster trusts. Only transport; node/ carries the
// calls out.
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Clock, hearAll } from '../../lib/clock'
import { countRefused } from '../../lib/counted-log'
import { ConnectionLimiter } from '../../lib/net/connection-limiter'
import { type Disk, removeLeftovers } from '../../lib/disk'
import { finishAnswer } from '../../lib/net/finish-answer'
import type { LockFile } from '../../lib/file/lock'
import { type Log, silentLog } from '../../lib/log'
import type { SelfMetrics } from '../../lib/self-metrics'
import type { Machine } from '../../lib/machine'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import { readBody, SenderLeft } from '../../lib/net/read-body'
import { Quota } from '../../lib/net/quota'
import { followCertificate, nodeServerTls } from '../../lib/tls'
import { PORT } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import {
  NODED_CLOSE_S,
  NODED_CONNECTIONS_MAX,
  NODED_HANDSHAKES_MAX,
  NODED_HANDSHAKES_PER_CLIENT_MAX,
  NODED_RECEIVE_S,
  NODE_CALL_BODY_BYTES_MAX,
  NODE_KEEP_ALIVE_S,
} from '../../model/limits/node-calls'
import { DROPPED_BODY, TLS_REFUSED_EVERY_S } from '../../model/limits/wires'
import type { DaemonControl, NodeContext } from '../../node/context'
import { dispatch } from '../../node/dispatch'
import { hypervisorsOf } from '../../node/hypervisor/index'
import { pruneArchive } from '../../node/leftovers'
import { cleanReasons } from '../../node/reasons'
import { NodeMeasures } from '../../node/measures'
import { resumeMetad } from '../../node/metadata'
import { osFolders } from '../../node/os-folders'
import { queueCopy } from '../../node/queue-copy'
import { openSsconf } from '../../node/ssconf'
import { isCallName } from '../../rpc/node/calls'
import { encodeAnswer } from '../../rpc/node/protocol'
import { ConfigReplica } from '../../replication/config-replica'
import { callerCheck, foreignMaster } from './callers'
import { serveConsoles } from './consoles'

export interface NodedOptions {
  paths: Paths
  hostname: string
  /** The address to listen on: the node's primary one. */
  address: string
  port?: number
  /** Open connections at once. */
  connections?: number
  daemons: DaemonControl
  /** Local directories of OS definitions, searched after Ganeti's own. */
  bundledOs?: readonly string[]
  clock: Clock
  random: Random
  disk: Disk
  machine: Machine
  lockFile?: LockFile
  /** The folder of this node's volumes in user space, which replace LVM. */
  userVolumes?: string
  mirrorProgram?: readonly [program: string, ...args: string[]]
  /** The version of the package that it runs from. */
  release?: string
  log?: Log
}

export interface Noded {
  readonly port: number
  readonly context: NodeContext
  /** Refuses new calls and waits a moment for running ones. */
  close(): Promise<void>
  tell(): SelfMetrics
}

export async function startNoded(options: NodedOptions): Promise<Noded> {
  let leaving = false
  let calls = 0
  const daemons = { ...options.daemons, leave: () => void (leaving = true) }
  const basics = contextOf({ ...options, daemons })
  for (const directory of [options.paths.dataDir, options.paths.queueDir]) await removeLeftovers(basics.disk, directory)
  await pruneArchive(basics)
  await cleanReasons(basics)
  await basics.disk.makeDirectory(options.paths.local(PATH.EXPORT_DIR), 0o750)
  const configReplica = replicaOf(basics)
  const context = { ...basics, configReplica }
  const { files } = context
  // The master that removes the node gets an answer before the daemon ends.
  const answered = () => (leaving ? options.daemons.leave() : undefined)
  const accepts = callerCheck(context)
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    if (!accepts(request.socket)) return turnAway(response)
    calls++
    await serve(context, request, response, accepts, answered)
  }
  // A stranger cannot occupy a place for long: it must prove within this time that it is a caller.
  const patience = { handshakeTimeout: NODED_RECEIVE_S * 1000, headersTimeout: NODED_RECEIVE_S * 1000 }
  const server = https.createServer({ ...nodeServerTls(files, options.paths), ...patience }, (request, response) => {
    answer(request, response).catch((error: unknown) => failed(context, response, error))
  })
  const { connections = NODED_CONNECTIONS_MAX } = options
  new ConnectionLimiter({
    open: new Quota({ all: connections, each: connections }),
    handshakes: new Quota({ all: NODED_HANDSHAKES_MAX, each: NODED_HANDSHAKES_PER_CLIENT_MAX }),
    ...{ clock: context.clock, log: context.log, every_s: TLS_REFUSED_EVERY_S },
  }).watch(server)
  followCertificate(files, server, [options.paths.serverCert], () => nodeServerTls(files, options.paths), context.log)
  // Longer than callers keep idle connections, so that no caller uses a connection that is just closing.
  server.keepAliveTimeout = 2 * NODE_KEEP_ALIVE_S * 1000
  countRefused(server, context, TLS_REFUSED_EVERY_S)
  server.on('clientError', (_error, socket) => socket.destroy())
  const consoles = serveConsoles(server, context, accepts)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? PORT.noded, options.address, () => resolve())
  })
  await configReplica.start()
  // It waits for this daemon's parent, which waits for this daemon.
  void resumeMetad(context)
  const { port } = server.address() as AddressInfo
  context.log.info({ address: options.address, port }, 'ready')
  return {
    ...{ port, context },
    tell: () => ({ calls }),
    async close() {
      consoles.close()
      await closeServer(server, context.clock)
      await configReplica.close()
    },
  }
}

function replicaOf({ ssconf, hostname, ...basics }: NodeContext): ConfigReplica {
  return new ConfigReplica({ ...basics, isMaster: () => ssconf.value('master_node') === hostname })
}

function contextOf(options: NodedOptions): NodeContext {
  const { paths, hostname, address: bindAddress } = options
  const { clock, random, disk, machine, log = silentLog } = options
  const ssconf = openSsconf(paths, machine.files)
  const basics = { ...machine, paths, hostname, bindAddress, clock, random, disk, log, ssconf }
  return {
    ...basics,
    ...osFolders(paths, options.bundledOs ?? []),
    hypervisor: hypervisorsOf(basics),
    daemons: options.daemons,
    ...(options.userVolumes !== undefined && { userVolumes: options.userVolumes }),
    ...(options.release !== undefined && { release: options.release }),
    ...(options.mirrorProgram !== undefined && { mirrorProgram: options.mirrorProgram }),
    ...(options.lockFile !== undefined && { lockFile: options.lockFile }),
    measures: new NodeMeasures(hostname),
    queueJournal: queueCopy(basics),
  }
}

async function serve(
  context: NodeContext,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  accepts: ReturnType<typeof callerCheck>,
  answered: () => void,
) {
  const name = (request.url ?? '').slice(1)
  const refuse = (status: number, text: string) =>
    finishAnswer(response, refusal(response, status, text), context.clock, DROPPED_BODY)
  if (request.method !== 'POST') return refuse(400, 'Only POST is understood')
  if (!isCallName(name)) return refuse(404, 'There is no such call')
  const body = await readBody(request, NODE_CALL_BODY_BYTES_MAX)
  if (body === undefined) return refuse(413, `A call may have at most ${NODE_CALL_BODY_BYTES_MAX} bytes`)
  const refused = foreignMaster(context, name, request.socket)
  if (refused !== undefined) return response.end(encodeAnswer({ ok: false, text: refused }), answered)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  // This daemon may have been stopped for a while. A caller that gave up meanwhile may have made changes that this call
  // would undo.
  await hearAll()
  if (gone.signal.aborted || request.socket.readableEnded) {
    context.log.warn({ call: name }, 'not carried out: the caller has left before it was begun')
    return response.destroy()
  }
  // A slow caller may have lost its place as a candidate since its call began.
  if (!accepts(request.socket)) return turnAway(response)
  const late = () => foreignMaster(context, name, request.socket)
  response.end(await dispatch({ ...context, caller: gone.signal, late }, name, body), answered)
}

/** A defect outside of the call itself: the caller is told, and the log has the stack. */
function failed({ log }: NodeContext, response: http.ServerResponse, error: unknown): void {
  // A caller that leaves while it sends gets no answer.
  if (error instanceof SenderLeft) return void response.destroy()
  log.error({ err: error, call: response.req.url }, 'a call was not answered because of a defect')
  if (response.headersSent) return void response.destroy()
  response.end(refusal(response, 500, 'The call failed because of a defect; the log of this daemon has the details'))
}

/** Refuses a caller without reading the rest of its request. */
function turnAway(response: http.ServerResponse): void {
  const page = refusal(response, 403, 'The certificate of the caller is not accepted')
  response.end(page, () => response.req.destroy())
}

/** Writes the headers; returns the page to send. */
function refusal(response: http.ServerResponse, status: number, text: string): Buffer {
  const title = `${status} ${http.STATUS_CODES[status] ?? ''}`
  const page = `<html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}.</p></body></html>\n`
  const data = Buffer.from(page)
  response.writeHead(status, { 'Content-Type': 'text/html', 'Content-Length': data.length, Connection: 'close' })
  return data
}

async function closeServer(server: https.Server, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const limit = clock.after(NODED_CLOSE_S * 1000, () => server.closeAllConnections(), { background: true })
  await closed
  limit.cancel()
}
