// Routes for the verbs of objects, made from their table.
import { V3Resource } from '../controllers/v3/resource'
import { isObject } from '../../../lib/shapes/shape'
import type { ParsedOpCode } from '../../../opcodes/index'
import type { RapiContext } from '../context'
import { badRequest } from '../../../http/errors'
import { type PatternRoute, RouteTree } from '../../../http/route-tree'
import type { Route } from '../../../http/dispatch'
import { type ObjectVerb, objectVerbs, opcodeOf, type Parts, partsOf } from './object-verbs'
import { maintenanceChange } from './maintenance-change'
import { osChange } from './os-change'
import { type JobAccepted, submit } from './submission'
import type { Job } from '../../../query/job-shape'

/** The opcode that a request would submit, in the form of POST /3/jobs. */
export function opcodeOfRequest(request: unknown): ParsedOpCode {
  const { method, path, body } = isObject(request) ? request : {}
  if (typeof method !== 'string' || typeof path !== 'string')
    throw badRequest('request: must be an object with `method`, `path` and, if the request has one, `body`')
  const { byVerb, params = {} } = tree.find(path) ?? {}
  const found = byVerb?.get(method.toLowerCase())
  if (found === undefined) throw badRequest(`request: ${method} ${path} is not a request that submits a job`)
  const parts = Object.entries(params).map(([name, text]) => [name, NUMBERS.has(name) ? Number(text) : text] as const)
  return found.read(Object.fromEntries(parts), body)
}

const ARGUMENTS = [
  { in: 'body', name: 'body' },
  { in: 'header', name: 'Idempotency-Key' },
  { in: 'header', name: 'If-Match' },
  { in: 'header', name: 'Prefer' },
  { in: 'query', name: 'reason' },
  { in: 'query', name: 'plan' },
] as const

/** The numeric parts of an address. */
const NUMBERS: ReadonlySet<string> = new Set(['index'])

type Text = string | undefined
type Given = [
  body: unknown,
  key: Text,
  ifMatch: Text,
  prefer: Text,
  reason: Text,
  plan: Text,
  ...parts: (string | number)[],
]

class VerbController extends V3Resource {
  constructor(
    context: RapiContext,
    private readonly entry: ObjectVerb,
  ) {
    super(context)
  }

  async submit(...[body, key, ifMatch, prefer, reason, plan, ...parts]: Given): Promise<JobAccepted | Job> {
    const names = partsOf(this.entry.path)
    const op = opcodeOf(this.entry, Object.fromEntries(names.map((name, at) => [name, parts[at] ?? null])), body)
    return submit(
      this.v3,
      { ops: [op], reason: reason ?? null, plan: plan ?? null, key, ifMatch, prefer },
      () => this.context.signal,
    )
  }
}

const pathArguments = (path: string) =>
  partsOf(path).map((name) => ({ in: 'path' as const, name, dataType: NUMBERS.has(name) ? 'integer' : 'string' }))

const pattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

export const objectRoutes: readonly Route<RapiContext>[] = objectVerbs.map((entry) => ({
  verb: entry.verb,
  path: pattern(entry.path),
  controller: class extends VerbController {
    constructor(context: RapiContext) {
      super(context, entry)
    }
  },
  action: 'submit',
  security: [],
  args: [...ARGUMENTS, ...pathArguments(entry.path)],
}))

/** A request that submits one opcode. */
interface Submitting extends PatternRoute {
  read(parts: Parts, body: unknown): ParsedOpCode
}

const submitting: readonly Submitting[] = [
  ...objectVerbs.map((entry) => ({
    ...{ verb: entry.verb, path: pattern(entry.path), args: pathArguments(entry.path) },
    read: (parts: Parts, body: unknown) => opcodeOf(entry, parts, body),
  })),
  {
    verb: 'patch',
    path: '/3/os/:name',
    args: pathArguments('/3/os/{name}'),
    read: ({ name }, body) => osChange(String(name), body),
  },
  {
    ...{ verb: 'patch', path: '/3/maintenance/settings', args: [] },
    read: (_parts, body) => maintenanceChange(body),
  },
]

const tree = new RouteTree(submitting, true)
