// The objects that an opcode names, as its parameters tell them.
import { allOpcodes } from './all'
import { type JsonObject, isObject } from '../lib/shapes/shape'
import type { Naming } from './opcode'

/** Each as kind and name or uuid, such as `instance/vm1`. */
export function objectsOf(op: { readonly OP_ID: string } & JsonObject): string[] {
  const params = Object.entries(allOpcodes.get(op.OP_ID)?.params ?? {})
  return params.flatMap(([name, { names }]) => (names === undefined ? [] : named(names, op[name], op)))
}

function named(names: Naming, value: unknown, op: JsonObject): string[] {
  if (typeof names === 'string') return textsOf(value).map((name) => `${names}/${name}`)
  if (typeof names === 'function') {
    const kind = names(op)
    return kind === undefined ? [] : named(kind, value, op)
  }
  return isObject(value) ? Object.entries(names).flatMap(([list, kind]) => named(kind, value[list], op)) : []
}

export function textsOf(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((entry): entry is string => typeof entry === 'string')
}
