// Prints the result of `hspace`: sentences for people, or keys and values for programs.
import { nodesNeeded } from '../../allocation/model/cluster-data'
import type { ClusterModel } from '../../allocation/model/cluster-model'
import { failCounts } from '../../allocation/model/fail-modes'
import type { Filled } from '../../allocation/places/filling'
import { fixed, score8, showDouble } from '../../allocation/model/numbers'
import type { Resources } from '../../allocation/model/resources'
import { quoted } from './options'
import type { Context } from './context'
import type { DiskTemplate } from '../../model/templates'

export interface Usage {
  readonly memory: number
  readonly disk: number
  readonly cpus: number
  readonly spindles: number
}

export interface Outcome {
  readonly initial: Resources
  readonly final: Resources
  readonly spindles: boolean
}

type Pairs = readonly (readonly [key: string, value: string | number])[]

export class Printer {
  constructor(
    private readonly surroundings: Context,
    private readonly machine: boolean,
  ) {}

  cluster(initial: Resources, nodes: number, spindles: boolean): void {
    const totals: Pairs = [
      ['MEM', initial.totalMemory.toFixed(0)],
      ['DSK', initial.totalDisk.toFixed(0)],
      ['CPU', initial.totalCpus.toFixed(0)],
      ['VCPU', initial.virtualCpus],
      ['SPN', initial.totalSpindles.toFixed(0)],
    ]
    if (this.machine) {
      this.keys(totals.map(([key, value]) => [`CLUSTER_${key}`, value] as const))
      this.keys([['CLUSTER_NODES', nodes]])
      return this.keys(statistics('INI', initial))
    }
    this.line(`The cluster has ${nodes} nodes and the following resources:`)
    this.line(`  ${listed(spindles ? totals : totals.slice(0, 4))}.`)
    this.line(`There are ${initial.instances > 0 ? initial.instances : 'no'} initial instances on the cluster.`)
  }

  spec(name: 'Standard' | 'Tiered', usage: Usage, template: DiskTemplate, spindles: boolean): void {
    const values = specPairs(usage)
    if (this.machine) {
      const prefix = name === 'Standard' ? 'SPEC' : 'TSPEC_INI'
      this.keys(values.map(([key, value]) => [`${prefix}_${key}`, value] as const))
      return this.keys([
        [`${prefix}_RQN`, nodesNeeded(template)],
        [`${prefix}_DISK_TEMPLATE`, template],
      ])
    }
    this.line(`${name === 'Standard' ? 'Standard (fixed-size)' : 'Tiered (initial size)'} instance spec is:`)
    this.line(`  ${listed(spindles ? values : values.slice(0, 3))}, using disk template '${template}'.`)
  }

  tiered(model: ClusterModel, filled: Filled, outcome: Outcome): void {
    const specs = grouped(model, filled)
    if (this.machine) {
      this.keys(statistics('TRL', outcome.final))
      const text = specs.map(
        ({ usage: { memory, disk, cpus, spindles }, count }) => `${memory},${disk},${cpus},${spindles}=${count}`,
      )
      this.keys([['TSPEC', text.join(' ')]])
      return this.keys(changes(outcome))
    }
    this.line('Tiered allocation results:')
    if (specs.length === 0) this.line('  - no instances allocated')
    for (const { usage, count } of specs) {
      const values = specPairs(usage)
      const displayed = listed(outcome.spindles ? values : values.slice(0, 3))
      this.line(`  - ${String(count).padStart(3)} instances of spec ${displayed}`)
    }
    this.results(filled, outcome)
  }

  fixed(filled: Filled, outcome: Outcome): void {
    const { initial, final } = outcome
    const placed = filled.added.length
    if (!this.machine) {
      this.line('Normal (fixed-size) allocation results:')
      this.line(`  - ${String(placed).padStart(3)} instances allocated`)
      return this.results(filled, outcome)
    }
    const reasons = sortedReasons(filled)
    this.keys(statistics('FIN', final))
    const before = initial.instances
    this.keys([
      ['ALLOC_USAGE', score8(before / (before + placed))],
      ['ALLOC_INSTANCES', placed],
      ['ALLOC_FAIL_REASON', (reasons[0]?.[0] ?? '').toUpperCase()],
    ])
    this.keys(reasons.map(([name, count]) => [`ALLOC_${name}_CNT`, count] as const))
  }

  end(): void {
    if (this.machine) this.keys([['OK', 1]])
  }

  private results(filled: Filled, { initial, final, spindles }: Outcome): void {
    this.line(`  - most likely failure reason: ${sortedReasons(filled)[0]?.[0] ?? ''}`)
    this.line(`  - initial cluster score: ${score8(initial.score)}`)
    this.line(`  -   final cluster score: ${score8(final.score)}`)
    const uses: [string, number][] = [
      ['memory', final.instanceMemory / final.totalMemory],
      ['disk', final.usedDisk / final.totalDisk],
      ['vcpu', final.usedCpus / final.virtualCpus],
      ...(spindles ? [['spindles', final.usedSpindles / final.totalSpindles] satisfies [string, number]] : []),
    ]
    const width = Math.max(...uses.map(([name]) => name.length))
    for (const [name, use] of uses) {
      this.line(`  - ${name.padStart(width)} usage efficiency: ${fixed(use * 100, 2).padStart(5)}%`)
    }
  }

  private keys(pairs: Pairs): void {
    for (const [key, value] of pairs) this.line(`HTS_${key.toUpperCase()}=${quoted(String(value))}`)
  }

  private line(text: string): void {
    this.surroundings.out(`${text}\n`)
  }
}

const listed = (pairs: Pairs): string => pairs.map(([key, value]) => `${key} ${value}`).join(', ')

const specPairs = ({ memory, disk, cpus, spindles }: Usage): Pairs => [
  ['MEM', memory],
  ['DSK', disk],
  ['CPU', cpus],
  ['SPN', spindles],
]

function sortedReasons({ failures, refused }: Filled) {
  const counts = failCounts(failures).sort(([, one], [, other]) => other - one)
  return refused ? counts.filter(([, count]) => count > 0) : counts
}

/** Consecutive instances of one size. */
function grouped(model: ClusterModel, { added }: Filled): { usage: Usage; count: number }[] {
  const runs: { usage: Usage; count: number }[] = []
  for (const at of added) {
    const data = model.instances[at]?.data
    if (data === undefined) continue
    const { memory, disk, vcpus: cpus, spindles = 0 } = data
    const last = runs.at(-1)
    const same = last?.usage.memory === memory && last.usage.disk === disk && last.usage.cpus === cpus
    if (last !== undefined && same && last.usage.spindles === spindles) last.count++
    else runs.push({ usage: { memory, disk, cpus, spindles }, count: 1 })
  }
  return runs
}

function statistics(phase: 'INI' | 'TRL' | 'FIN', of: Resources): Pairs {
  const pairs: Pairs = [
    ['SCORE', score8(of.score)],
    ['INST_CNT', of.instances],
    ['MEM_FREE', of.freeMemory],
    ['MEM_AVAIL', of.availableMemory],
    ['MEM_RESVD', of.freeMemory - of.availableMemory],
    ['MEM_INST', of.instanceMemory],
    ['MEM_OVERHEAD', of.unaccountedMemory + of.nodeMemory],
    ['MEM_EFF', score8(of.instanceMemory / of.totalMemory)],
    ['DSK_FREE', of.freeDisk],
    ['DSK_AVAIL', of.availableDisk],
    ['DSK_RESVD', of.freeDisk - of.availableDisk],
    ['DSK_INST', of.usedDisk],
    ['DSK_EFF', score8(of.usedDisk / of.totalDisk)],
    ['SPN_FREE', of.freeSpindles],
    ['SPN_INST', of.usedSpindles],
    ['SPN_EFF', score8(of.usedSpindles / of.totalSpindles)],
    ['CPU_INST', of.usedCpus],
    ['CPU_EFF', score8(of.usedCpus / of.virtualCpus)],
    ['MNODE_MEM_AVAIL', of.mostMemory],
    ['MNODE_DSK_AVAIL', of.mostDisk],
  ]
  return pairs.map(([key, value]) => [`${phase}_${key}`, value] as const)
}

/** Resources used before, used by the new instances, and unusable. */
function changes({ initial: before, final: after }: Outcome): Pairs {
  const rows: [string, number, number, number, number, number][] = [
    ['USED', before.usedCpus, before.normalCpus, before.instanceMemory, before.usedDisk, before.usedSpindles],
    [
      'POOL',
      after.usedCpus - before.usedCpus,
      after.normalCpus - before.normalCpus,
      after.instanceMemory - before.instanceMemory,
      after.usedDisk - before.usedDisk,
      after.usedSpindles - before.usedSpindles,
    ],
    [
      'UNAV',
      after.virtualCpus - after.usedCpus,
      after.totalCpus - after.normalCpus,
      Math.trunc(after.totalMemory) - after.instanceMemory,
      Math.trunc(after.totalDisk) - after.usedDisk,
      after.totalSpindles - after.usedSpindles,
    ],
  ]
  return rows.flatMap(([name, cpu, normal, memory, disk, spindles]): Pairs => [
    [`KM_${name}_CPU`, cpu],
    [`KM_${name}_NPU`, showDouble(normal)],
    [`KM_${name}_MEM`, memory],
    [`KM_${name}_DSK`, disk],
    [`KM_${name}_SPN`, spindles],
  ])
}
