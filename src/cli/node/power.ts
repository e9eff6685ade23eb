// Requests to nodes that do not go through their usual work: power and health through out-of-band helpers, and
// restricted commands.
import { isObject } from '../../lib/shapes/shape'
import { OpNodeSetParams, OpOobCommand, OpRepairCommand, OpRestrictedCommand } from '../../opcodes/node'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import { onlineNodes } from '../cluster/nodes'
import { confirmMany } from '../input/confirm'
import { asData, dataFormat } from '../output/data'
import { RESULT_STATUS_WORDS } from '../../model/constants/query'
import { opcodeOf } from '../submit/submit'
import { formatTable } from '../output/table'

/** Harmful commands need named nodes and a confirmation. */
const VERBS: readonly string[] = ['on', 'off', 'cycle', 'status']
const HARMFUL: readonly string[] = ['off', 'cycle']

export async function powerNodes(call: Call): Promise<number> {
  const { args, options, jobs } = call
  const [verb = '', ...names] = args
  if (!VERBS.includes(verb)) throw new CommandFailure(`power subcommand ${verb} not supported.`)
  if (verb !== 'status' && dataFormat(options) !== undefined)
    throw refusal(`Only 'status' prints data; call '${verb}' without --json and --output-format`)
  if (HARMFUL.includes(verb)) {
    if (names.length === 0) throw new CommandFailure('Please provide at least one node for this command')
    const touched = { names, kind: 'nodes', verb: `power ${verb}` }
    if (!(await confirmMany(call, touched))) return EXIT.failure
  }
  const ops = [...(verb === 'off' && !options.flag('ignore_status') ? names.map((name) => offline(call, name)) : []), oob(call, `power-${verb}`, names)] // prettier-ignore
  const results = await jobs.runAll(ops)
  return showAnswers(call, results.at(-1), {
    lines: (answer) => [verb !== 'status' ? 'invoked' : isPowered(answer) ? 'powered' : 'unpowered'],
    data: ['powered', isPowered],
  })
}

const offline = ({ options }: Call, node_name: string): WireOpCode =>
  opcodeOf(OpNodeSetParams, { ...options.parametersOf(OpNodeSetParams), node_name, offline: true })

const oob = ({ options }: Call, command: string, node_names: readonly string[]): WireOpCode =>
  opcodeOf(OpOobCommand, {
    ...options.parametersOf(OpOobCommand),
    node_names,
    command,
    timeout: options.number('oob_timeout'),
  })

const isPowered = (answer: unknown): boolean => isObject(answer) && answer['powered'] === true

export async function showHealth(call: Call): Promise<number> {
  const result = await call.jobs.run(oob(call, 'health', call.args))
  return showAnswers(call, result, {
    lines: (answer) => itemsOf(answer).map(({ item, status }) => `${String(item)}=${String(status)}`),
    data: ['health', itemsOf],
  })
}

const itemsOf = (answer: unknown) =>
  list(answer).map((pair) => {
    const [item, status] = list(pair)
    return { item, status }
  })

/** Two forms of the nodes' answers: lines, possibly several for each node, and one field of data. */
interface Shown {
  readonly lines: (answer: unknown) => readonly string[]
  readonly data: readonly [field: string, value: (answer: unknown) => unknown]
}

/** `[[[0, node], [status, answer]], ...]` */
async function showAnswers(call: Call, result: unknown, { lines, data: [field, value] }: Shown): Promise<number> {
  const { options, terminal } = call
  const nodes = list(result).map((row) => {
    const [node, cell] = list(row)
    const [status, answer] = list(cell)
    return { name: String(list(node)[1]), status, answer }
  })
  const exit = nodes.every(({ status }) => status === 0) ? EXIT.ok : EXIT.failure
  const data = nodes.map(({ name, status, answer }) => ({ name, [field]: status === 0 ? value(answer) : null }))
  if (await asData(call, data)) return exit
  const rows = nodes.flatMap(({ name, status, answer }) => {
    const displayed = status === 0 ? lines(answer) : [RESULT_STATUS_WORDS[Number(status)]?.[0] ?? '(unknown)']
    return displayed.map((line, index) => [index === 0 ? name : '', line])
  })
  const columns = [{ title: 'Node' }, { title: 'Status' }].map((column) => ({ ...column, alignRight: false }))
  const style = { headers: !options.flag('no_headers'), separator: options.text('separator'), padTitles: true }
  for (const line of formatTable(columns, rows, style)) terminal.out(line)
  return exit
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export async function runRepair({ args, options, terminal, jobs }: Call): Promise<number> {
  const [command = '', node_name = ''] = args
  // An empty text is the same as none, which the opcode wants left out.
  const input = options.text('input') || undefined
  const output = await jobs.run(opcodeOf(OpRepairCommand, { command, node_name, input }))
  terminal.out(String(output).trimEnd())
  return EXIT.ok
}

export async function runRestricted(call: Call): Promise<number> {
  const { args, options, terminal, jobs } = call
  const [command = '', ...names] = args
  if (names.length === 0 && call.options.text('nodegroup') === undefined)
    throw refusal('Node group or node names must be given')
  const nodes = (await onlineNodes(call, names)).map(({ name }) => name)
  const result = await jobs.run(
    opcodeOf(OpRestrictedCommand, { command, nodes, use_locking: options.flag('do_locking') }),
  )
  let failed = false
  for (const [index, answer] of list(result).entries()) {
    const [ok, text] = list(answer)
    const node = nodes[index] ?? ''
    terminal.out('------------------------------------------------')
    if (ok !== true) failed = true
    if (ok !== true) terminal.out(String(text))
    else if (options.flag('show_machine_names'))
      for (const line of String(text).trimEnd().split('\n')) terminal.out(`${node}: ${line}`)
    else {
      terminal.out(`Node: ${node}`)
      terminal.out(String(text))
    }
  }
  return failed ? EXIT.failure : EXIT.ok
}
