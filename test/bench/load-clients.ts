// Clients in processes of their own. What one of them has to do, such as to read long lists, must not be what another one waits for, and
// a handshake costs a client more than the server: one process of clients would be measured itself.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { type Measured, measured } from './measured'
import { type RapiLoad, type RapiTarget, timesOf } from './rapi-load'

interface Order {
  readonly target: RapiTarget
  readonly load: RapiLoad
}

export class LoadClients {
  private constructor(private readonly children: readonly ChildProcess[]) {}

  static async start(count: number): Promise<LoadClients> {
    const children = Array.from({ length: count }, () => fork(__filename))
    await Promise.all(children.map((child) => once(child, 'message')))
    return new LoadClients(children)
  }

  /** Its connections are divided among the processes. */
  async load(target: RapiTarget, load: RapiLoad): Promise<Measured> {
    const used = this.children.slice(0, load.connections)
    const started = performance.now()
    const order = { target, load: { ...load, connections: load.connections / used.length } }
    const times = await Promise.all(used.map((child) => answerOf(child, order)))
    return measured(times.flat(), performance.now() - started)
  }

  stop(): void {
    for (const child of this.children) child.disconnect()
  }
}

async function answerOf(child: ChildProcess, order: Order): Promise<number[]> {
  const answer = Promise.race([
    once(child, 'message').then(([times]) => times as number[]),
    once(child, 'exit').then(() => Promise.reject(new Error('a process of clients has ended'))),
  ])
  child.send(order)
  return answer
}

if (require.main === module) {
  process.on('message', ({ target, load }: Order) => void timesOf(target, load).then((times) => process.send?.(times)))
  process.send?.('ready')
}
