// Consoles of this node's instances, each on its own connection to the master. A console survives the instance's run:
// while the instance is down it waits, and says so. Each connection to the instance has a number; input counts only for
// the connection that the viewer has seen.
import type { Duplex } from 'node:stream'
import { type Clock, within } from '../../lib/clock'
import { errorCode } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import { CONSOLE_RETRY_FIRST_S, CONSOLE_RETRY_LAST_S, NODE_CONSOLES_MAX } from '../../model/limits/consoles'
import type { NodeConsoleRequest, NodeConsoleState } from '../../rpc/node/consoles'
import type { NodeContext } from '../context'
import { fail, NodeFailure } from '../failure'
import type { ConsolePlace, HypervisorConsoles } from '../hypervisor/hypervisor'
import type { ConsoleLine } from './console-line'
import { readConsoleRequest } from './console-request'
import { openScreen } from './screen'
import { openSerial } from './serial'
import { SerialLines } from './serial-lines'

type Context = Pick<NodeContext, 'hypervisor' | 'hostname'> & { readonly clock: Clock; readonly log: Log }

export class NodeConsoles {
  private readonly lines = new SerialLines()
  private readonly open = new Set<Duplex>()

  constructor(private readonly context: Context) {}

  /** Runs until the other end leaves. */
  async serve(messages: Duplex): Promise<void> {
    if (this.open.size >= NODE_CONSOLES_MAX) {
      say(messages, {
        state: 'failed',
        text: `${this.context.hostname} has ${NODE_CONSOLES_MAX} consoles open already`,
      })
      return void messages.end()
    }
    this.open.add(messages)
    try {
      const received = messages[Symbol.asyncIterator]()
      const first = await received.next()
      if (first.done !== true) await new NodeConsole(this.context, this.lines, messages).run(first.value, received)
    } catch (error) {
      if (!(error instanceof NodeFailure))
        this.context.log.error({ err: error }, 'a console failed because of a defect')
      say(messages, { state: 'failed', text: errorText(error) })
    } finally {
      this.open.delete(messages)
      messages.end()
    }
  }

  close(): void {
    for (const messages of this.open) messages.destroy()
  }
}

/** The machine exists, but does not listen (yet). */
const NOBODY_THERE: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET'])

class NodeConsole {
  private line: ConsoleLine | undefined
  /** Numbers of connections: the current one, and the last one that the viewer has seen. */
  private number = 0
  private seenNumber = 0
  /** How much of the serial output was shown. */
  private seen: number | undefined
  private wake: () => void = () => undefined
  private readonly left: Promise<void>
  private isOver = false
  private hasWaited = false
  private pause_s = CONSOLE_RETRY_FIRST_S
  private told = ''
  private leave: () => void = () => undefined

  constructor(
    private readonly context: Context,
    private readonly lines: SerialLines,
    private readonly messages: Duplex,
  ) {
    this.left = new Promise((resolve) => (this.leave = resolve))
  }

  async run(first: unknown, received: AsyncIterator<unknown>): Promise<void> {
    const request = readConsoleRequest(first)
    const { consoles } = this.context.hypervisor(request.hypervisor)
    if (consoles === undefined) fail(`Instances of the hypervisor ${request.hypervisor} have no consoles`)
    this.seen = request.recent ? 0 : undefined
    const news = consoles.watch(request.name, () => this.wake())
    const over = () => {
      this.isOver = true
      this.leave()
    }
    // A broken connection ends it too.
    this.hear(received).then(over, over)
    try {
      while (!this.isOver) await this.connect(request, consoles)
    } finally {
      news.close()
      this.line?.close()
    }
  }

  /** Finds the instance and serves it while it runs, or waits until something may have changed. */
  private async connect(request: NodeConsoleRequest, consoles: HypervisorConsoles): Promise<void> {
    const { clock, hostname } = this.context
    // Changes during the search count too.
    const news = new Promise<void>((resolve) => (this.wake = resolve))
    try {
      const place = await consoles.find(request.name, request.kind)
      if (place === undefined) {
        this.hasWaited = true
        this.say({ state: 'waiting', why: 'stopped', text: `${request.name} does not run on ${hostname}` })
        return await Promise.race([news, this.left])
      }
      if (await this.isHeld(request, consoles)) {
        const text = `Another program of ${hostname}, such as gnt-instance console, has the serial line of ${request.name}`
        this.say({ state: 'waiting', why: 'held', text })
      } else return await this.serve(request, place, consoles)
    } catch (error) {
      const isEarly = NOBODY_THERE.has(errorCode(error))
      if (isEarly)
        this.say({ state: 'waiting', why: 'stopped', text: `${request.name} is just starting on ${hostname}` })
      else this.say({ state: 'waiting', why: 'refused', text: `${request.name}: ${errorText(error)}` })
    }
    await within(clock, this.pause_s, Promise.race([news, this.left]))
    this.pause_s = Math.min(2 * this.pause_s, CONSOLE_RETRY_LAST_S)
  }

  /** Viewers on this node share a serial line. If it is unclear who has the line, this tries to connect. */
  private async isHeld({ kind, name, uuid }: NodeConsoleRequest, consoles: HypervisorConsoles): Promise<boolean> {
    if (kind !== 'serial' || this.lines.has(uuid)) return false
    const isTaken = await consoles.isTaken(name).catch(() => false)
    // Another viewer may have opened it meanwhile.
    return isTaken && !this.lines.has(uuid)
  }

  private async serve(request: NodeConsoleRequest, place: ConsolePlace, consoles: HypervisorConsoles): Promise<void> {
    const show = (said: Buffer): boolean => !this.messages.destroyed && this.messages.write(said)
    const onRoom = (callback: () => void) => void this.messages.once('drain', callback)
    const begun = () => this.say({ state: 'connected', number: ++this.number })
    const viewer = { show, onRoom, begun }
    const { read_only, uuid: instance } = request
    const line: ConsoleLine =
      place.kind === 'serial'
        ? await openSerial(this.lines, { socket: place.socket, instance, seen: this.seen, read_only }, viewer)
        : await openScreen(place, { ...viewer, read_only, clock: this.context.clock })
    this.line = line
    this.pause_s = CONSOLE_RETRY_FIRST_S
    // A viewer who saw the instance start leaves its monitor to the start.
    if (!request.read_only && !this.hasWaited) void consoles.resume(request.name).catch(() => undefined)
    try {
      await Promise.race([line.ended, this.left])
    } finally {
      this.line = undefined
      this.seen = line.seen?.()
      line.close()
    }
  }

  private async hear(received: AsyncIterator<unknown>): Promise<void> {
    for (let next = await received.next(); next.done !== true; next = await received.next()) {
      const message = next.value
      if (typeof message === 'string') this.seenNumber = Number(message)
      else if (this.line !== undefined && this.seenNumber === this.number && Buffer.isBuffer(message))
        await this.line.type(message)
    }
  }

  /** Does not repeat the same state. */
  private say(state: NodeConsoleState): void {
    const text = JSON.stringify(state)
    if (text === this.told) return
    this.told = text
    say(this.messages, state)
  }
}

function say(messages: Duplex, state: NodeConsoleState): void {
  if (!messages.destroyed && !messages.writableEnded) messages.write(JSON.stringify(state))
}
