// Calls nodes: mutual TLS on kept connections, a time limit for each call, and a result per node.
import * as http from 'node:http'
import * as https from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../lib/clock'
import { fileVersion } from '../../lib/file/file-version'
import type { Files } from '../../lib/files'
import type { Paths } from '../../lib/paths'
import { mapInSlices } from '../../lib/work/slices'
import { nodeClientTls } from '../../lib/tls'
import { OpExecError } from '../../model/errors'
import type { NodeUuid } from '../../model/ids'
import { LIVE_ANSWER_S } from '../../model/limits/live-data'
import {
  NODES_ASKED_AT_ONCE,
  NODE_CONNECTIONS_MAX,
  NODE_CONNECT_S,
  NODE_KEEP_ALIVE_S,
  NODE_SOFTWARE_MAX,
  NODE_SOFTWARE_S,
} from '../../model/limits/node-calls'
import { type ArgsOf, type CallName, type ResultOf, callOf, isOwnCall } from './calls'
import { type Endpoint, HungUp, UNKNOWN_CALL, exchange } from './exchange'
import { defaultSimSocket } from './sim-socket'
import { NODE_HEADER, bodyFor, decodeAnswer, decodeResult, encodeCall, messageOf } from './protocol'

export const NODE_PORT = 1811
const OFFLINE = 'Node is marked offline'

export interface NodeTarget {
  readonly uuid: NodeUuid
  readonly name: string
  readonly primary_ip: string
  readonly offline: boolean
}

/**
 * `lost`: no answer came, so we do not know whether the call was carried out. `early`: the caller does not ask, and the
 * node was not heard yet.
 */
export type NodeResult<T> =
  { ok: true; payload: T } | { ok: false; error: string; offline: boolean; lost?: true; early?: true }

/** The result for a node for which the caller does not wait. */
export const NO_ANSWER = { ok: false, error: `no answer within ${LIVE_ANSWER_S} s`, offline: false } as const

/** A node's failure. Ganeti's `fail_msg` is available without the sentence around it. */
export class NodeCallError extends OpExecError {
  constructor(
    readonly node: string,
    readonly call: CallName,
    readonly reason: string,
    readonly offline: boolean,
  ) {
    super(`Call '${call}' to node '${node}' has failed: ${reason}`)
  }
}

/** The node lacks this call: it is ours, and the node runs Ganeti's noded. */
export const isUnknownCall = (error: unknown): boolean =>
  error instanceof NodeCallError && error.reason === UNKNOWN_CALL

/** The same for an answer of one of many nodes. */
export const isUnknownThere = (result: NodeResult<unknown>): boolean => !result.ok && result.error === UNKNOWN_CALL

export interface NodeClient {
  /** Throws NodeCallError. */
  one<C extends CallName>(target: NodeTarget, call: C, args: ArgsOf<C>): Promise<ResultOf<C>>
  /** Asks all at the same time; never rejects because a node fails. */
  all<C extends CallName>(
    targets: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((target: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<NodeUuid, NodeResult<ResultOf<C>>>>
  close(): void
}

export type NodeClientOptions = { paths: Paths } & (HttpOptions | { transport: NodeTransport })

interface HttpOptions {
  clock: Clock
  /** Gives access to this machine's certificates, and to the socket of simulated nodes. */
  files: Files
  port?: number
  /** The socket of a simulator for all nodes; default: beside the virtual root. */
  simSocket?: string
  /** Called with the address of a node that ended an idle connection, which its daemon does only when it ends. */
  onHangUp?(address: string): void
}

/** Carries a call's body to a node and its answer back. */
export interface NodeTransport {
  exchange(target: NodeTarget, call: CallName, body: string, timeout_s: number): Promise<string>
  close(): void
}

export function openNodeClient(options: NodeClientOptions): NodeClient {
  const { paths } = options
  const transport = 'transport' in options ? options.transport : httpTransport(paths, options)
  const bodies = new WeakMap<object, string>()

  /** Frozen arguments belong to a call to many nodes, which is sent one by one: they are encoded once. */
  function bodyOf<C extends CallName>(name: C, args: ArgsOf<C>): string {
    const body = bodies.get(args) ?? encodeCall(name, args, paths)
    if (Object.isFrozen(args)) bodies.set(args, body)
    return body
  }

  async function call<C extends CallName>(
    target: NodeTarget,
    name: C,
    args: ArgsOf<C>,
    encode = () => bodyOf(name, args),
  ): Promise<NodeResult<ResultOf<C>>> {
    const definition = callOf(name)
    if (target.offline && !definition.offlineToo) return { ok: false, error: OFFLINE, offline: true }
    const body = bodyFor(target.uuid, encode())
    const timeout_s = definition.timeout_s === 'first argument' ? Number(args[0]) + 5 : definition.timeout_s
    try {
      const answer = decodeAnswer(await transport.exchange(target, name, body, timeout_s).catch(asLost))
      if (!answer.ok) return { ok: false, error: answer.text, offline: false }
      return { ok: true, payload: decodeResult(name, target.name, answer.payload) }
    } catch (error) {
      const failed = { ok: false, error: messageOf(error), offline: false } as const
      return error instanceof AnswerLost ? { ...failed, lost: true } : failed
    }
  }

  return {
    async one(target, name, args) {
      const result = await call(target, name, args)
      if (result.ok) return result.payload
      throw new NodeCallError(target.name, name, result.error, result.offline)
    },
    async all(targets, name, args) {
      // Arguments that all nodes share are encoded once.
      let shared: string | undefined
      const ask = (target: NodeTarget) =>
        typeof args === 'function'
          ? call(target, name, args(target))
          : call(target, name, args, () => (shared ??= bodyOf(name, args)))
      const requested = await mapInSlices(targets, NODES_ASKED_AT_ONCE, (target) => {
        const answer = ask(target).then((result) => [target.uuid, result] as const)
        // Promise.all() reports the failure; this only keeps it from counting as unhandled.
        answer.catch(() => undefined)
        return answer
      })
      return new Map(await Promise.all(requested))
    },
    close: () => transport.close(),
  }
}

/** Nobody answered. */
class AnswerLost extends Error {}

function asLost(error: unknown): never {
  throw new AnswerLost(messageOf(error), { cause: error })
}

function httpTransport(paths: Paths, options: HttpOptions): NodeTransport {
  const { files, clock, port = NODE_PORT, simSocket = defaultSimSocket(paths) } = options
  const endpointOf = endpoints(paths, { files, port, simSocket, onHangUp: options.onHangUp })
  const software = new NodeSoftware(clock)
  return {
    async exchange(target, call, body, timeout_s) {
      const endpoint = endpointOf.of(target)
      try {
        const answer = await exchange(endpoint, call, body, timeout_s, clock)
        software.learn(target, answer.server)
        return answer.text
      } catch (error) {
        if (error instanceof HungUp && isOwnCall(call) && (await software.isGaneti(target, endpoint)))
          throw new Error(UNKNOWN_CALL, { cause: error })
        throw error
      }
    },
    close: () => endpointOf.close(),
  }
}

/**
 * Ganeti's noded closes the connection on an unknown call; our noded does so when it ends. Each answer shows which one
 * it is. A node without a recent answer is asked for its version, which both know.
 */
class NodeSoftware {
  /** When nodes last answered with Ganeti's noded. */
  private readonly ganeti = new Map<NodeUuid, number>()

  constructor(private readonly clock: Clock) {}

  learn({ uuid }: NodeTarget, server: string): void {
    if (!server.startsWith('Ganeti ')) return void this.ganeti.delete(uuid)
    if (this.ganeti.size >= NODE_SOFTWARE_MAX) this.ganeti.clear()
    this.ganeti.set(uuid, this.clock.monotonic_ms())
  }

  async isGaneti(target: NodeTarget, endpoint: Endpoint): Promise<boolean> {
    if (!this.isKnown(target)) {
      const answer = await exchange(endpoint, 'version', '[]', NODE_CONNECT_S, this.clock).catch(() => undefined)
      if (answer !== undefined) this.learn(target, answer.server)
    }
    return this.isKnown(target)
  }

  private isKnown({ uuid }: NodeTarget): boolean {
    return this.clock.monotonic_ms() - (this.ganeti.get(uuid) ?? -Infinity) < NODE_SOFTWARE_S * 1000
  }
}

interface EndpointOptions {
  readonly files: Files
  readonly port: number
  readonly simSocket: string | undefined
  readonly onHangUp: HttpOptions['onHangUp']
}

/** How to reach a node. New certificates mean new connections; old ones end when they are idle. */
function endpoints(paths: Paths, { files, port, simSocket, onHangUp }: EndpointOptions) {
  const settings = { keepAlive: true, maxTotalSockets: NODE_CONNECTIONS_MAX, timeout: NODE_KEEP_ALIVE_S * 1000 }
  // Ganeti's noded breaks connections that resume a TLS session, because its server does not name sessions.
  const tls = { ...settings, maxCachedSessions: 0 }
  const simulated = new http.Agent(settings)
  let secured: { agent: NodeAgent; stamp: string } | undefined

  function agent(): https.Agent {
    const stamp = `${fileVersion(files, paths.serverCert)} ${fileVersion(files, paths.clientCert)}`
    if (secured?.stamp !== stamp)
      secured = { stamp, agent: new NodeAgent({ ...tls, ...nodeClientTls(files, paths) }, onHangUp) }
    return secured.agent
  }

  let isSimulated = false

  return {
    of(target: NodeTarget): Endpoint {
      // A cluster with simulated nodes stays one.
      isSimulated ||= simSocket !== undefined && files.existsSync(simSocket)
      if (isSimulated && simSocket !== undefined)
        return { agent: simulated, socketPath: simSocket, headers: { [NODE_HEADER]: target.name } }
      return { agent: agent(), host: target.primary_ip, port, headers: {} }
    },
    close() {
      simulated.destroy()
      secured?.agent.destroy()
    },
  }
}

/**
 * All its connections show the same certificates, so the names by which requests look up connections need not contain
 * them.
 */
class NodeAgent extends https.Agent {
  private readonly heard = new WeakSet<Duplex>()
  /** Connections that nobody uses and that this agent has not dropped. */
  private idle = new WeakSet<Duplex>()

  constructor(
    options: https.AgentOptions,
    private readonly onHangUp: HttpOptions['onHangUp'],
  ) {
    super(options)
  }

  /** Called for each connection that becomes idle. */
  override keepSocketAlive(socket: Duplex): void {
    if (!this.heard.has(socket) && this.onHangUp !== undefined && socket instanceof Socket) {
      this.heard.add(socket)
      this.listen(socket, this.onHangUp)
    }
    this.idle.add(socket)
    return super.keepSocketAlive(socket)
  }

  override reuseSocket(socket: Duplex, request: http.ClientRequest): void {
    this.idle.delete(socket)
    super.reuseSocket(socket, request)
  }

  override destroy(): void {
    this.idle = new WeakSet()
    super.destroy()
  }

  private listen(socket: Socket, onHangUp: (address: string) => void): void {
    const { remoteAddress = '' } = socket
    const dropped = () => this.idle.delete(socket)
    socket.on('timeout', dropped)
    // The node has ended it: an agent that drops a connection destroys it instead.
    socket.once('end', () => {
      dropped()
      onHangUp(remoteAddress)
    })
    // Node 24 destroys an idle connection as soon as anything comes on it, also its end, and nobody hears of that.
    socket.once('close', () => {
      if (dropped()) onHangUp(remoteAddress)
    })
  }

  override getName({ host = '', port = '' }: https.RequestOptions = {}): string {
    return `${host}:${port}`
  }
}
