// The calls about jobs over the socket, with real job processes; texts and shapes as in the recordings of test/golden/luxi.
import * as fs from 'node:fs'
import * as net from 'node:net'
import type { Luxid } from '../../../../src/daemons/luxid/luxid'
import { systemClock } from '../../../../src/lib/clock'
import type { Paths } from '../../../../src/lib/paths'
import { PATH } from '../../../../src/model/constants/paths'
import { GenericError, JobLost } from '../../../../src/model/errors'
import { LUXI_FRAME_BYTES_MAX } from '../../../../src/model/limits/luxi'
import { LuxiClient } from '../../../../src/rpc/luxi/client'
import { eventually } from '../../../support/faults'
import { delay, executed, removeRoot, temporaryPaths } from '../../../support/queue-in-process'
import { startTinyLuxid } from '../../../support/tiny-luxid'

let paths: Paths
let luxid: Luxid & { wconfd: { set(config: unknown): void; config: { cluster: object } } }
let luxi: LuxiClient

beforeEach(async () => {
  paths = temporaryPaths()
  luxid = await startTinyLuxid(paths)
  luxi = new LuxiClient({ clock: systemClock, path: paths.socket('query') })
})

afterEach(async () => {
  luxi.close()
  await luxid.close()
  await removeRoot(paths)
})

const wait = async (id: number, ...statuses: string[]): Promise<unknown> => {
  let observed: unknown = null
  for (;;) {
    const change = await luxi.waitForJobChange(id, ['status'], observed, null, 20)
    if (change === 'nochange') throw new Error('a job without news')
    observed = change[0]
    const [status] = change[0]
    if (statuses.includes(String(status))) return status
    if (['success', 'error', 'canceled'].includes(String(status)))
      throw new Error(`job ${id} ended with ${String(status)}`)
  }
}

test('a submitted job gets the next id, is reported from queued to success, and can be asked for', async () => {
  const id = await luxi.submitJob([delay(0.05)])
  expect(id).toBe(1)
  expect(await wait(id, 'success')).toBe('success')
  const [row] = await luxi.queryJobs([id], ['id', 'status', 'opresult', 'opstatus', 'archived', 'summary', 'priority'])
  expect(row).toEqual([1, 'success', [null], ['success'], false, [expect.stringMatching(/^TEST_DELAY/)], 0])
  expect(await luxi.queryJobs(['1', 999999], ['id', 'status'])).toEqual([
    [1, 'success'],
    [999999, null],
  ])
})

test('the submitter of a job is shown to our own doors only', async () => {
  const reason = [['gantry:user', 'anna', 1] as const, ['gnt:user', 'why', 1] as const]
  const id = await luxi.submitJob([delay(0, { reason })])
  await wait(id, 'success')
  const [queried] = (await luxi.query('job', ['ops'], ['==', 'id', id])).data
  const change = await luxi.waitForJobChange(id, ['ops'], null, null, 0)
  const [row] = await luxi.queryJobs([id], ['ops'])
  const displayed = [
    {
      reason: [
        ['gnt:user', 'why', 1],
        ['gnt:opcode:test_delay', `job=${id};index=0`, expect.any(Number)],
      ],
    },
  ]
  expect([queried?.[0]?.[1], change[0]?.[0], row?.[0]]).toMatchObject([displayed, displayed, displayed])
  const ours = {
    what: 'job',
    name: String(id),
    fields: ['ops'],
    filter: null,
    after: null,
    limit: 1,
    known: true,
    sort: null,
  } as const
  const { rows } = await luxi.gantry.view({ user: 'berta', token: null, permissions: ['*'] }, ours)
  expect(rows).toMatchObject([[[{ reason: [['gantry:user', 'anna', 1], ...(displayed[0]?.reason ?? [])] }]]])
})

test('several jobs at once get an answer each, and an empty job succeeds', async () => {
  expect(await luxi.submitManyJobs([[delay(0)], [], [delay(0, { depends: [[-2, ['success']]] })]])).toEqual([
    [true, 1],
    [true, 2],
    [true, 3],
  ])
  expect(await wait(2, 'success')).toBe('success')
  expect(await wait(3, 'success')).toBe('success')
})

describe('waiting for a change', () => {
  test('answers at once when something differs, with what came to the log since', async () => {
    const id = await luxi.submitJob([delay(1, { comment: 'log' })])
    await wait(id, 'running')
    await eventually('it has said all', async () => {
      const observed = await luxi.waitForJobChange(id, ['status'], null, null, 0)
      return (observed !== 'nochange' && observed[1].length === 3) || undefined
    })
    const all = await luxi.waitForJobChange(id, ['status'], ['running'], null, 5)
    expect(all).toEqual([['running'], [1, 2, 3].map((n) => [n, expect.any(Array), 'message', `line ${n - 1}`])])
    const rest = await luxi.waitForJobChange(id, ['status'], ['running'], 2, 5)
    expect(rest[1]).toHaveLength(1)
  })

  test('many may wait for the same job, and all hear of its end', async () => {
    const id = await luxi.submitJob([delay(0.3)])
    await wait(id, 'running')
    const waiters = Array.from({ length: 30 }, () => luxi.waitForJobChange(id, ['status'], ['running'], null, 10))
    for (const change of await Promise.all(waiters)) expect(change).toEqual([['success'], []])
  })

  test('gives the present after the time, null for fields that jobs lack, and an error for jobs that do not exist', async () => {
    const id = await luxi.submitJob([delay(3)])
    await wait(id, 'running')
    const before = Date.now()
    expect(await luxi.waitForJobChange(id, ['id', 'nosuch'], [id, null], null, 1.9)).toEqual([[id, null], []])
    expect(Date.now() - before).toBeGreaterThan(950)
    await expect(luxi.waitForJobChange(999, ['status'], null, null, 1)).rejects.toBeInstanceOf(JobLost)
    await luxi.cancelJob(id, true)
  })
})

describe('cancelling and priorities', () => {
  test('a queued job is dequeued, once', async () => {
    const first = await luxi.submitJob([delay(30)])
    const id = await luxi.submitJob([delay(0, { depends: [[first, []]] })])
    expect(await luxi.changeJobPriority(id, 99)).toEqual([
      true,
      `Priorities of pending opcodes for job ${id} have been changed to 99`,
    ])
    expect(await luxi.cancelJob(id, false)).toEqual([true, `Dequeued job ${id}`])
    expect(await luxi.cancelJob(id, false)).toEqual([false, `Job ${id} not found in queue`])
    expect((await luxi.queryJobs([id], ['status', 'opresult', 'start_ts']))[0]).toEqual(['canceled', [null], null])
    await luxi.cancelJob(first, true)
  })

  test('a job that waits in its process is canceled before the answer comes', async () => {
    const id = await luxi.submitJob([delay(0, { repeat: 30000 })])
    await wait(id, 'waiting')
    expect(await luxi.cancelJob(id, false)).toEqual([true, 'Job successfully cancelled'])
    expect((await luxi.queryJobs([id], ['status', 'opresult']))[0]).toEqual(['canceled', ['Job canceled by request']])
    expect(executed(paths)).toEqual([])
  })

  test('a running job is informed and goes on', async () => {
    const id = await luxi.submitJob([delay(0.5)])
    await wait(id, 'running')
    expect(await luxi.cancelJob(id, false)).toEqual([false, "Job no longer waiting, can't cancel (informed it anyway)"])
    expect(await wait(id, 'success')).toBe('success')
    expect(await luxi.cancelJob(id, true)).toEqual([false, `Job ${id} not found in queue`])
  })

  test('a running job is killed on request, and is told of a new priority', async () => {
    const id = await luxi.submitJob([delay(30)])
    await wait(id, 'running')
    const [reported, text] = await luxi.changeJobPriority(id, 5)
    expect(reported).toBe(true)
    expect(text).toMatch(new RegExp(`^Job ${id} with pid \\d+ signaled$`))
    expect(await luxi.waitForJobChange(id, ['oppriority'], [[0]], null, 10)).toEqual([[[5]], []])
    expect(await luxi.cancelJob(id, true)).toEqual([true, 'SIGKILL send to the process'])
    expect(await wait(id, 'error')).toBe('error')
    const [row] = await luxi.queryJobs([id], ['opresult', 'oppriority'])
    expect(row).toEqual([[expect.stringMatching(/^detected death of job \d+/)], [5]])
  })

  test('jobs that do not exist are not found', async () => {
    expect(await luxi.cancelJob(999999, false)).toEqual([false, 'Job 999999 not found in queue'])
    expect((await luxi.changeJobPriority(999999, 1))[0]).toBe(false)
  })
})

describe('the queue', () => {
  test('that is drained takes no jobs but those that ask for it', async () => {
    expect(await luxi.setDrainFlag(true)).toBe(true)
    expect(await luxi.queryConfigValues(['drain_flag'])).toEqual([true])
    await expect(luxi.submitJob([delay(0)])).rejects.toEqual(new GenericError('Queue drained'))
    await expect(luxi.submitManyJobs([[delay(0)]])).rejects.toThrow('Queue drained')
    fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), '0.1.0,0.1.1,7\n')
    for (const refused of [luxi.submitJob([delay(0)]), luxi.submitManyJobs([[delay(0)]])])
      await expect(refused).rejects.toThrow(
        /^Queue drained: the upgrade from 0\.1\.0 to 0\.1\.1 has not ended: .*upgrade --resume/,
      )
    expect(await luxi.submitJobToDrainedQueue([delay(0)])).toBe(1)
    expect(await luxi.setDrainFlag(false)).toBe(true)
    expect(await luxi.setDrainFlag(false)).toBe(true)
    expect(await luxi.submitJob([delay(0)])).toBe(2)
  })

  test('gives ended jobs to the archive, where they can still be read', async () => {
    for (const id of [1, 2, 3]) {
      await luxi.submitJob([delay(0)])
      await wait(id, 'success')
    }
    const running = await luxi.submitJob([delay(30)])
    expect(await luxi.archiveJob(running)).toBe(false)
    expect(await luxi.archiveJob(999999)).toBe(false)
    expect(await luxi.archiveJob(1)).toBe(true)
    expect(await luxi.archiveJob(1)).toBe(false)
    expect(await luxi.autoArchiveJobs(3600, 10)).toEqual([0, 0])
    expect(await luxi.autoArchiveJobs(-1, 10)).toEqual([2, 0])
    expect(await luxi.queryJobs(null, ['id'])).toEqual([[running]])
    expect(await luxi.queryJobs([1, 2], ['id', 'status', 'archived'])).toEqual([
      [1, 'success', true],
      [2, 'success', true],
    ])
    const { data } = await luxi.query('job', ['id', 'archived'], null)
    expect(data.map(([id]) => id?.[1])).toEqual([1, 2, 3, running])
    await luxi.cancelJob(running, true)
  })

  test('follows max_running_jobs of the configuration', async () => {
    luxid.wconfd.set({ ...luxid.wconfd.config, cluster: { ...luxid.wconfd.config.cluster, max_running_jobs: 1 } })
    await luxi.submitManyJobs([[delay(0.3)], [delay(0)]])
    await wait(1, 'running')
    expect((await luxi.queryJobs([2], ['status']))[0]).toEqual(['queued'])
    await wait(2, 'success')
    expect(executed(paths)).toEqual(['1.0', '2.0'])
  })

  test('obeys filter rules, which come and go through the configuration', async () => {
    const uuid = await luxi.replaceFilter(null, 0, [['opcode', ['=', 'OP_ID', 'OP_TEST_DELAY']]], 'PAUSE', [])
    expect(await luxi.queryFilters([uuid], ['action', 'watermark', 'predicates'])).toEqual([
      ['PAUSE', 0, [['opcode', ['==', 'OP_ID', 'OP_TEST_DELAY']]]],
    ])
    const id = await luxi.submitJob([delay(0)])
    await systemClock.sleep(200)
    expect((await luxi.queryJobs([id], ['status']))[0]).toEqual(['queued'])
    await luxi.deleteFilter(uuid)
    await wait(id, 'success')
    const reject = await luxi.replaceFilter(null, 0, [], 'REJECT', [])
    await wait(await luxi.submitJob([delay(0)]), 'canceled')
    await luxi.deleteFilter(reject)
  })

  test('pauses the watchers until a time, and forgets what has passed', async () => {
    const until = Math.trunc(Date.now() / 1000) + 3600
    expect(await luxi.setWatcherPause(until + 0.5)).toBe(until + 0.5)
    expect(await luxi.queryConfigValues(['watcher_pause'])).toEqual([until])
    expect(await luxi.setWatcherPause(1)).toBe(1)
    expect(await luxi.queryConfigValues(['watcher_pause'])).toEqual([null])
    expect(await luxi.setWatcherPause(null)).toBeNull()
  })
})

describe('the socket', () => {
  const talk = (bytes: string | Buffer, answers: number): Promise<{ texts: string[]; ended: boolean }> =>
    new Promise((resolve) => {
      const socket = net.connect(paths.socket('master'), () => socket.write(bytes))
      let text = ''
      let ended = false
      socket.setEncoding('utf8').on('error', () => undefined)
      socket.on('data', (piece: string) => {
        text += piece
        if (text.split('\x03').length > answers) setTimeout(() => socket.destroy(), 100)
      })
      socket.on('end', () => (ended = true))
      socket.on('close', () => resolve({ texts: text.split('\x03').slice(0, -1), ended }))
    })
  const call = (method: string, args: unknown) => `${JSON.stringify({ method, args })}\x03`

  test('answers pipelined requests in order', async () => {
    const names = ['cluster_name', 'nosuch', 'master_node']
    const { texts } = await talk(names.map((name) => call('QueryConfigValues', [[name]])).join(''), 3)
    expect(texts.map((text) => JSON.parse(text).result[0])).toEqual(['cluster.gnt.example', null, 'node1.gnt.example'])
  })

  test('closes after what cannot be read, and does not look at what came behind it', async () => {
    const { texts, ended } = await talk(call('NoSuch', []) + call('SubmitJob', [[delay(0)]]), 1)
    expect(texts).toHaveLength(1)
    expect(ended).toBe(true)
    expect(await luxi.queryJobs(null, ['id'])).toEqual([])
  })

  test('refuses a request longer than the limit, and lives', async () => {
    const { texts, ended } = await talk(Buffer.alloc(LUXI_FRAME_BYTES_MAX + 10, 0x20), 1)
    expect(texts[0]).toContain('message longer than')
    expect(ended).toBe(true)
    expect(await luxi.queryConfigValues(['cluster_name'])).toEqual(['cluster.gnt.example'])
  })

  test.each([
    '{"method":1,"args":[]}',
    '{"method":"SubmitJob"}',
    '{"method":"SubmitJob","args":[[{"OP_ID":"OP_TEST_DELAY","duration":1,"reason":null}]]}',
    '{"method":"SubmitJob","args":["x"]}',
    '{"method":"constructor","args":[]}',
    '{"method":"CancelJob","args":["../1",true]}',
    '{"method":"CancelJob","args":[1.5,true]}',
    '{"method":"WaitForJobChange","args":[-1,["status"],null,null,1]}',
    '{"method":"ChangeJobPriority","args":[1,"high"]}',
    '{"a',
    '\u0000\u0001',
  ])('refuses %j with a text', async (request) => {
    const { texts, ended } = await talk(`${request}\x03`, 1)
    const answer = JSON.parse(texts[0] ?? '') as { success: boolean; result: string }
    expect(answer.success).toBe(false)
    expect(answer.result).toMatch(/^Failed to parse request: ./)
    expect(ended).toBe(true)
  })

  test('a secret parameter is shown to nobody', async () => {
    const op = {
      OP_ID: 'OP_INSTANCE_REINSTALL',
      instance_name: 'vm1',
      osparams_secret: { pw: 'hunter2' },
      reason: [],
    }
    const id = await luxi.submitJob([op])
    await wait(id, 'success', 'error')
    expect(JSON.stringify(await luxi.queryJobs([id], ['ops', 'opresult', 'oplog']))).not.toContain('hunter2')
  })
})
