// Shows opcodes: in job summaries, and with private and secret parameters blanked.
import { type JsonObject, type Secrecy, isObject } from '../lib/shapes/shape'
import { allOpcodes } from './all'
import { opcodesInside } from './objects'

type AnyOpCode = { OP_ID: string } & JsonObject

const BLANK = '<redacted>'

/** `INSTANCE_STARTUP(vm1)`: a job's summary in luxid's words. */
export function opcodeSummary(op: AnyOpCode): string {
  const name = op.OP_ID.replace(/^OP_/, '')
  const summary = allOpcodes.get(op.OP_ID)?.summary
  if (summary === undefined) return name
  const value = typeof summary === 'function' ? summary(op) : op[summary]
  return value === undefined || value === null ? name : `${name}(${String(value)})`
}

/** For logs and other users: without private and secret values. */
export function redact<O extends AnyOpCode>(op: O): O {
  return blanked(op, ['private', 'secret'])
}

/** For job files, replicas and answers: with private values, without secret ones. */
export function redactSecrets<O extends AnyOpCode>(op: O): O {
  return blanked(op, ['secret'])
}

/** For callers that ask about a job: private values are null, as in Ganeti. */
export function redactPrivate<O extends AnyOpCode>(op: O): O {
  return blanked(op, ['private'], null)
}

/** An opcode's secret values, which bypass the job file on their way to the job process; null if there are none. */
export function secretsOf(op: AnyOpCode): JsonObject | null {
  const found = Object.entries(op).filter(([name, value]) => holdsSecret(op.OP_ID, name, value))
  return found.length === 0 ? null : Object.fromEntries(found)
}

/** Puts back what `redactSecrets` removed. */
export function withSecrets<O extends AnyOpCode>(op: O, secrets: JsonObject | null): O {
  return secrets === null ? op : { ...op, ...secrets }
}

function blanked<O extends AnyOpCode>(op: O, levels: readonly Secrecy[], by: string | null = BLANK): O {
  const copy: JsonObject = { ...op }
  for (const [name, value] of Object.entries(op)) {
    const { secrecy, opcodes } = lookAt(op.OP_ID, name)
    if (opcodes !== undefined && Array.isArray(value))
      copy[name] = value.map((entry: unknown) =>
        isObject(entry) ? blanked({ ...entry, OP_ID: opcodes }, levels, by) : entry,
      )
    else if (secrecy !== undefined && levels.includes(secrecy) && value !== undefined) copy[name] = blank(value, by)
  }
  // A copy with the same keys; only leaves were replaced.
  return copy as O
}

function blank(value: unknown, by: string | null): unknown {
  if (value === null) return null
  if (!isObject(value)) return by
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, blank(entry, by)]))
}

function holdsSecret(id: string, name: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  const inside = opcodesInside({ OP_ID: id, [name]: value })
  return lookAt(id, name).secrecy === 'secret' || inside.some((held) => secretsOf(held) !== null)
}

function lookAt(id: string, name: string): { secrecy?: Secrecy; opcodes?: string } {
  const parameter = allOpcodes.get(id)?.params[name]
  return { secrecy: parameter?.check.secrecy, opcodes: parameter?.opcodes }
}
