// Nodes fall ill and are mended; somebody acknowledges events, cancels some, and takes drained nodes back.
import { LuxiClient } from '../../src/rpc/luxi/client'
import type { Identity } from '../../src/rpc/luxi/gantry'
import { nodeErrand } from './errands'
import { FAR, NODES, type SimCluster } from './sim-cluster'
import type { SimProcess } from './simulator'

const ROOT: Identity = { user: 'root', token: null, permissions: ['*'] }

export class Administrator {
  stopped = false
  private wanted = true
  private readonly luxi: LuxiClient

  constructor(
    private readonly process: SimProcess,
    private readonly cluster: SimCluster,
  ) {
    this.luxi = new LuxiClient({ path: cluster.master.paths.socket('query'), clock: process.clock, timeout_s: 20 })
    process.run(() => void this.work())
  }

  stop(): void {
    this.wanted = false
  }

  private async work(): Promise<void> {
    const { simulator, verdicts } = this.cluster
    while (this.wanted) {
      await this.process.clock.sleep(simulator.between(500, 6000))
      const node = simulator.pick(NODES)
      const act = simulator.pick([
        'ill',
        'ill',
        'well',
        'well',
        'cancel',
        'acknowledge',
        'acknowledge',
        'back',
        'change',
        'change',
        'off',
      ])
      const status = simulator.pick(['evacuate', 'evacuate-failover', 'live-repair'])
      // Only of a machine that lost its power is it certain that it is off.
      const [dead] = NODES.filter((name) => name !== this.cluster.master.name && !this.cluster.machine(name).up)
      if (act === 'off') {
        if (dead !== undefined) await this.decide('off', dead).catch(() => undefined)
      } else if (act === 'ill') verdicts.set(node, { status, details: simulator.random.below(3) })
      else if (act === 'well') verdicts.delete(node)
      else await this.decide(act, node).catch((error: unknown) => simulator.note('administrator', String(error)))
    }
    // Who is ill for ever is looked after for ever.
    verdicts.clear()
    while (!(await this.takeBack().catch(() => false))) await this.process.clock.sleep(30_000)
    this.stopped = true
  }

  /** Nothing is wanted of the nodes any more: whether all of them are in use again. */
  private async takeBack(): Promise<boolean> {
    const { gantry } = this.luxi
    const { events, jobs } = await gantry.maintenance(ROOT)
    const active = events.filter((event) => ['noted', 'pending'].includes(event['repair-status']))
    for (const { id } of active) await gantry.cancelRepair(ROOT, id)
    const nodes = await this.luxi.queryNodes([], ['name', 'drained', 'offline', 'group'], false)
    const named = (column: 1 | 2) => nodes.flatMap((row) => (row[column] === true ? [String(row[0])] : []))
    const [drained, offline] = [named(1), named(2)]
    if (active.length > 0 || jobs.length > 0) return false
    for (const name of drained) await this.decide('back', name)
    for (const name of offline) await this.decide('on', name)
    // Users may want mirrors between two groups. The watcher leaves them alone.
    const far = nodes.flatMap(([name, , , group]) => (group === FAR ? [String(name)] : []))
    const joined = { OP_ID: 'OP_GROUP_ASSIGN_NODES', group_name: 'default', nodes: far, force: true, reason: [] }
    if (far.length > 0) await this.luxi.submitJob([joined])
    return drained.length + offline.length + far.length === 0
  }

  private async decide(act: string, node: string): Promise<void> {
    const { gantry } = this.luxi
    if (act === 'change') return void (await this.luxi.submitJob([nodeErrand(this.cluster.simulator)]))
    const flags: Readonly<Record<string, object>> = {
      back: { drained: false },
      off: { offline: true, auto_promote: true },
      on: { offline: false },
    }
    if (flags[act] !== undefined) {
      const op = { OP_ID: 'OP_NODE_SET_PARAMS', node_name: node, force: true, reason: [], ...flags[act] }
      return void (await this.luxi.submitJob([op]))
    }
    const { events } = await gantry.maintenance(ROOT)
    if (events.length === 0) return
    const { id } = this.cluster.simulator.pick(events)
    if (act === 'cancel') await gantry.cancelRepair(ROOT, id)
    else await gantry.acknowledgeRepair(ROOT, id)
  }
}
