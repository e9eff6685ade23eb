// harep beside a real cluster: what tags allow is repaired, and tags tell how far it is.
import { spawn } from 'node:child_process'
import * as path from 'node:path'
import type { EmbeddedCluster } from '../support/embedded-cluster'
import { DEBIAN_HTOOLS, HTOOLS_PACKAGE, debianPresent } from '../support/htools'
import { MIRRORED_INSTANCE as INSTANCE, startMirrored } from '../support/mirrored-state'
import { testWith } from '../support/needs'

const PREFIX = 'ganeti:watcher:autorepair:'

let cluster: EmbeddedCluster

beforeAll(async () => void (cluster = await startMirrored()))
afterAll(() => cluster.remove())

afterEach(async () => {
  const tags = (await tagsOf(INSTANCE)).filter((tag) => tag.startsWith(PREFIX))
  if (tags.length > 0) await change('OP_TAGS_DEL', tags)
  for (const node of ['node2', 'node3']) await offline(node, false)
})

test('a repair that no tag allows is not made', async () => {
  await offline('node2', true)
  const ran = await harep()
  expect(ran.code).toBe(0)
  expect(ran.out).toBe(`Not repairing ${INSTANCE} because it's in state ArNotEnabled\n${COUNT}Healthy: 6\n`)
  expect(await tagsOf(INSTANCE)).toEqual(['tier:1', 'web'])
})

test('a repair that goes too far is refused, and a tag says so until it may be made', async () => {
  await change('OP_TAGS_SET', [`${PREFIX}fix-storage`])
  await offline('node2', true)
  const ran = await harep()
  expect(ran.out).toContain(
    `Not performing a repair of type ArFailover on ${INSTANCE} because only repairs up to ArFixStorage are allowed\n`,
  )
  expect(ran.out).toContain('Healthy: 5\nNeeds repair: 1\n')
  const [tag = ''] = await repairTags()
  expect(tag).toMatch(/^ganeti:watcher:autorepair:result:failover:[0-9a-f-]{36}:\d+:enoperm:$/)
  await change('OP_TAGS_DEL', [`${PREFIX}fix-storage`])
  await change('OP_TAGS_SET', [`${PREFIX}suspend`])
  expect((await harep()).out).toContain(`Not repairing ${INSTANCE} because it's in state ArSuspended Forever\n`)
})

test('an instance whose node is offline fails over, and its tags tell it from begin to end', async () => {
  await change('OP_TAGS_SET', [`${PREFIX}failover`])
  await offline('node2', true)
  const began = await harep('--job-delay=0', '--reason=a test')
  expect(began.out).toContain(`Executing ArFailover repair on ${INSTANCE}\n`)
  expect(began.out).toContain('Healthy: 5\nPending repair: 1\n')
  const [pending = ''] = await repairTags()
  const [, uuid, job] = /^ganeti:watcher:autorepair:pending:failover:([0-9a-f-]{36}):\d+:(\d+)$/.exec(pending) ?? []
  expect(uuid).toBeDefined()
  expect(await endOf(Number(job))).toBe('success')
  const [[, reason]] = (await cluster.master.queryJobs([Number(job)], ['summary', 'ops'])) as [[unknown, unknown]]
  expect(JSON.stringify(reason)).toContain('["harep","a test",')
  expect(await primaryOf(INSTANCE)).toBe('node3.gnt.example')

  await offline('node2', false)
  const ended = await harep()
  expect(ended.out).toContain(`Moving ${INSTANCE} from "Pending repair" to "Healthy"\n`)
  expect(await repairTags()).toEqual([expect.stringMatching(`^${PREFIX}result:failover:${uuid}:\\d+:success:${job}$`)])
  expect((await harep()).out).toBe(`${COUNT}Healthy: 6\n`)
  await cluster.run({ OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: INSTANCE })
})

test('maintd makes the same repair by itself once its settings say so, and no further than a tag allows', async () => {
  await offline('node2', true)
  await change('OP_TAGS_SET', [`${PREFIX}fix-storage`])
  await maintenance('round_delay=1', 'harep=yes', 'dry_run=yes')
  await settles(async () =>
    expect(await outlook()).toEqual([expect.stringMatching(/inst2.*result:failover:.*:enoperm:$/)]),
  )
  await change('OP_TAGS_SET', [`${PREFIX}failover`])
  await change('OP_TAGS_DEL', [`${PREFIX}fix-storage`])
  await settles(async () => expect(await outlook()).toEqual([`repairing ${INSTANCE}: failover`]))
  expect(await primaryOf(INSTANCE)).toBe('node2.gnt.example')

  await maintenance('dry_run=no')
  const [tag = ''] = await settles(async () => {
    const tags = await repairTags()
    expect(tags).toEqual([expect.stringMatching(`^${PREFIX}result:failover:`)])
    return tags
  })
  await maintenance('harep=no')
  const [, job] = /^\S+:failover:[0-9a-f-]{36}:\d+:success:(\d+)$/.exec(tag) ?? []
  expect(await primaryOf(INSTANCE)).toBe('node3.gnt.example')
  const [[ops]] = (await cluster.master.queryJobs([Number(job)], ['ops'])) as [[unknown]]
  expect(JSON.stringify(ops)).toMatch(/"gnt:daemon:maintd","repairing inst2.*"OP_INSTANCE_FAILOVER"/)
  // harep finds nothing left to do.
  await offline('node2', false)
  expect((await harep()).out).toBe(`${COUNT}Healthy: 6\n`)
  await cluster.run({ OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: INSTANCE })
})

test('a repair that failed is said to have, and is not tried again', async () => {
  await change('OP_TAGS_SET', [
    `${PREFIX}pending:failover:some-uuid:1700000000:${await failedJob()}`,
    `${PREFIX}failover`,
  ])
  await offline('node2', true)
  const ran = await harep()
  expect(ran.out).toContain(`Moving ${INSTANCE} from "Pending repair" to "Failure"\n`)
  expect(ran.out).toContain('Failure: 1\nHealthy: 5\n')
  const [tag = ''] = await repairTags()
  expect(tag).toMatch(/result:failover:some-uuid:\d+:failure:\d+$/)
  expect((await harep()).out).toBe(`${COUNT}Failure: 1\nHealthy: 5\n`)
  expect(await repairTags()).toEqual([tag])
})

test('a job that is not there any more is named, with the tag that names it', async () => {
  await change('OP_TAGS_SET', [`${PREFIX}pending:failover:some-uuid:1700000000:99999`])
  const ran = await harep()
  expect(ran.code).toBe(1)
  expect(ran.err).toBe(
    `Error: could not check job status: job 99999 was archived; see what became of ${INSTANCE}, ` +
      `and remove its tag ${PREFIX}pending:failover:some-uuid:1700000000:99999\n`,
  )
})

testWith(debianPresent(), HTOOLS_PACKAGE)("Ganeti's own harep would do the same here", async () => {
  await change('OP_TAGS_SET', [`${PREFIX}reinstall`])
  for (const away of [['node2'], ['node3'], ['node2', 'node3']]) {
    for (const node of ['node2', 'node3']) await offline(node, away.includes(node))
    const [mine, theirs] = [await harep('--dry-run'), await run(`${DEBIAN_HTOOLS}/harep`, ['--dry-run'])]
    expect({ away, ...comparable(mine) }).toEqual({ away, ...comparable(theirs) })
  }
  expect(await repairTags()).toEqual([])
})

const LINE = '---------------------\n'
const COUNT = `${LINE}Instance status count\n${LINE}`

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Each run has a uuid and a time of its own. */
const comparable = ({ code, out, err }: Ran): Ran => ({
  code,
  out: out.replace(/(pending:[a-z-]+):[0-9a-f-]{36}:\d+/, '$1:UUID:TIME'),
  err,
})

const harep = (...args: string[]): Promise<Ran> => run(path.join(__dirname, '../../bin/harep.js'), args)

function run(program: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, [`-L${cluster.socket}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

async function maintenance(...settings: string[]): Promise<void> {
  expect(await cluster.gnt('cluster', 'maintenance', 'settings', ...settings)).toMatchObject({ code: 0 })
}

/** What a round would do that is not to do anything. */
async function outlook(): Promise<unknown> {
  const { stdout } = await cluster.gnt('cluster', 'maintenance', '--json', 'status')
  return (JSON.parse(stdout) as { outlook: unknown }).outlook
}

/** Looks again and again until nothing is thrown. */
async function settles<T>(look: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 120_000; ;)
    try {
      return await look()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
}

const tagsOf = (name: string): Promise<string[]> => cluster.master.queryTags('instance', name)

const repairTags = async (): Promise<string[]> =>
  (await tagsOf(INSTANCE)).filter((tag) => /autorepair:(pending|result):/.test(tag))

async function change(OP_ID: string, tags: readonly string[]): Promise<void> {
  expect(await cluster.run({ OP_ID, kind: 'instance', tags, name: INSTANCE })).toMatchObject({ status: 'success' })
}

async function offline(node: string, gone: boolean): Promise<void> {
  const [row] = await cluster.master.queryNodes([`${node}.gnt.example`], ['offline'], false)
  if (row?.[0] === gone) return
  const op = { OP_ID: 'OP_NODE_SET_PARAMS', node_name: `${node}.gnt.example`, offline: gone, force: true }
  expect(await cluster.run({ ...op, ...(!gone && { auto_promote: true }) })).toMatchObject({ status: 'success' })
}

async function primaryOf(name: string): Promise<unknown> {
  const [row] = await cluster.master.queryInstances([name], ['pnode'], false)
  return row?.[0]
}

async function endOf(job: number): Promise<unknown> {
  for (let observed: unknown = null; ;) {
    const change = await cluster.master.waitForJobChange(job, ['status'], observed, null, 30)
    if (change !== 'nochange') observed = change[0]
    const [row] = await cluster.master.queryJobs([job], ['status'])
    if (['success', 'error', 'canceled'].includes(String(row?.[0]))) return row?.[0]
  }
}

async function failedJob(): Promise<number> {
  const id = await cluster.master.submitJob([
    { OP_ID: 'OP_TEST_DELAY', duration: 0, on_nodes: ['no-such-node'], reason: [] },
  ])
  expect(await endOf(id)).toBe('error')
  return id
}
