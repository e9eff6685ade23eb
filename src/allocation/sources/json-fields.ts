// Reads untrusted JSON objects. An error names the object's owner and the missing or wrong key.
import { bool, keyed, leaf, string } from '../../lib/shapes/leaves'
import { Mismatch, type Shape, isObject, mapped } from '../../lib/shapes/shape'
import { BadClusterData } from '../model/cluster-data'

export class JsonFields {
  private constructor(
    private readonly owner: string,
    private readonly values: Readonly<Record<string, unknown>>,
  ) {}

  static parse(what: string, text: string, owner: string): JsonFields {
    return JsonFields.of(what, parseJson(what, text)).about(owner)
  }

  static parseList(what: string, text: string, owner: string): JsonFields[] {
    const list = parseJson(what, text)
    if (!Array.isArray(list)) throw new BadClusterData(`${what}: not a list`)
    return list.map((one) => JsonFields.of(owner, one))
  }

  static of(owner: string, value: unknown): JsonFields {
    if (!isObject(value)) throw new BadClusterData(`${owner}: Unable to read JSObject`)
    return new JsonFields(owner, value)
  }

  /** The same fields; errors name another owner. */
  about(owner: string): JsonFields {
    return new JsonFields(owner, this.values)
  }

  keys(): string[] {
    return Object.keys(this.values)
  }

  /** Present and not null. */
  has(key: string): boolean {
    return Object.hasOwn(this.values, key) && this.values[key] !== null
  }

  string(key: string): string {
    return this.read(key, string)
  }

  number(key: string): number {
    return this.read(key, number)
  }

  isNumber(key: string): boolean {
    return typeof this.values[key] === 'number'
  }

  boolean(key: string): boolean {
    return this.read(key, bool)
  }

  list(key: string): readonly unknown[] {
    return this.read(key, list)
  }

  strings(key: string): readonly string[] {
    return this.read(key, strings)
  }

  numbers(key: string): readonly number[] {
    return this.read(key, numbers)
  }

  object(key: string, owner: string): JsonFields {
    return new JsonFields(owner, this.read(key, keyed))
  }

  objects(key: string): JsonFields[] {
    return this.list(key).map((one) => JsonFields.of(this.owner, one))
  }

  /** The members of an object of objects, in order. */
  entries(key: string, owner: (name: string) => string): [name: string, fields: JsonFields][] {
    const all = this.object(key, this.owner).values
    return Object.entries(all).map(([name, value]) => [name, JsonFields.of(owner(name), value)])
  }

  private read<T>(key: string, shape: Shape<T>): T {
    if (!Object.hasOwn(this.values, key)) {
      const there = JSON.stringify(Object.keys(this.values))
      throw new BadClusterData(`${this.owner}: key '${key}' not found, object contains only ${there}`)
    }
    try {
      return shape.parse(this.values[key])
    } catch (error) {
      throw error instanceof Mismatch ? new BadClusterData(`${this.owner}: key '${key}': ${error.reason}`) : error
    }
  }
}

// Errors use the names of Ganeti's programs for these types.
const number = leaf('Int', { type: 'number' }, (value) => typeof value === 'number')
const list = leaf('List', { type: 'array' }, (value): value is readonly unknown[] => Array.isArray(value))
const [strings, numbers] = [itemsOf(string), itemsOf(number)]

function itemsOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return mapped(list, (items) => items.map((one) => item.parse(one)))
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BadClusterData(`${what}: Invalid JSON: ${error instanceof Error ? error.message : ''}`)
  }
}
