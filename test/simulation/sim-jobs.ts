// Job processes of a simulated machine: what the pool forks, and the program that it runs there.
import { EventEmitter } from 'node:events'
import { serveJobs, type Channel } from '../../src/jobs/job-process'
import type { FromProcess, ToJob, ToProcess } from '../../src/jobs/messages'
import type { JobChild, JobProcesses } from '../../src/jobs/pool'
import type { Progress } from '../../src/jobs/runner'
import type { Log } from '../../src/lib/log'
import type { Paths } from '../../src/lib/paths'
import { JobCancelled } from '../../src/operations/environment'
import { runOpcode } from '../../src/operations/processor'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { openNodeClient } from '../../src/rpc/node/client'
import { openWconfd } from '../../src/rpc/wconfd/client'
import { authorizeStart, checkSubmitted } from '../../src/services/jobs/authorize-start'
import type { SimMachine } from './sim-machine'
import type { SimNetwork } from './sim-network'
import { SimProcess, type Simulator } from './simulator'

export interface JobWorld {
  readonly simulator: Simulator
  readonly network: SimNetwork
  readonly logOf: (process: SimProcess) => Log
  readonly witness: Witness
}

/** Sees what jobs do. */
export interface Witness {
  /** An opcode holds its locks and begins; it must not do so twice. */
  began(job: number, opIndex: number, op: WireOpCode): void
  /** Not called if its process died before. */
  ended(op: WireOpCode, done: boolean): void
}

/** The job processes that the machine's luxid starts. */
export function simProcesses(machine: SimMachine, world: JobWorld, children: Map<number, SimProcess>): JobProcesses {
  return {
    start: () => {
      const child = machine.start('job')
      children.set(child.pid, child)
      child.onEnd(() => void children.delete(child.pid))
      return new SimChild(SimProcess.current(), child, (channel) => jobProgram(channel, machine, world))
    },
    kill: (pid) => children.get(pid)?.end('killed'),
  }
}

/** As src/job.ts. */
function jobProgram(channel: Channel, machine: SimMachine, { simulator, network, logOf, witness }: JobWorld): void {
  const process = SimProcess.current()
  const { clock } = process
  const paths: Paths = machine.paths
  const { random } = simulator
  const disk = machine.disk.of(process)
  const log = logOf(process)
  const nodes = openNodeClient({ paths, transport: network.of(process) })
  const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random })
  const luxi = new LuxiClient({ path: paths.socket('query'), clock })
  serveJobs(channel, {
    ...{ paths, clock, disk, log },
    Cancelled: JobCancelled,
    execute(op, setting) {
      const running = runOpcode(op, {
        ...setting,
        ...{ wconfd, nodes, clock, random, paths },
        async started(how) {
          await authorizeStart(op, setting.jobId, wconfd)
          await setting.started(how)
          if (how === 'once') witness.began(setting.jobId, setting.opIndex, op)
        },
        processLog: log,
        async submitJobs(jobs) {
          await checkSubmitted(op, jobs, wconfd)
          return luxi.submitManyJobs(jobs)
        },
      })
      const end = (failure?: unknown) => {
        simulator.note(`job ${setting.jobId}`, `${op.OP_ID} ends: ${failure === undefined ? 'done' : String(failure)}`)
        witness.ended(op, failure === undefined)
      }
      running.then(() => end(), end)
      return running
    },
  })
}

/** A forked process as its parent sees it. */
class SimChild implements JobChild {
  readonly pid: number
  connected = true
  exitCode: number | null = null
  signalCode: string | null = null
  private readonly events = new EventEmitter()
  private readonly inChild = new EventEmitter()

  constructor(
    private readonly parent: SimProcess,
    private readonly child: SimProcess,
    program: (channel: Channel) => void,
  ) {
    this.pid = child.pid
    const { simulator } = child
    child.onEnd(() =>
      simulator.after(simulator.between(0.1, 2), parent, () => {
        this.connected = false
        if (this.exitCode === null) this.signalCode = 'SIGKILL'
        this.events.emit('close', this.exitCode, this.signalCode)
      }),
    )
    parent.onEnd(() => this.hangUp())
    simulator.after(simulator.between(30, 200), child, () => program(this.channel()))
  }

  on(event: string, listener: (...args: never[]) => void): void {
    this.events.on(event, (...args) => Reflect.apply(listener, undefined, args))
  }

  send(message: ToProcess | ToJob): void {
    this.later(this.child, () => this.inChild.emit('message', copyOf(message)))
  }

  kill(): void {
    this.child.end('killed')
  }

  disconnect(): void {
    this.hangUp()
  }

  unref(): void {}

  private channel(): Channel {
    const { child, parent } = this
    return {
      pid: child.pid,
      send: (message) => this.later(parent, () => this.events.emit('message', copyOf<FromProcess | Progress>(message))),
      onMessage: (listener) => void this.inChild.on('message', listener),
      onDisconnect: (listener) => {
        if (this.connected) this.inChild.on('disconnect', listener)
        else this.later(child, listener)
      },
      exit: (code) => {
        this.exitCode = code
        child.end(`exit ${code}`)
      },
    }
  }

  private hangUp(): void {
    if (!this.connected) return
    this.connected = false
    this.later(this.child, () => this.inChild.emit('disconnect'))
  }

  private later(whose: SimProcess, action: () => void): void {
    const { simulator } = whose
    this.arrival_ms = Math.max(this.arrival_ms, simulator.time_ms + simulator.between(0.01, 0.5))
    simulator.after(this.arrival_ms - simulator.time_ms, whose, action)
  }

  private arrival_ms = 0
}

const copyOf = <T>(message: T): T => JSON.parse(JSON.stringify(message)) as T
