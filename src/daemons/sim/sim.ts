// gantryd sim: one process that answers for all nodes of a recorded cluster, over a Unix socket. A header names the
// node. Only transport and persistence; handlers.ts answers.
import * as http from 'node:http'
import type { Clock, Timer } from '../../lib/clock'
import type { Disk } from '../../lib/disk'
import type { Files } from '../../lib/files'
import { checkSocketPath, isServed } from '../../lib/net/json-socket'
import { type Log, silentLog } from '../../lib/log'
import { type Paths, pathsOf } from '../../lib/paths'
import { readBody, SenderLeft } from '../../lib/net/read-body'
import type { ConfigData } from '../../model/config'
import { SIM_SAVE_S } from '../../model/limits/node'
import { NODE_CALL_BODY_BYTES_MAX } from '../../model/limits/node-calls'
import { NO_INSTANCE_HISTORY, NO_NODE_HISTORY } from '../../rpc/mond/history'
import { type CallName, isCallName } from '../../rpc/node/calls'
import { NODE_HEADER, decodeCall, encodeAnswer, messageOf } from '../../rpc/node/protocol'
import { simHandlers } from './handlers'
import { reportsOf } from './reports'
import type { SimHandlers } from './sim-handlers'
import { type SimContext, World } from './world'

export interface SimOptions {
  /** `sim.sock` beside the virtual roots. */
  socket: string
  /** The recorded configuration: the nodes and their initial contents. */
  config: ConfigData
  /** Keeps what runs where across restarts. */
  stateFile: string
  clock: Clock
  disk: Disk
  files: Files
  log?: Log
}

export interface Sim {
  close(): Promise<void>
}

export async function startSim(options: SimOptions): Promise<Sim> {
  const { socket, config, stateFile, clock, disk, files, log = silentLog } = options
  const saved = (await disk.read(stateFile))?.toString('utf8')
  const world = saved === undefined ? World.fromConfig(config) : World.restore(config, saved)
  const saver = saverFor(world, stateFile, options, log)
  // Recorded nodes have no virtual root, and no files on this machine.
  const paths = pathsOf('', 'simulated')

  async function answer(node: string, name: CallName, body: string): Promise<string> {
    try {
      const payload = await run({ world, node, clock }, name, body, paths)
      saver.later()
      return encodeAnswer({ ok: true, payload })
    } catch (error) {
      log.info({ node, call: name, error: messageOf(error) }, 'failed')
      return encodeAnswer({ ok: false, text: messageOf(error) })
    }
  }

  const reports = (node: string) => JSON.stringify(reportsOf({ world, node, clock }))
  const server = http.createServer((request, response) => {
    serve(request, response, { answer, reports }).catch((error: unknown) => {
      if (!(error instanceof SenderLeft))
        log.error({ err: error, call: request.url }, 'a call failed because of a defect')
      response.destroy()
    })
  })
  await listen(server, socket, files)
  log.info({ socket, nodes: Object.keys(config.nodes).length }, 'ready')
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await saver.now()
    },
  }
}

function run<C extends CallName>(sim: SimContext, name: C, body: string, paths: Paths) {
  const handlers: SimHandlers = simHandlers
  const handler = handlers[name]
  if (handler === undefined) throw new Error(`Simulated nodes have no '${name}'`)
  return handler(sim, ...decodeCall(name, body, paths))
}

interface Answers {
  /** The answer to a node call. */
  answer(node: string, name: CallName, body: string): Promise<string>
  /** All reports of the node's monitoring daemon, in its form. */
  reports(node: string): string
}

async function serve(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { answer, reports }: Answers,
): Promise<void> {
  const name = (request.url ?? '').slice(1)
  const node = request.headers[NODE_HEADER]
  if (request.method === 'GET' && name === '1/report/all' && typeof node === 'string')
    return void response.writeHead(200, { 'Content-Type': 'application/json' }).end(reports(node))
  // Simulated nodes measure nothing.
  const history = request.method === 'GET' ? /^1\/history\/(node|instance)/.exec(name)?.[1] : undefined
  if (history !== undefined)
    return void response.end(JSON.stringify(history === 'node' ? NO_NODE_HISTORY : NO_INSTANCE_HISTORY))
  const body = await readBody(request, NODE_CALL_BODY_BYTES_MAX)
  if (request.method !== 'POST' || typeof node !== 'string' || body === undefined) response.writeHead(400).end()
  else if (!isCallName(name)) response.writeHead(404).end()
  else response.end(await answer(node, name, body))
}

async function listen(server: http.Server, socket: string, files: Files): Promise<void> {
  checkSocketPath(socket)
  if (files.existsSync(socket)) {
    if (await isServed(socket)) throw new Error(`another simulator already serves ${socket}`)
    await files.rm(socket)
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, () => resolve())
  })
  await files.chmod(socket, 0o660)
}

/** Writes the world some time after a change; a crash may lose that much. */
function saverFor(world: World, file: string, { clock, disk }: SimOptions, log: Log) {
  let timer: Timer | undefined
  let written = ''
  const now = async () => {
    timer?.cancel()
    timer = undefined
    const text = world.encode()
    if (text !== written) await disk.write(file, text, { durable: false })
    written = text
  }
  const failed = (error: unknown) => log.error({ err: error }, 'the state of the simulated nodes was not saved')
  const later = () => {
    timer ??= clock.after(SIM_SAVE_S * 1000, () => void now().catch(failed), { background: true })
  }
  return { now, later }
}
