// One open console. It follows the instance from node to node, as the configuration says, and reconnects after a lost
// connection. Each change of the configuration checks again that its viewer may see it.
import type { Duplex } from 'node:stream'
import { recordGet } from '../../config/records'
import { type Clock, within } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { written } from '../../lib/work/written'
import type { ConfigData, Node } from '../../model/config'
import { CONSOLE_RETRY_FIRST_S, CONSOLE_RETRY_LAST_S } from '../../model/limits/consoles'
import type { Identity } from '../../rpc/luxi/gantry'
import type { ConsoleMessage, ConsoleRequest } from '../../rpc/luxi/consoles'
import type { NodeConsoleState, OpenNodeConsole } from '../../rpc/node/consoles'
import type { Access } from '../access/access'

export interface SessionOptions {
  readonly request: ConsoleRequest
  readonly identity: Identity
  /** The uuid of the instance, which stays after a rename. */
  readonly uuid: string
  readonly clock: Clock
  readonly openNode: OpenNodeConsole
  config(): ConfigData
  /** Throws if the caller no longer has access. */
  access(identity: Identity): Access
}

interface Place {
  readonly node: Node
  readonly name: string
  readonly hypervisor: string
}

/** Ends the console for good. */
class Over extends Error {}

export class ConsoleSession {
  private line: Duplex | undefined
  /** The number of the current connection to a node, and the last number that the viewer has repeated. */
  private hop = 0
  private seenHop = 0
  private isRecent = true
  private pause_s = CONSOLE_RETRY_FIRST_S
  private place = ''
  private wake: () => void = () => undefined
  private isLeft = false
  private readonly left: Promise<void>
  private told = ''

  constructor(
    private readonly options: SessionOptions,
    private readonly viewer: Duplex,
  ) {
    this.left = this.hear().then(
      () => this.leave(),
      () => this.leave(),
    )
  }

  /** Runs until the viewer leaves or loses access. */
  async run(): Promise<void> {
    try {
      while (!this.isLeft) await this.follow()
    } catch (error) {
      await this.say({ type: 'end', text: errorText(error) })
    } finally {
      this.viewer.end()
    }
  }

  /** The configuration has changed. */
  look(): void {
    if (this.now() !== this.place) this.wake()
  }

  /** Serves the instance at its current place, until it moves, or the connection breaks. */
  private async follow(): Promise<void> {
    const { request, uuid, openNode, clock } = this.options
    const moved = new Promise<void>((resolve) => (this.wake = resolve))
    const { node, name, hypervisor } = this.find()
    this.place = this.now()
    try {
      if (node.offline) throw new Error(`${node.name} is marked offline`)
      const { kind, read_only } = request
      const line = await openNode(node, { name, uuid, hypervisor, kind, read_only, recent: this.isRecent })
      this.hop++
      this.line = line
      line.once('error', () => undefined)
      await Promise.race([this.showAll(line, node), moved, this.left])
    } catch (error) {
      if (error instanceof Over) throw error
      await this.say({ type: 'waiting', why: 'unreachable', node: node.name, text: errorText(error) })
    } finally {
      this.line?.destroy()
      this.line = undefined
    }
    if (this.isLeft || this.now() !== this.place) return
    await within(clock, this.pause_s, Promise.race([moved, this.left]))
    this.pause_s = Math.min(2 * this.pause_s, CONSOLE_RETRY_LAST_S)
  }

  /** The place of the instance. Throws if this viewer may not see its console. */
  private find(): Place {
    const { config: configNow, uuid, access, identity, request } = this.options
    const config = configNow()
    const instance = recordGet(config.instances, uuid)
    if (instance === undefined) throw new Over(`The instance ${request.instance} was removed`)
    access(identity).check(config, { OP_ID: 'OP_INSTANCE_CONSOLE', instance_name: instance.name })
    const node = recordGet(config.nodes, instance.primary_node)
    if (node === undefined) throw new Over(`The instance ${instance.name} has no node`)
    return { node, name: instance.name, hypervisor: instance.hypervisor }
  }

  /** The place as a text, to notice changes. */
  private now(): string {
    try {
      const { node, name } = this.find()
      return `${node.uuid} ${node.primary_ip} ${node.offline} ${name}`
    } catch (error) {
      return errorText(error)
    }
  }

  private async showAll(line: Duplex, node: Node): Promise<void> {
    for await (const message of line as AsyncIterable<unknown>) {
      if (Buffer.isBuffer(message)) await written(this.viewer, message)
      // Nodes have the same version, or ignore what they do not know.
      else await this.pass(JSON.parse(String(message)) as NodeConsoleState, node.name)
    }
    throw new Error(`The connection to ${node.name} was lost`)
  }

  private pass(state: NodeConsoleState, node: string): Promise<void> {
    if (state.state === 'failed') throw new Error(state.text)
    if (state.state === 'waiting') return this.say({ type: 'waiting', why: state.why, node, text: state.text })
    this.isRecent = false
    this.pause_s = CONSOLE_RETRY_FIRST_S
    return this.say({ type: 'connected', stream: `${this.hop}.${state.number}`, node })
  }

  /** Drops what the viewer typed before it saw the current connection: it was for an earlier one. */
  private async hear(): Promise<void> {
    for await (const message of this.viewer as AsyncIterable<unknown>) {
      const { line } = this
      if (line === undefined) continue
      if (typeof message === 'string') {
        const [hop, number] = message.split('.')
        this.seenHop = Number(hop)
        if (this.seenHop === this.hop) await written(line, String(Number(number)))
      } else if (this.seenHop === this.hop && Buffer.isBuffer(message)) await written(line, message)
    }
  }

  private leave(): void {
    this.isLeft = true
  }

  /** Does not repeat the same message. */
  private async say(message: ConsoleMessage): Promise<void> {
    const text = JSON.stringify(message)
    if (text === this.told) return
    this.told = text
    await written(this.viewer, text)
  }
}
