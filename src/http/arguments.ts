// Collects the arguments of a controller's method from path, query, headers and body.
import type { IncomingHttpHeaders } from 'node:http'
import { pythonInt } from '../lib/text/python-text'
import { badRequest } from './errors'

/** An argument in the route table; the table has more fields than these. */
export interface RouteArgument {
  readonly in: string
  readonly name: string
  readonly dataType?: string
  readonly [more: string]: unknown
}

/** A missing argument is undefined, so that the method's own default applies. */
export function readArguments(
  args: readonly RouteArgument[],
  params: Readonly<Record<string, string>>,
  query: URLSearchParams,
  body: unknown,
  headers: IncomingHttpHeaders,
): unknown[] {
  return args.map((arg) => {
    switch (arg.in) {
      case 'path':
        return arg.dataType === 'integer' ? Number(params[arg.name]) : params[arg.name]
      case 'query':
        return fromQuery(arg, query)
      case 'header':
        return headers[arg.name.toLowerCase()]
      case 'body':
        return body
      default:
        throw new Error(`no way to read an argument from ${arg.in}`)
    }
  })
}

/**
 * As in Ganeti, empty values count as missing, the first of repeated ones wins unless all are wanted, and whole numbers
 * are read as Python does.
 */
function fromQuery({ name, dataType }: RouteArgument, query: URLSearchParams): unknown {
  const values = query.getAll(name).filter((value) => value !== '')
  if (dataType === 'array') return values
  const [first] = values
  if (first === undefined) return undefined
  const read = READERS.get(dataType)
  const value = read === undefined ? first : read(first)
  if (value === undefined) throw badRequest(`Invalid value for the '${name}' parameter`)
  return value
}

type Reader = (text: string) => number | boolean | undefined

/** Readers for types other than text; undefined for a text that is no value of its type. */
const READERS: ReadonlyMap<string | undefined, Reader> = new Map<string, Reader>([
  ['integer', pythonInt],
  ['double', (text) => (Number.isFinite(Number(text)) ? Number(text) : undefined)],
  ['boolean', (text) => BOOLEANS.get(text)],
])

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])
