// Declares opcodes. Types, validation, RAPI bodies, OpenAPI, LUXI, CLI and docs derive from each declaration.
import { type Optional, optional } from '../lib/shapes/objects'
import type { ObjectKind } from '../model/object-kinds'
import type { JsonObject, Shape } from '../lib/shapes/shape'

type Need = 'required' | 'default' | 'maybe'

export interface Parameter<T = unknown, N extends Need = Need> {
  readonly need: N
  readonly check: Shape<T>
  readonly doc: string
  /** Only if `need` is 'default'. */
  readonly fallback?: T
  /** Its value names objects, by name or uuid. A caller that may change only some objects is refused others. */
  readonly names?: Naming
  /** Its value becomes the name of an object of this kind. */
  readonly newName?: ObjectKind
  /** Its value is a list whose entries have the parameters of this opcode. */
  readonly opcodes?: string
}

/** The kind of the objects; or the parameter that decides the kind; or a kind for each list in the value. */
export type Naming =
  ObjectKind | ((params: JsonObject) => ObjectKind | undefined) | Readonly<Record<string, ObjectKind>>

/** `perhaps`: only its node knows. */
export type Running = 'yes' | 'no' | 'as wanted' | 'perhaps'

/** A kind of object and an action, such as `instances.create`. Ganeti's names are used where its remote API has one. */
export type Permission = `${string}.${string}`

export type ParameterTable = Readonly<Record<string, Parameter>>

export interface OpcodeDefinition<Id extends string = string, P extends ParameterTable = ParameterTable, R = unknown> {
  readonly id: Id
  readonly doc: string
  /** The permissions that its submitter needs. */
  readonly permission: Permission
  /** More permissions, if certain parameters are used. */
  readonly alsoNeeds: (params: JsonObject) => readonly Permission[]
  /** It submits jobs for objects that it does not name, which its permission does not cover. */
  readonly forOthers: boolean
  /** Whether the instance runs after success; undefined for opcodes that neither start nor stop one. */
  readonly leavesRunning: Running | undefined
  /** The parameter in job summaries, or a function that words it. */
  readonly summary: string | ((params: JsonObject) => string) | undefined
  readonly result: Shape<R>
  readonly params: P
  /** Converts parameters of older Ganeti clients to the present ones. */
  readonly fromOlder: (input: JsonObject) => JsonObject
  /** No logical unit serves it; only tests of the job queue know it. */
  readonly testOnly: boolean
}

type ValueOfParameter<X> = X extends Parameter<infer T> ? T : never
type TableOf<D> = D extends OpcodeDefinition<string, infer P> ? P : never

/** Written so that the compiler knows each property's parameter in the table. */
type Filled<P extends ParameterTable> = {
  readonly [K in keyof P as P[K] extends Parameter<unknown, 'maybe'> ? never : K]: ValueOfParameter<P[K]>
} & {
  readonly [K in keyof P as P[K] extends Parameter<unknown, 'maybe'> ? K : never]?: ValueOfParameter<P[K]> | undefined
}

type Given<P extends ParameterTable> = {
  readonly [K in keyof P as P[K] extends Parameter<unknown, 'required'> ? K : never]: ValueOfParameter<P[K]>
} & {
  readonly [K in keyof P as P[K] extends Parameter<unknown, 'required'> ? never : K]?:
    ValueOfParameter<P[K]> | null | undefined
}

/** The parameters for logical units: with defaults; unset ones missing. */
export type ParamsOf<D> = Filled<TableOf<D>>

/** The parameters from a caller; those with a default may be missing. */
export type InputOf<D> = Given<TableOf<D>>

type ReasonEntry = readonly [source: string, text: string, time_ns: number]
type FinalJobStatus = 'canceled' | 'error' | 'success'

export interface CommonParams {
  readonly dry_run?: boolean
  readonly debug_level?: number
  readonly priority: number
  readonly depends: readonly (readonly [job: number, statuses: readonly FinalJobStatus[]])[] | null
  readonly comment: string | null
  readonly reason: readonly ReasonEntry[]
}

export function req<T>(check: Shape<T>, doc: string): Parameter<T, 'required'> {
  return { need: 'required', check, doc }
}

export function opt<T>(check: Shape<T>, fallback: NoInfer<T>, doc: string): Parameter<T, 'default'> {
  return { need: 'default', check, doc, fallback: Object.freeze(fallback) }
}

type FieldsOf<P extends ParameterTable> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T, 'required'> ? Shape<T> : Optional<ValueOfParameter<P[K]>>
}

/** The same parameters as fields of an object; those with a default may be missing. */
export function fieldsOf<P extends ParameterTable>(params: P): FieldsOf<P> {
  const fields = Object.entries(params).map(([name, { need, check }]) => [
    name,
    need === 'required' ? check : optional(check),
  ])
  // Made entry by entry from the table from which the type is computed.
  return Object.fromEntries(fields) as FieldsOf<P>
}

/** May be null or missing; then the parsed opcode lacks it. */
export function maybe<T>(check: Shape<T>, doc: string): Parameter<T, 'maybe'> {
  return { need: 'maybe', check, doc }
}

/** The parameter's value names objects. */
export const naming = <P extends Parameter>(names: Naming, parameter: P): P => ({ ...parameter, names })

/** The parameter's value becomes the name of an object. */
export const newName = <P extends Parameter>(kind: ObjectKind, parameter: P): P => ({ ...parameter, newName: kind })

/** Each entry of the parameter's value has the parameters of this opcode. */
export const opcodesIn = <P extends Parameter>(definition: OpcodeDefinition, parameter: P): P => ({
  ...parameter,
  opcodes: definition.id,
})

export function opcode<const Id extends string, P extends ParameterTable, R>(
  id: Id,
  declaration: {
    doc: string
    permission: Permission
    alsoNeeds?: (params: JsonObject) => readonly Permission[]
    forOthers?: boolean
    leavesRunning?: Running
    summary?: (keyof P & string) | ((params: JsonObject) => string)
    result: Shape<R>
    params: P
    fromOlder?: (input: JsonObject) => JsonObject
    testOnly?: boolean
  },
): OpcodeDefinition<Id, P, R> {
  return {
    ...{ id, summary: undefined, leavesRunning: undefined, forOthers: false, testOnly: false },
    ...{ alsoNeeds: () => [], fromOlder: (input: JsonObject) => input },
    ...declaration,
  }
}
