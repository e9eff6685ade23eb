// A solution's moves as readable lines, as shell commands, and as sets of jobs that may run at the same time.
import type { Step } from '../../allocation/balance/balance'
import { NO_NODE, isRunning } from '../../allocation/model/cluster-data'
import type { ClusterModel } from '../../allocation/model/cluster-model'
import { moveSteps } from '../../allocation/balance/jobs'
import { score8 } from '../../allocation/model/numbers'
import type { Step as OpCodeStep } from '../../allocation/model/requests'
import { isMirroredInside } from '../../model/templates'

export interface Job {
  /** All nodes that it touches, before and after. */
  readonly nodes: readonly number[]
  readonly commands: readonly string[]
  readonly opcodes: readonly OpCodeStep[]
  readonly instance: string
}

export interface Widths {
  readonly node: number
  readonly instance: number
}

export function stepLine(model: ClusterModel, step: Step, position: number, widths: Widths): string {
  const { move, oldPrimary, oldSecondary } = step
  const name = (model.instances[move.instance]?.alias ?? '').padEnd(widths.instance)
  const pair = (primary: number, secondary: number) =>
    (secondary === NO_NODE ? alias(model, primary) : `${alias(model, primary)}:${alias(model, secondary)}`).padEnd(
      2 * widths.node + 1,
    )
  const where = `${pair(oldPrimary, oldSecondary)} => ${pair(move.primary, move.secondary)}`
  return `  ${String(position).padStart(3)}. ${name} ${where} ${score8(step.score).padStart(12)} a=${describe(model, step, '').short}`
}

/** `name`: the instance's name in the commands. */
export function jobOf(model: ClusterModel, step: Step, name: string): Job {
  const { move, oldPrimary, oldSecondary } = step
  const before = isMirroredInside(model.instances[move.instance]?.data.template)
    ? [oldPrimary, oldSecondary]
    : [oldPrimary]
  const nodes = [move.primary, move.secondary, ...before].filter((node) => node !== NO_NODE)
  const { commands } = describe(model, step, name)
  const instance = model.instances[move.instance]?.data.name ?? ''
  return { nodes: [...new Set(nodes)], commands, opcodes: moveSteps(model, move), instance }
}

/**
 * The sets of jobs in order. They are filled from the last job backwards, as in Ganeti, so that a set starts as late as
 * possible.
 */
export function jobSets(jobs: readonly Job[]): Job[][] {
  const sets: Job[][] = []
  let busy = new Set<number>()
  for (const job of [...jobs].reverse()) {
    const [set] = sets
    if (set === undefined || job.nodes.some((node) => busy.has(node))) {
      sets.unshift([job])
      busy = new Set(job.nodes)
    } else {
      set.unshift(job)
      job.nodes.forEach((node) => busy.add(node))
    }
  }
  return sets
}

export function commandsText(sets: readonly (readonly Job[])[]): string {
  const lines = sets.flatMap((set, at) => [
    '',
    `echo jobset ${at + 1}, ${set.length} jobs`,
    ...set.flatMap(({ commands }, job) => [
      `  echo job ${at + 1}/${job + 1}`,
      '  check',
      ...commands.map((command) => `  gnt-instance ${command}`),
    ]),
  ])
  return lines.map((line) => `${line}\n`).join('')
}

function describe(model: ClusterModel, { move }: Step, name: string): { short: string; commands: string[] } {
  const facts = model.instances[move.instance]
  const [primary, secondary] = [alias(model, move.primary), alias(model, move.secondary)]
  const verb = isRunning(facts?.data.status ?? '') ? 'migrate' : 'failover'
  const migrate = `${verb} -f ${name}`
  const replace = (node: string) => `replace-disks -n ${node} ${name}`
  switch (move.kind) {
    case 'failover':
      return { short: 'f', commands: [migrate] }
    case 'failover-to-any':
      return { short: `fa:${primary}`, commands: [`${verb} -f -n ${primary} ${name}`] }
    case 'replace-secondary':
      return { short: `r:${secondary}`, commands: [replace(secondary)] }
    case 'replace-and-failover':
      return { short: `r:${primary} f`, commands: [replace(primary), migrate] }
    case 'failover-and-replace':
      return { short: `f r:${secondary}`, commands: [migrate, replace(secondary)] }
    case 'replace-primary':
      return { short: `f r:${primary} f`, commands: [migrate, replace(primary), migrate] }
  }
}

const alias = (model: ClusterModel, node: number): string => model.nodes[node]?.alias ?? ''
