// kill -9 of luxid and of job processes at random moments: every job that was accepted ends exactly once.
import { type ChildProcess, spawn } from 'node:child_process'
import * as path from 'node:path'
import { isFinished, type Job, jobStatus } from '../../../src/jobs/job'
import { systemClock } from '../../../src/lib/clock'
import { isServed } from '../../../src/lib/net/json-socket'
import type { Paths } from '../../../src/lib/paths'
import { type Random, seededRandom } from '../../../src/lib/random'
import { LuxiClient } from '../../../src/rpc/luxi/client'
import { SEED, tries } from '../../support/effort'
import {
  delay,
  executed,
  lastWritten,
  livelocks,
  removeRoot,
  runTypescript,
  temporaryPaths,
  writtenJobs,
} from '../../support/queue-in-process'

const KILLS = tries(24, 400)
const tinyLuxid = path.join(__dirname, '../../support/tiny-luxid.ts')

let paths: Paths
let luxid: ChildProcess | undefined

afterEach(async () => {
  luxid?.kill('SIGKILL')
  await removeRoot(paths)
})

test('every accepted job ends exactly once, whatever is killed', async () => {
  const random = seededRandom(SEED)
  paths = temporaryPaths()
  luxid = await startLuxid()
  const accepted = new Set<number>()
  const work = { go: true }
  const submitting = submitUntil(work, accepted, random)
  for (let kill = 0; kill < KILLS; kill++) {
    await systemClock.sleep(50 + random.below(350))
    if (random.below(3) > 0) killJobProcess(random)
    else {
      luxid.kill('SIGKILL')
      luxid = await startLuxid()
    }
  }
  work.go = false
  await submitting
  const ends = await endsOf([...accepted])
  check(ends)
  await systemClock.sleep(500)
  const later = new Map([...accepted].map((id) => [id, fileOf(id)]))
  expect(later).toEqual(ends)
  expect(livelocks(paths).filter((name) => name.startsWith('job'))).toEqual(await servedLivelocks())
})

async function startLuxid(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...runTypescript, tinyLuxid, paths.root, paths.hostname], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (let i = 0; i < 500; i++) {
    if (await isServed(paths.socket('query'))) return child
    await systemClock.sleep(20)
  }
  throw new Error('luxid does not come up')
}

/** An answer that was lost says nothing about the job; only acknowledged ones are promised. */
async function submitUntil(work: { go: boolean }, accepted: Set<number>, random: Random): Promise<void> {
  while (work.go) {
    const luxi = new LuxiClient({ clock: systemClock, path: paths.socket('query') })
    try {
      while (work.go) {
        const ops = Array.from({ length: 1 + random.below(2) }, () => delay(random.below(200) / 1000))
        const jobs = [ops, [delay(0.01, { depends: [[-1, []]] })], [delay(0.05, { repeat: 100 })]]
        for (const [ok, id] of await luxi.submitManyJobs(jobs)) if (ok) accepted.add(id)
        await systemClock.sleep(random.below(150))
      }
    } catch {
      await systemClock.sleep(50)
    } finally {
      luxi.close()
    }
  }
}

function killJobProcess(random: Random): void {
  const busy = writtenJobs(paths)
    .map(fileOf)
    .filter((job) => !isFinished(job) && job.process_id !== undefined)
  const victim = busy[random.below(Math.max(1, busy.length))]
  if (victim?.process_id === undefined) return
  try {
    process.kill(victim.process_id, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

const fileOf = (id: number): Job => lastWritten(paths, id)

async function endsOf(ids: readonly number[]): Promise<Map<number, Job>> {
  for (let i = 0; i < 600; i++) {
    if (ids.every((id) => isFinished(fileOf(id)))) break
    await systemClock.sleep(100)
  }
  return new Map(ids.map((id) => [id, fileOf(id)]))
}

function check(ends: Map<number, Job>): void {
  const ran = executed(paths)
  const counts = { success: 0, error: 0 }
  expect(ran.filter((line, i) => ran.indexOf(line) !== i)).toEqual([])
  for (const job of ends.values()) {
    const status = jobStatus(job)
    expect([job.id, status]).toEqual([job.id, expect.stringMatching(/^(success|error)$/)])
    counts[status === 'success' ? 'success' : 'error']++
    expect(job.end_timestamp).not.toBeNull()
    for (const [index, op] of job.ops.entries()) {
      if (op.status === 'success') expect(ran).toContain(`${job.id}.${index}`)
      else expect(String(op.result)).toMatch(/detected death of job|Preceding opcode failed/)
    }
  }
  process.stdout.write(`${ends.size} jobs: ${counts.success} succeeded, ${counts.error} died with their process\n`)
  expect(ends.size).toBeGreaterThan(20)
}

async function servedLivelocks(): Promise<string[]> {
  const names = livelocks(paths)
  const served = await Promise.all(names.map((name) => isServed(`${paths.livelockDir}/${name}`)))
  return names.filter((_, i) => served[i])
}
