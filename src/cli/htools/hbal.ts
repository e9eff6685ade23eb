// `hbal`: shows the moves that balance a node group, and writes them as shell commands.
import { nanoseconds } from '../../lib/clock'
import { type BalanceOptions, type Step, balance } from '../../allocation/balance/balance'
import { candidatesBefore } from '../../allocation/questions/balance-plan'
import { type ClusterData, NO_NODE } from '../../allocation/model/cluster-data'
import { type ClusterModel, Col } from '../../allocation/model/cluster-model'
import { candidateLines } from '../../allocation/model/explain-text'
import { score8 } from '../../allocation/model/numbers'
import { Score } from '../../allocation/model/score'
import { showCommands } from './commands'
import { execute } from './execute'
import { type Job, commandsText, jobOf, jobSets, stepLine } from './hbal-jobs'
import { findGroup, loadModel, policyText, saveData } from './load'
import { PRIORITIES } from './option-table'
import { type Parsed, has, numberOf, parseOptions, textOf, verbosity } from './options'
import { coefficients, instanceTable, nodeTable } from './table'
import { PROGRAM_VERSION, Stop, type Context, failure } from './context'

const OPTIONS =
  'print-nodes print-instances print-commands text-data evac-mode restricted-migration first-job-group group max-length verbose quiet offline static-kvm-node-memory min-score max-cpu min-disk min-gain min-gain-limit no-disk-moves select-instances no-instance-moves ignore-soft-errors dynu-file ignore-dynu mond mond-data exit-on-missing-mond-data mond-xen exclusion-tags exclude-instances save master luxi ialloc-src exec reason priority explain version help help-completion'

interface Selection {
  readonly name: string
  readonly nodes: readonly number[]
  readonly instances: readonly number[]
}

export async function hbal(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hbal', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const settings = balanceOptions(options)
  const model = await loadModel(options, surroundings)
  const verbose = verbosity(options)
  if (verbose > 1) {
    surroundings.out(`Loaded cluster tags: ${model.data.tags.join(',')}\n`)
    surroundings.out(`Loaded cluster ipolicy: ${policyText(model.data.policy)}\n`)
  }
  checkCluster(model, verbose, surroundings)
  saveData(options, surroundings, 'original', 'before balancing', model.data)
  const selection = selectGroup(model, options, surroundings)
  const score = new Score(model, selection.nodes)
  describeGroup(model, selection, score, options, surroundings)
  showLists(model, selection, options, surroundings, 'Initial')
  const initial = score.value()
  const [freeMemory, freeDisk] = [score.freeMemory(), totalFreeDisk(model, selection.nodes)]
  if (verbose > 2) {
    surroundings.out(`Initial coefficients: overall ${score8(initial)}\n${coefficients(score)}`)
  } else surroundings.out(`Initial score: ${score8(initial)}\n`)
  checkNeed(initial, score.optimum(), settings.minScore)
  surroundings.out('Trying to minimize the CV...\n')
  const { steps, jobs } = run(model, selection, settings, { surroundings, explain: has(options, 'explain') })
  const last = new Score(model, selection.nodes)
  const final = last.value()
  if (steps.length === 0) surroundings.out('No solution found\n')
  else if (verbose > 2) surroundings.out(`Final coefficients:   overall ${score8(final)}\n${coefficients(last)}`)
  else surroundings.out(`Cluster score improved from ${score8(initial)} to ${score8(final)}\n`)
  if (verbose >= 1) surroundings.out(`Solution length=${steps.length}\n`)
  showSolution(jobs, options, surroundings)
  saveData(options, surroundings, 'balanced', 'after balancing', balancedData(model, selection))
  showLists(model, selection, options, surroundings, 'Final')
  if (verbose > 3) {
    surroundings.out(`Original: mem=${freeMemory} disk=${freeDisk}\n`)
    surroundings.out(`Final:    mem=${last.freeMemory()} disk=${totalFreeDisk(model, selection.nodes)}\n`)
  }
  return carryOut(jobs, options, surroundings)
}

async function carryOut(jobs: readonly Job[], options: Parsed, surroundings: Context): Promise<number> {
  if (!has(options, 'exec') || jobs.length === 0) return 0
  const socket = textOf(options, 'luxi')
  if (socket === undefined) throw failure('hbal: Execution of commands possible only on LUXI')
  const priority = PRIORITIES[textOf(options, 'priority') ?? '']
  const reason = [
    'hbal',
    textOf(options, 'reason') ?? `hbal ${PROGRAM_VERSION} called`,
    nanoseconds(surroundings.clock),
  ]
  const common = {
    reason: [reason],
    comment: `rebalancing via hbal ${PROGRAM_VERSION}`,
    ...(priority !== undefined && { priority }),
  }
  const sets = jobSets(jobs).slice(0, has(options, 'first-job-group') ? 1 : undefined)
  return execute(
    surroundings.connect(socket),
    sets.map((set) => ({
      title: `Executing jobset for instances ${set.map(({ instance }) => instance).join(', ')}`,
      jobs: set.map(({ opcodes }) => opcodes.map((opcode) => ({ ...opcode, ...common }))),
    })),
    surroundings,
  )
}

export function balanceOptions(options: Parsed): BalanceOptions {
  return {
    diskMoves: !has(options, 'no-disk-moves'),
    instanceMoves: !has(options, 'no-instance-moves'),
    restrictedMigration: has(options, 'restricted-migration'),
    ignoreSoftErrors: has(options, 'ignore-soft-errors'),
    evacuate: has(options, 'evac-mode'),
    minGain: numberOf(options, 'min-gain') ?? 1e-2,
    minGainLimit: numberOf(options, 'min-gain-limit') ?? 1e-1,
    maxRounds: numberOf(options, 'max-length') ?? -1,
    minScore: numberOf(options, 'min-score') ?? 1e-9,
  }
}

function checkCluster(model: ClusterModel, verbose: number, surroundings: Context): void {
  const { instances, nodes, data } = model
  if (instances.length === 0) throw new Stop(0, 'Cluster is empty, exiting.\n')
  const groupOf = (node: number) => data.nodes[node]?.group
  const split = data.instances.filter(
    ({ primary, secondary }) => secondary !== NO_NODE && groupOf(primary) !== groupOf(secondary),
  )
  if (split.length > 0 && verbose > 1) {
    surroundings.err('Found instances belonging to multiple node groups:\n')
    for (const { name } of split) surroundings.err(`  ${name}\n`)
    surroundings.err('These instances will not be moved.\n')
  }
  surroundings.out(`Loaded ${nodes.length} nodes, ${instances.length} instances\n`)
  if (model.suffix !== '' && verbose > 1) {
    surroundings.out(`Note: Stripping common suffix of '${model.suffix}' from names\n`)
  }
}

function selectGroup(model: ClusterModel, options: Parsed, surroundings: Context): Selection {
  const { groups, nodes, instances } = model.data
  const used = groups.flatMap((_, at) => (nodes.some(({ group }) => group === at) ? [at] : []))
  const desired = textOf(options, 'group')
  if (desired === undefined && used.length > 1) {
    surroundings.err(`Found multiple node groups:\n${used.map((at) => `  ${groups[at]?.name}\n`).join('')}`)
    throw failure('Aborting.')
  }
  const at = desired === undefined ? (used[0] ?? -1) : findGroup(model.data, desired)
  const group = groups[at]
  if (group === undefined) {
    const names = groups.map(({ name }) => `  ${name}\n`).join('')
    surroundings.err(`Node group ${desired} not found. Node group list is:\n${names}`)
    throw failure('Aborting.')
  }
  return {
    name: group.name,
    nodes: nodes.flatMap((node, one) => (node.group === at ? [one] : [])),
    instances: instances.flatMap(({ primary }, one) => (nodes[primary]?.group === at ? [one] : [])),
  }
}

function describeGroup(
  model: ClusterModel,
  selection: Selection,
  score: Score,
  options: Parsed,
  surroundings: Context,
): void {
  const { nodes, instances } = selection
  surroundings.out(
    `Group size ${nodes.length} nodes, ${instances.length} instances\nSelected node group: ${selection.name}\n`,
  )
  const failing = new Set(score.failing())
  const verbose = verbosity(options)
  if (verbose >= 1) {
    surroundings.out(`Initial check done: ${failing.size} bad nodes, ${score.affected()} bad instances.\n`)
  }
  const others = nodes.filter((node) => !failing.has(node))
  const health = others.map((node) => policyHealth(model, node))
  if (verbose > 4) {
    const names = (list: readonly number[]) => JSON.stringify(list.map((node) => model.nodes[node]?.data.name))
    const states = others.map((node, at) => `(${JSON.stringify(model.nodes[node]?.data.name)},${health[at]})`)
    surroundings.out(`Bad nodes: ${names([...failing])}\nN+1 happy nodes: ${names(others)}\n`)
    surroundings.out(`Node policy status: [${states.join(',')}]\n`)
  }
  if (failing.size > 0) {
    surroundings.out('Cluster is not N+1 happy, continuing but no guarantee that the cluster will end N+1 happy.\n')
  }
  const violating = health.filter((state) => state !== 'Ok ()').length
  if (violating === 0) return
  surroundings.out(`The cluster contains ${violating} policy-violating nodes.\n`)
  surroundings.out(
    has(options, 'ignore-soft-errors')
      ? 'Continuing, ignoring soft errors.\n'
      : 'Continuing, but the set of moves might be too restricted; consider using the --ignore-soft-errors option.\n',
  )
}

function policyHealth(model: ClusterModel, node: number): string {
  const facts = model.nodes[node]
  const get = (col: Col) => model.rows[node * Col.Width + col] ?? 0
  if (facts === undefined || get(Col.UsedSpindles) > facts.highSpindles) return 'Bad FailDisk'
  return get(Col.Vcpus) / facts.data.totalCpus > facts.vcpuRatio ? 'Bad FailCPU' : 'Ok ()'
}

function checkNeed(initial: number, optimum: number, minScore: number): void {
  if (!(initial - optimum < minScore)) return
  const [score, best, least] = [initial, optimum, minScore].map(shortNumber)
  throw new Stop(
    0,
    `Cluster is already well balanced (initial score ${score},\noptimum score due to N+1 reservations ${best},\n` +
      `minimum score ${least}).\nNothing to do, exiting\n`,
  )
}

/** Six decimal places; powers of ten below 0.1 and from 10^7. */
function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  if (value !== 0 && (Math.abs(value) < 0.1 || Math.abs(value) >= 1e7)) {
    const [digits = '', exponent = ''] = value.toExponential(6).split('e')
    return `${digits}e${Number(exponent)}`
  }
  return value.toFixed(6)
}

interface Telling {
  readonly surroundings: Context
  /** Whether to list, for each step, every considered node. */
  readonly explain: boolean
}

function run(model: ClusterModel, selection: Selection, settings: BalanceOptions, { surroundings, explain }: Telling) {
  const longest = (aliases: readonly string[]) => Math.max(...aliases.map(({ length }) => length))
  const widths = {
    node: longest(selection.nodes.map((node) => model.nodes[node]?.alias ?? '')),
    instance: longest(selection.instances.map((one) => model.instances[one]?.alias ?? '')),
  }
  const steps: Step[] = []
  const jobs: Job[] = []
  for (const step of balance(model, selection.nodes, selection.instances, settings)) {
    steps.push(step)
    jobs.push(jobOf(model, step, model.instances[step.move.instance]?.alias ?? ''))
    surroundings.out(`${stepLine(model, step, steps.length, widths)}\n`)
    if (explain) surroundings.err(candidateLines(candidatesBefore(model, step, selection.nodes, settings)))
  }
  return { steps, jobs }
}

function showSolution(jobs: readonly Job[], options: Parsed, surroundings: Context): void {
  const first = has(options, 'first-job-group')
  const sets = jobSets(jobs)
  const title = first ? 'First set of jobs:' : 'Commands to run to reach the above solution:'
  showCommands(title, commandsText(first ? sets.slice(0, 1) : sets), options, surroundings)
}

function showLists(
  model: ClusterModel,
  selection: Selection,
  options: Parsed,
  surroundings: Context,
  when: string,
): void {
  if (has(options, 'print-instances')) {
    surroundings.err(`\n${when} instance map:\n${instanceTable(model, selection.instances)}`)
  }
  const fields = textOf(options, 'print-nodes')
  if (fields !== undefined) {
    surroundings.err(`\n${when} cluster status:\n${nodeTable(model, selection.nodes, fields)}\n`)
  }
}

const totalFreeDisk = (model: ClusterModel, nodes: readonly number[]): number =>
  nodes.reduce((sum, node) => sum + (model.rows[node * Col.Width + Col.FreeDisk] ?? 0), 0)

/** The group after the moves; nodes' memory reports stay unchanged. */
function balancedData(model: ClusterModel, { nodes, instances }: Selection): ClusterData {
  const place = new Map(nodes.map((node, at) => [node, at]))
  const at = (node: number | undefined) => place.get(node ?? NO_NODE) ?? NO_NODE
  return {
    ...model.data,
    nodes: nodes.flatMap((node) => {
      const facts = model.nodes[node]
      const get = (col: Col) => model.rows[node * Col.Width + col] ?? 0
      if (facts === undefined) return []
      return [
        { ...facts.data, offline: facts.offline, freeDisk: get(Col.FreeDisk), freeSpindles: get(Col.FreeSpindles) },
      ]
    }),
    instances: instances.flatMap((one) => {
      const facts = model.instances[one]
      if (facts === undefined) return []
      return [{ ...facts.data, primary: at(model.primary[one]), secondary: at(model.secondary[one]) }]
    }),
  }
}
