// Reading JSON objects of which little is known: what is missing or of another kind is refused by owner and key.
import { BadClusterData } from './cluster-data'

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
    if (!isRecord(value)) throw new BadClusterData(`${owner}: Unable to read JSObject`)
    return new JsonFields(owner, value)
  }

  /** The same fields, complained about in another name. */
  about(owner: string): JsonFields {
    return new JsonFields(owner, this.values)
  }

  keys(): string[] {
    return Object.keys(this.values)
  }

  /** There, and not null. */
  has(key: string): boolean {
    return Object.hasOwn(this.values, key) && this.values[key] !== null
  }

  string(key: string): string {
    const value = this.get(key)
    return typeof value === 'string' ? value : this.unreadable(key, 'String')
  }

  number(key: string): number {
    const value = this.get(key)
    return typeof value === 'number' ? value : this.unreadable(key, 'Int')
  }

  isNumber(key: string): boolean {
    return typeof this.values[key] === 'number'
  }

  boolean(key: string): boolean {
    const value = this.get(key)
    return typeof value === 'boolean' ? value : this.unreadable(key, 'Bool')
  }

  list(key: string): readonly unknown[] {
    const value = this.get(key)
    return Array.isArray(value) ? value : this.unreadable(key, 'List')
  }

  strings(key: string): string[] {
    return this.list(key).map((one) => (typeof one === 'string' ? one : this.unreadable(key, 'String')))
  }

  numbers(key: string): number[] {
    return this.list(key).map((one) => (typeof one === 'number' ? one : this.unreadable(key, 'Int')))
  }

  object(key: string, owner: string): JsonFields {
    const value = this.get(key)
    return isRecord(value) ? new JsonFields(owner, value) : this.unreadable(key, 'JSObject')
  }

  objects(key: string): JsonFields[] {
    return this.list(key).map((one) => JsonFields.of(this.owner, one))
  }

  /** The members of an object of objects, in order. */
  entries(key: string, owner: (name: string) => string): [name: string, fields: JsonFields][] {
    const all = this.object(key, this.owner).values
    return Object.entries(all).map(([name, value]) => [name, JsonFields.of(owner(name), value)])
  }

  private get(key: string): unknown {
    if (Object.hasOwn(this.values, key)) return this.values[key]
    const there = JSON.stringify(Object.keys(this.values))
    throw new BadClusterData(`${this.owner}: key '${key}' not found, object contains only ${there}`)
  }

  private unreadable(key: string, kind: string): never {
    throw new BadClusterData(`${this.owner}: key '${key}': Unable to read ${kind}`)
  }
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BadClusterData(`${what}: Invalid JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
