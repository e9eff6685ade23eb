// Completion for bash, zsh and fish: names of objects and commands, options and their choices from the tables, and
// current names in the cluster.
import { isTagKind } from '../model/object-kinds'
import type { Master } from '../rpc/luxi/master'
import type { Command, Tool } from './command'
import type { Option } from './input/option'
import { optionsOf } from './input/parse'

/** The object that a command is for, where its arguments name it before. */
interface Named {
  readonly tool: string
  readonly object: string
}

/** Queries for names that the cluster knows, by the kind of an argument or option value. */
const LIVE: Readonly<Record<string, (master: Master, named: Named) => Promise<readonly unknown[]>>> = {
  'instance name': (master) => names(master, 'instance', 'name'),
  'node name': (master) => names(master, 'node', 'name'),
  'group name': (master) => names(master, 'group', 'name'),
  'network name': (master) => names(master, 'network', 'name'),
  'job id': (master) => names(master, 'job', 'id'),
  'filter UUID': (master) => names(master, 'filter', 'uuid'),
  // Only a job can ask nodes for all of their systems; what instances have is known.
  'OS in use': async (master) => [...new Set(await names(master, 'instance', 'os'))],
  tag: tagsOf,
}
const VALUES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['node', 'src_node', 'remote_node', 'target_node', 'dst_node'].map((name) => [name, 'node name'] as const),
  ),
  os: 'OS in use',
  ...Object.fromEntries(['nodegroup', 'to', 'group'].map((name) => [name, 'group name'] as const)),
}

/** The candidates, one per line. If the cluster does not answer, its names are missing. */
export async function completions(tool: Tool, words: readonly string[], open: () => Master): Promise<string[]> {
  const [first = '', ...rest] = tool.commands[0]?.name === '' ? ['', ...words] : words
  const current = words.at(-1) ?? ''
  const fitting = (candidates: readonly unknown[]) => candidates.map(String).filter((one) => one.startsWith(current))
  if (tool.commands[0]?.name !== '' && words.length <= 1)
    return fitting(tool.commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]))
  const command = tool.commands.find(({ name, aliases = [] }) => name === first || aliases.includes(first))
  if (command === undefined) return []
  const glued = /^(--[^=]+)=/.exec(current)
  if (glued !== null) {
    const [start, long = ''] = glued
    const values = await valuesOf(optionNamed(command, long), current.slice(start.length), open)
    return fitting(values.map((value) => `${start}${String(value)}`))
  }
  if (current.startsWith('-')) return fitting(optionsOf(command).flatMap(spelled))
  const before = optionNamed(command, rest.at(-2) ?? '')
  if (before !== undefined && takesValue(before)) return fitting(await valuesOf(before, current, open))
  return fitting(await valuesOfArgument(tool, command, rest.slice(0, -1), open))
}

const spelled = ({ long, short, type }: Option): string[] => [
  ...long.map((name) => (type === 'flag' || type === 'count' ? name : `${name}=`)),
  ...(short === undefined ? [] : [short]),
]

const takesValue = ({ type }: Option): boolean => type !== 'flag' && type !== 'count'

const optionNamed = (command: Command, word: string): Option | undefined =>
  optionsOf(command).find(({ long, short }) => long.includes(word) || short === word)

async function valuesOf(option: Option | undefined, current: string, open: () => Master): Promise<readonly unknown[]> {
  if (option?.choices !== undefined) return option.choices
  if (option?.type === 'bool') return ['yes', 'no']
  const values = await live(VALUES[option?.dest ?? ''], NOTHING, open)
  // A place for an instance may be two nodes, PRIMARY:SECONDARY.
  const [primary] = option?.dest === 'node' ? (/^[^:]*(?=:)/.exec(current) ?? []) : []
  return primary === undefined
    ? values
    : values.filter((node) => node !== primary).map((node) => `${primary}:${String(node)}`)
}

const NOTHING: Named = { tool: '', object: '' }

/** The argument at this position; options may stand before and between arguments. */
async function valuesOfArgument(
  tool: Tool,
  command: Command,
  before: readonly string[],
  open: () => Master,
): Promise<readonly unknown[]> {
  const isValue = (word: string, at: number) => {
    const option = optionNamed(command, before[at - 1] ?? '')
    return !word.startsWith('-') && (option === undefined || !takesValue(option))
  }
  const input = before.filter(isValue)
  let place = input.length
  for (const { kind, max } of command.args) {
    if (place < max) return live(kind, { tool: tool.name, object: input[0] ?? '' }, open)
    place -= max
  }
  return []
}

async function live(kind: string | undefined, named: Named, open: () => Master): Promise<readonly unknown[]> {
  const names = kind === undefined ? undefined : LIVE[kind]
  if (names === undefined) return []
  try {
    return await names(open(), named)
  } catch {
    // A user who completes a word need not learn that no cluster runs.
    return []
  }
}

async function names(
  master: Master,
  what: 'instance' | 'node' | 'group' | 'network' | 'job' | 'filter',
  field: string,
): Promise<readonly unknown[]> {
  const { data } = await master.query(what, [field], null)
  return data.map(([cell]) => cell?.[1])
}

async function tagsOf(master: Master, { tool, object }: Named): Promise<string[]> {
  const kind = tool === 'gnt-group' ? 'nodegroup' : tool.replace(/^gnt-/, '')
  return isTagKind(kind) ? master.queryTags(kind, kind === 'cluster' ? '' : object) : []
}
