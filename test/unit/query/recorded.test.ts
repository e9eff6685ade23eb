// Queries answer and refuse as a real master did.
import * as path from 'node:path'
import { errorToWire } from '../../../src/model/errors'
import { classicQuery, queryFields, refuseUnserved, runQuery } from '../../../src/query/engine'
import type { Cell, FieldDefinition, QueryResource } from '../../../src/rpc/luxi/calls'
import { goldenSource, readJson } from '../../support/golden-query'

const GOLDEN = path.join(__dirname, '../../golden/query')

interface Recording {
  name: string
  method: string
  // Arguments as a client sends them: of any type.
  args: [QueryResource, string[], unknown] & [string[], string[], boolean]
  success: boolean
  result: { fields: string[][]; data?: unknown[][] } & unknown[][] & [string, string[]]
}

const recordings = readJson(path.join(GOLDEN, 'luxi.json')) as Recording[]
const short = (fields: readonly FieldDefinition[]) => fields.map(({ name, title, kind }) => [name, title, kind])
/** Free memory and disk are other figures in every recording. */
const VOLATILE = new Set(['mfree', 'dfree'])

describe.each(recordings)('$method as recorded: $name', ({ method, args, success, result }) => {
  const ask = async (): Promise<unknown[][] | { fields: FieldDefinition[]; data?: Cell[][] }> => {
    const source = goldenSource()
    switch (method) {
      case 'Query':
        return runQuery(args[0], args[1], args[2], source)
      case 'QueryFields':
        refuseUnserved('QueryFields', args[0])
        return queryFields(args[0], args[1])
      case 'QueryExports':
        return classicQuery('export', args[0], ['node', 'export'], Boolean(args[1]), source)
      default:
        return classicQuery(CLASSIC[method as 'QueryNodes'], args[0], args[1], args[2], source)
    }
  }

  if (success) {
    test('answers the same', async () => {
      const answer = await ask()
      if (Array.isArray(answer)) return expect(answer).toEqual(result)
      expect(short(answer.fields)).toEqual(result.fields)
      if (answer.data === undefined) return
      const masked = answer.data.map((row, at) =>
        row.map((value, column) =>
          VOLATILE.has(answer.fields[column]?.name ?? '') ? result.data?.[at]?.[column] : value,
        ),
      )
      expect(JSON.parse(JSON.stringify(masked))).toEqual(result.data)
    })
  } else {
    test('refuses with the same words', async () => {
      const error = await ask().then(
        () => undefined,
        (refusal: unknown) => errorToWire(refusal),
      )
      if (typeof result !== 'string') return expect(error).toEqual(result)
      expect(error?.[0]).toBe('QueryFilterParseError')
      // The server puts the request before it.
      expect(result).toMatch(new RegExp(`error: ${escape(String(error?.[1][0]))}$`))
    })
  }
})

const CLASSIC = {
  QueryNodes: 'node',
  QueryInstances: 'instance',
  QueryGroups: 'group',
  QueryNetworks: 'network',
  QueryJobs: 'job',
} as const

const escape = (text: string) => text.replace(/[[\]*.?()'"]/g, '\\$&')

describe.each(readJson(path.join(GOLDEN, 'query-fields.json')) as { what: QueryResource; fields: string[][] }[])(
  'the fields of $what',
  ({ what, fields }) => {
    test('include those of the recorded cluster, in its order, with titles and kinds', () => {
      const ours = short(queryFields(what, null).fields)
      const names = new Set(fields.map(([name]) => name))
      expect(ours.filter(([name]) => names.has(name))).toEqual(fields.filter(([name]) => !GONE.has(name ?? '')))
    })
  },
)

/** Parameters of 3.0 that 3.1 has no more. */
const GONE = new Set(['hv/xen_cmd'])

test('the tables are those of Ganeti 3.1, field by field', () => {
  const spec = readJson(path.join(GOLDEN, 'fields.json')) as Record<QueryResource, Record<string, unknown>>
  for (const what of Object.keys(spec) as QueryResource[]) {
    const ours = queryFields(what, null).fields.map(({ name, title, kind }) => [name, [title, kind]])
    expect([what, Object.fromEntries(ours)]).toEqual([what, spec[what]])
  }
})

test('recorded jobs are listed with their summaries', async () => {
  const { data } = await runQuery('job', ['id', 'status', 'summary', 'received_ts'], null, goldenSource())
  expect(data).toEqual(readJson(path.join(GOLDEN, 'job-rows.json')))
})

test.each(Object.entries(readJson(path.join(GOLDEN, 'fields-of-jobs.json')) as Record<string, FieldDefinition[]>))(
  'the fields of %s are told to jobs as recorded',
  (what, fields) => expect(queryFields(what as QueryResource, null).fields).toEqual(fields),
)
