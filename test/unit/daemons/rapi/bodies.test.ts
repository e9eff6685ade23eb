// Bodies of /3 that are no opcodes: what is refused in which words, and that the document says the same of them as their checkers.
import type { Schema } from '../../../../src/lib/shapes/shape'
import {
  drainBody,
  filterBody,
  jobBody,
  pauseBody,
  priorityBody,
  ticketBody,
  tokenBody,
} from '../../../../src/daemons/rapi/v3/bodies'
import type { Body } from '../../../../src/daemons/rapi/v3/body'
import { OPCODES_PER_JOB_MAX } from '../../../../src/model/limits/queue'
import document from '../../../../openapi/rapi.json'

const BODIES: Readonly<Record<string, Body<unknown>>> = {
  ...{ TokenRequest: tokenBody, WatcherPauseRequest: pauseBody, ConsoleTicketRequest: ticketBody },
  ...{ FilterRequest: filterBody, QueueDrain: drainBody, JobPriority: priorityBody, JobRequest: jobBody },
}
const schemas = document.components.schemas as unknown as Readonly<Record<string, Schema & { example: object }>>

test.each(Object.entries(BODIES))('the document and the checker agree on %s', (name, { schema, read }) => {
  const { properties = {}, required = [], example } = schemas[name] ?? { example: {} }
  expect(Object.keys(schema.properties ?? {}).sort()).toEqual(Object.keys(properties).sort())
  expect(needed(schema, read).sort()).toEqual([...required].sort())
  for (const [field, documented] of Object.entries(properties)) {
    const checked = schema.properties?.[field] ?? {}
    // What luxid looks at is any value here.
    if (Object.keys(checked).length === 0) continue
    expect([field, checked.type, checked.enum, checked.format]).toEqual([
      ...[field, documented.type, documented.enum],
      documented.format === 'int32' ? undefined : documented.format,
    ])
    expect([field, documented.nullable !== true || checked.nullable === true]).toEqual([field, true])
  }
  expect(() => read(example)).not.toThrow()
})

/** Properties without which an otherwise empty body is refused. */
function needed(schema: Schema, read: Body<unknown>['read']): string[] {
  const samples: Readonly<Record<string, unknown>> = {
    ...{ name: 'x', permissions: [], until: null, kind: 'vnc', drained: true, priority: 1, ops: [{}] },
  }
  const known = Object.keys(schema.properties ?? {}).filter((name) => Object.hasOwn(samples, name))
  return known.filter((left) => {
    const others = Object.fromEntries(known.filter((name) => name !== left).map((name) => [name, samples[name]]))
    try {
      read(others)
      return false
    } catch {
      return true
    }
  })
}

const ALONE = 'The body must be an object with `until` alone'
const DRAINED = 'The body must be an object with `drained` alone, which is true or false'
const TIME = 'must be a time with its offset: 2027-01-31T12:00:00Z'
const token = { name: 'n', permissions: ['*'] }

const refused: readonly [name: string, body: unknown, text: string][] = [
  ['TokenRequest', [], 'The body must be an object'],
  ['TokenRequest', { ...token, scope: [] }, 'scope: there is no such property'],
  ['TokenRequest', { ...token, name: '' }, 'name: from 1 to 128 characters'],
  ['TokenRequest', { permissions: [] }, 'name: from 1 to 128 characters'],
  ['TokenRequest', { ...token, expires: ['2027-01-31T12:00:00Z'] }, `expires: ${TIME}`],
  ['TokenRequest', { ...token, expires: 'tomorrow' }, `expires: ${TIME}`],
  ['TokenRequest', { name: 'n' }, 'permissions: must be a list of at most 100 texts'],
  ['TokenRequest', { ...token, tags: Array(101).fill('x') }, 'tags: must be a list of at most 100 texts'],
  ['TokenRequest', { ...token, tags: null }, 'tags: must be a list of at most 100 texts'],
  ['TokenRequest', { ...token, groups: [''] }, 'groups: texts of 1 to 128 characters'],
  ['WatcherPauseRequest', null, ALONE],
  ['WatcherPauseRequest', { until: null, why: '' }, ALONE],
  ['WatcherPauseRequest', {}, ALONE],
  ['WatcherPauseRequest', { until: ['2027-01-31T12:00:00Z'] }, `until: ${TIME}`],
  ['ConsoleTicketRequest', [], "kind: must be 'serial' or 'vnc'"],
  ['ConsoleTicketRequest', { kind: 'spice' }, "kind: must be 'serial' or 'vnc'"],
  ['ConsoleTicketRequest', { kind: 'vnc', x: 1 }, 'x: there is no such parameter, only kind and read_only'],
  ['ConsoleTicketRequest', { kind: 'vnc', read_only: 'yes' }, 'read_only: must be true or false'],
  ['FilterRequest', { priority: -1 }, 'priority: must be a whole number from 0'],
  ['FilterRequest', { predicates: {} }, 'predicates: must be a list of [kind, filter]'],
  ['FilterRequest', { reason: 1 }, 'reason: must be a text'],
  ['QueueDrain', {}, DRAINED],
  ['QueueDrain', { drained: 'yes' }, DRAINED],
  ['QueueDrain', { drained: true, x: 1 }, DRAINED],
  ['JobPriority', [], 'The body must be an object with `priority`'],
  ['JobPriority', { priority: 20 }, 'priority: must be a whole number from -20 to 19'],
  ['JobPriority', { priority: 0, x: 1 }, 'x: only the priority of a job can be changed'],
  ['JobRequest', [], 'The body must be an object with `ops`'],
  ['JobRequest', { ops: [] }, 'ops: must be a list of at least one opcode'],
  ['JobRequest', { ops: Array(OPCODES_PER_JOB_MAX + 1).fill({}) }, `ops: more than ${OPCODES_PER_JOB_MAX}`],
  ['JobRequest', { ops: [{}], plan: 7 }, 'plan: must be the id of a plan'],
]

test.each(refused.map(([name, body, text]) => [name, text, body] as const))(
  '%s is refused with "%s"',
  (name, text, body) => {
    expect(() => BODIES[name]?.read(body)).toThrow(expect.objectContaining({ status: 400, message: text }) as Error)
  },
)
