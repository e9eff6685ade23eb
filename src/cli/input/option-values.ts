// The values of given options, by name and with their types.
import { ProgrammerError } from '../../model/errors'
import type { OpcodeDefinition } from '../../opcodes/opcode'
import type { Option } from './option'

/** `-B a=1,no_b,-c,d` is {a: '1', b: false, c: null, d: true}. */
export type KeyValues = Readonly<Record<string, string | boolean | null>>
/** `0:size=1g`; false for `no_0`, null for `-x`. */
export type IdentKeyValues = readonly [ident: string, values: KeyValues | false | null]

/** One command's option values by their `dest`. Types are checked when they are read. */
export class OptionValues {
  constructor(
    private readonly values: ReadonlyMap<string, unknown>,
    private readonly options: readonly Option[] = [],
  ) {}

  /** The opcode's parameters that are options of the command; undefined if neither given nor with a default. */
  parametersOf<D extends OpcodeDefinition>({ params }: D): Partial<Record<keyof D['params'], unknown>> {
    const names = this.options.flatMap(({ dest, isParameter }) =>
      isParameter && Object.hasOwn(params, dest) ? dest : [],
    )
    // The keys are parameters of the opcode.
    return Object.fromEntries(names.map((name) => [name, this.raw(name)])) as Partial<
      Record<keyof D['params'], unknown>
    >
  }

  flag(dest: string): boolean {
    return this.optionalFlag(dest) ?? false
  }

  optionalFlag(dest: string): boolean | undefined {
    return this.read(dest, (value): value is boolean => typeof value === 'boolean')
  }

  text(dest: string): string | undefined {
    return this.read(dest, (value): value is string => typeof value === 'string')
  }

  number(dest: string): number | undefined {
    return this.read(dest, (value): value is number => typeof value === 'number')
  }

  /** A comma-separated list, or all values of a repeatable option. */
  list(dest: string): readonly string[] | undefined {
    return this.read(dest, isTexts)
  }

  keyValues(dest: string): KeyValues | undefined {
    return this.read(dest, isKeyValues)
  }

  ident(dest: string): IdentKeyValues | undefined {
    return this.read(dest, isIdent)
  }

  idents(dest: string): readonly IdentKeyValues[] {
    return this.read(dest, (value): value is IdentKeyValues[] => Array.isArray(value) && value.every(isIdent)) ?? []
  }

  /** The given value, unchecked. */
  raw(dest: string): unknown {
    return this.values.get(dest) ?? undefined
  }

  private read<T>(dest: string, check: (value: unknown) => value is T): T | undefined {
    const value = this.raw(dest)
    if (value === undefined || check(value)) return value
    throw new ProgrammerError(`option ${dest} is read as another type than it has`)
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const isKeyValues = (value: unknown): value is KeyValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isIdent = (value: unknown): value is IdentKeyValues =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === 'string' &&
  (value[1] === false || value[1] === null || isKeyValues(value[1]))
