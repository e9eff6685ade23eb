// Parses LUXI's text into calls of a Master (spec: luxi.json). An unparsable request gets Ganeti's plain text, and the
// connection ends. The Master decides what a call means and refuses.
import { listOf, orNull, readArray } from '../../lib/shapes/containers'
import { any, bool, float, int, text } from '../../lib/shapes/leaves'
import { Mismatch, type Shape, type ValueOf, isObject } from '../../lib/shapes/shape'
import { jobId, tagKind } from '../../opcodes/types'
import { GenericError } from '../../model/errors'
import { CALL_DEPTH_MAX } from '../../model/limits/wires'
import { isDeeper } from '../../lib/text/json-depth'
import { filterRule, opcodes, resource } from './call-arguments'
import { gantryArguments, type GantryCallName, gantryCallNames, gantryCalls } from './gantry-calls'
import type { Master } from './master'
import type { QueryFilter, WireOpCode } from './calls'
import { layout } from './layout'

/** `signal` fires when the client leaves. */
type LuxiRequest = (master: Master, signal?: AbortSignal) => Promise<unknown>

/** The text is no request: the client gets this message as it is, and the connection closes. */
export class Unparsable extends Error {
  constructor(reason: string) {
    super(`Failed to parse request: ${reason}`)
  }
}

/**
 * For an argument that only the Master could recognize as unparsable (a filter): the request counts as unparsable after
 * all.
 */
export const unreadableArgs = (args: unknown, reason: string): Unparsable =>
  new Unparsable(`Cannot convert value '${layout(args)}', error: ${reason}`)

export interface ParsedRequest {
  readonly method: string
  readonly args: unknown
  readonly run: LuxiRequest
}

/** Throws Unparsable. The version and other keys are ignored. */
export function parseRequest(message: string): ParsedRequest {
  const { method, args } = readEnvelope(message)
  const call = Object.hasOwn(calls, method) ? calls[method] : undefined
  if (call === undefined)
    throw new Unparsable(
      `Unable to parse LUXI request method: Invalid string value for type LuxiReq: ${JSON.stringify(method)}`,
    )
  return { method, args, run: call(args) }
}

function readEnvelope(message: string): { method: string; args: unknown } {
  const json = readJson(message)
  if (!isObject(json)) throw new Unparsable('parsing top-level JSON message: Unable to read JSObject')
  const { method, args } = json
  if (method === undefined) throw new Unparsable(missing('method', json))
  if (args === undefined) throw new Unparsable(missing('args', json))
  if (typeof method !== 'string')
    throw new Unparsable("Unable to parse LUXI request method: Can't parse value for 'LuxiReq': Unable to read String")
  if (isDeeper(args, CALL_DEPTH_MAX))
    throw new Unparsable(`${method}: the arguments are nested deeper than ${CALL_DEPTH_MAX} levels`)
  return { method, args }
}

function readJson(message: string): unknown {
  const complaint = 'parsing top-level JSON message: Invalid JSON'
  if (!/^\s*[[{]/.test(message))
    throw new Unparsable(`${complaint}: a JSON text a serialized object or array at the top level.`)
  try {
    return JSON.parse(message)
  } catch (error) {
    throw new Unparsable(`${complaint}: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
}

const missing = (key: string, json: object): string =>
  `key '${key}' not found, object contains only ${JSON.stringify(Object.keys(json).sort())}`

type ValuesOf<A extends readonly Shape<unknown>[]> = { -readonly [I in keyof A]: ValueOf<A[I]> }

/** Missing arguments at the end count as null, down to `least`. */
function call<const A extends readonly Shape<unknown>[]>(
  checks: A,
  run: (master: Master, ...args: ValuesOf<A>) => Promise<unknown>,
  least = checks.length,
): (args: unknown) => LuxiRequest {
  return (args) => {
    const values = readArgs(args, checks, least)
    // The compiler cannot see that map keeps a tuple's form.
    return (master) => run(master, ...(values as ValuesOf<A>))
  }
}

const SHAPES = ['()', 'singleton list', 'Pair', 'Triple', '4 tuple', 'Tuple5']

function readArgs(args: unknown, checks: readonly Shape<unknown>[], least: number): unknown[] {
  try {
    return readTuple(args, checks, least)
  } catch (error) {
    throw error instanceof Mismatch ? unreadableArgs(args, error.message) : error
  }
}

function readTuple(args: unknown, checks: readonly Shape<unknown>[], least: number): unknown[] {
  const single = checks.length === 1
  const input: readonly unknown[] = single ? readArray(args) : Array.isArray(args) ? args : []
  const fits = input.length >= least && input.length <= checks.length
  const wrong = () => new Mismatch(`Unable to read ${SHAPES[checks.length] ?? 'arguments'}`)
  // Ganeti checks a single argument before it counts them.
  if (!fits && (!single || input.length === 0)) throw wrong()
  const values = checks.map((check, index) => check.parse(input[index] ?? null))
  if (!fits) throw wrong()
  return values
}

/** The wait calls have their own error text, without the given values. */
const readWaiting = (args: unknown) => {
  if (!Array.isArray(args) || args.length < WAITING.length) throw new Mismatch('Not enough values')
  // The compiler cannot see that map keeps a tuple's form.
  return WAITING.map((check, index) => check.parse(args[index])) as ValuesOf<typeof WAITING>
}
const WAITING = [jobId, listOf(text), any, any, float] as const

/** The flag may be missing; the error for both forms is Ganeti's. */
function readCancellation(args: unknown): readonly [number, boolean] {
  const problems: string[] = []
  for (const [shape, length] of [
    ['Pair', 2],
    ['1 tuple', 1],
  ] as const)
    try {
      if (!Array.isArray(args) || args.length !== length) throw new Mismatch(`Unable to read ${shape}`)
      return [jobId.parse(args[0]), length === 2 && (orNull(bool).parse(args[1]) ?? false)]
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      problems.push(`Cannot convert value '${layout(args)}', error: ${error.message}`)
    }
  throw new Unparsable(problems.join('; '))
}

const noArgs =
  (run: LuxiRequest): ((args: unknown) => LuxiRequest) =>
  () =>
    run

const filter: Shape<QueryFilter> = {
  schema: {},
  parse(value) {
    if (value === null || Array.isArray(value)) return value
    throw new Mismatch(`Cannot deserialise filter: expected array [string, args], got ${layout(value)}`)
  },
}

const names = listOf(text)
const namesOrAll: Shape<readonly string[] | null> = orAll(names)
const jobIds = orAll(listOf(jobId))

/** A check that also takes null. The error for an unreadable list shows only the list. */
function orAll<T>(check: Shape<T>): Shape<T | null> {
  return {
    ...orNull(check),
    parse(value) {
      try {
        return value === null ? null : check.parse(value)
      } catch (error) {
        throw error instanceof Mismatch ? unreadableArgs(value, error.message) : error
      }
    },
  }
}

/** Errors of submissions omit the arguments, which may be secret. */
function submission(name: string, read: (args: unknown) => LuxiRequest): (args: unknown) => LuxiRequest {
  return (args) => {
    try {
      return read(args)
    } catch (error) {
      throw error instanceof Mismatch ? new Unparsable(`${name}: ${error.message}`) : error
    }
  }
}

function onlyArg(args: unknown): unknown {
  const list = readArray(args)
  if (list.length !== 1) throw new Mismatch(`Unable to read ${SHAPES[1]}`)
  return list[0]
}

function submit(
  name: 'SubmitJob' | 'SubmitJobToDrainedQueue',
  run: (master: Master, ops: WireOpCode[]) => Promise<unknown>,
) {
  return submission(name, (args) => {
    const ops = opcodes.parse(onlyArg(args))
    return (master) => run(master, ops)
  })
}

/** Our own door has checked the arguments; only the identity and the opcodes are checked again. */
function extension(name: GantryCallName): (args: unknown) => LuxiRequest {
  const { wire, args: own, ganetis } = gantryCalls[name]
  const checks = gantryArguments(name)
  const before = checks.length - own.length
  return submission(wire, (args) => {
    const input = readArray(args)
    const read = (all: typeof checks) => all.map((check, index) => check.parse(input[index]))
    const values = ganetis
      ? [...read(checks.slice(0, before)), ...readArgs(input.slice(before), own, own.length)]
      : read(checks)
    return (master, signal) => {
      const serve = master.gantry?.[name] as ((...values: unknown[]) => Promise<unknown>) | undefined
      if (serve === undefined) throw new GenericError(`${wire} is not served here`)
      return serve(...values, signal)
    }
  })
}

const extensions = Object.fromEntries(gantryCallNames.map((name) => [gantryCalls[name].wire, extension(name)]))

const calls: Readonly<Record<string, (args: unknown) => LuxiRequest>> = {
  ...extensions,
  Query: call([resource, names, filter], (master, what, fields, qfilter) => master.text.query(what, fields, qfilter)),
  QueryFields: call([resource, namesOrAll], (master, what, fields) => master.queryFields(what, fields)),
  QueryNodes: call([names, names, bool], (master, which, fields, lock) => master.text.queryNodes(which, fields, lock)),
  QueryGroups: call([names, names, bool], (master, which, fields, lock) =>
    master.text.queryGroups(which, fields, lock),
  ),
  QueryNetworks: call([names, names, bool], (master, which, fields, lock) =>
    master.text.queryNetworks(which, fields, lock),
  ),
  QueryInstances: call([names, names, bool], (master, which, fields, lock) =>
    master.text.queryInstances(which, fields, lock),
  ),
  QueryFilters: call([namesOrAll, names], (master, uuids, fields) => master.text.queryFilters(uuids, fields)),
  ReplaceFilter: call(filterRule, (master, ...rule) => master.replaceFilter(...rule)),
  DeleteFilter: call([text], (master, uuid) => master.deleteFilter(uuid)),
  QueryJobs: call([jobIds, names], (master, ids, fields) => master.text.queryJobs(ids, fields)),
  QueryExports: call([names, bool], (master, nodes, lock) => master.text.queryExports(nodes, lock)),
  QueryConfigValues: call([names], (master, fields) => master.queryConfigValues(fields)),
  QueryClusterInfo: noArgs((master) => master.queryClusterInfo()),
  QueryTags: call([tagKind, text], (master, kind, name) => master.queryTags(kind, name)),
  SubmitJob: submit('SubmitJob', (master, ops) => master.submitJob(ops)),
  SubmitJobToDrainedQueue: submit('SubmitJobToDrainedQueue', (master, ops) => master.submitJobToDrainedQueue(ops)),
  SubmitManyJobs: submission('SubmitManyJobs', (args) => {
    const jobs = readArray(onlyArg(args)).map((ops) => opcodes.parse(ops))
    return (master) => master.submitManyJobs(jobs)
  }),
  WaitForJobChange: submission('Parsing WaitForJobChange message', (args) => {
    const [id, fields, previous, log, timeout_s] = readWaiting(args)
    return (master) => master.waitForJobChange(id, fields, previous, log, Math.trunc(timeout_s))
  }),
  PickupJob: call([jobId], () => Promise.reject(new GenericError("Luxi call 'PickupJob' is for internal use only"))),
  ArchiveJob: call([jobId], (master, id) => master.archiveJob(id)),
  AutoArchiveJobs: call([int, int], (master, age_s, timeout_s) => master.autoArchiveJobs(age_s, timeout_s)),
  CancelJob: (args) => {
    const [id, kill] = readCancellation(args)
    return (master) => master.cancelJob(id, kill)
  },
  ChangeJobPriority: call([jobId, int], (master, id, priority) => master.changeJobPriority(id, priority)),
  SetDrainFlag: call([bool], (master, flag) => master.setDrainFlag(flag)),
  SetWatcherPause: call([orNull(float)], (master, until) => master.setWatcherPause(until), 0),
}
