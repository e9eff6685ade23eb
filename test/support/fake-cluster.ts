// A cluster in memory for tests of operations. It uses the real processor, the real configuration changes, the real lock table and
// reservations. Nodes answer as the test says, or are simulated. Everything that happens is recorded. Node calls can fail, and the job can
// be killed at any of them.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { applyChange, change } from '../../src/config/changes'
import { initialConfig } from '../../src/config/init'
import { Reservations } from '../../src/config/reservations'
import { slice } from '../../src/config/slice'
import { EMPTY_GANTRY, loadConfig } from '../../src/config/upgrade'
import { verifyConfig } from '../../src/config/verify'
import { simHandlers } from '../../src/daemons/sim/handlers'
import type { SimHandlers } from '../../src/daemons/sim/sim-handlers'
import { World } from '../../src/daemons/sim/world'
import type { Clock } from '../../src/lib/clock'
import { pathsOf } from '../../src/lib/paths'
import { seededRandom } from '../../src/lib/random'
import { createTable } from '../../src/locks/state'
import { step, type LockEvent } from '../../src/locks/table'
import type { Cluster, ConfigData, Disk, Documents, GantryData } from '../../src/model/config'
import type { Instance, Node, NodeGroup } from '../../src/model/config'
import { ConfigurationError, GanetiError } from '../../src/model/errors'
import { diskUuid, groupUuid, instanceUuid, nodeUuid, type NodeUuid } from '../../src/model/ids'
import type { DiskTemplate } from '../../src/model/templates'
import type { JobEnvironment } from '../../src/operations/environment'
import { planJob } from '../../src/operations/plan/plan'
import { runOpcode } from '../../src/operations/processor'
import { PeerError } from '../../src/rpc/json-protocol'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import type { Planned } from '../../src/rpc/luxi/plan'
import type { ArgsOf, CallName, ResultOf } from '../../src/rpc/node/calls'
import type { NodeClient, NodeTarget } from '../../src/rpc/node/client'
import { bodyFor } from '../../src/rpc/node/protocol'
import type { ClientId, LockRequest, NamedChange, ReplicaStatus, Wconfd } from '../../src/rpc/wconfd/calls'
import { clockAt } from './instant-clock'
import { AnswerLost, Killed, jobEnvironment, nodesThatAnswer, wconfdOf } from './job-surroundings'

const RECORDED = path.join(__dirname, '../golden/state/config.data')
const CLIENT: ClientId = [7, '/livelock/7', 77]

/** A function that throws fails the call. */
type Answers = {
  [C in CallName]?: (node: NodeTarget, args: ArgsOf<C>) => ResultOf<C> | undefined | Promise<ResultOf<C>>
}

interface AskedCall {
  readonly node: string
  readonly call: CallName
  readonly args: readonly unknown[]
}

export class FakeCluster {
  private documents: Documents
  /** The answers of nodes. A call without an answer here goes to the simulated nodes. Without these it fails. */
  answers: Answers = {}
  /** Whether the node's daemon is down for a call (`before`), or is killed after it has carried the call out (`after`). */
  losing?: (node: string, call: CallName) => 'before' | 'after' | undefined
  readonly asked: AskedCall[] = []
  readonly table = createTable(1)
  readonly lockRequests: (readonly LockRequest[])[] = []
  readonly changes: NamedChange[] = []
  /** Whether the answer to these changes is lost, although they were made. No changes: a job asks whether wconfd answers again. */
  losesAnswer: (changes: readonly NamedChange[]) => boolean = () => false
  /** Whether wconfd is gone. */
  isUnreachable: () => boolean = () => false
  /** Whether wconfd cannot write these changes, and says so. */
  refuses: (changes: readonly NamedChange[]) => boolean = () => false
  readonly submitted: (readonly WireOpCode[])[] = []
  readonly log: string[] = []
  /** The notes in the job, which were added to the submitted opcodes. */
  noted: Readonly<Record<string, unknown>> = {}
  /** The master's own files, by their paths. */
  readonly files = new Map<string, string>()
  readonly cancel = new AbortController()
  secrets: Readonly<Record<string, unknown>> = {}
  replicas: ReplicaStatus[] = []
  lockOwners: Awaited<ReturnType<Wconfd['listAllLocksOwners']>> = []
  /** How often everything was sent to all nodes. */
  flushes = 0
  clock: Clock = clockAt(2_000_000_000)
  queries: JobEnvironment['queries']
  started = false
  /** The job dies right after this many node calls have been carried out. */
  killAfter = Infinity
  private readonly reservations: Reservations

  constructor(
    config: ConfigData,
    private readonly simulated?: World,
    readonly random = seededRandom(7),
  ) {
    this.documents = { config, gantry: EMPTY_GANTRY }
    this.reservations = new Reservations(() => this.config, random)
    if (simulated === undefined) this.answers.hooks_runner = () => []
  }

  get config(): ConfigData {
    return this.documents.config
  }

  set config(config: ConfigData) {
    this.documents = { ...this.documents, config }
  }

  get gantry(): GantryData {
    return this.documents.gantry
  }

  set gantry(gantry: GantryData) {
    this.documents = { ...this.documents, gantry }
  }

  /** The memory, disks and CPUs that simulated nodes have. */
  get world(): World {
    if (this.simulated === undefined) throw new Error('the nodes of this cluster are not simulated')
    return this.simulated
  }

  /** Applies changes as if another client had made them. */
  given(...changes: readonly NamedChange[]): this {
    for (const one of changes) this.apply(one)
    return this
  }

  change(name: string, ...args: unknown[]): unknown {
    return this.apply([name, ...args])
  }

  addNode(name: string, ip: string, fields: Partial<Node> = {}): NodeUuid {
    const uuid = nodeUuid(this.random.uuid())
    const address = { name, uuid, primary_ip: ip, secondary_ip: ip }
    const first = found(this.config.nodes, ({ uuid: one }) => one === this.config.cluster.master_node)
    this.given(change('addNode', { ...first, serial_no: 1, master_candidate: false, ...address, ...fields }))
    return uuid
  }

  addGroup(name: string, fields: Partial<NodeGroup> = {}): string {
    const uuid = groupUuid(this.random.uuid())
    const first = found(this.config.nodegroups, () => true)
    this.given(change('addNodeGroup', { ...first, uuid, name, networks: {}, ...fields }))
    return uuid
  }

  /** A stopped instance: without disks, or with one DRBD disk when it has a secondary node. */
  addInstance(name: string, primary: string, fields: Partial<Instance> = {}, secondary?: string): Instance {
    const instance: Instance = {
      name,
      primary_node: this.node(primary).uuid,
      os: 'noop',
      hypervisor: 'kvm',
      hvparams: {},
      beparams: {},
      osparams: {},
      osparams_private: {},
      admin_state: 'down',
      admin_state_source: 'admin',
      nics: [],
      disks: [],
      disks_active: false,
      uuid: instanceUuid(this.random.uuid()),
      serial_no: 1,
      ctime: 0,
      mtime: 0,
      tags: [],
      ...fields,
    }
    this.given(change('addInstance', instance))
    if (secondary !== undefined) this.addDrbdDisk(instance, this.node(secondary))
    return instance
  }

  addRbdDisk(instance: string): void {
    this.addDisk(instance, 'rbd', ['rbd', 'image'], [])
  }

  addPlainDisk(instance: string, node: string): void {
    this.addDisk(instance, 'plain', ['xenvg', `${instance}.disk0`], [this.node(node).uuid])
  }

  addFileDisk(instance: string, node: string): void {
    this.addDisk(instance, 'file', ['loop', `/srv/ganeti/file-storage/${instance}/disk0`], [this.node(node).uuid])
  }

  private addDisk(instance: string, dev_type: DiskTemplate, logical_id: readonly string[], nodes: NodeUuid[]): void {
    const uuid = diskUuid(this.random.uuid())
    const times = { serial_no: 1, ctime: 0, mtime: 0 }
    const shape = { children: [], iv_name: 'disk/0', size: 1024, mode: 'rw' } as const
    const disk: Disk = { uuid, dev_type, logical_id, nodes, ...shape, ...times }
    this.given(change('addInstanceDisk', instance, disk, 0))
  }

  private addDrbdDisk(instance: Instance, secondary: Node): void {
    const nodes = [instance.primary_node, secondary.uuid]
    const common = { nodes, iv_name: 'disk/0', size: 1024, mode: 'rw', serial_no: 1, ctime: 0, mtime: 0 } as const
    const volume = (suffix: string, size: number) => ({
      ...common,
      uuid: diskUuid(this.random.uuid()),
      dev_type: 'plain' as const,
      logical_id: ['xenvg', `${instance.name}.${suffix}`],
      size,
      iv_name: '',
      children: [],
    })
    const uuid = diskUuid(this.random.uuid())
    const minors = this.reservations.allocateMinors(uuid, nodes)
    const disk = {
      ...common,
      uuid,
      dev_type: 'drbd' as const,
      logical_id: [instance.primary_node, secondary.uuid, 11000, ...minors, 'secret'],
      children: [volume('data', 1024), volume('meta', 128)],
    }
    this.given(change('addInstanceDisk', instance.uuid, disk, 0))
  }

  /** A node by its name, or by the part before the first dot. Other objects are found in the same way. */
  node(name: string): Node {
    return found(this.config.nodes, named(name))
  }

  groupNamed(name: string): NodeGroup {
    return found(this.config.nodegroups, (group) => group.name === name)
  }

  instance(name: string): Instance | undefined {
    return Object.values(this.config.instances).find(named(name))
  }

  /** The calls of this name that nodes received. */
  calls(call: CallName): AskedCall[] {
    return this.asked.filter((one) => one.call === call)
  }

  /** The locks that were asked for, as `level/name mode`. */
  get locks(): string[] {
    return this.lockRequests.flat().map(([name, mode]) => `${name} ${mode}`)
  }

  /** Runs one opcode, whole or by its id and parameters, from its first lock to its last, as a job process does. */
  run(op: string | WireOpCode, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const common = { priority: 0, comment: null, depends: null, reason: [['gnt:test', 'why', 1]] }
    return runOpcode({ ...common, ...(typeof op === 'string' ? { OP_ID: op } : op), ...params }, this.environment())
  }

  /** Plans a job; the cluster does not change. */
  plan(...ops: readonly WireOpCode[]): Promise<Planned[]> {
    const { nodes, clock, random, paths, processLog: log } = this.environment()
    return planJob(ops, { ...this.documents, nodes, clock, random, paths, log })
  }

  /** The error of an opcode, in the form of job results. Fails the test if the opcode does not fail. */
  async failure(OP_ID: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const outcome = await this.run(OP_ID, params).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
    if (!('error' in outcome)) throw new Error(`${OP_ID} did not fail, it answered ${JSON.stringify(outcome.result)}`)
    if (!(outcome.error instanceof GanetiError)) throw outcome.error
    return outcome.error.toWire()
  }

  /** Runs the opcode until the job is killed. Returns whether that happened. */
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
    return this.asked.length >= this.killAfter
  }

  /** The variables that the hook scripts of a phase got, and the nodes on which they ran. */
  hooks(path: string, phase: 'pre' | 'post'): { nodes: string[]; env: Record<string, string> } {
    const runs = this.calls('hooks_runner').filter(({ args }) => args[0] === path && args[1] === phase)
    const env = runs[0]?.args[2]
    return { nodes: runs.map(({ node }) => node).sort(), env: (env ?? {}) as Record<string, string> }
  }

  /** The disks on the simulated nodes: volumes by name, others by uuid. */
  diskFiles(): string[] {
    const { nodes, shared } = JSON.parse(this.world.encode()) as {
      nodes: Record<string, { disks: [string, unknown][] }>
      shared: [string, unknown][]
    }
    return [...Object.values(nodes).flatMap((node) => node.disks), ...shared].map(([uuid]) => uuid)
  }

  /** The simulated nodes on which an instance runs. */
  runningOn(instance: string): string[] {
    const runs = ({ name }: Node) => [...this.world.node(name).instances.keys()].some((one) => isNamed(one, instance))
    return Object.values(this.config.nodes)
      .filter(runs)
      .map(({ name }) => name)
  }

  inconsistencies(): string[] {
    return verifyConfig(this.config)
  }

  environment(): JobEnvironment {
    return jobEnvironment({
      ...{ jobId: 7, client: CLIENT, secrets: this.secrets, cancelled: this.cancel.signal },
      ...{ wconfd: this.wconfd(), nodes: this.nodes(), clock: this.clock, random: this.random },
      ...{ said: this.log, submitted: this.submitted },
      ...(this.queries && { queries: this.queries }),
      paths: pathsOf('', found(this.config.nodes, ({ uuid }) => uuid === this.config.cluster.master_node).name),
      note: (fields) => void (this.noted = { ...this.noted, ...fields }),
      started: async () => void (this.started = true),
      retrying: async () => void (this.started = false),
      masterFile: async (file) => this.files.get(file),
    })
  }

  private apply(one: NamedChange): unknown {
    const step = applyChange(this.documents, one, { now_s: this.clock.now_ms() / 1000, random: this.random })
    this.documents = step.documents
    return step.result
  }

  private wconfd(): Wconfd {
    const locks = (event: LockEvent) => step(this.table, event)
    const base = { owner: CLIENT, at: 0 }
    const calls: Partial<Wconfd> = {
      gantryRead: async (selector) => travelled(slice(this.config, selector)),
      gantrySection: async (section) => this.gantry.sections[section] ?? {},
      readConfig: async () => this.config,
      gantryChange: async (_client, epoch, changes) => {
        if (epoch === null) throw new Error('a change without locks')
        if (this.refuses(changes)) throw new ConfigurationError('The change could not be written and did not happen')
        this.changes.push(...changes)
        const results = changes.map((one) => this.apply(travelled(one)))
        if (this.losesAnswer(changes)) throw new PeerError('wconfd closed the connection during a call', 'lost')
        return results
      },
      gantryAcquire: async (_client, priority, request) => {
        this.lockRequests.push(request)
        const { blockers } = locks({ ...base, kind: 'update', request, priority })
        if (blockers.length > 0) throw new Error(`blocked by ${JSON.stringify(blockers)}`)
        return { epoch: 1 }
      },
      tryUpdateLocks: async (_client, request) => locks({ ...base, kind: 'update', request, priority: null }).blockers,
      guardedOpportunisticLockUnion: async (count, _client, desired) =>
        locks({ ...base, kind: 'takeFree', locks: desired, count }).acquired,
      opportunisticLockUnion: async (_client, desired) =>
        locks({ ...base, kind: 'takeFree', locks: desired, count: 0 }).acquired,
      gantryFreeAll: async (client) => {
        this.reservations.drop(client)
        locks({ ...base, kind: 'free' })
        return null
      },
      freeLocksLevel: async (_client, level) => (locks({ ...base, kind: 'freeLevel', level }), null),
      downGradeLocksLevel: async () => null,
      gantryCancelRequest: async () => null,
      listAllLocksOwners: async () => this.lockOwners,
      dropAllReservations: async (client) => (this.reservations.drop(client), null),
      generateMAC: async (client, network) => this.reservations.generateMac(client, network),
      reserveMAC: async (client, mac) => (this.reservations.reserveMac(client, mac), null),
      generateIp: async (client, network) => this.reservations.generateIp(client, network),
      reserveIp: async (client, network, ip, check) => (this.reservations.reserveIp(client, network, ip, check), null),
      generateDRBDSecret: async (client) => this.reservations.generateSecret(client),
      reserveLV: async (client, volume) => (this.reservations.reserveVolume(client, volume), null),
      gantryReserveMinors: async (client, disk, nodes) => this.reservations.allocateMinorsFor(client, disk, nodes),
      computeDRBDMap: async () => this.reservations.drbdMap(),
      gantryReplicas: async () => this.replicas,
      flushConfig: async () => {
        this.flushes++
        return null
      },
    }
    return wconfdOf(calls, (call) => {
      this.checkAlive()
      // The locks of a job that has ended are freed anyway.
      if (call !== 'gantryFreeAll' && this.isUnreachable())
        throw new PeerError('wconfd cannot be reached', 'unreachable')
    })
  }

  private checkAlive(): void {
    if (this.killed) throw new Killed()
  }

  private nodes(): NodeClient {
    return nodesThatAnswer(async (node, call, args) => {
      this.checkAlive()
      const sent = JSON.parse(bodyFor(node.uuid, JSON.stringify(args))) as typeof args
      this.asked.push({ node: node.name, call, args: sent })
      const lost = this.losing?.(node.name, call)
      if (lost === 'before') throw new AnswerLost('hung up')
      try {
        const answer = await this.answer(node, call, sent)
        if (lost === 'after') throw new AnswerLost('hung up')
        return answer
      } finally {
        // The node did its part, but the job died before the answer came.
        this.checkAlive()
      }
    })
  }

  private async answer<C extends CallName>(node: NodeTarget, call: C, args: ArgsOf<C>): Promise<ResultOf<C>> {
    const answers: { [K in C]?: Answers[K] } = this.answers
    const reported = await answers[call]?.(node, args)
    if (reported !== undefined) return reported
    if (this.simulated === undefined) throw new Error(`no answer to ${call}`)
    const handlers: SimHandlers = simHandlers
    const handler = handlers[call]
    if (handler === undefined) throw new Error(`simulated nodes have no ${call}`)
    return handler({ world: this.simulated, node: node.name, clock: this.clock }, ...args)
  }
}

/** `node1` is the master, the others are regular nodes. They have nothing on them, and answer only what the test says. */
export function smallCluster(
  nodes: readonly string[] = ['node1', 'node2', 'node3'],
  cluster: Partial<Cluster> = {},
): FakeCluster {
  const random = seededRandom(7)
  const config = initialConfig(
    {
      clusterName: 'cluster.test',
      masterIp: '192.0.2.254',
      masterName: `${nodes[0]}.test`,
      primaryIp: '192.0.2.1',
      masterCertDigest: 'digest of node1.test',
      cluster: { modify_ssh_setup: false, modify_etc_hosts: false, candidate_pool_size: 1, ...cluster },
    },
    { now_s: 1000, random },
  )
  const fake = new FakeCluster(config, undefined, random)
  nodes.slice(1).forEach((name, index) => fake.addNode(`${name}.test`, `192.0.2.${index + 2}`))
  return fake
}

/** The cluster of a configuration file, or the recorded one. Its nodes are simulated, with disks and running instances. */
export function simulatedCluster(text = fs.readFileSync(RECORDED, 'utf8')): FakeCluster {
  const { config } = loadConfig(text, seededRandom(2))
  return new FakeCluster(config, World.fromConfig(config))
}

/** The value as it arrives at the other end of a connection. */
const travelled = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const isNamed = (name: string, desired: string) => name === desired || name.startsWith(`${desired}.`)
const named =
  (desired: string) =>
  ({ name }: { readonly name: string }): boolean =>
    isNamed(name, desired)

function found<T>(objects: Readonly<Record<string, T>>, matches: (object: T) => boolean): T {
  const object = Object.values(objects).find(matches)
  if (object === undefined) throw new Error('the test names an object that does not exist')
  return object
}
