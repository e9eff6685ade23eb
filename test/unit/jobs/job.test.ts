// Job files of Ganeti are read and written, and statuses follow from their opcodes.
import { readFileSync, readdirSync } from 'node:fs'
import * as path from 'node:path'
import {
  type Job,
  canceledFrom,
  dequeued,
  died,
  failedAt,
  jobPriority,
  jobStatus,
  logAfter,
  newJob,
  notStarted,
  heldBack,
  rejected,
  withOp,
  withPriority,
} from '../../../src/jobs/job'
import { encodeJob, parseJob } from '../../../src/jobs/job-file'
import { filterUuid } from '../../../src/model/ids'
import { JobFileCorrupted } from '../../../src/model/errors'

const golden = path.join(__dirname, '../../golden/jobs')
const read = (id: number) => readFileSync(`${golden}/job-${id}`, 'utf8')
const delay = (extra: Record<string, unknown> = {}) => ({ OP_ID: 'OP_TEST_DELAY', duration: 1, reason: [], ...extra })
const three = (): Job => newJob(7, [delay(), delay({ priority: -10 }), delay({ priority: 10 })], [100, 5])

describe('job files', () => {
  test.each(readdirSync(golden))('%s, written by Ganeti, is read whole and written compact', (name) => {
    const text = readFileSync(`${golden}/${name}`, 'utf8')
    const written = encodeJob(parseJob(text))
    expect(JSON.parse(written)).toEqual(JSON.parse(text))
    expect(written).not.toContain('": ')
    expect(parseJob(written)).toEqual(parseJob(text))
  })

  test('a file written by luxid is written again to the byte', () => {
    expect(encodeJob(parseJob(read(193)))).toBe(read(193).replaceAll('1.0e-2', '0.01'))
  })

  test.each([
    ['{', 'JSON'],
    ['[]', 'object'],
    ['{"ops":[]}', 'id'],
    ['{"id":1,"ops":[{"input":{"OP_ID":"X"}}]}', 'status'],
  ])('a damaged file %s is refused with what is wrong', (text, what) => {
    expect(() => parseJob(text)).toThrow(JobFileCorrupted)
    expect(() => parseJob(text)).toThrow(what)
  })
})

test('a job that a filter rule rejects says in its log which rule it was, and why its maker made it', () => {
  const reason_trail = [
    ['gnt:user', 'maintenance tonight', 1],
    ['luxid', '', 2],
  ] as const
  const reported = rejected(three(), { uuid: filterUuid('some-rule'), reason_trail }, [200, 6])
  expect(jobStatus(reported)).toBe('canceled')
  const text = 'Canceled: filter rule some-rule rejects this job: maintenance tonight (gnt:user)'
  expect(logAfter(reported, null)).toEqual([[1, [200, 6], 'message', text]])
  const silent = rejected(reported, { uuid: filterUuid('b'), reason_trail: [] }, [300, 0])
  expect(logAfter(silent, 1)).toEqual([[2, [300, 0], 'message', 'Canceled: filter rule b rejects this job']])
})

test('a job that a filter rule holds back says in its log which rule it is, and says it once', () => {
  const rule = { uuid: filterUuid('some-rule'), reason_trail: [['gnt:user', 'backups', 1]] as const }
  const text = 'Waiting: filter rule some-rule pauses this job until the rule is changed or deleted'
  const held = heldBack(three(), rule, [200, 6])
  if (held === undefined) throw new Error('it does not say so')
  expect(jobStatus(held)).toBe('queued')
  expect(logAfter(held, null)).toEqual([[1, [200, 6], 'message', `${text}: backups (gnt:user)`]])
  expect(heldBack(held, rule, [201, 0])).toBeUndefined()
  const other = heldBack(held, { uuid: filterUuid('b'), reason_trail: [] }, [202, 0])
  expect(other && logAfter(other, 1)).toEqual([[2, [202, 0], 'message', text.replace('some-rule', 'b')]])
})

describe('the status of a job', () => {
  const withStatuses = (...statuses: Job['ops'][number]['status'][]): Job =>
    statuses.reduce((job, status, i) => withOp(job, i, { status }), three())

  test.each([
    [['queued', 'queued', 'queued'], 'queued'],
    [['waiting', 'queued', 'queued'], 'waiting'],
    [['running', 'queued', 'queued'], 'running'],
    [['success', 'queued', 'queued'], 'queued'],
    [['success', 'waiting', 'queued'], 'waiting'],
    [['success', 'error', 'error'], 'error'],
    [['canceling', 'canceling', 'canceling'], 'canceling'],
    [['success', 'canceled', 'canceled'], 'canceled'],
    [['success', 'success', 'success'], 'success'],
  ] as const)('of opcodes %j is %s', (statuses, expected) => {
    expect(jobStatus(withStatuses(...statuses))).toBe(expected)
  })

  test('without opcodes is success', () => expect(jobStatus(newJob(1, [], [1, 1]))).toBe('success'))
})

describe('transitions', () => {
  test('priority is that of the most urgent unfinished opcode', () => {
    expect(jobPriority(three())).toBe(-10)
    expect(jobPriority(withOp(three(), 1, { status: 'success' }))).toBe(0)
    expect(jobPriority(withPriority(three(), 3))).toBe(3)
    expect(jobPriority(dequeued(three(), [1, 1]))).toBe(0)
  })

  test('a dequeued job looks as recorded: no start, no result', () => {
    const recorded = parseJob(read(192))
    const again = dequeued(
      {
        ...recorded,
        end_timestamp: null,
        ops: recorded.ops.map((op) => ({ ...op, status: 'queued', end_timestamp: null })),
      },
      recorded.end_timestamp ?? [0, 0],
    )
    expect(again).toEqual(recorded)
  })

  test('opcodes that follow a failed one fail as recorded', () => {
    const recorded = parseJob(read(165))
    const job = failedAt(three(), 0, ['OpPrereqError', ['x']], [3, 4])
    expect(job.ops.map((op) => [op.status, op.end_timestamp])).toEqual([
      ['error', [3, 4]],
      ['error', null],
      ['error', null],
    ])
    expect(job.ops[1]?.result).toEqual(recorded.ops[1]?.result)
  })

  test('a job cancelled between opcodes keeps what has succeeded', () => {
    const job = canceledFrom(withOp(three(), 0, { status: 'success', result: 5 }), 1, [3, 4])
    expect(job.ops.map((op) => [op.status, op.result])).toEqual([
      ['success', 5],
      ['canceled', 'Job canceled by request'],
      ['canceled', 'Job canceled by request'],
    ])
    expect(jobStatus(job)).toBe('canceled')
  })

  test('a dead job says so in result and reason trail, as recorded', () => {
    const recorded = parseJob(read(193))
    const job = died(newJob(193, [delay()], [1, 1]), 'detected death of job 193', recorded.end_timestamp ?? [0, 0])
    const trail = (of: Job) => of.ops[0]?.input['reason']
    expect(trail(job)).toEqual([(trail(recorded) as unknown[])[1]])
    expect(job.ops[0]?.result).toBe(recorded.ops[0]?.result)
  })

  test('a job that nobody could start says so in results and reason trails', () => {
    const text = 'job 7 failed to start: no memory'
    const job = notStarted(newJob(7, [delay(), delay()], [1, 1]), 'no memory', [3, 4])
    for (const { status, result, input } of job.ops)
      expect([status, result, input['reason']]).toEqual([
        'error',
        text,
        [['gnt:daemon:luxid:startjobs', text, 3_000_004_000]],
      ])
    expect(job.end_timestamp).toEqual([3, 4])
  })

  test('log entries after a serial come from all opcodes', () => {
    const job = withOp(withOp(three(), 0, { log: [[1, [1, 1], 'message', 'a']] }), 1, {
      log: [[2, [1, 2], 'message', 'b']],
    })
    expect(logAfter(job, null)).toHaveLength(2)
    expect(logAfter(job, 1)).toEqual([[2, [1, 2], 'message', 'b']])
  })
})
