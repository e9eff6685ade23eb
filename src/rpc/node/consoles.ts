// Brings consoles of a node's instances to the master, as messages on a separate connection under the same mutual TLS
// as calls. The first message names the console. Then the node sends states as texts, and the console's output as
// bytes.
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import type { Duplex } from 'node:stream'
import { bool, oneOf, text } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import type { ValueOf } from '../../lib/shapes/shape'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import { framedMessages } from '../../lib/net/framed-messages'
import type { Paths } from '../../lib/paths'
import { readBody } from '../../lib/net/read-body'
import { nodeClientTls } from '../../lib/tls'
import { CONSOLE_MESSAGE_BYTES_MAX } from '../../model/limits/consoles'
import { NODE_CONNECT_S } from '../../model/limits/node-calls'
import { DROPPED_BODY } from '../../model/limits/wires'
import { NODE_PORT, type NodeTarget } from './client'
import { defaultSimSocket } from './sim-socket'

export const CONSOLE_PATH = '/gantry_console'
export const CONSOLE_PROTOCOL = 'gantry-console'
export const CONSOLE_KINDS = ['serial', 'vnc'] as const
export type ConsoleKind = (typeof CONSOLE_KINDS)[number]

export const nodeConsoleRequest = objectOf(
  {
    ...{ name: text, uuid: text, hypervisor: text, kind: oneOf('Kind', CONSOLE_KINDS), read_only: bool },
    /** First show the recent output of a serial line. */
    recent: bool,
  },
  { others: 'dropped' },
)
export type NodeConsoleRequest = ValueOf<typeof nodeConsoleRequest>

/**
 * A node's state of a console. Bytes after `connected` belong to that connection; a viewer's input counts only after
 * the viewer has repeated its number. `failed` is the last message.
 */
export type NodeConsoleState =
  | { readonly state: 'connected'; readonly number: number }
  | { readonly state: 'waiting'; readonly why: 'stopped' | 'held' | 'refused'; readonly text: string }
  | { readonly state: 'failed'; readonly text: string }

export type OpenNodeConsole = (target: NodeTarget, request: NodeConsoleRequest) => Promise<Duplex>

interface ConsolesOptions {
  readonly paths: Paths
  readonly files: Files
  readonly clock: Clock
  readonly port?: number
}

/** Resolves when the node has accepted; rejects with its reason if not. */
export function openNodeConsoles({ paths, files, clock, port = NODE_PORT }: ConsolesOptions): OpenNodeConsole {
  const simSocket = defaultSimSocket(paths)
  return (target, request) => {
    if (simSocket !== undefined && files.existsSync(simSocket))
      return Promise.reject(new Error(`${target.name} is a simulated node, whose instances have no consoles`))
    return new Promise((resolve, reject) => {
      const requested = https.request({
        ...{ host: target.primary_ip, port, path: CONSOLE_PATH, agent: false, ...nodeClientTls(files, paths) },
        headers: { Connection: 'Upgrade', Upgrade: CONSOLE_PROTOCOL },
      })
      const fail = (error: Error) => {
        limit.cancel()
        requested.destroy()
        reject(error)
      }
      const limit = clock.after(NODE_CONNECT_S * 1000, () =>
        fail(new Error(`${target.name} did not answer within ${NODE_CONNECT_S} s`)),
      )
      requested.on('error', (error) => fail(new Error(`${target.name} cannot be reached: ${error.message}`)))
      requested.once('response', (response) => void refusalOf(target, response).then(fail, fail))
      requested.once('upgrade', (_response, socket, head) => {
        limit.cancel()
        if (head.length > 0) socket.unshift(head)
        const messages = framedMessages(socket, CONSOLE_MESSAGE_BYTES_MAX)
        messages.write(JSON.stringify(request))
        resolve(messages)
      })
      requested.end()
    })
  }
}

/** Ganeti's noded does not know this request. */
async function refusalOf({ name }: NodeTarget, response: IncomingMessage): Promise<Error> {
  const said = (await readBody(response, DROPPED_BODY.bytes))?.toString() ?? ''
  const known =
    response.headers['content-type'] === 'text/plain' ? said.trim() : 'its node daemon has no consoles for browsers'
  return new Error(`${name}: ${known}`)
}
