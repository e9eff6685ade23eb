// Help texts of tools and commands, in the layout of Ganeti's.
import type { Command, Tool } from '../command'
import type { Option } from '../input/option'
import { optionsOf } from '../input/parse'

const WIDTH = 80
/** The column at which the help of an option begins. */
const HELP_COLUMN = 24

/** The commands of a tool with their help, in Ganeti's layout. */
export function toolUsage(tool: Tool): string[] {
  const commands = [...tool.commands].sort((a, b) => (a.name < b.name ? -1 : 1))
  const width = Math.max(...commands.map(({ name }) => name.length))
  const indent = ' '.repeat(width + 4)
  return [
    `Usage: ${tool.name} {command} [options...] [argument...]`,
    `${tool.name} <command> --help to see details, or man ${tool.name}`,
    '',
    'Commands:',
    ...commands.flatMap(({ name, help }) => {
      const [first = '', ...rest] = wrap(help, WIDTH - 1 - indent.length)
      return [` ${name.padEnd(width)} - ${first}`, ...rest.map((line) => indent + line)]
    }),
    '',
  ]
}

export function commandHelp(tool: string, command: Command): string[] {
  return [
    ...commandUsage(tool, command),
    ...wrap(command.help, WIDTH - 1),
    '',
    ...title('Options'),
    ...optionsOf(command).flatMap(optionHelp),
    ...examples(tool, command),
  ]
}

/** As in Ganeti, ends with the blank between command and arguments, even without arguments. */
export const commandUsage = (tool: string, { name, usage }: Command): string[] => [
  ...title('Usage'),
  `  ${called(tool, name)} ${usage}`,
  '',
]

/** A tool with a single command. */
const called = (tool: string, name: string): string => (name === '' ? tool : `${tool} ${name}`)

const examples = (tool: string, { name, examples = [] }: Command): string[] =>
  examples.length === 0 ? [] : ['', ...title('Example'), ...examples.map((words) => `  ${called(tool, name)} ${words}`)]

const title = (text: string): string[] => [text, '='.repeat(text.length)]

function optionHelp(option: Option): string[] {
  const names = spellings(option).join(', ')
  const lines = wrap(option.help, WIDTH - 1 - HELP_COLUMN)
  const indented = lines.map((line) => ' '.repeat(HELP_COLUMN) + line)
  if (names.length > HELP_COLUMN - 2) return [names, ...indented]
  const [first = '', ...rest] = lines
  return [names.padEnd(HELP_COLUMN) + first, ...rest.map((line) => ' '.repeat(HELP_COLUMN) + line)]
}

function spellings({ long, short, type, metavar, dest }: Option): string[] {
  const value = type === 'flag' || type === 'count' ? '' : (metavar ?? dest.toUpperCase())
  const names = long.map((name) => (value === '' ? name : `${name}=${value}`))
  return short === undefined ? names : [...names, value === '' ? short : `${short} ${value}`]
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
