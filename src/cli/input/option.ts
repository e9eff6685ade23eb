// Options in the tables of commands, and short ways to declare them.
import type { OpcodeDefinition, Parameter } from '../../opcodes/opcode'

export type OptionType =
  | 'flag'
  | 'count'
  | 'string'
  | 'int'
  | 'float'
  | 'choice'
  | 'bool'
  | 'unit'
  | 'keyval'
  | 'identkeyval'
  | 'multilistidentkeyval'
  | 'list'
  | 'commalist'
  | 'maybefloat'
  | 'json'
  | 'filteraction'

export interface Option {
  /** `--node`; several spellings are equal. */
  readonly long: readonly string[]
  readonly short?: string
  /** The name under which the value is stored; options of one command may share it. */
  readonly dest: string
  readonly type: OptionType
  readonly help: string
  /** The value that a flag stores; default true. */
  readonly stores?: unknown
  readonly default?: unknown
  readonly choices?: readonly string[]
  readonly metavar?: string
  readonly repeatable?: boolean
  /** Ganeti lacks this option. An abbreviation means Ganeti's options first. */
  readonly own?: boolean
  /** Its value is the opcode parameter named `dest`. */
  readonly isParameter?: boolean
  /** A message on stderr when the option is used; it has no other effect. */
  readonly ignored?: string
}

type Details = Partial<Omit<Option, 'long' | 'dest' | 'type' | 'help'>>

/** An option without a value; it stores true by default. */
export const flag = (long: string | readonly string[], dest: string, help: string, details: Details = {}): Option => ({
  long: typeof long === 'string' ? [long] : long,
  dest,
  type: 'flag',
  help,
  ...details,
})

export const value = (
  long: string | readonly string[],
  dest: string,
  type: OptionType,
  help: string,
  details: Details = {},
): Option => ({ long: typeof long === 'string' ? [long] : long, dest, type, help, ...details })

interface ParameterDetails extends Details {
  /** Ganeti's name of the option, if it differs from the parameter's. */
  readonly long?: string
  /** How to parse the text, if it differs from the parameter's kind, as for sizes with units. */
  readonly type?: OptionType
  /** The help text, if a terminal needs other words. */
  readonly help?: string
}

/**
 * An option that is a parameter of an opcode: name, kind, choices, default and help are the parameter's, and
 * `OptionValues.parametersOf` passes it on. A parameter that is true by default is switched off: `--no-hotplug`.
 */
export function parameter<D extends OpcodeDefinition>(
  { params }: D,
  name: keyof D['params'] & string,
  { long, type, help, ...details }: ParameterDetails = {},
): Option {
  const declared = params[name]
  if (declared === undefined) throw new Error(`there is no parameter ${name}`)
  const kind = type ?? kindOf(declared)
  const isOff = kind === 'flag' && declared.fallback === true
  const [words, choices] = [name.replaceAll('_', '-'), declared.check.schema.enum?.map(String)]
  return {
    long: [long ?? (isOff ? `--no-${words}` : `--${words}`)],
    ...{ dest: name, type: kind, help: help ?? helpOf(declared, kind, isOff), isParameter: true },
    ...(isOff && { stores: false }),
    ...(kind === 'choice' && choices && { choices }),
    ...(kind === 'bool' && { metavar: 'yes|no' }),
    ...defaultOf(declared, kind),
    ...details,
  }
}

function kindOf({ need, check: { schema } }: Parameter): OptionType {
  if (schema.type === 'boolean') return need === 'maybe' ? 'bool' : 'flag'
  if (schema.enum !== undefined) return 'choice'
  return KINDS[schema.type ?? ''] ?? 'string'
}

const KINDS: Readonly<Record<string, OptionType>> = {
  integer: 'int',
  number: 'float',
  array: 'commalist',
  object: 'keyval',
}

function defaultOf({ fallback }: Parameter, kind: OptionType): Pick<Option, 'default'> {
  if (kind === 'flag') return { default: fallback === true }
  return kind === 'keyval' || kind === 'bool' || fallback === undefined ? {} : { default: fallback }
}

/** `Wait for disk sync` becomes `wait for disk sync`, `do not wait for disk sync`, or `tags, comma list`. */
function helpOf({ doc }: Parameter, kind: OptionType, isOff: boolean): string {
  const text = /^[A-Z][a-z]/.test(doc) ? doc.charAt(0).toLowerCase() + doc.slice(1) : doc
  if (isOff) return `do not ${text}`
  return kind === 'commalist' ? `${text}, comma list` : text
}
