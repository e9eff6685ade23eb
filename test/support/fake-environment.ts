// A cluster in memory for tests of instance operations: the real configuration changes, the real lock table and reservations,
// and simulated nodes that hold disks and run instances. Calls can fail, and the job can be killed at any of them.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { applyChange } from '../../src/config/changes'
import { slice } from '../../src/config/slice'
import { EMPTY_GANTRY, loadConfig } from '../../src/config/upgrade'
import { verifyConfig } from '../../src/config/verify'
import { Reservations } from '../../src/config/reservations'
import { type SimHandlers, simHandlers } from '../../src/daemons/sim/handlers'
import { World } from '../../src/daemons/sim/world'
import { pathsOf } from '../../src/lib/paths'
import { seededRandom } from '../../src/lib/random'
import { createTable } from '../../src/locks/state'
import { step, type LockEvent } from '../../src/locks/table'
import type { ConfigData, Documents, Instance, Node } from '../../src/model/config'
import { GanetiError } from '../../src/model/errors'
import type { JobEnvironment } from '../../src/operations/environment'
import { runOpcode } from '../../src/operations/processor'
import type { ArgsOf, CallName, ResultOf } from '../../src/rpc/node/calls'
import type { NodeClient } from '../../src/rpc/node/client'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import type { ClientId, LockRequest, Wconfd } from '../../src/rpc/wconfd/calls'
import { clockAt } from './instant-clock'
import { Killed, jobEnvironment, nodesThatAnswer, wconfdOf } from './job-surroundings'

const STATE = path.join(__dirname, '../golden/state/config.data')
export const CLIENT: ClientId = [7, '/livelock/7', 77]

/** Replaces a call's answer: returns a value, or throws an error of the node. */
type Override = (node: string, args: readonly unknown[]) => unknown

export interface AskedCall {
  readonly node: string
  readonly call: CallName
  readonly args: readonly unknown[]
}

export class FakeEnvironment {
  private documents: Documents
  readonly world: World
  readonly table = createTable(1)
  readonly random = seededRandom(3)
  readonly log: string[] = []
  /** The notes of the job, beside the opcodes that were submitted. */
  noted: Readonly<Record<string, unknown>> = {}
  readonly calls: AskedCall[] = []
  readonly requested: LockRequest[] = []
  readonly submitted: (readonly WireOpCode[])[] = []
  readonly overrides = new Map<CallName, Override>()
  readonly cancel = new AbortController()
  secrets: Readonly<Record<string, unknown>> = {}
  /** The master's own files, by their paths. */
  readonly masterFiles = new Map<string, string>()
  /** The job dies right after this many node calls have been carried out. */
  killAfter = Infinity
  started = false
  private readonly clock = clockAt(2_000_000_000)
  private readonly reservations: Reservations

  constructor(text = fs.readFileSync(STATE, 'utf8')) {
    const { config } = loadConfig(text, seededRandom(2))
    this.documents = { config, gantry: EMPTY_GANTRY }
    this.world = World.fromConfig(config)
    this.reservations = new Reservations(() => this.config, this.random)
  }

  get config(): ConfigData {
    return this.documents.config
  }

  instance(name: string): Instance | undefined {
    return Object.values(this.config.instances).find((one) => one.name === name || one.name === `${name}.gnt.example`)
  }

  node(name: string): Node {
    const node = Object.values(this.config.nodes).find((one) => one.name === `${name}.gnt.example`)
    if (node === undefined) throw new Error(`no node ${name}`)
    return node
  }

  called(call: CallName): AskedCall[] {
    return this.calls.filter((one) => one.call === call)
  }

  change(name: string, ...args: unknown[]): unknown {
    const context = { now_s: this.clock.now_ms() / 1000, random: this.random }
    const { documents, result } = applyChange(this.documents, [name, ...args], context)
    this.documents = documents
    return result
  }

  run(OP_ID: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return runOpcode({ OP_ID, reason: [['gnt:test', 'why', 1]], ...params }, this.environment())
  }

  /** The error in the form of job results. */
  async failure(OP_ID: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    try {
      await this.run(OP_ID, params)
    } catch (error) {
      if (error instanceof GanetiError) return error.toWire()
      throw error
    }
    throw new Error(`${OP_ID} was expected to fail`)
  }

  /** Runs it until the job is killed; answers whether it was. */
  async runUntilKilled(OP_ID: string, params: Readonly<Record<string, unknown>>, after: number): Promise<boolean> {
    this.killAfter = after
    try {
      await this.run(OP_ID, params)
      return false
    } catch (error) {
      if (error instanceof Killed) return true
      throw error
    } finally {
      this.killAfter = Infinity
    }
  }

  get killed(): boolean {
    return this.calls.length >= this.killAfter
  }

  /** Files of disks that are on nodes: their uuids. */
  diskFiles(): string[] {
    const { nodes, shared } = JSON.parse(this.world.encode()) as {
      nodes: Record<string, { disks: [string, unknown][] }>
      shared: [string, unknown][]
    }
    return [...Object.values(nodes).flatMap((node) => node.disks), ...shared].map(([uuid]) => uuid)
  }

  runningOn(name: string): string[] {
    const full = name.includes('.') ? name : `${name}.gnt.example`
    return Object.values(this.config.nodes)
      .filter((node) => this.world.node(node.name).instances.has(full))
      .map((node) => node.name)
  }

  inconsistencies(): string[] {
    return verifyConfig(this.config)
  }

  environment(): JobEnvironment {
    return jobEnvironment({
      ...{ jobId: 7, client: CLIENT, secrets: this.secrets, cancelled: this.cancel.signal },
      ...{ wconfd: this.wconfd(), nodes: this.nodeClient(), clock: this.clock, random: this.random },
      ...{ said: this.log, submitted: this.submitted, paths: pathsOf('', 'node1.gnt.example') },
      note: (fields) => void (this.noted = { ...this.noted, ...fields }),
      started: async () => void (this.started = true),
      retrying: async () => void (this.started = false),
      masterFile: async (file) => this.masterFiles.get(file),
    })
  }

  private wconfd(): Wconfd {
    const locks = (event: LockEvent) => step(this.table, event)
    const base = { owner: CLIENT, at: 0 }
    const calls: Partial<Wconfd> = {
      gantryRead: async (selector) => JSON.parse(JSON.stringify(slice(this.config, selector))) as ConfigData,
      gantrySection: async () => ({}),
      gantryChange: async (_client, epoch, changes) => {
        if (epoch === null) throw new Error('a change without locks')
        return changes.map(([name, ...args]) => this.change(name, ...(JSON.parse(JSON.stringify(args)) as unknown[])))
      },
      gantryAcquire: async (_client, priority, request) => {
        this.requested.push(...request)
        const { blockers } = locks({ ...base, kind: 'update', request, priority })
        if (blockers.length > 0) throw new Error(`blocked by ${JSON.stringify(blockers)}`)
        return { epoch: 1 }
      },
      tryUpdateLocks: async (_client, request) => locks({ ...base, kind: 'update', request, priority: null }).blockers,
      guardedOpportunisticLockUnion: async (count, _client, wanted) =>
        locks({ ...base, kind: 'takeFree', locks: wanted, count }).acquired,
      opportunisticLockUnion: async (_client, wanted) =>
        locks({ ...base, kind: 'takeFree', locks: wanted, count: 0 }).acquired,
      gantryFreeAll: async (client) => {
        this.reservations.drop(client)
        locks({ ...base, kind: 'free' })
        return null
      },
      freeLocksLevel: async (_client, level) => (locks({ ...base, kind: 'freeLevel', level }), null),
      dropAllReservations: async (client) => (this.reservations.drop(client), null),
      generateMAC: async (client, network) => this.reservations.generateMac(client, network),
      reserveMAC: async (client, mac) => (this.reservations.reserveMac(client, mac), null),
      generateIp: async (client, network) => this.reservations.generateIp(client, network),
      reserveIp: async (client, network, ip, check) => (this.reservations.reserveIp(client, network, ip, check), null),
    }
    return wconfdOf(calls, () => this.checkAlive())
  }

  private checkAlive(): void {
    if (this.killed) throw new Killed()
  }

  private nodeClient(): NodeClient {
    return nodesThatAnswer(async (node, call, args) => {
      this.checkAlive()
      const sent = JSON.parse(JSON.stringify(args)) as typeof args
      this.calls.push({ node: node.name, call, args: sent })
      try {
        return await this.answer(node.name, call, sent)
      } finally {
        // The node did its part; the job did not live to hear of it.
        this.checkAlive()
      }
    })
  }

  private answer<C extends CallName>(node: string, call: C, args: ArgsOf<C>): ResultOf<C> | Promise<ResultOf<C>> {
    const override = this.overrides.get(call)?.(node, args)
    if (override !== undefined) return override as ResultOf<C>
    const handlers: SimHandlers = simHandlers
    const handler = handlers[call]
    if (handler === undefined) throw new Error(`simulated nodes have no ${call}`)
    return handler({ world: this.world, node, clock: this.clock }, ...args)
  }
}
