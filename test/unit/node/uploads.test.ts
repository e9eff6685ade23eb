// Which files a master may write on a node, and how they are written.
import * as fs from 'node:fs'
import type { NodeContext } from '../../../src/node/context'
import { readServerPem, writeServerPem } from '../../../src/lib/server-pem'
import { certificateDigest, createCertificate } from '../../../src/lib/tls'
import { dispatch } from '../../../src/node/dispatch'
import type { ArgsOf, CallName } from '../../../src/rpc/node/calls'
import { decodeAnswer, encodeCall } from '../../../src/rpc/node/protocol'
import { type TestNode, testNode } from '../../support/node-context'

let node: TestNode
beforeEach(() => void (node = testNode()))
afterEach(() => node.remove())

const call = <C extends CallName>(name: C, ...args: ArgsOf<C>): Promise<unknown> => callIn(node.context, name, ...args)

async function callIn<C extends CallName>(context: NodeContext, name: C, ...args: ArgsOf<C>): Promise<unknown> {
  const answer = decodeAnswer(await dispatch(context, name, encodeCall(name, args, node.paths)))
  if (!answer.ok) throw new Error(answer.text)
  return answer.payload
}

test('an upload replaces the file with its mode and time', async () => {
  const file = node.paths.local('/etc/ganeti/kvm-vif-bridge')
  await call('upload_file_single', '/etc/ganeti/kvm-vif-bridge', 'secret\n', 0o400, 'root', 'root', null, 1000)
  const info = fs.statSync(file)
  expect(fs.readFileSync(file, 'utf8')).toBe('secret\n')
  expect([info.mode & 0o777, info.mtimeMs]).toEqual([0o400, 1_000_000])
})

test.each(['/etc/passwd', '/root/.ssh/authorized_keys', '/var/lib/ganeti/ssconf_master_node'])(
  'an upload of %s is refused and nothing is written',
  async (file) => {
    const upload = call('upload_file_single', file, 'x', 0o600, 'root', 'root', null, null)
    await expect(upload).rejects.toThrow('not on the list of uploads')
    expect(fs.existsSync(node.paths.local(file))).toBe(false)
  },
)

describe('a file that an administrator has distributed', () => {
  const copy = { base64: Buffer.from([0, 255, 10]).toString('base64'), owner: 'root', group: 'root', mode: 0o640 }
  const write = (file: string, changes = {}) => call('gantry_distributed_write', file, { ...copy, ...changes })

  test("is written where the node's administrator allows it, whatever its content, and read as it is", async () => {
    node.put('/etc/ganeti/distribute-allowed', '# comment\n/etc/app/\n/etc/one.conf\n')
    for (const file of ['/etc/app/sub/key', '/etc/one.conf']) {
      await write(file)
      expect([...fs.readFileSync(node.paths.local(file))]).toEqual([0, 255, 10])
      expect(fs.statSync(node.paths.local(file)).mode & 0o777).toBe(0o640)
      await expect(call('gantry_distributed_read', file)).resolves.toMatchObject({ base64: copy.base64, mode: 0o640 })
    }
    await expect(call('gantry_distributed_read', '/etc/app/missing')).resolves.toBeNull()
  })

  test.each([
    ['/etc/apps/key', 'add it or its directory to /etc/ganeti/distribute-allowed on node node1.example.com'],
    ['/etc/ganeti/distribute-allowed', 'never distributed'],
    ['/etc/ganeti/file-storage-paths', 'never distributed'],
    ['/var/lib/ganeti/server.pem', 'never distributed'],
    ['/etc/app/out/key', 'a link leads to'],
    ['/etc/app/own/distribute-allowed', 'never distributed'],
    ['/etc/app/large', 'larger than'],
  ])('is refused as %s', async (file, why) => {
    node.put('/etc/ganeti/distribute-allowed', '/etc/app\n/etc/ganeti\n/var/lib/ganeti\n')
    node.put('/etc/elsewhere/x', 'x')
    fs.mkdirSync(node.paths.local('/etc/app'))
    fs.symlinkSync(node.paths.local('/etc/elsewhere'), node.paths.local('/etc/app/out'))
    fs.symlinkSync(node.paths.local('/etc/ganeti'), node.paths.local('/etc/app/own'))
    const base64 = file.endsWith('large') ? Buffer.alloc((1 << 20) + 1).toString('base64') : copy.base64
    await expect(write(file, { base64 })).rejects.toThrow(why)
    if (file.endsWith('large')) node.put(file, 'x'.repeat((1 << 20) + 1))
    await expect(call('gantry_distributed_read', file)).rejects.toThrow(why)
  })

  test('is refused where others may change the list, and with a mode that lends rights', async () => {
    node.put('/etc/ganeti/distribute-allowed', '/etc/app\n')
    await expect(write('/etc/app/key', { mode: 0o4755 })).rejects.toThrow('lends rights')
    fs.chmodSync(node.paths.local('/etc/ganeti/distribute-allowed'), 0o666)
    await expect(write('/etc/app/key')).rejects.toThrow('can be written by others')
  })

  test('is refused by root where its owner does not exist', async () => {
    node.put('/etc/ganeti/distribute-allowed', '/etc/app\n')
    const written = write('/etc/app/key', { owner: 'nosuch' })
    if (process.getuid?.() === 0) await expect(written).rejects.toThrow('no such account')
    else await written
  })
})

test('the cluster certificate is replaced only by one that is trusted, and that has its key', async () => {
  const [present, next, other] = await Promise.all(
    [1, 2, 3].map(async () => readServerPem(await createCertificate()).shown),
  )
  if (present === undefined || next === undefined || other === undefined) throw new Error('no certificates')
  const upload = (content: string) =>
    call('upload_file_single', '/var/lib/ganeti/server.pem', content, 0o600, 'root', 'root', null, null)
  const [first, both] = [undefined, next].map((one) => writeServerPem({ shown: present, next: one, trusted: [] }))
  await expect(upload(first ?? '')).rejects.toThrow('This node has no cluster certificate')
  fs.writeFileSync(node.paths.serverCert, first ?? '')
  await expect(upload('x')).rejects.toThrow('there is no certificate with its private key')
  await expect(upload(next.certificate + present.key)).rejects.toThrow('no certificate with its private key')
  for (const stranger of [next, other])
    await expect(upload(writeServerPem({ shown: stranger, next: present, trusted: [] }))).rejects.toThrow(
      'trusts already',
    )
  expect(fs.readFileSync(node.paths.serverCert, 'utf8')).toBe(first)
  await upload(both ?? '')
  await upload(writeServerPem({ shown: next, next: undefined, trusted: [present.certificate] }))
  expect(certificateDigest(fs.readFileSync(node.paths.serverCert))).toBe(certificateDigest(next.certificate))
})

test('ssconf files are written read-only, whichever form their values have', async () => {
  await call('write_ssconf_files', { master_node: 'node1', node_list: ['node1', 'node2'], cluster_tags: [] })
  expect(fs.readFileSync(node.paths.ssconf('node_list'), 'utf8')).toBe('node1\nnode2\n')
  expect(fs.readFileSync(node.paths.ssconf('cluster_tags'), 'utf8')).toBe('')
  expect(fs.statSync(node.paths.ssconf('master_node')).mode & 0o777).toBe(0o444)
  expect(node.context.ssconf.lines('node_list')).toEqual(['node1', 'node2'])
  await call('write_ssconf_files', { node_list: 'node3\n' })
  expect(node.context.ssconf.lines('node_list')).toEqual(['node3'])
})

test('one wrong ssconf key refuses all', async () => {
  await expect(call('write_ssconf_files', { node_list: 'x', '../x': 'y' })).rejects.toThrow('Not a key of ssconf')
  expect(fs.existsSync(node.paths.ssconf('node_list'))).toBe(false)
})

test('job files are written, archived and purged, only inside the queue', async () => {
  await call('jobqueue_update', '/var/lib/ganeti/queue/job-1', '{}')
  await call('jobqueue_rename', [['/var/lib/ganeti/queue/job-1', '/var/lib/ganeti/queue/archive/0/job-1']])
  expect(fs.readFileSync(`${node.paths.archiveDir}/0/job-1`, 'utf8')).toBe('{}')
  await expect(call('jobqueue_update', '/var/lib/ganeti/config.data', '{}')).rejects.toThrow(
    'not a file of the job queue',
  )
  const outwards = call('jobqueue_rename', [['/var/lib/ganeti/queue/archive/0/job-1', '/etc/cron.d/x']])
  await expect(outwards).rejects.toThrow('not a file of the job queue')
  await call('jobqueue_update', '/var/lib/ganeti/queue/job-2', '{}')
  await call('jobqueue_purge')
  expect(fs.readdirSync(node.paths.queueDir)).toEqual([])
})

test('the end of a full copy of the queue takes away what the master does not have', async () => {
  const { queueDir } = node.paths
  for (const name of ['serial', 'job-1', 'job-2', 'job-3']) await call('jobqueue_update', `${queueDir}/${name}`, 'x')
  await call('gantry_jobqueue_keep', [`${queueDir}/job-2`])
  expect(fs.readdirSync(queueDir).sort()).toEqual(['job-2', 'serial'])
})

describe('what a full copy of the queue would destroy is kept, and named', () => {
  const job = (seconds: number, end_timestamp: unknown = null) =>
    JSON.stringify({ id: 1, received_timestamp: [seconds, 0], end_timestamp })
  const kept = () =>
    fs
      .readdirSync(node.paths.dataDir)
      .filter((name) => name.startsWith('job-'))
      .map((name) => [name, fs.readFileSync(`${node.paths.dataDir}/${name}`, 'utf8')])
  const named = async () => {
    const answer = (await call('node_verify', { 'gantry-set-aside': null }, 'cluster', {})) as Record<string, unknown>
    return answer['gantry-set-aside']
  }

  test('another job with the same number', async () => {
    const file = `${node.paths.queueDir}/job-1`
    await call('jobqueue_update', file, job(5))
    await call('gantry_jobqueue_write', [[file, job(5, [6, 0])]])
    expect(kept()).toEqual([])
    await call('gantry_jobqueue_write', [[file, job(9)]])
    expect(fs.readFileSync(file, 'utf8')).toBe(job(9))
    const [[name = ''] = []] = kept()
    expect(kept()).toEqual([[expect.stringMatching(/^job-1\.rejected-\d+$/), job(5, [6, 0])]])
    expect(fs.statSync(`${node.paths.dataDir}/${name}`).mode & 0o777).toBe(0o600)
    expect(await named()).toEqual([`/var/lib/ganeti/${name}`])
  })

  test('a job that nobody can read and the master does not have', async () => {
    const [torn, refused] = [`${node.paths.queueDir}/job-1`, `${node.paths.queueDir}/job-2`]
    await call('jobqueue_update', torn, job(5).slice(0, 20))
    await call('jobqueue_update', refused, job(5))
    await call('gantry_jobqueue_keep', [])
    expect(fs.readdirSync(node.paths.queueDir)).toEqual([])
    expect(kept()).toEqual([[expect.stringMatching(/^job-1\.rejected-\d+$/), job(5).slice(0, 20)]])
  })
})

test('a write that was asked for earlier never ends after a later one', async () => {
  const { write } = node.context.disk
  let release: () => void = () => undefined
  const slow = new Promise<void>((resolve) => (release = resolve))
  const disk = {
    ...node.context.disk,
    write: async (...args: Parameters<typeof write>) => {
      if (args[1] === 'old') await slow
      return write(...args)
    },
  }
  const file = `${node.paths.queueDir}/job-1`
  const context = { ...node.context, disk }
  const written = [
    callIn(context, 'jobqueue_update', file, 'old'),
    callIn(context, 'gantry_jobqueue_write', [[file, 'new']]),
  ]
  // Time enough for the later one, if nothing held it up.
  await new Promise((resolve) => setTimeout(resolve, 50))
  release()
  await Promise.all(written)
  expect(fs.readFileSync(file, 'utf8')).toBe('new')
})

test('what a dead luxid sent late does not bring a job back that has ended', async () => {
  const file = `${node.paths.queueDir}/job-1`
  const running = '{"end_timestamp":null}'
  const ended = '{"end_timestamp":[5,0]}'
  await call('gantry_jobqueue_write', [[file, ended]])
  await call('gantry_jobqueue_append', [[file, running]])
  await call('gantry_jobqueue_fold')
  expect(fs.readFileSync(file, 'utf8')).toBe(ended)
  // A full copy knows what is true.
  await call('gantry_jobqueue_write', [[file, running]])
  await call('gantry_jobqueue_append', [[file, ended]])
  await call('gantry_jobqueue_fold')
  expect(fs.readFileSync(file, 'utf8')).toBe(ended)
})

test('a file that the master sends in a hurry is durable at once, and in its place when anything else is done to the queue', async () => {
  const file = `${node.paths.queueDir}/job-1`
  const moved = `${node.paths.archiveDir}/0/job-1`
  await call('jobqueue_update', file, 'first')
  await call('gantry_jobqueue_append', [[file, 'second']])
  await call('gantry_jobqueue_append', [[file, 'third']])
  expect(fs.readFileSync(file, 'utf8')).toBe('first')
  await call('gantry_jobqueue_fold')
  expect(fs.readFileSync(file, 'utf8')).toBe('third')
  await call('gantry_jobqueue_append', [[file, 'last']])
  await call('jobqueue_rename', [[file, moved]])
  expect([fs.existsSync(file), fs.readFileSync(moved, 'utf8')]).toEqual([false, 'last'])
  await expect(call('gantry_jobqueue_append', [[`${node.paths.dataDir}/elsewhere`, '']])).rejects.toThrow('job queue')
})

test.each([
  ['its master was replaced', (state: { late?: string }) => void (state.late = 'it is not the master')],
  ['its luxid has died', (_: unknown, gone: AbortController) => gone.abort()],
])('a change of the queue that has waited is not made when meanwhile %s', async (_, happens) => {
  const file = `${node.paths.queueDir}/job-1`
  await call('jobqueue_update', file, 'first')
  let release: () => void = () => undefined
  const before = new Promise<void>((resolve) => (release = resolve))
  const held = node.context.queueJournal.alone(() => before)
  const state: { late?: string } = {}
  const gone = new AbortController()
  const waiting = { ...node.context, caller: gone.signal, late: () => state.late }
  const changes = [
    callIn(waiting, 'gantry_jobqueue_append', [[file, 'late']]),
    callIn(waiting, 'gantry_jobqueue_write', [[file, 'late']]),
    callIn(waiting, 'jobqueue_update', file, 'late'),
    callIn(waiting, 'gantry_jobqueue_keep', []),
    callIn(waiting, 'jobqueue_rename', [[file, `${node.paths.archiveDir}/0/job-1`]]),
    callIn(waiting, 'jobqueue_set_drain_flag', true),
  ]
  const ended = Promise.allSettled(changes)
  happens(state, gone)
  release()
  await held
  for (const { status } of await ended) expect(status).toBe('rejected')
  await call('gantry_jobqueue_fold')
  expect([fs.readFileSync(file, 'utf8'), fs.readdirSync(node.paths.queueDir)]).toEqual(['first', ['job-1']])
})

test('the drain flag and the pause of the watcher come and go', async () => {
  await call('jobqueue_set_drain_flag', true)
  expect(fs.existsSync(`${node.paths.queueDir}/drain`)).toBe(true)
  await call('jobqueue_set_drain_flag', false)
  expect(fs.existsSync(`${node.paths.queueDir}/drain`)).toBe(false)
  await call('set_watcher_pause', 1234.5)
  await expect(call('get_watcher_pause')).resolves.toBe(1234)
  await call('set_watcher_pause', null)
  await expect(call('get_watcher_pause')).resolves.toBeNull()
})
