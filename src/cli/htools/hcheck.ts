// `hcheck`: checks a cluster's health group by group, and whether balancing would improve it.
import type { ClusterModel } from '../../allocation/model/cluster-model'
import {
  type BalancedGroup,
  type GroupHealth,
  groupsIn,
  healthOf,
  rebalance,
} from '../../allocation/balance/group-health'
import { score8 } from '../../allocation/model/numbers'
import { balanceOptions } from './hbal'
import { loadModel } from './load'
import { has, isYes, parseOptions, quoted, verbosity } from './options'
import { type Context, failure } from './context'

const OPTIONS =
  'text-data no-disk-moves dynu-file ignore-dynu evac-mode exclude-instances exclusion-tags ialloc-src no-instance-moves luxi machine-readable max-cpu max-length min-disk min-gain min-gain-limit min-score ignore-soft-errors no-simulation offline quiet master select-instances no-capacity-checks verbose version help help-completion'

const COUNTS = [
  ['N1_FAIL', 'Nodes not N+1 happy'],
  ['CONFLICT_TAGS', 'Nodes with conflicting instances'],
  ['OFFLINE_PRI', 'Instances having the primary node offline'],
  ['OFFLINE_SEC', 'Instances having a secondary node offline'],
  ['GN1_FAIL', 'Nodes not directly evacuateable'],
] as const

export async function hcheck(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hcheck', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const machine = isYes(options, 'machine-readable')
  const settings = balanceOptions(options)
  const model = await loadModel(options, surroundings)
  const report = new Report(surroundings, machine, verbosity(options), !has(options, 'no-capacity-checks'))
  const groups = groupsIn(model)
  if (machine) model.data.groups.forEach(({ uuid }, at) => report.key(`GROUP_UUID_${at}`, uuid))
  const initial = report.check(model, groups)
  const unhealthy = report.totals(initial).some((count) => count > 0)
  const idle = has(options, 'no-simulation')
  const need = unhealthy ? 'Cluster needs rebalancing.' : 'No need to rebalance cluster, no problems found.'
  report.say(idle ? 'Running in no-simulation mode.' : need)
  report.show('INIT', initial, unhealthy)
  const simulate = !idle && unhealthy
  if (simulate) groups.forEach((group) => rebalance(model, group, settings))
  if (simulate || machine) report.show('FINAL', report.check(model, groups), unhealthy)
  if (machine) report.key('OK', '1')
  return idle || !unhealthy ? 0 : 1
}

type Phase = 'INIT' | 'FINAL'
type Row = readonly [key: string, text: string, value: string]

class Report {
  private readonly labels: readonly (readonly [string, string])[]

  constructor(
    private readonly surroundings: Context,
    private readonly machine: boolean,
    private readonly verbose: number,
    private readonly capacity: boolean,
  ) {
    this.labels = COUNTS.slice(0, capacity ? COUNTS.length : -1)
  }

  check(model: ClusterModel, groups: readonly BalancedGroup[]): GroupHealth[] {
    return groups.map((group) => healthOf(model, group, this.capacity))
  }

  totals(all: readonly GroupHealth[]): number[] {
    return this.labels.map((_, at) => all.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0))
  }

  say(text: string): void {
    if (this.verbose >= 1 && !this.machine) this.surroundings.out(`${text}\n`)
  }

  key(name: string, value: string): void {
    this.surroundings.out(`HCHECK_${name}=${quoted(value)}\n`)
  }

  show(phase: Phase, all: readonly GroupHealth[], unhealthy: boolean): void {
    const rows = (counts: readonly number[]) =>
      this.labels.map(([key, text], at): Row => [key, text, String(counts[at] ?? 0)])
    for (const { group, counts, score } of all) {
      const title = `Statistics for group ${group.name}`
      this.print(phase, `GROUP_${group.at}`, title, [...rows(counts), ['SCORE', 'Group score', score8(score)]])
    }
    const need = this.machine ? String(Number(unhealthy)) : unhealthy ? 'True' : 'False'
    const last: Row = ['NEED_REBALANCE', 'Cluster is not healthy', need]
    this.print(phase, 'CLUSTER', 'Cluster statistics', [...rows(this.totals(all)), last])
  }

  private print(phase: Phase, level: string, title: string, rows: readonly Row[]): void {
    if (this.machine) {
      for (const [key, , value] of rows) this.key(`${phase}_${level}_${key}`, value)
    } else if (this.verbose >= 1) {
      const lines = rows.map(([, text, value]) => `    ${text}: ${value}\n`).join('')
      this.surroundings.out(`\n${title} ${phase === 'INIT' ? 'initially' : 'after rebalancing'}\n${lines}`)
    }
  }
}
