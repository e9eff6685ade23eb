// `hcheck`: whether a cluster is healthy, group by group, and whether balancing would mend it.
import { ALLOC_DEFAULTS } from '../../allocation/allocate'
import { type BalanceOptions, balance } from '../../allocation/balance'
import { type ClusterModel, Col } from '../../allocation/cluster-model'
import { GlobalN1 } from '../../allocation/global-n1'
import { score8 } from '../../allocation/numbers'
import { Score } from '../../allocation/score'
import { balanceOptions } from './hbal'
import { loadModel } from './load'
import { has, isYes, parseOptions, quoted, verbosity } from './options'
import { type Surroundings, failure } from './surroundings'

const OPTIONS =
  'text-data no-disk-moves dynu-file ignore-dynu evac-mode exclude-instances exclusion-tags ialloc-src no-instance-moves luxi machine-readable max-cpu max-length min-disk min-gain min-gain-limit min-score ignore-soft-errors no-simulation offline quiet master select-instances no-capacity-checks verbose version help help-completion'

interface Group {
  readonly at: number
  readonly name: string
  readonly nodes: readonly number[]
  readonly instances: readonly number[]
}

const COUNTS = [
  ['N1_FAIL', 'Nodes not N+1 happy'],
  ['CONFLICT_TAGS', 'Nodes with conflicting instances'],
  ['OFFLINE_PRI', 'Instances having the primary node offline'],
  ['OFFLINE_SEC', 'Instances having a secondary node offline'],
  ['GN1_FAIL', 'Nodes not directly evacuateable'],
] as const

export async function hcheck(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const options = parseOptions('hcheck', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const machine = isYes(options, 'machine-readable')
  const settings = balanceOptions(options)
  const model = await loadModel(options, surroundings)
  const report = new Report(surroundings, machine, verbosity(options), !has(options, 'no-capacity-checks'))
  const groups = groupsOf(model)
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

/** Only where it ends counts. */
function rebalance(model: ClusterModel, { nodes, instances }: Group, settings: BalanceOptions): void {
  const score = new Score(model, nodes)
  if (score.value() < settings.minScore + score.optimum()) return
  const steps = balance(model, nodes, instances, settings)
  while (steps.next().done !== true);
}

type Phase = 'INIT' | 'FINAL'
type Row = readonly [key: string, text: string, value: string]

class Report {
  private readonly labels: readonly (readonly [string, string])[]

  constructor(
    private readonly surroundings: Surroundings,
    private readonly machine: boolean,
    private readonly verbose: number,
    private readonly capacity: boolean,
  ) {
    this.labels = COUNTS.slice(0, capacity ? COUNTS.length : -1)
  }

  check(model: ClusterModel, groups: readonly Group[]): Checked[] {
    return groups.map((group) => check(model, group, this.capacity))
  }

  totals(all: readonly Checked[]): number[] {
    return this.labels.map((_, at) => all.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0))
  }

  say(text: string): void {
    if (this.verbose >= 1 && !this.machine) this.surroundings.out(`${text}\n`)
  }

  key(name: string, value: string): void {
    this.surroundings.out(`HCHECK_${name}=${quoted(value)}\n`)
  }

  show(phase: Phase, all: readonly Checked[], unhealthy: boolean): void {
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

interface Checked {
  readonly group: Group
  readonly counts: readonly number[]
  readonly score: number
}

function check(model: ClusterModel, group: Group, capacity: boolean): Checked {
  const { nodes } = group
  const score = new Score(model, nodes)
  const get = (node: number, col: Col) => model.rows[node * Col.Width + col] ?? 0
  const offline = nodes.filter((node) => model.nodes[node]?.offline)
  return {
    group,
    score: score.value(),
    counts: [
      score.failing().length,
      nodes.filter((node) => get(node, Col.TagClashes) > 0).length,
      offline.reduce((sum, node) => sum + get(node, Col.Primaries), 0),
      offline.length,
      ...(capacity ? [new GlobalN1(model, nodes, { ...ALLOC_DEFAULTS, capacity }).failing().length] : []),
    ],
  }
}

function groupsOf({ data }: ClusterModel): Group[] {
  return data.groups.flatMap(({ name }, at) => {
    const nodes = data.nodes.flatMap(({ group }, node) => (group === at ? [node] : []))
    const own = data.instances.flatMap(({ primary }, one) => (data.nodes[primary]?.group === at ? [one] : []))
    return nodes.length === 0 ? [] : [{ at, name, nodes, instances: own }]
  })
}
