// The network between simulated machines: calls of nodes are slow now and then, stall, or find nobody, and a line that is cut carries
// nothing in either direction.
import { NODE_CONNECT_S } from '../../src/model/limits/node-calls'
import type { CallName } from '../../src/rpc/node/calls'
import type { NodeTransport } from '../../src/rpc/node/client'
import type { SimMachine } from './sim-machine'
import type { SimProcess, Simulator } from './simulator'

export class SimNetwork {
  /** The part of all requests and answers that never arrives. */
  loss = 0
  /** The part of all calls that are carried out, and whose connection breaks before the answer. */
  lostAnswers = 0
  private readonly cut = new Set<string>()

  constructor(
    private readonly simulator: Simulator,
    private readonly machines: ReadonlyMap<string, SimMachine>,
  ) {}

  separate(a: string, b: string): void {
    this.cut.add(line(a, b))
  }

  heal(): void {
    this.cut.clear()
    this.loss = 0
    this.lostAnswers = 0
  }

  reaches(one: string, other: string): boolean {
    return (
      this.machines.get(one)?.up === true && this.machines.get(other)?.up === true && !this.cut.has(line(one, other))
    )
  }

  /** How a process calls nodes. */
  of(process: SimProcess): NodeTransport {
    return {
      exchange: (target, call, body, timeout_s) => this.exchange(process, target.name, call, body, timeout_s),
      close: () => undefined,
    }
  }

  private exchange(caller: SimProcess, name: string, call: CallName, body: string, timeout_s: number): Promise<string> {
    const { simulator } = this
    const machine = this.machines.get(name)
    const carries = () =>
      machine?.up === true && !this.cut.has(line(caller.machine, name)) && !this.isLost(caller, name)
    return new Promise((resolve, reject) => {
      let gaveUp = false
      const fail = (text: string) => {
        gaveUp = true
        limit.cancel()
        reject(new Error(text))
      }
      const late = (after_s: number, text: string) => simulator.after(after_s * 1000, caller, () => fail(text))
      let limit = late(timeout_s, `no answer within ${timeout_s} s`)
      /** An answer is sent again until it arrives, as TCP does. */
      const back = (action: () => void, delay_ms = this.delay()) => {
        simulator.after(delay_ms, caller, () => {
          if (!carries()) return back(action, simulator.between(200, 5000))
          limit.cancel()
          action()
        })
      }
      simulator.after(this.delay(), undefined, () => {
        if (!carries()) {
          if (!caller.alive) return
          limit.cancel()
          limit = late(Math.min(NODE_CONNECT_S, timeout_s), `no connection within ${NODE_CONNECT_S} s`)
          return
        }
        const noded = machine?.noded
        if (!noded?.process.alive) return void back(() => fail(`nothing listens on ${name}`))
        const forget = noded.process.onEnd(() => void back(() => fail(`${name} closed the connection`)))
        const sent_ms = simulator.time_ms
        const serve = async () => {
          // noded begins nothing for callers that left while it was stopped.
          if (simulator.time_ms > sent_ms && (gaveUp || !caller.alive)) return
          const answer = await noded.answer(call, body)
          forget()
          if (this.lostAnswers > 0 && simulator.chance(this.lostAnswers))
            return void back(() => fail(`the connection with ${name} was reset`))
          back(() => resolve(answer))
        }
        simulator.after(0, noded.process, () => void serve())
      })
    })
  }

  private delay(): number {
    const { simulator } = this
    return simulator.chance(0.02) ? simulator.between(5, 800) : simulator.between(0.1, 2)
  }

  /** A machine's line to itself loses nothing. */
  private isLost(caller: SimProcess, name: string): boolean {
    return caller.machine !== name && this.loss > 0 && this.simulator.chance(this.loss)
  }
}

const line = (a: string, b: string): string => [a, b].sort().join(' ')
