// Parses options of the allocation programs like getopt: short ones combined, long ones abbreviated, optional arguments
// only when attached.
import { readNumber } from '../../allocation/model/numbers'
import { OPTIONS, type OptionSpec } from './option-table'
import { PROGRAM_VERSION, Stop } from './context'

/** The parsed command line: each option's values in order. An option without a value has an empty one. */
export interface Parsed {
  readonly program: string
  readonly given: ReadonlyMap<string, readonly string[]>
  readonly rest: readonly string[]
}

/** `takes`: the kind of positional arguments for completion, and their number. */
export const parseOptions = (program: string, names: string, args: readonly string[], takes?: string): Parsed =>
  parseWith(
    program,
    OPTIONS.filter(({ long }) => names.split(' ').includes(long)),
    args,
    takes,
  )

export function parseWith(program: string, specs: readonly OptionSpec[], args: readonly string[], takes = ''): Parsed {
  const { values, rest, complaints } = new Reader(specs, args).read()
  if (complaints.length > 0) {
    throw new Stop(2, '', `Command line error: ${complaints.join('')}\n${helpOf(program, specs)}`)
  }
  for (const [spec, value] of values) {
    const error = wrong(spec, value)
    if (error !== undefined) throw new Stop(1, '', `Error while parsing command line arguments:\n${error}\n`)
  }
  const input = new Map<string, string[]>()
  for (const [{ long }, value] of values) input.set(long, [...(input.get(long) ?? []), value])
  if (input.has('help')) throw new Stop(0, helpOf(program, specs))
  if (input.has('version')) throw new Stop(0, `${program} ${PROGRAM_VERSION}\n`)
  if (input.has('help-completion')) throw new Stop(0, completions(specs) + takes)
  return { program, given: input, rest }
}

export const has = ({ given: input }: Parsed, name: string): boolean => input.has(name)

export const textOf = ({ given: input }: Parsed, name: string): string | undefined => input.get(name)?.at(-1)

export const listOf = (parsed: Parsed, name: string): string[] | undefined => {
  const text = textOf(parsed, name)
  return text === '' ? [] : text?.split(',')
}

/** The number of an option, which was already checked. */
export function numberOf(parsed: Parsed, name: string): number | undefined {
  const text = textOf(parsed, name)
  const value = text === undefined ? undefined : readNumber(text, 'any')
  return typeof value === 'number' ? value : undefined
}

export const isYes = (parsed: Parsed, name: string): boolean => textOf(parsed, name) === 'yes'

/** Adds quotes, except to an empty text or a plain word, as Ganeti's programs do. */
export const quoted = (text: string): string => (/^[\p{L}\p{N}.]*$/u.test(text) ? text : `'${text}'`)

export const verbosity = ({ given: input }: Parsed): number =>
  Math.max(0, 1 + (input.get('verbose')?.length ?? 0) - (input.get('quiet')?.length ?? 0))

/**
 * Like getopt: an option's value is attached or follows, options without one may be combined, long names may be
 * abbreviated.
 */
class Reader {
  private readonly values: [OptionSpec, string][] = []
  private readonly rest: string[] = []
  private readonly complaints: string[] = []
  private readonly unknown: string[] = []
  private readonly queue: string[]

  constructor(
    private readonly specs: readonly OptionSpec[],
    args: readonly string[],
  ) {
    this.queue = [...args]
  }

  read() {
    const { queue, rest, values } = this
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      if (one === '--') rest.push(...queue.splice(0))
      else if (one.startsWith('--')) this.long(one.slice(2))
      else if (one.startsWith('-') && one.length > 1) this.short(one.slice(1))
      // An empty argument is ignored.
      else if (one !== '') rest.push(one)
    }
    const unknown = this.unknown.map((text) => `unrecognized option \`${text}'\n`)
    return { values, rest, complaints: [...this.complaints, ...unknown] }
  }

  private long(text: string): void {
    const at = text.indexOf('=')
    const [name, glued] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
    const exact = this.specs.filter(({ long }) => long === name)
    const fitting = exact.length > 0 ? exact : this.specs.filter(({ long }) => long.startsWith(name))
    const [spec] = fitting
    if (spec === undefined) this.unknown.push(`--${text}`)
    else if (fitting.length > 1) {
      const names = fitting.map(({ long }) => `  --${long}\n`).join('')
      this.complaints.push(`option \`--${name}' is ambiguous; could be one of:\n${names}`)
    } else if (glued !== undefined && spec.arg === undefined) {
      this.complaints.push(`option \`--${name}' doesn't allow an argument\n`)
    } else this.note(spec, `--${name}`, glued)
  }

  private short(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const spec = this.specs.find(({ short }) => short === text[at])
      if (spec === undefined) this.unknown.push(`-${text[at]}`)
      else if (spec.arg === undefined) this.note(spec, `-${text[at]}`, undefined)
      else return this.note(spec, `-${text[at]}`, at + 1 < text.length ? text.slice(at + 1) : undefined)
    }
  }

  private note(spec: OptionSpec, text: string, glued: string | undefined): void {
    const optional = spec.arg === undefined || spec.arg.startsWith('[')
    const value = glued ?? (optional ? (spec.absent ?? '') : this.queue.shift())
    if (value === undefined) this.complaints.push(`option \`${text}' requires an argument ${spec.arg}\n`)
    else this.values.push([spec, value])
  }
}

function wrong({ reads, check }: OptionSpec, value: string): string | undefined {
  if (reads !== undefined) {
    const [what, kind] = reads
    const number = readNumber(value, kind)
    if (typeof number !== 'number') return `${what}: ${number.error}`
  }
  return check?.(value)
}

const KINDS = { whole: 'integer', any: 'float' } as const

function completions(specs: readonly OptionSpec[]): string {
  const lines = specs.map(({ long, short, reads, completes }) => {
    const names = short === undefined ? `--${long}` : `-${short},--${long}`
    return `${names} ${completes ?? (reads === undefined ? 'none' : KINDS[reads[1]])}\n`
  })
  return lines.join('')
}

function helpOf(program: string, specs: readonly OptionSpec[]): string {
  const lines = specs.map(({ long, short, arg, help }) => {
    const value = arg === undefined ? '' : arg.startsWith('[') ? `[=${arg.slice(1)}` : `=${arg}`
    return `  ${short === undefined ? '   ' : `-${short},`} --${`${long}${value}`.padEnd(28)} ${help}`
  })
  return `Usage: ${program} [OPTION...]\n${lines.join('\n')}\n`
}
