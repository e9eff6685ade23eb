// The steps that the controllers of /2 share: submitting a job the way Ganeti's door does, and shaping rows into objects.
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

  /** A job of one opcode: the body's parameters and those that the server sets. */
  protected submit(
    definition: OpcodeDefinition,
    body: unknown,
    statics: JsonObject,
    renames?: Renames,
  ): Promise<JobId> {
    this.context.need(definition.permission)
    return this.send(definition, body, statics, renames)
  }

  /** The same, where something else than the opcode says what the caller needs. */
  protected send(definition: OpcodeDefinition, body: unknown, statics: JsonObject, renames?: Renames): Promise<JobId> {
    return this.submitAll([fillFromBody(definition, body, { ...statics, reason: this.reason() }, renames)])
  }

  /** Notes in the reason trail who has logged in, so that events can tell it. */
  protected submitAll(ops: readonly ParsedOpCode[]): Promise<JobId> {
    const { user, services, signal } = this.context
    // The first is that of the opcode, where the caller has not asked for another one.
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

  /** For requests whose body is not used: Ganeti picks up its `depends` all the same. */
  protected onlyDepends(): JsonObject {
    const { body } = this.context
    return isObject(body) ? { depends: body['depends'] ?? null } : {}
  }

  protected setTags(kind: TagKind, name: string | null, tags: readonly string[], dryRun: number): Promise<JobId> {
    return this.submit(OpTagsSet, this.onlyDepends(), { kind, name, tags, dry_run: dryRun !== 0 })
  }

  protected deleteTags(kind: TagKind, name: string | null, tags: readonly string[], dryRun: number): Promise<JobId> {
    return this.submit(OpTagsDel, this.onlyDepends(), { kind, name, tags, dry_run: dryRun !== 0 })
  }

  private reason(): readonly (readonly [string, string, number])[] {
    const now_ns = nanoseconds(this.context.services.clock)
    const own = [`gnt:library:rlib2:${this.context.resource}`, '', now_ns] as const
    const given = this.context.query.get('reason')
    return given ? [['gnt:user', given, now_ns], own] : [own]
  }
}

/** The interface of an object is generated from the same list of fields. */
export const rowObject = <T>(fields: readonly string[], row: Row): T =>
  Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null])) as T

/** An object by its id, and the address where more is to be had. */
export interface Link {
  id: string
  uri: string
}

/** An object by its name, and the address where more is to be had. */
export interface NameLink {
  name: string
  uri: string
}

/** The first column of each row, with the address where more is to be had. Here `net10` stands before `net9`, as in Ganeti. */
export const links = (rows: readonly Row[], path: string): Link[] =>
  firstColumn(rows).map((id) => ({ id, uri: `${path}/${id}` }))

export const nameLinks = (rows: readonly Row[], path: string): NameLink[] =>
  firstColumn(rows).map((name) => ({ name, uri: `${path}/${name}` }))

const firstColumn = (rows: readonly Row[]): string[] => rows.map(([value]) => String(value)).sort(compareText)

/** The only row of a query for one object, which is 404 when there is no such object. */
export async function oneRow(query: Promise<readonly (Row | null)[]>): Promise<Row> {
  const rows = await query.catch((error: unknown) => {
    throw error instanceof OpPrereqError && error.code === ECODE.NOENT ? notFound() : error
  })
  const row = rows[0]
  if (row === undefined || row === null) throw notFound()
  return row
}

/** A comma separated query argument that must be there. */
export function requiredList(name: string, text: string | undefined, complaint: string): string[] {
  return required(name, text, complaint).split(',')
}

export function required(name: string, text: string | undefined, complaint: string): string {
  if (text === undefined) throw badRequest(complaint.replace('%s', `'${name}'`))
  return text
}
