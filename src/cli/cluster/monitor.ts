// gnt-cluster monitor: the nodes' own reports, once or repeatedly. Ganeti has no such command.
import { VIEW_PAGE_MAX } from '../../model/limits/rapi-v3'
import type { MonitoringProblem } from '../../model/monitoring'
import type { MonitoredNode } from '../../rpc/luxi/monitoring'
import { administrator, gantryOf } from '../administrator'
import type { Call, Command } from '../command'
import { oNoHeaders, oNode, oSeparator } from '../input/options'
import { asData, DATA_OPTIONS, dataFormat } from '../output/data'
import { formatTime, formatUnit } from '../output/format'
import { formatTable } from '../output/table'
import { CommandFailure, EXIT } from '../outcome'
import { oCategories, oCollectors, oInterval, oLive, oReports } from './options'

export const monitorCommand: Command = {
  name: 'monitor',
  help:
    'show how the nodes are by their own account; the exit code is 1 when something is bad or unknown, and 0 when all is fine or mends ' +
    'itself',
  usage: '[--live] [-n <node-name>...] [--category=<category>[,...]]',
  args: [],
  options: [...[oNode, oCategories, oCollectors, oLive, oInterval, oReports, oNoHeaders, oSeparator], ...DATA_OPTIONS],
  examples: ['--live --category instance,storage', '-n node1 --json --reports'],
  run: monitorNodes,
}

async function monitorNodes(call: Call): Promise<number> {
  const { options, terminal } = call
  if (options.flag('live')) return follow(call)
  const nodes = await gathered(call, options.flag('reports'))
  if (!(await asData(call, nodes.map(itemOf)))) for (const line of tableOf(call, nodes)) terminal.out(line)
  return exitOf(nodes)
}

/** Repeats until the user interrupts. */
async function follow(call: Call): Promise<number> {
  const { options, clock, terminal } = call
  if (dataFormat(options) !== undefined || options.flag('reports'))
    throw new CommandFailure('--live shows a table; leave it out for data')
  const interval_s = options.number('interval') ?? 0
  if (!(interval_s >= INTERVAL_MIN_S)) throw new CommandFailure(`--interval: give ${INTERVAL_MIN_S} second or more`)
  const { picture, interrupted } = await terminal.live()
  const stopped = new Promise<undefined>((resolve) => {
    interrupted.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  let exit: number = EXIT.ok
  try {
    while (!interrupted.aborted) {
      const nodes = await Promise.race([gathered(call, false), stopped])
      if (nodes === undefined) break
      picture.show([summaryOf(nodes, clock.now_ms()), '', ...tableOf(call, nodes)])
      exit = exitOf(nodes)
      await clock.sleep(interval_s * 1000, interrupted).catch(() => undefined)
    }
  } finally {
    picture.close()
  }
  return exit
}

const INTERVAL_MIN_S = 1

async function gathered(call: Call, reports: boolean): Promise<MonitoredNode[]> {
  const { options } = call
  const desired = {
    ...{ nodes: options.list('nodes') ?? [], categories: options.list('categories') ?? [], reports },
    ...{ collectors: options.list('collectors') ?? [], limit: VIEW_PAGE_MAX },
  }
  const nodes: MonitoredNode[] = []
  for (let after: string | null = null; ;) {
    const page = await gantryOf(call).monitoring(administrator('root'), { ...desired, after })
    nodes.push(...page.items)
    if (page.next === null) return nodes
    after = page.next
  }
}

/** In the form of /3. */
const itemOf = ({ reports, ...node }: MonitoredNode): unknown =>
  reports === null ? node : { ...node, reports: JSON.parse(reports) as unknown }

/** 1 for bad or unknown nodes. Faults that heal by themselves and offline nodes do not count. */
const exitOf = (nodes: readonly MonitoredNode[]): number =>
  nodes.some(({ status }) => status !== null && status > HEALING) ? EXIT.failure : EXIT.ok

const HEALING = 1
const WORDS: Readonly<Record<number, string>> = { 0: 'ok', 1: 'healing', 2: 'unknown', 4: 'BAD' }
const wordOf = (code: number | null): string => (code === null ? 'offline' : (WORDS[code] ?? String(code)))

function summaryOf(nodes: readonly MonitoredNode[], now_ms: number): string {
  const counts = [0, 1, 2, 4, null].flatMap((code) => {
    const count = nodes.filter(({ status }) => status === code).length
    return count === 0 ? [] : [`${count} ${wordOf(code)}`]
  })
  return `${formatTime(now_ms / 1000)}  ${nodes.length} nodes: ${counts.join(', ')}  (Ctrl-C ends)`
}

const COLUMNS = [
  ...[{ title: 'Node' }, { title: 'Status' }].map((one) => ({ ...one, alignRight: false })),
  ...['Load', 'CPUs', 'MTotal', 'MFree', 'DFree', 'Age'].map((title) => ({ title, alignRight: true })),
  { title: 'Problem', alignRight: false },
]

/** One line for each node, and one for each further problem of it. */
function tableOf({ options }: Call, nodes: readonly MonitoredNode[]): string[] {
  const rows = nodes.flatMap((node) => {
    const [first, ...others] = node.problems
    return [[...cellsOf(node), textOf(first)], ...others.map((one) => [...BLANK, textOf(one)])]
  })
  const style = { headers: !options.flag('no_headers'), separator: options.text('separator') }
  return formatTable(COLUMNS, rows, style).map((line) => line.trimEnd())
}

const BLANK: readonly string[] = COLUMNS.slice(1).map(() => '')

function cellsOf({ node, status, figures, age_s }: MonitoredNode): string[] {
  const { load, cpu_load, cpus, memory_total_bytes: total, memory_free_bytes: free, storage } = figures
  const number = (value: number | null) => (value === null ? '-' : value.toFixed(2))
  return [
    ...[node, wordOf(status), number(load), cpus === null ? '-' : `${number(cpu_load)}/${cpus}`],
    ...[sizeOf(total), sizeOf(free), sizeOf(storage?.free_bytes ?? null), age_s === null ? '-' : ageText(age_s)],
  ]
}

const MIB = 1 << 20
const sizeOf = (bytes: number | null): string => (bytes === null ? '-' : formatUnit(bytes / MIB, 'h'))

/** `5s`, `12m`, `3h`, `2d` */
function ageText(age_s: number): string {
  const units = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'm'],
  ] as const
  // Minutes until two hours have passed, and so on.
  const [size, name] = units.find(([unit_s]) => age_s >= 2 * unit_s) ?? [1, 's']
  return `${Math.floor(Math.max(0, age_s) / size)}${name}`
}

/** Removes characters that would move the cursor: the messages come from others. */
const textOf = (problem: MonitoringProblem | undefined): string =>
  problem === undefined
    ? ''
    : [problem.collector, problem.message]
        .flatMap((part) => part ?? [])
        .join(': ')
        .replace(/\p{C}/gu, '?')
