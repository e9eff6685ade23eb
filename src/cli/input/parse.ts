// Turns words into option values. Commander separates options from arguments; abbreviations, types and counts follow
// Ganeti.
import * as commander from 'commander'
import { expandAbbreviations } from '../../lib/text/abbreviations'
import type { Command } from '../command'
import { CommandFailure, UsageError } from '../outcome'
import type { Option } from './option'
import type { Terminal } from '../output/terminal'
import { DATA_OPTIONS } from '../output/data'
import { OptionValues } from './option-values'
import { parseValue } from './parse-value'

export interface Parsed {
  readonly options: OptionValues
  readonly args: readonly string[]
  readonly help: boolean
}

const HELP: Option = { long: ['--help'], short: '-h', dest: 'help', type: 'flag', help: 'show this help and exit' }

/** Options that every command has. */
export const COMMON_OPTIONS: readonly Option[] = [
  { long: ['--debug'], short: '-d', dest: 'debug', type: 'count', default: 0, help: 'more debug output, repeatable' },
  { long: ['--reason'], dest: 'reason', type: 'string', help: 'text for the reason trail' },
]

export const optionsOf = (command: Command): readonly Option[] => [
  ...command.options,
  ...(command.data === undefined ? [] : DATA_OPTIONS),
  ...COMMON_OPTIONS,
  HELP,
]

export function parseCommandLine(command: Command, words: readonly string[], terminal: Terminal): Parsed {
  const options = optionsOf(command)
  const values = new Map<string, unknown>(options.map((option) => [option.dest, defaultOf(option)]))
  // Several options may share one dest. The first one decides the default, so it is set last.
  for (const option of [...options].reverse()) values.set(option.dest, defaultOf(option))
  const parser = new commander.Command(command.name)
  parser.exitOverride().helpOption(false).allowExcessArguments(true).argument('[args...]')
  parser.configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
  for (const option of options)
    for (const name of spellings(option))
      declare(parser, option, name, (text) => store(values, option, { name, text }, terminal))
  try {
    parser.parse(optionsFirst(words, options, command), { from: 'user' })
  } catch (error) {
    if (error instanceof commander.CommanderError) throw new UsageError(complaint(error))
    throw error
  }
  const parsed = new OptionValues(values, options)
  const help = parsed.flag('help')
  if (!help) checkArguments(command, parser.args)
  return { options: parsed, args: parser.args, help }
}

const spellings = ({ long, short }: Option): string[] => [...(short === undefined ? [] : [short]), ...long]

/** Each spelling is a separate option for the parser, because errors name the spelling that was used. */
function declare(
  parser: commander.Command,
  { type }: Option,
  name: string,
  found: (text: string | null) => void,
): void {
  const bare = type === 'flag' || type === 'count'
  const declared = new commander.Option(bare ? name : `${name} <value>`)
  parser.addOption(declared)
  parser.on(`option:${declared.name()}`, found)
}

interface Given {
  /** The spelling that was used. */
  readonly name: string
  readonly text: string | null
}

function store(values: Map<string, unknown>, option: Option, { name, text }: Given, terminal: Terminal): void {
  if (option.ignored !== undefined) return terminal.err(`Warning: ${option.ignored}`)
  if (option.type === 'flag') return void values.set(option.dest, option.stores ?? true)
  const old = values.get(option.dest)
  if (option.type === 'count') return void values.set(option.dest, Number(old) + 1)
  try {
    const value = parseValue(option, text ?? '', name)
    values.set(option.dest, option.repeatable && Array.isArray(old) ? [...(old as unknown[]), value] : value)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`option ${name}: ${error.message}`)
    throw error
  }
}

function defaultOf(option: Option): unknown {
  if (option.default !== undefined) return option.default
  if (option.repeatable) return []
  // A flag that stores false is on by default. A flag that stores a word has no default.
  if (option.type === 'flag' && option.stores === false) return true
  return undefined
}

/** Puts options in front of arguments, with their whole names, and `--` between them. */
function optionsFirst(words: readonly string[], options: readonly Option[], { args: desired }: Command): string[] {
  const verbatim = desired.some((argument) => argument.verbatim === true)
  const left = [...words]
  const [input, args]: [string[], string[]] = [[], []]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word !== '--' && isOption(word)) {
      const name = whole(word, options)
      input.push(name)
      if (!takesNext(name, options)) continue
      const value = left.shift()
      if (value === undefined) throw withoutValue(name.startsWith('--') ? name : `-${name.slice(-1)}`)
      input.push(value)
      continue
    }
    if (word !== '--') args.push(word)
    if (word === '--' || verbatim) args.push(...left.splice(0))
  }
  return [...input, '--', ...args]
}

/** `-` is the standard input, and `-1` a number: no option is a digit. */
const isOption = (word: string): boolean => /^-[^\d]/.test(word)

/** `--disk-t` becomes `--disk-template` if no other option begins like this. */
const whole = (word: string, options: readonly Option[]): string =>
  expandAbbreviations([word], {
    all: options.flatMap(({ long }) => long),
    own: options.flatMap((option) => (option.own === true ? option.long : [])),
    refusal: (text) => new UsageError(text),
  })[0] ?? word

/** Whether the value of an option is the next word: after `--node` and `-fn`, but not after `--node=x` and `-nx`. */
function takesNext(word: string, options: readonly Option[]): boolean {
  const withValue = options.filter(({ type }) => type !== 'flag' && type !== 'count')
  if (word.startsWith('--')) return withValue.some(({ long }) => long.includes(word))
  const at = [...word.slice(1)].findIndex((letter) => withValue.some(({ short }) => short === `-${letter}`))
  return at === word.length - 2
}

const withoutValue = (name: string): UsageError => new UsageError(`${name} option requires 1 argument`)

function complaint(error: commander.CommanderError): string {
  const option = /'([^']+)'/.exec(error.message)?.[1] ?? ''
  const [name = ''] = option.split(/[ =]/)
  if (error.code === 'commander.unknownOption') return `no such option: ${name}`
  return error.message.replace(/^error: /, '')
}

function checkArguments({ name, args: desired }: Command, args: readonly string[]): void {
  const min = desired.reduce((sum, argument) => sum + argument.min, 0)
  const max = desired.reduce((sum, argument) => sum + argument.max, 0)
  if (args.length >= min && args.length <= max) return
  const what =
    max === 0
      ? 'no arguments'
      : `${min === max ? '' : args.length < min ? 'at least ' : 'only '}${args.length < min ? min : max} argument(s)`
  throw new CommandFailure(`Error: Command ${name} expects ${what}`)
}
