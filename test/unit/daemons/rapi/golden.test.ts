// Answers of `/2` are those of a real Ganeti, in front of its recorded answers to LUXI.
import { withoutMarks } from '../../../../src/model/marks'
import { isObject } from '../../../../src/lib/shapes/shape'
import type { Master } from '../../../../src/rpc/luxi/master'
import errors from '../../../golden/rapi/errors.json'
import reads from '../../../golden/rapi/reads.json'
import submissions from '../../../golden/rapi/submissions.json'
import { Harness, RecordedMaster, type Recording } from './harness'

const master = new RecordedMaster()
let harness: Harness

// A test that calls what the recorded master lacks fails with a TypeError.
beforeAll(async () => {
  harness = await Harness.start(master as unknown as Master)
})
afterAll(() => harness.stop())

/** Recordings of 3.0.2 that we answer differently here, or that only a whole cluster can answer. */
const OTHERWISE: Record<string, string> = {
  'err-180-filter-badaction': 'refused by luxid',
  'err-181-filter-badpredicate': 'refused by luxid',
  'err-186-badsyntax': 'the parser of HTTP does not tell what it could not read',
  'get-053-node-role-node3.gnt.example': 'this node is not in the recorded data',
  'get-094-query-fields-extstorage': 'refused by luxid',
  'get-100-query-unknown-field': 'answered by the query engine',
  'get-101-query-fields-subset': 'answered by the query engine',
  'get-103-query-put-filter2': 'answered by the query engine',
  'get-107-instances-reader': 'has more instances than the recorded data',
  'get-110-instances-bulk0': 'has more instances than the recorded data',
  'get-014-2_networks': 'has more networks than the recorded data',
  'get-031-instance-console-inst4.gnt.example': 'tested apart: the instance is not in the recorded data',
}

const recorded: Recording[] = [...reads, ...errors]

test.each(recorded.filter(({ name }) => !(name in OTHERWISE)).map((entry) => [entry.name, entry] as const))(
  '%s is answered as recorded',
  async (_, { request, status, body }) => {
    const answer = await harness.raw(request)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Basic realm="Ganeti Remote API"' : undefined)
    expect([answer.status, comparable(answer.body)]).toEqual([status, comparable(body)])
    expect(answer.body.endsWith('\n')).toBe(true)
  },
)

test('texts of errors, lists and objects are written as Python writes them', async () => {
  const byteForByte = recorded.filter(({ name }) => /^(err-1[1-7]|get-00[237]|get-013|get-066)/.test(name))
  for (const { request, body } of byteForByte) {
    if (comparable(body) === 'a job id' || request.startsWith('GET /2/info')) continue
    expect((await harness.raw(request)).body).toBe(body)
  }
})

describe('a job that is submitted', () => {
  interface Submission extends Recording {
    ops: Record<string, unknown>[] | null
  }
  const flows: Submission[] = submissions
  const withJobs = flows.filter(({ ops }) => ops !== null)

  test.each(withJobs.map((flow) => [flow.name, flow] as const))('%s is the recorded one', async (_, flow) => {
    const answer = await harness.raw(flow.request)
    expect([answer.status, answer.body]).toEqual([200, expect.stringMatching(/^\d+\n$/)])
    const ops = master.submitted.at(-1) ?? []
    // The unit rewrites the descriptions of many instances; a test of its own looks at what is submitted.
    if (flow.name === 'flow-140-inst-multi-alloc') return
    // The server notes in opcodes who has logged in. These marks are removed before comparing.
    expect(ops.map((op) => stored(withoutMarks(op)))).toEqual(
      (flow.ops ?? []).map((op, index) => onlyKeys(stored(op), stored(ops[index] ?? {}))),
    )
  })

  test.each(flows.filter(({ status }) => status === 400).map((flow) => [flow.name, flow] as const))(
    '%s is refused as recorded',
    async (_, { request, body }) => expect((await harness.raw(request)).body).toBe(body),
  )
})

/** Fields of 3.1 that the recordings of 3.0.2 lack are left out; job ids differ. */
function comparable(body: string): unknown {
  const value: unknown = JSON.parse(body)
  if (typeof value === 'number' && value > 2) return 'a job id'
  if (isObject(value)) delete value['custom_osparams']
  return value
}

/** Parameters that the logical unit or the newer version changes later, so the remote API is not to blame for them. */
const CHANGED_LATER = new Set([
  'use_locking',
  'nics',
  'disks',
  'hotplug',
  'ip_check',
  'name_check',
  'osparams',
  'beparams',
  'debug_level',
])

function stored(op: Record<string, unknown>): Record<string, unknown> {
  const { reason, ...rest } = op
  const trail = Array.isArray(reason) ? reason.map(([source, text]) => [source, text]) : []
  const kept = Object.entries(rest).filter(([name]) => !CHANGED_LATER.has(name))
  const common = trail.filter(([source]) => !String(source).startsWith('gnt:opcode'))
  return { ...Object.fromEntries(kept), reason: common }
}

/** The unit also fills in what was not given, such as uuids. */
function onlyKeys(op: Record<string, unknown>, like: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(op).filter(([name]) => name in like))
}
