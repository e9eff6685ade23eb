// Simulated users: each has its own tags and instances, submits jobs, and remembers the answers.
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { PeerError } from '../../src/rpc/json-protocol'
import { clusterErrand, instanceErrand, op } from './errands'
import { factsChangedBy, type Fact, type Ledger } from './ledger'
import { backUp, betweenGroups, type Done, NEW, type Requester, several, snapshots, whileStopped } from './sequences'
import { NODES, type SimCluster } from './sim-cluster'
import type { SimProcess, Simulator } from './simulator'

export class User implements Requester {
  readonly simulator: Simulator
  private readonly luxi: LuxiClient
  private tags = 0
  private submissions = 0
  private readonly instances = new Map<string, 'there' | 'gone' | 'unknown'>()
  private stopped = false
  private doing = 'nothing'

  constructor(
    private readonly name: string,
    private readonly process: SimProcess,
    cluster: SimCluster,
    private readonly ledger: Ledger,
  ) {
    this.simulator = process.simulator
    this.luxi = new LuxiClient({ path: cluster.master.paths.socket('query'), clock: process.clock })
    for (const number of [1, 2, 3]) this.instances.set(`${name}-${number}.example.com`, 'gone')
    process.run(() => void this.work())
  }

  stop(): void {
    this.stopped = true
  }

  get state(): string {
    return `${this.name}: ${this.doing}`
  }

  private async work(): Promise<void> {
    const { simulator, process } = this
    const acts = [
      () => this.delay(),
      () => this.delay(),
      () => this.addTag(),
      () => this.addTag(),
      () => this.createOrRemove(),
      () => this.createOrRemove(),
      () => this.instanceAct(),
      () => this.instanceAct(),
      () => this.clusterAct(),
      () => this.addNamed(),
      () => this.rename(),
      () => this.filter(),
      () => this.changeMemory(),
      () => this.changeMemory(),
      () => this.many(),
      () => whileStopped(this),
      () => whileStopped(this),
      () => snapshots(this, `of-${this.name}-${++this.tags}`),
      () => backUp(this),
      () => several(this),
      () => betweenGroups(this),
    ]
    // So that there is something to work with.
    await this.createOrRemove()
    while (!this.stopped) {
      await process.clock.sleep(simulator.between(10, 1500))
      await simulator.pick(acts)()
    }
    this.doing = 'stopped'
  }

  one(state: 'there' | 'gone', but?: string): string | undefined {
    const names = [...this.instances].flatMap(([name, is]) => (is === state && name !== but ? [name] : []))
    return names.length === 0 ? undefined : this.simulator.pick(names)
  }

  async done(one: WireOpCode): Promise<Done | undefined> {
    const names = factsChangedBy(one).flatMap(({ kind, name }) => (kind === 'instance' ? [name] : []))
    for (const name of names) this.instances.set(name, 'unknown')
    const id = await this.submit([one])
    if (id === undefined || (await this.awaitEnd(id)) !== 'success') return undefined
    const [result] = this.ledger.resultOf(id)
    return { id, result }
  }

  async make(name: string, create: WireOpCode): Promise<void> {
    const done = await this.done(create)
    if (done !== undefined) this.isMade(name, done.id)
  }

  async follow(id: number): Promise<void> {
    this.ledger.accepted(id)
    if ((await this.awaitEnd(id)) !== 'success') return
    for (const [name, is] of this.instances)
      if (is === 'unknown' && this.ledger.changerOf({ kind: 'instance', name }) === id) this.isMade(name, id)
  }

  private isMade(name: string, by: number): void {
    this.instances.set(name, 'there')
    this.ledger.learn({ kind: 'instance', name }, true, by)
  }

  private async delay(): Promise<void> {
    const id = await this.submit([this.delayOp()])
    if (id === undefined) return
    if (this.simulator.chance(0.3)) await this.disturb(id)
    if (this.simulator.chance(0.6)) await this.awaitEnd(id)
    if (this.simulator.chance(0.3)) await this.archive(id)
  }

  private delayOp(): WireOpCode {
    const { simulator } = this
    const on_nodes = NODES.filter(() => simulator.chance(0.2))
    return op('OP_TEST_DELAY', {
      ...{ duration: simulator.between(0.01, 3), on_master: true, on_nodes, on_node_uuids: null },
      ...{ repeat: 0, interruptible: false, no_locks: simulator.chance(0.5) },
    })
  }

  private async disturb(id: number): Promise<void> {
    await this.process.clock.sleep(this.simulator.between(0, 1000))
    const act = this.simulator.random.below(3)
    if (act === 0) await this.ask(() => this.luxi.cancelJob(id, false))
    else if (act === 1) await this.ask(() => this.luxi.cancelJob(id, true))
    else await this.ask(() => this.luxi.changeJobPriority(id, -5))
  }

  private async addTag(): Promise<void> {
    const name = `${this.name}-${++this.tags}`
    const fact: Fact = { kind: 'tag', name }
    const remove = this.simulator.chance(0.3)
    const change = (id: string) => op(id, { kind: 'cluster', name: null, tags: [name] })
    const id = await this.submit([change('OP_TAGS_SET')])
    if (id === undefined || (await this.awaitEnd(id)) !== 'success') return
    this.ledger.learn(fact, true, id)
    if (!remove) return
    const gone = await this.submit([change('OP_TAGS_DEL')])
    if (gone !== undefined && (await this.awaitEnd(gone)) === 'success') this.ledger.learn(fact, false, gone)
  }

  private async createOrRemove(): Promise<void> {
    const { simulator, ledger } = this
    const name = simulator.pick([...this.instances.keys()])
    const fact: Fact = { kind: 'instance', name }
    const remove =
      this.instances.get(name) === 'there' || (this.instances.get(name) === 'unknown' && simulator.chance(0.5))
    const reserve = !remove && simulator.chance(0.3)
    this.instances.set(name, 'unknown')
    const create = this.createOp(name)
    const id = await this.submit([remove ? removeOp(name) : reserve ? { ...create, forthcoming: true } : create])
    if (id === undefined || (await this.awaitEnd(id)) !== 'success') return
    this.instances.set(name, remove ? 'gone' : 'there')
    ledger.learn(fact, !remove, id)
    if (reserve) await this.commit(name)
  }

  /** Whatever becomes of it, the name that was reserved stays taken. */
  private async commit(instance_name: string): Promise<void> {
    const commit = op('OP_INSTANCE_CREATE', {
      ...{ instance_name, mode: 'create', disks: [], nics: [{}], commit: true },
      ...{ name_check: false, ip_check: false, start: this.simulator.chance(0.8), conflicts_check: false },
    })
    const id = await this.submit([commit])
    if (id !== undefined) await this.awaitEnd(id)
  }

  private createOp(instance_name: string): WireOpCode {
    const { simulator } = this
    const [pnode, snode] = simulator.chance(0.5) ? [NODES[0], NODES[1]] : [NODES[2], NODES[1]]
    const place = simulator.pick([
      { disk_template: 'sharedfile', disks: [{ size: 8 }], pnode: simulator.pick(NODES) },
      { disk_template: 'drbd', disks: [{ size: 8 }, { size: 4 }], pnode, snode },
      { disk_template: 'plain', disks: [{ size: 8 }], pnode },
      { disk_template: 'drbd', disks: [{ size: 8 }], pnode: snode, snode: pnode },
      { disk_template: 'diskless', disks: [], pnode: simulator.pick(NODES) },
    ])
    return op('OP_INSTANCE_CREATE', {
      ...{ instance_name, mode: 'create', ...NEW, ...place, start: simulator.chance(0.8) },
    })
  }

  private async clusterAct(): Promise<void> {
    const id = await this.submit([clusterErrand(this.simulator)])
    if (id !== undefined && this.simulator.chance(0.7)) await this.awaitEnd(id)
  }

  /** A group or a network, as for tags. */
  private async addNamed(): Promise<void> {
    const { simulator, ledger } = this
    const kind = simulator.pick(['group', 'network'] as const)
    const number = ++this.tags
    const name = `${this.name}-${number}`
    const [KIND, key] = [kind.toUpperCase(), `${kind}_name`]
    const network = `10.${this.name.at(-1)}.${number % 256}.0/24`
    const add = op(`OP_${KIND}_ADD`, { [key]: name, ...(kind === 'network' && { network, conflicts_check: false }) })
    const id = await this.submit([add])
    if (id === undefined || (await this.awaitEnd(id)) !== 'success') return
    ledger.learn({ kind, name }, true, id)
    if (kind === 'network' && simulator.chance(0.6)) await this.connect(name)
    if (simulator.chance(0.3)) return
    if (simulator.chance(0.4)) {
      const new_name = `${name}-new`
      const renamed = await this.done(op(`OP_${KIND}_RENAME`, { [key]: name, new_name }))
      if (renamed === undefined) return
      ledger.learn({ kind, name }, false, renamed.id)
      ledger.learn({ kind, name: new_name }, true, renamed.id)
      return
    }
    const gone = await this.done(op(`OP_${KIND}_REMOVE`, { [key]: name }))
    if (gone !== undefined) ledger.learn({ kind, name }, false, gone.id)
  }

  private async connect(network_name: string): Promise<void> {
    const where = { network_name, group_name: 'default' }
    const link = { network_mode: 'routed', network_link: 'br0', conflicts_check: false }
    const id = await this.submit([op('OP_NETWORK_CONNECT', { ...where, ...link })])
    if (id === undefined || (await this.awaitEnd(id)) !== 'success' || this.simulator.chance(0.5)) return
    const gone = await this.submit([op('OP_NETWORK_DISCONNECT', where)])
    if (gone !== undefined) await this.awaitEnd(gone)
  }

  private async rename(): Promise<void> {
    const { instances, ledger, simulator } = this
    const [name] = [...instances].find(([, state]) => state === 'there') ?? []
    const [new_name] = [...instances].find(([, state]) => state === 'gone') ?? []
    if (name === undefined || new_name === undefined) return
    const stop = await this.submit([op('OP_INSTANCE_SHUTDOWN', { instance_name: name })])
    if (stop === undefined || (await this.awaitEnd(stop)) !== 'success') return
    for (const one of [name, new_name]) instances.set(one, 'unknown')
    const checks = { name_check: false, ip_check: false }
    const id = await this.submit([op('OP_INSTANCE_RENAME', { instance_name: name, new_name, ...checks })])
    if (id === undefined || (await this.awaitEnd(id)) !== 'success') return
    instances.set(name, 'gone').set(new_name, 'there')
    ledger.learn({ kind: 'instance', name }, false, id)
    ledger.learn({ kind: 'instance', name: new_name }, true, id)
    simulator.note(this.name, `${name} is ${new_name} now`)
  }

  /** A rule that holds for no job. */
  private async filter(): Promise<void> {
    const rule = [['jobid', ['>', 'id', 1_000_000]]]
    const uuid = await this.ask(() => this.luxi.replaceFilter(null, 5, rule, 'REJECT', []))
    if (uuid instanceof Error) return
    const fact: Fact = { kind: 'filter', name: uuid }
    this.ledger.know(fact, true)
    if (this.simulator.chance(0.3)) return
    this.ledger.forget(fact)
    const gone = await this.ask(() => this.luxi.deleteFilter(uuid))
    if (!(gone instanceof Error)) this.ledger.know(fact, false)
  }

  private async changeMemory(): Promise<void> {
    const { simulator, ledger } = this
    const [name] = [...this.instances].find(([, state]) => state === 'there') ?? []
    if (name === undefined) return
    const size_mib = simulator.pick([32, 64, 96, 128])
    const beparams = { maxmem: size_mib, minmem: size_mib }
    const id = await this.submit([op('OP_INSTANCE_SET_PARAMS', { instance_name: name, beparams })])
    if (id !== undefined && (await this.awaitEnd(id)) === 'success')
      ledger.learn({ kind: 'memory', name, size_mib }, true, id)
  }

  private async instanceAct(): Promise<void> {
    const { simulator } = this
    const named = (state: string) => [...this.instances].flatMap(([name, is]) => (is === state ? [name] : []))
    // Some that may not be there any more, too.
    const there = [...named('there'), ...(simulator.chance(0.3) ? named('unknown') : [])]
    if (there.length === 0) return
    const instance_name = simulator.pick(there)
    const id = await this.submit([instanceErrand(simulator, instance_name)])
    if (id !== undefined) await this.awaitEnd(id)
  }

  /** Several jobs at once, one after the other. */
  private async many(): Promise<void> {
    const first = this.delayOp()
    const second = { ...this.delayOp(), depends: [[-1, []]] }
    const submitted = await this.ask(() => this.luxi.submitManyJobs([[first, this.delayOp()], [second]]))
    if (submitted instanceof Error) return
    for (const [accepted, id] of submitted) if (accepted) this.ledger.accepted(id)
  }

  private async submit(list: readonly WireOpCode[]): Promise<number | undefined> {
    const comment = `submission ${++this.submissions} of ${this.name}`
    const ops = list.map((one) => ({ ...one, comment }))
    for (const fact of ops.flatMap(factsChangedBy)) this.ledger.forget(fact)
    const id = await this.ask(() => this.luxi.submitJob(ops))
    if (id instanceof PeerError) return undefined
    if (id instanceof Error) return this.refused(ops, id)
    this.ledger.accepted(id)
    this.simulator.note(this.name, `job ${id} is ${ops.map((one) => one.OP_ID).join(', ')}`)
    return id
  }

  private refused(ops: readonly WireOpCode[], { message }: Error): undefined {
    this.ledger.wasRefused(ops)
    if (message.startsWith('Failed to parse'))
      this.ledger.complain(`${this.name} asked for what is not there: ${message}`)
  }

  /** However often luxid dies meanwhile. */
  private async awaitEnd(id: number): Promise<string> {
    this.doing = `waits for job ${id}`
    let serial = -1
    for (let observed: unknown = null; ;) {
      const asked_ms = this.simulator.time_ms
      const change = await this.ask(() => this.luxi.waitForJobChange(id, ['status', 'opresult'], observed, serial, 20))
      if (change instanceof Error) {
        if (!(change instanceof PeerError)) this.ledger.complain(`waiting for job ${id} failed: ${change.message}`)
        await this.process.clock.sleep(500)
        continue
      }
      if (change === 'nochange') continue
      const [[status, result], log] = change
      serial = log.at(-1)?.[0] ?? serial
      observed = change[0]
      if (!['success', 'error', 'canceled'].includes(String(status))) continue
      this.ledger.saw(id, String(status), result, asked_ms)
      this.simulator.note(this.name, `job ${id} ended: ${String(status)} ${JSON.stringify(result)}`)
      return String(status)
    }
  }

  private async archive(id: number): Promise<void> {
    const done = await this.ask(() => this.luxi.archiveJob(id))
    if (done === true) this.ledger.archived(id)
  }

  private async ask<T>(call: () => Promise<T>): Promise<T | Error> {
    try {
      return await call()
    } catch (error) {
      if (error instanceof Error) return error
      throw error
    }
  }
}

const removeOp = (instance_name: string): WireOpCode =>
  op('OP_INSTANCE_REMOVE', { instance_name, ignore_failures: false, shutdown_timeout: 5 })
