// Jobs are durable, here and at candidates, before they are acknowledged.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dequeued, newJob } from '../../../src/jobs/job'
import { encodeJob } from '../../../src/jobs/job-file'
import { livelockName } from '../../../src/jobs/livelocks'
import { noReplicas, Replicas, type QueueFile } from '../../../src/jobs/replicas'
import { QueueStore } from '../../../src/jobs/store'
import { type Clock, nextTurn, systemClock } from '../../../src/lib/clock'
import { type Disk, systemDisk } from '../../../src/lib/disk'
import { journalContents } from '../../../src/lib/file/journal'
import { silentLog } from '../../../src/lib/log'
import type { Paths } from '../../../src/lib/paths'
import { JOB_FILES_READ_AT_ONCE } from '../../../src/model/limits/queries'
import { QUEUE_SEEN_FILES_MAX } from '../../../src/model/limits/queue'
import { nodeUuid } from '../../../src/model/ids'
import { NodeCallError, type NodeTarget } from '../../../src/rpc/node/client'
import { nodesOf } from '../../support/fake-nodes'
import { eventually } from '../../support/faults'
import { delay, queueText, removeRoot, temporaryPaths } from '../../support/queue-in-process'

let paths: Paths

beforeEach(async () => {
  paths = temporaryPaths()
  await systemDisk.makeDirectory(paths.queueDir)
})
afterEach(() => removeRoot(paths))

const job = (id: number) => newJob(id, [delay(0)], [1, 1])
const target = (name: string): NodeTarget => ({ uuid: nodeUuid(name), name, primary_ip: '127.0.0.1', offline: false })

/** Candidates that keep files in memory, and that can be told to fail. */
class FakeCandidates {
  readonly files = new Map<string, Map<string, string>>()
  readonly down = new Set<string>()
  /** These run Ganeti's noded. */
  readonly old = new Set<string>()
  /** The network fails for so many moves. */
  failingMoves = 0
  /** Nobody is answered before. */
  answering = Promise.resolve()
  calls = 0
  /** Arguments that are the same object are written once. */
  readonly args = new Set<unknown>()

  readonly client = nodesOf(async ({ name }, call, args) => {
    this.calls++
    this.args.add(args)
    await this.answering
    if (this.down.has(name)) throw new Error('does not answer')
    const [first, second] = args as unknown as [string, string]
    if (call === 'jobqueue_update') this.of(name).set(first, second)
    if (call === 'gantry_jobqueue_write' || call === 'gantry_jobqueue_append') {
      if (this.old.has(name)) throw new NodeCallError(name, call, 'the node does not know this call', false)
      for (const [file, content] of args[0] as readonly QueueFile[]) this.of(name).set(file, content)
    }
    if (call === 'gantry_jobqueue_keep')
      for (const file of [...this.of(name).keys()])
        if (!file.includes('/archive/') && !(args[0] as readonly string[]).includes(file)) this.of(name).delete(file)
    if (call === 'jobqueue_rename')
      for (const [from, to] of args[0] as readonly (readonly [string, string])[]) this.move(this.of(name), from, to)
    return { ok: true, payload: null }
  })

  private move(files: Map<string, string>, from: string, to: string): void {
    const content = files.get(from)
    if (this.failingMoves-- > 0) throw new Error('no answer')
    if (content === undefined) throw new Error(`there is no ${from}`)
    files.delete(from)
    files.set(to, content)
  }

  of(name: string): Map<string, string> {
    const files = this.files.get(name) ?? new Map<string, string>()
    this.files.set(name, files)
    return files
  }
}

async function openReplicas(
  candidates: FakeCandidates,
  files: () => Iterable<QueueFile> = () => [],
  takeBack: (target: NodeTarget) => Promise<void> = async () => undefined,
) {
  const replicas: Replicas = new Replicas({
    nodes: candidates.client,
    clock: systemClock,
    log: silentLog,
    *files() {
      for (const [file, content] of files()) yield [file, async () => content] as const
    },
    read: async (file) => `content of ${file}`,
    takeBack,
  })
  return { replicas }
}

const inSync = async (replicas: Replicas, ...names: string[]) => {
  await eventually('all candidates are in sync', () => replicas.outOfSync().length === 0 || undefined, 5)
  expect(replicas.targets().map(({ name }) => name)).toEqual(names)
}

describe('the store', () => {
  const open = (disk: Disk = systemDisk, update = noReplicas.update) =>
    new QueueStore(disk, paths, silentLog, { ...noReplicas, update }, systemClock)

  test('writes all jobs that are saved during one write together, and files later, each once', async () => {
    const appended: string[][] = []
    const written: string[] = []
    let [begin, release] = [() => {}, () => {}]
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const gate = new Promise<void>((resolve) => (release = resolve))
    const slow: Disk = {
      ...systemDisk,
      async append(file, data) {
        begin()
        appended.push([...journalContents(data.toString()).keys()])
        await gate
        return systemDisk.append(file, data)
      },
      write(file, data, options) {
        if (options?.durable !== false) written.push(file.slice(paths.queueDir.length + 1))
        return systemDisk.write(file, data, options)
      },
    }
    const store = open(slow)
    const first = store.save(job(1))
    await begun
    const rest = [store.save(job(2)), store.save(job(3)), store.save(job(2)), store.saveSerial(3)]
    expect(appended).toEqual([['job-1']])
    release()
    await Promise.all([first, ...rest])
    expect(appended).toEqual([['job-1'], ['job-2', 'job-3', 'serial']])
    await store.save(job(1))
    expect(written).toEqual([])
    await store.close()
    expect(written.sort()).toEqual(['job-1', 'job-2', 'job-3', 'serial'])
    expect(existsSync(paths.queueJournal)).toBe(false)
  })

  test('shows a job in its file at once while there is little to do', async () => {
    const store = open()
    await store.save(job(1))
    expect(readFileSync(`${paths.queueDir}/job-1`, 'utf8')).toBe(encodeJob(job(1)))
    const more = Array.from({ length: QUEUE_SEEN_FILES_MAX }, (_, i) => i + 2)
    for (const id of more) await store.save(job(id))
    const last = `${paths.queueDir}/job-${more.at(-1)}`
    expect(existsSync(last)).toBe(false)
    await store.close()
    expect(readFileSync(last, 'utf8')).toBe(encodeJob(job(more.length + 1)))
  })

  test('while other jobs run, a commit waits for what they have to write, and no longer', async () => {
    const appended: string[][] = []
    const disk: Disk = {
      ...systemDisk,
      append(file, data) {
        appended.push([...journalContents(data.toString()).keys()])
        return systemDisk.append(file, data)
      },
    }
    let others = 2
    const timers: (() => void)[] = []
    const clock: Clock = {
      ...systemClock,
      after(_delay, action) {
        timers.push(action)
        return { cancel: () => undefined }
      },
    }
    const store = new QueueStore(disk, paths, silentLog, noReplicas, clock, () => others)
    const first = store.save(job(1))
    await nextTurn()
    others = 1
    const second = store.save(job(2))
    await nextTurn()
    expect(appended).toEqual([])
    others = 0
    await Promise.all([first, second, store.save(job(3))])
    expect(appended).toEqual([['job-1', 'job-2', 'job-3']])
    others = 1
    timers.length = 0
    const late = store.save(job(4))
    await nextTurn()
    timers[0]?.()
    await late
    others = 0
    await store.save(job(5))
    expect(appended.slice(1)).toEqual([['job-4'], ['job-5']])
    await store.close()
  })

  test('changes that are not in the files yet are found by whoever comes next, and those that a process wrote alone count for more', async () => {
    const store = open()
    await Promise.all([1, 2, 3, 4].map((id) => store.save(job(id))))
    const alone = dequeued(job(2), [3, 3])
    writeFileSync(`${paths.queueDir}/job-2`, encodeJob(alone))
    const next = open()
    expect(await next.load()).toMatchObject({ jobs: [job(1), job(3), job(4)], ended: [{ id: 2 }] })
    expect([await next.read(1), await next.read(2)]).toEqual([job(1), alone])
    expect(await next.text(2)).toBe(encodeJob(alone))
    await next.archive([2], () => undefined)
    await next.close()
    expect(existsSync(`${paths.queueDir}/job-2`)).toBe(false)
    expect([await next.read(1), await next.readArchived(2)]).toEqual([job(1), alone])
  })

  test('acknowledges a job only when the candidates have it', async () => {
    let [ask, release] = [() => {}, () => {}]
    const requested = new Promise<void>((resolve) => (ask = resolve))
    const gate = new Promise<void>((resolve) => (release = resolve))
    const store = open(systemDisk, () => {
      ask()
      return gate
    })
    let acknowledged = false
    const saved = store.save(job(1)).then(() => (acknowledged = true))
    await requested
    await eventually('the job is here', () => queueText(paths, 'job-1'))
    // Time enough for an answer, if it came too early.
    await systemClock.sleep(20)
    expect(acknowledged).toBe(false)
    release()
    await saved
  })

  test('a full disk fails the jobs that it hits and no others', async () => {
    let room = true
    const full: Disk = {
      ...systemDisk,
      append: (file, data) => (room ? systemDisk.append(file, data) : Promise.reject(new Error('ENOSPC'))),
    }
    const store = open(full)
    const save = async (id: number, hasRoom: boolean) => {
      room = hasRoom
      return store.save(job(id)).then(() => 'saved', String)
    }
    expect([await save(1, true), await save(2, false), await save(3, true)]).toEqual([
      'saved',
      'Error: ENOSPC',
      'saved',
    ])
    expect([queueText(paths, 'job-2'), queueText(paths, 'job-3')]).toEqual([undefined, encodeJob(job(3))])
  })

  test('nothing more is taken when the files cannot be written and too much waits for that', async () => {
    const stuck: Disk = { ...systemDisk, write: () => Promise.reject(new Error('EIO')) }
    const store = new QueueStore(stuck, paths, silentLog, noReplicas, systemClock, undefined, 1 << 20)
    const large = newJob(1, [{ OP_ID: 'OP_TEST_DELAY', comment: 'x'.repeat(1 << 20) }], [1, 1])
    await store.save(large)
    await expect(store.save(job(2))).rejects.toThrow('cannot be written')
    await store.close()
  })

  test('loads jobs in order, and takes the last id from whichever is greater, files or serial', async () => {
    const store = open()
    for (const id of [10, 9, 2]) await store.save(job(id))
    const none = { corrupt: [], ended: [], holders: new Map() }
    expect(await store.load()).toEqual({ jobs: [2, 9, 10].map(job), lastId: 10, drained: false, ...none })
    await store.saveSerial(500)
    await store.setDrained(true)
    expect(await store.load()).toMatchObject({ lastId: 500, drained: true })
  })

  test('reads many files of a long queue at a time, and not all of them', async () => {
    for (let id = 1; id <= 2 * JOB_FILES_READ_AT_ONCE; id++)
      writeFileSync(`${paths.queueDir}/job-${id}`, encodeJob(job(id)))
    let [reading, most] = [0, 0]
    const disk: Disk = {
      ...systemDisk,
      read: async (file) => {
        most = Math.max(most, ++reading)
        await nextTurn()
        return systemDisk.read(file).finally(() => reading--)
      },
    }
    const { jobs } = await new QueueStore(disk, paths, silentLog, noReplicas, systemClock).load()
    expect(jobs.map(({ id }) => id)).toEqual(Array.from({ length: 2 * JOB_FILES_READ_AT_ONCE }, (_, at) => at + 1))
    expect(most).toBe(JOB_FILES_READ_AT_ONCE)
  })

  test('tells from the live-locks alone which process has which job', async () => {
    await systemDisk.makeDirectory(paths.livelockDir)
    const livelock = `${paths.livelockDir}/${livelockName(7, 1700000001, 42)}`
    for (const file of [
      livelock,
      `${paths.livelockDir}/${livelockName(7, 1700000000, 41)}`,
      `${paths.livelockDir}/other`,
    ])
      writeFileSync(file, '')
    expect((await open().load()).holders).toEqual(new Map([[7, { livelock, process_id: 42 }]]))
  })

  test('puts job 20000 into the folder of its ten thousand', async () => {
    const store = open()
    await store.save(job(20000))
    await store.archive([20000], () => undefined)
    expect(existsSync(`${paths.archiveDir}/2/job-20000`)).toBe(true)
    expect(await store.archivedIds()).toEqual([20000])
    expect((await store.readArchived(20000))?.id).toBe(20000)
    expect(await store.read(20000)).toBeUndefined()
  })

  test('a job whose file is gone, or was moved though that failed, does not stay in the way of others', async () => {
    let fails = false
    const disk: Disk = {
      ...systemDisk,
      async rename(from, to) {
        await systemDisk.rename(from, to)
        if (fails) throw new Error('EIO')
      },
    }
    const store = open(disk)
    for (const id of [1, 2]) await store.save(job(id))
    await store.fold()
    const archived: number[] = []
    const archive = (id: number) => store.archive([id], () => void archived.push(id))
    fails = true
    await expect(archive(1)).rejects.toThrow('EIO')
    fails = false
    await systemDisk.remove(`${paths.queueDir}/job-2`)
    for (const id of [1, 2]) await archive(id)
    expect(archived).toEqual([1, 2])
    expect(await store.archivedIds()).toEqual([1])
  })
})

describe('copies on master candidates', () => {
  test('new candidates get the whole queue before they count as in sync', async () => {
    const candidates = new FakeCandidates()
    const { replicas } = await openReplicas(candidates, () => [['/q/serial', '5\n'] as const])
    replicas.setCandidates([target('a'), target('b')])
    expect(replicas.targets()).toEqual([])
    await inSync(replicas, 'a', 'b')
    expect(candidates.of('a').get('/q/serial')).toBe('5\n')
    await replicas.update([['/q/job-1', 'x']])
    expect(candidates.of('b').get('/q/job-1')).toBe('x')
    replicas.close()
  })

  test('one that fails is out of sync, and is not asked again', async () => {
    const candidates = new FakeCandidates()
    const { replicas } = await openReplicas(candidates)
    replicas.setCandidates([target('a'), target('b')])
    await inSync(replicas, 'a', 'b')
    candidates.down.add('b')
    await replicas.update([['/q/job-1', 'x']])
    expect(replicas.outOfSync()).toEqual(['b'])
    const calls = candidates.calls
    await replicas.update([['/q/job-2', 'x']])
    expect(candidates.calls).toBe(calls + 1)
    replicas.close()
  })

  test('a message to all is the same for all', async () => {
    const candidates = new FakeCandidates()
    const { replicas } = await openReplicas(candidates)
    replicas.setCandidates([target('a'), target('b')])
    await inSync(replicas, 'a', 'b')
    candidates.args.clear()
    await replicas.update([['/q/job-1', '1']])
    expect([...candidates.args].map((args) => Object.isFrozen(args))).toEqual([true])
    replicas.close()
  })

  test('several files travel in one call, and one by one to a node that does not know it', async () => {
    const candidates = new FakeCandidates()
    const { replicas } = await openReplicas(candidates)
    replicas.setCandidates([target('a'), target('b')])
    await inSync(replicas, 'a', 'b')
    candidates.old.add('b')
    const files: QueueFile[] = [1, 2, 3].map((n) => [`/q/job-${n}`, String(n)])
    for (const [requested, calls] of [
      ['for the first time', 1 + 1 + 3],
      ['again', 1 + 3],
    ] as const) {
      candidates.calls = 0
      await replicas.update(files)
      expect(`${requested}: ${candidates.calls}`).toBe(`${requested}: ${calls}`)
    }
    expect([...candidates.of('a')]).toEqual(files)
    expect([...candidates.of('b')]).toEqual(files)
    expect(replicas.outOfSync()).toEqual([])
    replicas.close()
  })

  test('writes while a copy is under way reach the candidate after the copy', async () => {
    const candidates = new FakeCandidates()
    let writing: Promise<void> | undefined
    const { replicas } = await openReplicas(candidates, function* () {
      yield ['/q/job-1', 'old'] as const
      writing = replicas.update([['/q/job-1', 'new']])
      yield ['/q/job-2', 'copied'] as const
    })
    replicas.setCandidates([target('a')])
    await inSync(replicas, 'a')
    await writing
    expect(Object.fromEntries(candidates.of('a'))).toEqual({ '/q/job-1': 'new', '/q/job-2': 'copied' })
    replicas.close()
  })

  test('a luxid that was restarted trusts no copy: a write may have been under way when the former one died', async () => {
    const candidates = new FakeCandidates()
    candidates.of('a').set('/q/job-1', 'running')
    const { replicas } = await openReplicas(candidates, () => [['/q/job-1', 'ended'] as const])
    replicas.setCandidates([target('a')])
    expect(replicas.targets()).toEqual([])
    await replicas.catchUp()
    expect(replicas.targets()).toEqual([target('a')])
    expect(candidates.of('a').get('/q/job-1')).toBe('ended')
    replicas.close()
  })

  test('a candidate that does not tell what it has keeps it; told once, it is not asked again', async () => {
    const candidates = new FakeCandidates()
    candidates.of('a').set('/q/job-7', 'only here')
    let [requested, silent] = [0, true]
    const { replicas } = await openReplicas(
      candidates,
      () => [['/q/job-1', 'x'] as const],
      async () => {
        requested++
        if (silent) throw new Error('does not tell')
      },
    )
    replicas.setCandidates([target('a')])
    await replicas.catchUp()
    expect([[...candidates.of('a').keys()], replicas.outOfSync()]).toEqual([['/q/job-7'], ['a']])
    expect(replicas.status()).toMatchObject([{ name: 'a', in_sync: false, reason: 'does not tell' }])
    silent = false
    await replicas.catchUp()
    replicas.retract('job 2 was refused')
    await replicas.catchUp()
    expect([[...candidates.of('a').keys()], replicas.outOfSync(), requested]).toEqual([['/q/job-1'], [], 2])
    replicas.close()
  })

  test('files that were refused here are taken away from the candidates', async () => {
    const candidates = new FakeCandidates()
    const { replicas } = await openReplicas(candidates, () => [['/q/job-1', 'x'] as const])
    replicas.setCandidates([target('a')])
    await replicas.catchUp()
    await replicas.update([['/q/job-2', 'refused here']])
    expect([...candidates.of('a').keys()]).toEqual(['/q/job-1', '/q/job-2'])
    replicas.retract('job 2 was refused')
    expect(replicas.targets()).toEqual([])
    await replicas.catchUp()
    expect([...candidates.of('a').keys()]).toEqual(['/q/job-1'])
    replicas.close()
  })

  test('the same where a copy was under way, which is made anew then', async () => {
    const candidates = new FakeCandidates()
    const refused = ['/q/job-2', 'refused here'] as const
    let failing = true
    const { replicas } = await openReplicas(candidates, function* () {
      yield ['/q/job-1', 'x'] as const
      if (!failing) return
      failing = false
      void replicas.update([refused])
      replicas.retract('job 2 was refused')
    })
    replicas.setCandidates([target('a')])
    await replicas.catchUp()
    expect([[...candidates.of('a').keys()], replicas.outOfSync()]).toEqual([['/q/job-1', '/q/job-2'], ['a']])
    await replicas.catchUp()
    expect([[...candidates.of('a').keys()], replicas.outOfSync()]).toEqual([['/q/job-1'], []])
    replicas.close()
  })

  test('a node that is a candidate again gets its copy after what it was still sent as the former one', async () => {
    const candidates = new FakeCandidates()
    let copies = 0
    let answer: () => void = () => undefined
    const { replicas } = await openReplicas(candidates, function* () {
      copies++
      yield ['/q/job-1', copies === 1 ? 'old' : 'new'] as const
    })
    candidates.answering = new Promise((resolve) => (answer = resolve))
    replicas.setCandidates([target('a')])
    const copying = replicas.catchUp()
    await nextTurn()
    replicas.setCandidates([])
    replicas.setCandidates([target('a')])
    const again = replicas.catchUp()
    expect(copies).toBe(1)
    answer()
    await Promise.all([copying, again])
    await replicas.catchUp()
    expect([replicas.outOfSync(), candidates.of('a').get('/q/job-1')]).toEqual([[], 'new'])
    replicas.close()
  })

  test('jobs that were archived meanwhile are moved on the candidate that comes back, also when it never had them', async () => {
    const candidates = new FakeCandidates()
    candidates.down.add('a')
    candidates.of('a').set('/q/job-1', 'old')
    const { replicas } = await openReplicas(candidates, () => [['/q/serial', '1\n'] as const])
    replicas.setCandidates([target('a')])
    await replicas.catchUp()
    await replicas.rename([
      ['/q/job-1', '/q/archive/0/job-1'],
      ['/q/job-2', '/q/archive/0/job-2'],
    ])
    candidates.down.delete('a')
    // A move that is not answered may not have happened, so the candidate is not in sync.
    candidates.failingMoves = 1
    await replicas.catchUp()
    expect(replicas.outOfSync()).toEqual(['a'])
    await replicas.catchUp()
    expect(replicas.targets()).toEqual([target('a')])
    expect(Object.fromEntries(candidates.of('a'))).toEqual({
      '/q/serial': '1\n',
      '/q/archive/0/job-1': 'content of /q/archive/0/job-1',
      '/q/archive/0/job-2': 'content of /q/archive/0/job-2',
    })
    replicas.close()
  })
})
