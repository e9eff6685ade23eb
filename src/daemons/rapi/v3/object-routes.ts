// Routes of the verbs of objects, made from their table.
import { V3Resource } from '../controllers/v3/resource'
import { isObject } from '../../../opcodes/check'
import type { ParsedOpCode } from '../../../opcodes/index'
import type { RapiContext } from '../context'
import { badRequest } from '../errors'
import { RouteTree } from '../route-tree'
import type { Route } from '../router'
import { type ObjectVerb, objectVerbs, opcodeOf, partsOf } from './object-verbs'
import { type JobAccepted, submit } from './submission'
import type { Job } from '../../../query/job-shape'

/** The opcode that a request would submit, as POST /3/jobs takes it. */
export function opcodeOfRequest(request: unknown): ParsedOpCode {
  const { method, path, body } = isObject(request) ? request : {}
  if (typeof method !== 'string' || typeof path !== 'string')
    throw badRequest('request: must be an object with `method`, `path` and where it has one `body`')
  const found = tree.find(path)?.byVerb.get(method.toLowerCase())
  const params = tree.find(path)?.params ?? {}
  if (found === undefined) throw badRequest(`request: ${method} ${path} is no request that submits a job`)
  const parts = found.args.flatMap(({ in: where, name, dataType }) => {
    const text = params[name] ?? ''
    return where === 'path' ? [[name, dataType === 'integer' ? Number(text) : text] as const] : []
  })
  return opcodeOf(found.entry, Object.fromEntries(parts), body)
}

const ARGUMENTS = [
  { in: 'body', name: 'body' },
  { in: 'header', name: 'Idempotency-Key' },
  { in: 'header', name: 'If-Match' },
  { in: 'header', name: 'Prefer' },
  { in: 'query', name: 'reason' },
  { in: 'query', name: 'plan' },
] as const

/** The parts of an address that are numbers. */
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

export const objectRoutes: readonly (Route & { readonly entry: ObjectVerb })[] = objectVerbs.map((entry) => ({
  verb: entry.verb,
  path: entry.path.replaceAll(/\{(\w+)\}/g, ':$1'),
  controller: class extends VerbController {
    constructor(context: RapiContext) {
      super(context, entry)
    }
  },
  action: 'submit',
  entry,
  security: [],
  args: [
    ...ARGUMENTS,
    ...partsOf(entry.path).map((name) => ({ in: 'path', name, dataType: NUMBERS.has(name) ? 'integer' : 'string' })),
  ],
}))

const tree = new RouteTree(objectRoutes, true)
