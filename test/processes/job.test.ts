// The whole way of a job: luxid, a real job process with the real operations, a real wconfd with the locks. One node, no network.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import * as path from 'node:path'
import { systemProcesses } from '../../src/lib/programs/processes'
import { forkedJobs } from '../../src/jobs/pool'
import { ownedDisk } from '../../src/model/owners'
import { initialConfig } from '../../src/config/init'
import { encodeConfig } from '../../src/config/encode'
import { type Luxid, startLuxid } from '../../src/daemons/luxid/luxid'
import { startWconfd } from '../../src/daemons/wconfd/server'
import { systemClock } from '../../src/lib/clock'
import { silentLog } from '../../src/lib/log'
import type { Paths } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { delay, removeRoot, runTypescript, temporaryPaths } from '../support/queue-in-process'
import { eventually } from '../support/faults'
import { noMonds } from '../support/no-monds'
import { silentNodes } from '../support/tiny-luxid'

let paths: Paths
let luxid: Luxid
let luxi: LuxiClient
const jobs = { execArgv: runTypescript, processes: forkedJobs(systemProcesses) }
let wconfd: { close(): Promise<void> }

beforeAll(async () => {
  paths = temporaryPaths()
  mkdirSync(paths.dataDir, { recursive: true })
  const names = { clusterName: 'c.example', masterName: 'n1.example', masterIp: '127.0.0.9', primaryIp: '127.0.0.1' }
  const config = initialConfig({ ...names, masterCertDigest: '' }, { now_s: 1, random: systemRandom })
  writeFileSync(paths.configFile, encodeConfig(config))
  const common = {
    paths,
    clock: systemClock,
    random: systemRandom,
    disk: ownedDisk,
    log: silentLog,
    nodes: silentNodes,
    monds: noMonds,
  }
  wconfd = await startWconfd(common)
  luxid = await startLuxid({
    ...common,
    jobs: { ...jobs, entry: path.join(__dirname, '../../src/job.ts') },
    planJob: async () => [],
  })
  luxi = new LuxiClient({ clock: systemClock, path: paths.socket('query') })
})

afterAll(async () => {
  luxi.close()
  await luxid.close()
  await wconfd.close()
  await removeRoot(paths)
})

const locking = (duration: number) => delay(duration, { no_locks: false })

async function status(id: number, ...desired: string[]): Promise<string> {
  for (let observed: unknown = null; ;) {
    const change = await luxi.waitForJobChange(id, ['status'], observed, null, 30)
    if (change === 'nochange') continue
    observed = change[0]
    const now = String(change[0][0])
    if (desired.includes(now) || ['success', 'error', 'canceled'].includes(now)) return now
  }
}

const results = async (id: number) => (await luxi.queryJobs([id], ['opresult']))[0]?.[0]

test('OP_TEST_DELAY goes from LUXI through the queue, a job process and the locks, and back', async () => {
  const id = await luxi.submitJob([locking(0.01)])
  expect(await status(id)).toBe('success')
  expect(await luxi.query('lock', ['name'], null)).toMatchObject({ data: [] })
})

test('an error of an operation reaches the result', async () => {
  const id = await luxi.submitJob([locking(0)])
  expect(await status(id)).toBe('error')
  expect(await results(id)).toEqual([['OpPrereqError', ['Duration must be greater than zero']]])
})

test('a job whose lock another one holds waits, can be cancelled there, and is shown as pending', async () => {
  const holder = await luxi.submitJob([locking(60)])
  expect(await status(holder, 'running')).toBe('running')
  const waiter = await luxi.submitJob([locking(0.01)])
  expect(await status(waiter, 'waiting')).toBe('waiting')
  await eventually('the waiter is pending', async () => {
    const { data } = await luxi.query('lock', ['name', 'owner', 'pending'], null)
    return JSON.stringify(data).includes(`[["exclusive",["${waiter}"]]]`)
  })
  expect(await luxi.cancelJob(waiter, false)).toEqual([true, 'Job successfully cancelled'])
  expect(await luxi.cancelJob(holder, true)).toEqual([true, 'SIGKILL send to the process'])
  expect(await status(holder)).toBe('error')
})

test('a killed job frees its locks, names them, and the next job gets them', async () => {
  const holder = await luxi.submitJob([locking(60)])
  expect(await status(holder, 'running')).toBe('running')
  const waiter = await luxi.submitJob([locking(0.01)])
  expect(await status(waiter, 'waiting')).toBe('waiting')
  expect(await luxi.cancelJob(holder, true)).toEqual([true, 'SIGKILL send to the process'])
  expect(await status(holder)).toBe('error')
  expect(JSON.stringify(await results(holder))).toMatch(
    /detected death of job \d+: OP_TEST_DELAY was running.*node\/n1\.example \(exclusive\)/,
  )
  expect(await status(waiter)).toBe('success')
  expect(readdirSync(paths.livelockDir).filter((name) => name.startsWith(`job_00000${holder}`))).toEqual([])
})

test('a second luxid on the same queue is refused', async () => {
  const options = {
    paths,
    clock: systemClock,
    random: systemRandom,
    disk: ownedDisk,
    log: silentLog,
    nodes: silentNodes,
    monds: noMonds,
  }
  const handed = { jobs: { ...jobs, entry: '' }, planJob: async () => [] }
  await expect(startLuxid({ ...options, ...handed })).rejects.toThrow('another luxid already serves')
})
