// The objects and the inner opcodes that an opcode's parameters name.
import { allOpcodes } from './all'
import { type JsonObject, isObject } from '../lib/shapes/shape'
import type { Naming } from './opcode'

/** Each as kind and name or uuid, such as `instance/vm1`. */
export function objectsOf(op: { readonly OP_ID: string } & JsonObject): string[] {
  const params = Object.entries(allOpcodes.get(op.OP_ID)?.params ?? {})
  return params.flatMap(([name, { names }]) => (names === undefined ? [] : named(names, op[name], op)))
}

/** The opcodes inside an opcode's parameters: each instance of OP_INSTANCE_MULTI_ALLOC is an OP_INSTANCE_CREATE. */
export function opcodesInside(op: { readonly OP_ID: string } & JsonObject): HeldOpCode[] {
  const params = Object.entries(allOpcodes.get(op.OP_ID)?.params ?? {})
  return params.flatMap(([name, { opcodes }]) => (opcodes === undefined ? [] : held(opcodes, op[name])))
}

type HeldOpCode = { OP_ID: string } & JsonObject

function held(id: string, value: unknown): HeldOpCode[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : []
  return entries.filter(isObject).map((entry) => ({ ...entry, OP_ID: id }))
}

function named(names: Naming, value: unknown, op: JsonObject): string[] {
  if (typeof names === 'string') return textsOf(value).map((name) => `${names}/${name}`)
  if (typeof names === 'function') {
    const kind = names(op)
    return kind === undefined ? [] : named(kind, value, op)
  }
  return isObject(value) ? Object.entries(names).flatMap(([list, kind]) => named(kind, value[list], op)) : []
}

/** The first ones that several opcodes name. Whoever submits a job says how many, and how long their names are. */
export function boundedObjects(
  ops: readonly ({ readonly OP_ID: string } & JsonObject)[],
  { count, chars }: { readonly count: number; readonly chars: number },
): string[] {
  const objects = new Set<string>()
  for (const op of ops)
    for (const object of objectsOf(op)) {
      if (objects.size >= count) return [...objects]
      if (object.length <= chars && !object.endsWith('/')) objects.add(object)
    }
  return [...objects]
}

export function textsOf(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((entry): entry is string => typeof entry === 'string')
}
