// Users who work with the cluster while it is being damaged. Each repeats the life of instances, tags or locks, and remembers what must be
// true after each acknowledged job.
import type { Random } from '../../src/lib/random'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { pause } from './faults'
import type { Ended, Ledger } from './faults-ledger'

/** The state of an instance, as far as its ended jobs determine it. */
export interface Belief {
  /** Undefined if a job on it failed, or if its end is unknown. */
  exists: boolean | undefined
  running: boolean | undefined
  lastError: string
}

export class Users {
  readonly instances = new Map<string, Belief>()
  /** The tags of the cluster, as the jobs on them have promised. */
  readonly tags = new Map<string, boolean | undefined>()
  /** The candidate pool size of the cluster. Undefined after a failed change. */
  poolSize: number | undefined
  /** Those of changes without an answer, whose jobs may come late: jobs have no order. */
  readonly askedPoolSizes = new Set<number>()
  private stopped = false
  private readonly busy: Promise<void>[] = []

  constructor(
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly instanceOptions: Record<string, unknown>,
  ) {}

  start(owners: number): void {
    for (let owner = 1; owner <= owners; owner++)
      this.busy.push(this.forever((round) => this.life(`vm${owner}-${round}`)))
    this.busy.push(this.forever((round) => this.tag(`t${round}`)))
    this.busy.push(this.forever(() => this.delay()))
    this.busy.push(this.forever(() => this.modify()))
  }

  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(this.busy)
  }

  private async forever(work: (round: number) => Promise<void>): Promise<void> {
    for (let round = 1; !this.stopped; round++) await work(round)
  }

  /** Add, shut down, start, reboot, migrate, fail over, remove: to the end, or until a step fails. */
  private async life(prefix: string): Promise<void> {
    const name = `${prefix}.gantry.local`
    const belief: Belief = { exists: false, running: false, lastError: '' }
    this.instances.set(name, belief)
    const step = (verb: string, after: Partial<Belief>, params: Record<string, unknown> = {}) =>
      this.step(belief, { OP_ID: `OP_INSTANCE_${verb}`, instance_name: name, ...params }, after)
    const made = await step('CREATE', { exists: true, running: true }, this.instanceOptions)
    const leave = !made && this.random.below(3) === 0
    await this.look(name)
    const again = belief.lastError.includes('already in the cluster')
    if (again) this.ledger.defects.push(`the creation of ${name} was carried out twice: ${belief.lastError}`)
    if (made && (await step('SHUTDOWN', { running: false }, { timeout: 5 })))
      if ((await step('STARTUP', { running: true })) && (await step('REBOOT', {}, { reboot_type: 'hard' })))
        if (await step('MIGRATE', {})) await step('FAILOVER', {}, { shutdown_timeout: 5 })
    if (leave) return
    if (!this.stopped || this.random.below(2) === 0)
      await step('REMOVE', { exists: false, running: false }, { shutdown_timeout: 5, ignore_failures: false })
  }

  /** Asks as `gnt instance list` and `info` do. Whichever process is dead, the question is either answered or finds no daemon. */
  private async look(name: string): Promise<void> {
    await this.ledger.ask((master) => master.query('instance', ['name', 'status', 'oper_ram'], ['=', 'name', name]))
    await this.ledger.ask((master) => master.queryInstances([], ['name', 'oper_state', 'pnode'], false))
  }

  private async step(belief: Belief, op: WireOpCode, after: Partial<Belief>): Promise<boolean> {
    if (this.stopped && op.OP_ID !== 'OP_INSTANCE_REMOVE') return false
    const end = await this.ledger.run(op)
    if (end?.status === 'success') {
      Object.assign(belief, after, { lastError: '' })
      return true
    }
    Object.assign(belief, { exists: undefined, running: undefined, lastError: end?.result ?? 'no answer' })
    return false
  }

  private async tag(tag: string): Promise<void> {
    const change = async (id: string, there: boolean) => {
      const end = await this.ledger.run({ OP_ID: id, kind: 'cluster', name: null, tags: [tag] })
      this.tags.set(tag, promise(end, there))
    }
    await change('OP_TAGS_SET', true)
    if (this.tags.get(tag) === true && this.random.below(2) === 0) await change('OP_TAGS_DEL', false)
  }

  private async modify(): Promise<void> {
    const size = 5 + this.random.below(20)
    const end = await this.ledger.run({ OP_ID: 'OP_CLUSTER_SET_PARAMS', candidate_pool_size: size })
    if (end === undefined) this.askedPoolSizes.add(size)
    this.poolSize = end?.status === 'success' ? size : undefined
    await pause(0.3)
  }

  private async delay(): Promise<void> {
    const duration = 0.05 + this.random.below(400) / 1000
    await this.ledger.run({
      OP_ID: 'OP_TEST_DELAY',
      duration,
      on_master: this.random.below(2) === 0,
      on_nodes: ['node2'],
    })
  }
}

const promise = (end: Ended | undefined, value: boolean): boolean | undefined =>
  end?.status === 'success' ? value : undefined
