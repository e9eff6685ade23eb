// The query layer: TABLE 2 (fields/<resource>.ts) and the engine that answers every door's queries from it. It reads a
// configuration snapshot and its QuerySource, asks nodes only through LiveData, and never changes anything.
import { ECODE, GenericError, OpPrereqError } from '../model/errors'
import type { Cell, FieldDefinition, QueryResource, QueryResult } from '../rpc/luxi/calls'
import { type Field, NORMAL, type Need, UNKNOWN } from './field'
import { clusterResource } from './fields/cluster'
import { exportResource } from './fields/export'
import { extStorageResource } from './fields/extstorage'
import { filterResource } from './fields/filter'
import { groupResource } from './fields/group'
import { instanceResource } from './fields/instance'
import { jobResource } from './fields/job'
import { lockResource } from './fields/lock'
import { networkResource } from './fields/network'
import { nodeResource } from './fields/node'
import { osResource } from './fields/os'
import {
  type Filter,
  type FilterField,
  type FilterValue,
  type Operand,
  compileFilter,
  filterFields,
  parseFilter,
  refuseWide,
  requestedNames,
} from './filter'
import { breathe } from '../lib/clock'
import { filterInSlices, slices } from '../lib/work/slices'
import { JOB_FILES_READ_AT_ONCE, ROWS_AT_ONCE } from '../model/limits/queries'
import { niceSort } from '../model/nice-sort'
import { type JsonText, rowsAtOnce, tableText } from '../rpc/long-answers'
import type { Resource } from './resource'
import type { QuerySource } from './source'

/** Answers LUXI's Query. A name that was requested directly and does not exist is an OpPrereqError unknown_entity. */
export async function runQuery(...question: Question): Promise<QueryResult> {
  const table = await found(...question)
  return { fields: table.fields, data: await collected(table.rows((cell) => cell)) }
}

/** The same answer as a text. A row's cells live only until they are written. */
export async function queryText(...question: Question): Promise<JsonText> {
  const table = await found(...question)
  const texts = table.texts((cell) => JSON.stringify(cell))
  return tableText(`{"fields":${JSON.stringify(table.fields)},"data":[`, texts, ']}')
}

type Question = [what: QueryResource, fields: readonly string[], filter: unknown, source: QuerySource]

const found = (...[what, fields, filter, source]: Question): Promise<Table> =>
  withResource(what, (resource) => query(resource, fields, parseFilter(filter), source, 'refuse'))

/** Definitions of the given fields, or of all, sorted by name. */
export function queryFields(what: QueryResource, fields: readonly string[] | null): { fields: FieldDefinition[] } {
  return withResource(what, (resource) => {
    const ganetis = () => Object.keys(resource.fields).filter((name) => resource.fields[name]?.ours === false)
    const names = fields === null || fields.length === 0 ? niceSort(ganetis()) : fields
    return { fields: names.map((name) => definition(resource, name)) }
  })
}

/** The field that names the objects of a resource. */
export const keyField = (what: QueryResource): string => withResource(what, ({ nameField }) => nameField)

/** Answers the older calls: values only. Refuses unknown fields and `lock`, skips unknown names. */
export async function classicQuery(...question: ClassicQuestion): Promise<unknown[][]> {
  const table = await classic(...question)
  return collected(table.rows(([, value]) => value))
}

export async function classicText(...question: ClassicQuestion): Promise<JsonText> {
  const table = await classic(...question)
  const texts = table.texts(([, value]) => JSON.stringify(value) ?? 'null')
  return tableText('[', texts, ']')
}

type ClassicQuestion = [
  what: 'export' | 'filter' | 'group' | 'instance' | 'job' | 'network' | 'node',
  names: readonly FilterValue[],
  fields: readonly string[],
  lock: boolean,
  source: QuerySource,
]

function classic(...[what, names, fields, lock, source]: ClassicQuestion): Promise<Table> {
  if (lock) throw new OpPrereqError('Sync queries are not allowed', ECODE.INVAL)
  return withResource(what, async (resource) => {
    const unknown = fields.filter((name) => !Object.hasOwn(resource.fields, name))
    if (unknown.length > 0) throw new OpPrereqError(`Unknown output fields selected: ${unknown.join(',')}`, ECODE.INVAL)
    const values = what === 'job' ? names.map(Number) : names
    return query(resource, fields, choice(resource.nameField, values), source, 'skip')
  })
}

/** luxid answers from the configuration, the queue and the locks; everything else needs a job. */
export function refuseUnserved(call: 'Query' | 'QueryFields', what: QueryResource): void {
  const name = UNSERVED[what]
  if (name !== undefined) throw new GenericError(`${call} 'ItemTypeOpCode ${name}' not supported`)
}

const UNSERVED: Partial<Record<QueryResource, string>> = {
  os: 'QROs',
  cluster: 'QRCluster',
}

/** Calls `use` with a resource's table, whose row type stays hidden. */
function withResource<R>(what: QueryResource, use: <Row>(resource: Resource<Row>) => R): R {
  switch (what) {
    case 'cluster':
      return use(clusterResource)
    case 'export':
      return use(exportResource)
    case 'extstorage':
      return use(extStorageResource)
    case 'filter':
      return use(filterResource)
    case 'group':
      return use(groupResource)
    case 'instance':
      return use(instanceResource)
    case 'job':
      return use(jobResource)
    case 'lock':
      return use(lockResource)
    case 'network':
      return use(networkResource)
    case 'node':
      return use(nodeResource)
    case 'os':
      return use(osResource)
  }
}

async function query<Row>(
  resource: Resource<Row>,
  names: readonly string[],
  filter: Filter,
  source: QuerySource,
  missing: 'refuse' | 'skip',
): Promise<Table> {
  const requested = new Set([...names, ...filterFields(filter)])
  const needs = new Set<Need>()
  for (const name of requested) needs.add(fieldOf(resource, name)?.needs ?? 'config')
  const live = needs.has('live') || needs.has('console')
  const read = needs.has('file') ? resource.read : undefined
  const early = compileFilter(filter, filterTable(resource, !live && read === undefined))
  const desired = namesOf(resource, filter)
  if (desired === null) refuseWide(filter)
  const named = desired !== null && resource.find !== undefined
  let rows = await (named ? find(resource, desired, source, missing) : resource.all(source, needs, requested))
  const kept = (matches: (row: Row) => boolean) =>
    filter.op === 'none' ? rows : filterInSlices(rows, ROWS_AT_ONCE, matches)
  rows = await kept((row) => early(row) !== false)
  if (live && resource.collect !== undefined) {
    await resource.collect(rows, source, needs, named)
    const late = compileFilter(filter, filterTable(resource, true))
    rows = await kept((row) => late(row) === true)
  }
  const columns = names.map((name): Column<Row> => fieldOf(resource, name) ?? NO_FIELD)
  const displayed = names.map((name) => definition(resource, name))
  if (read === undefined) return tableOf(displayed, columns, (cells) => slices(rows, rowsAtOnce(cells)))
  const whole = (some: readonly Row[]) => read(some, source)
  const inFiles = [...filterFields(filter)].some((name) => fieldOf(resource, name)?.needs === 'file')
  if (inFiles) rows = await filterByFiles(rows, whole, compileFilter(filter, filterTable(resource, true)))
  return tableOf(displayed, columns, () => readSlices(rows, whole))
}

/** Returns the rows without the files' data. */
async function filterByFiles<Row>(
  rows: readonly Row[],
  whole: (some: readonly Row[]) => Promise<Row[]>,
  matches: (row: Row) => unknown,
): Promise<Row[]> {
  const kept: Row[] = []
  for (const slice of slices(rows, JOB_FILES_READ_AT_ONCE)) {
    const read = await whole(slice)
    kept.push(...slice.filter((_, at) => matches(read[at] as Row) === true))
  }
  return kept
}

async function* readSlices<Row>(
  rows: readonly Row[],
  whole: (some: readonly Row[]) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (const slice of slices(rows, JOB_FILES_READ_AT_ONCE)) yield await whole(slice)
}

type Slices<T> = Iterable<T> | AsyncIterable<T>

function tableOf<Row>(
  fields: FieldDefinition[],
  columns: readonly Column<Row>[],
  inSlices: (cells: number) => Slices<readonly Row[]>,
): Table {
  return {
    fields,
    rows: (read) =>
      mapSlices(inSlices(columns.length), (rows) => rows.map((row) => columns.map(({ get }) => read(get(row))))),
    texts(write) {
      const writers = groupsOf(columns).map((group) => groupWriter(group, write))
      return mapSlices(inSlices(writers.length), (rows) =>
        rows.map((row) => `[${writers.map((writer) => writer(row)).join(',')}]`).join(','),
      )
    },
  }
}

/** Maps synchronously, without promises, unless the parts come from files. */
function mapSlices<T, U>(parts: Slices<T>, map: (part: T) => U): Slices<U> {
  return Symbol.iterator in parts ? mapAtOnce(parts, map) : mapLater(parts, map)
}

function* mapAtOnce<T, U>(parts: Iterable<T>, map: (part: T) => U): Generator<U> {
  for (const part of parts) yield map(part)
}

async function* mapLater<T, U>(parts: AsyncIterable<T>, map: (part: T) => U): AsyncGenerator<U> {
  for await (const part of parts) yield map(part)
}

/** The requested names. A number only names a job; elsewhere the comparison reports the mistake. */
function namesOf<Row>(resource: Resource<Row>, filter: Filter): FilterValue[] | null {
  const names = requestedNames(filter, resource.nameField)
  if (names === null || fieldOf(resource, resource.nameField)?.kind === 'number') return names
  const texts = names.filter((name) => typeof name === 'string')
  return texts.length === 0 ? null : texts
}

/** The result of a query. Rows are computed slice by slice, when they are read. */
interface Table {
  readonly fields: FieldDefinition[]
  /** The rows, with `read` applied to each cell. */
  rows<T>(read: (cell: Cell) => T): Slices<T[][]>
  /** The same in JSON. */
  texts(write: WriteCell): Slices<string>
}

type WriteCell = (cell: Cell) => string

type Column<Row> = Pick<Field<Row>, 'get' | 'part'>

const NO_FIELD: Column<unknown> = { get: () => UNKNOWN }

/** Adjacent columns that depend on the same part of a row form a group; each other column is alone. */
function groupsOf<Row>(columns: readonly Column<Row>[]): Column<Row>[][] {
  const groups: Column<Row>[][] = []
  for (const column of columns) {
    const last = groups.at(-1)
    if (column.part !== undefined && last?.[0]?.part === column.part) last.push(column)
    else groups.push([column])
  }
  return groups
}

/**
 * Many rows share the part that determines many of their cells. For the next such row, these cells are neither computed
 * nor encoded again.
 */
function groupWriter<Row>(group: readonly Column<Row>[], write: WriteCell): (row: Row) => string {
  const writers = group.map(({ get }) => columnWriter(get, write))
  const writeAll = (row: Row) => writers.map((writer) => writer(row)).join(',')
  const part = group[0]?.part
  if (part === undefined) return writers[0] ?? writeAll
  let known: { readonly part: unknown; readonly text: string } | undefined
  return (row) => {
    const now = part(row)
    if (known === undefined || known.part !== now) known = { part: now, text: writeAll(row) }
    return known.text
  }
}

/** In most columns a row repeats the previous row's value, which is not encoded again. */
function columnWriter<Row>(get: (row: Row) => Cell, write: WriteCell): (row: Row) => string {
  let [status, value] = UNKNOWN
  let text = write(UNKNOWN)
  return (row) => {
    const cell = get(row)
    if (cell[0] !== status || cell[1] !== value) {
      ;[status, value] = cell
      text = write(cell)
    }
    return text
  }
}

async function collected<T>(rows: Slices<T[][]>): Promise<T[][]> {
  const all: T[][] = []
  for await (const slice of rows) {
    if (all.length > 0) await breathe()
    all.push(...slice)
  }
  return all
}

async function find<Row>(
  resource: Resource<Row>,
  names: readonly FilterValue[],
  source: QuerySource,
  missing: 'refuse' | 'skip',
): Promise<Row[]> {
  const rows: Row[] = []
  for (const name of names) {
    const row = await resource.find?.(source, String(name))
    if (row !== undefined) rows.push(row)
    else if (missing === 'refuse' && resource.notFound !== undefined) throw resource.notFound(String(name))
  }
  return rows
}

/** Fields for the filter. Before live data is there, fields that need it are undecided. */
function filterTable<Row>(resource: Resource<Row>, complete: boolean): (name: string) => FilterField<Row> | undefined {
  return (name) => {
    const field = fieldOf(resource, name)
    if (field === undefined) return undefined
    if (!complete && field.needs !== 'config') return { compare: field.compare, read: () => PENDING }
    return { compare: field.compare, read: (row) => operand(field.get(row)) }
  }
}

const PENDING: Operand = { state: 'pending' }
const MISSING: Operand = { state: 'missing' }
const operand = ([status, value]: Cell): Operand => (status === NORMAL ? { state: 'value', value } : MISSING)

function definition<Row>(resource: Resource<Row>, name: string): FieldDefinition {
  const field = fieldOf(resource, name)
  if (field === undefined) return { name, title: name, kind: 'unknown', doc: `Unknown field '${name}'` }
  return { name, title: field.title, kind: field.kind, doc: field.doc }
}

function fieldOf<Row>(resource: Resource<Row>, name: string): Field<Row> | undefined {
  return Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined
}

function choice(nameField: string, names: readonly FilterValue[]): Filter {
  if (names.length === 0) return { op: 'none' }
  return { op: '|', filters: names.map((value) => ({ op: '==', field: nameField, value })) }
}
