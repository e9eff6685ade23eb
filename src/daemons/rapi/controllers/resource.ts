// The steps that the controllers of /2 share: submitting a job as Ganeti's remote API does, and turning rows into objects.
import { nanoseconds } from '../../../lib/clock'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { compareText } from '../../../model/nice-sort'
import { type JsonObject, isObject } from '../../../lib/shapes/shape'
import { type Mark, MARK, type Rights, withoutMarks } from '../../../model/marks'
import { definitionOf, type OpcodeDefinition, type ParsedOpCode } from '../../../opcodes/index'
import { permissionsFor } from '../../../opcodes/permission'
import { OpTagsDel, OpTagsSet } from '../../../opcodes/tags'
import type { TagKind } from '../../../model/object-kinds'
import type { JobId } from '../../../rpc/luxi/calls'
import type { Master } from '../../../rpc/luxi/master'
import type { RapiContext } from '../context'
import { badRequest, notFound } from '../../../http/errors'
import { fillFromBody, type Renames } from '../fill'
import { identityOf } from '../users'

export type Row = readonly unknown[]

export abstract class Resource {
  constructor(protected readonly context: RapiContext) {}

  protected get master(): Master {
    return this.context.services.master
  }

  /** Submits a job of one opcode, with the parameters of the body and those that the server sets. */
  protected submit(
    definition: OpcodeDefinition,
    body: unknown,
    statics: JsonObject,
    renames?: Renames,
  ): Promise<JobId> {
    this.context.need(definition.permission)
    return this.send(definition, body, statics, renames)
  }

  /** Like `submit`, for callers whose rights do not follow from the opcode alone. */
  protected send(definition: OpcodeDefinition, body: unknown, statics: JsonObject, renames?: Renames): Promise<JobId> {
    return this.submitAll([fillFromBody(definition, body, { ...statics, reason: this.reason() }, renames)])
  }

  /** Writes the user's name into the reason trail, so that events can show it. */
  protected submitAll(ops: readonly ParsedOpCode[]): Promise<JobId> {
    const { user, services, signal } = this.context
    // The caller has already checked the first permission, or another one in its place. These are the others.
    for (const permission of ops.flatMap((op) => permissionsFor(op).slice(1))) this.context.need(permission)
    const unmarked = ops.map(withoutMarks)
    if (user === undefined) return this.master.submitJob(unmarked, signal)
    const mark = (source: string, text: string): Mark => [source, text, nanoseconds(services.clock)]
    const rights: Rights = { user: identityOf(user).permissions, token: null }
    const marked = unmarked.map((op) => {
      const forOthers = definitionOf(op.OP_ID).forOthers ? [mark(MARK.rights, JSON.stringify(rights))] : []
      return { ...op, reason: [mark(MARK.user, user.name), ...forOthers, ...(op.reason ?? [])] }
    })
    return this.master.submitJob(marked, signal)
  }

  /** For requests whose body is not used. Ganeti still reads `depends` from it. */
  protected onlyDepends(): JsonObject {
    const { body } = this.context
    return isObject(body) ? { depends: body['depends'] ?? null } : {}
  }

  protected setTags(kind: TagKind, name: string | null, tags: readonly string[], dryRun: number): Promise<JobId> {
    return this.submit(OpTagsSet, this.bodyFor(tags), { kind, name, tags, dry_run: dryRun !== 0 })
  }

  protected deleteTags(kind: TagKind, name: string | null, tags: readonly string[], dryRun: number): Promise<JobId> {
    return this.submit(OpTagsDel, this.bodyFor(tags), { kind, name, tags, dry_run: dryRun !== 0 })
  }

  /** Tags that are only in the body would change nothing, and the job would succeed. Ganeti's client sends them in both places. */
  private bodyFor(tags: readonly string[]): JsonObject {
    const { body } = this.context
    const isTag = (key: string) => key === 'tag' || key === 'tags'
    if (tags.length === 0 && (Array.isArray(body) || (isObject(body) && Object.keys(body).some(isTag))))
      throw badRequest('Tags belong into the query, as ?tag=NAME, and not into the body')
    return this.onlyDepends()
  }

  private reason(): readonly (readonly [string, string, number])[] {
    const now_ns = nanoseconds(this.context.services.clock)
    const own = [`gnt:library:rlib2:${this.context.resource}`, '', now_ns] as const
    const input = this.context.query.get('reason')
    return input ? [['gnt:user', input, now_ns], own] : [own]
  }
}

/** The interface of an object is generated from the same list of fields. */
export const rowObject = <T>(fields: readonly string[], row: Row): T =>
  Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null])) as T

/** An object by its id, and the address where the details are. */
export interface Link {
  id: string
  uri: string
}

/** An object by its name, and the address where the details are. */
export interface NameLink {
  name: string
  uri: string
}

/** The first column of each row, with the address where the details are. Here `net10` stands before `net9`, as in Ganeti. */
export const links = (rows: readonly Row[], path: string): Link[] =>
  firstColumn(rows).map((id) => ({ id, uri: `${path}/${id}` }))

export const nameLinks = (rows: readonly Row[], path: string): NameLink[] =>
  firstColumn(rows).map((name) => ({ name, uri: `${path}/${name}` }))

const firstColumn = (rows: readonly Row[]): string[] => rows.map(([value]) => String(value)).sort(compareText)

/** The only row of a query for one object. Throws 404 if there is no such object. */
export async function oneRow(query: Promise<readonly (Row | null)[]>): Promise<Row> {
  const rows = await query.catch((error: unknown) => {
    throw error instanceof OpPrereqError && error.code === ECODE.NOENT ? notFound() : error
  })
  const row = rows[0]
  if (row === undefined || row === null) throw notFound()
  return row
}

/** A query argument that is required, as a list of texts separated by commas. */
export function requiredList(name: string, text: string | undefined, complaint: string): string[] {
  return required(name, text, complaint).split(',')
}

export function required(name: string, text: string | undefined, complaint: string): string {
  if (text === undefined) throw badRequest(complaint.replace('%s', `'${name}'`))
  return text
}
