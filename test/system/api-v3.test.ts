// /3 of a whole embedded cluster: what is promised there holds also over the ends of daemons, and when the job has its locks.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { Agent, request } from 'undici'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const agent = new Agent({ connect: { rejectUnauthorized: false } })
let cluster: EmbeddedCluster

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
})

afterAll(async () => {
  await agent.close()
  await cluster.remove()
})

const authorization = () => `Basic ${Buffer.from(`admin:${cluster.password}`).toString('base64')}`

async function ask(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const answer = await request(cluster.url + url, {
    ...{ method, dispatcher: agent, body: body === undefined ? undefined : JSON.stringify(body) },
    headers: { authorization: authorization(), 'content-type': 'application/json', ...headers },
  })
  const text = await answer.body.text()
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  return { status: answer.statusCode, headers: answer.headers, json }
}

interface Job {
  status: string
  ops: {
    status: string
    result: unknown
    error: { class: string; message: string; args: unknown[] } | null
    input: Record<string, unknown>
    log: { type: string; message: unknown }[]
  }[]
}

const FALLBACK = '* falling back to full lock allocation'
const isOver = ({ status }: Job) => ['success', 'error', 'canceled'].includes(status)
const ended = (id: unknown) => until(id, isOver)

async function until(id: unknown, enough: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const { json } = await ask('GET', `/3/jobs/${String(id)}`)
    const job = json as unknown as Job
    if (enough(job)) return job
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function run(...ops: object[]): Promise<Job> {
  const { status, json } = await ask('POST', '/3/jobs', { ops })
  expect([status, json]).toEqual([202, { id: expect.any(Number) }])
  return ended(json['id'])
}

/** Starts a job that waits, with its locks, until it is released. Then it goes on with other opcodes. */
async function hold(delay: object, ...then: object[]): Promise<{ id: unknown; release: () => Promise<void> }> {
  const ops = [{ OP_ID: 'OP_TEST_DELAY', duration: 60, interruptible: true, ...delay }, ...then]
  const { id } = (await ask('POST', '/3/jobs', { ops })).json
  const lineOf = ({ ops: [op] }: Job) => op?.log.find(({ type }) => type === 'delay-test')
  const [socket = ''] = lineOf(await until(id, (job) => lineOf(job) !== undefined))?.message as string[]
  const release = () =>
    new Promise<void>((resolve) => void net.connect(socket).once('close', resolve).resume().end('enough'))
  return { id, release }
}

const create = (name: string) => ({
  ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: name, mode: 'create', disk_template: 'diskless', disks: [] },
  ...{ nics: [], os_type: 'gantry-tiny', no_install: true, start: false, pnode: 'node1.gantry.local' },
})
const SHARED_DISK = { disk_template: 'sharedfile', disks: [{ size: 16 }], file_driver: 'loop' }
const instance = (verb: string, name: string, more = {}) => ({
  OP_ID: `OP_INSTANCE_${verb}`,
  instance_name: name,
  ...more,
})

test('an instance lives its life', async () => {
  expect(await run(create('vm1'))).toMatchObject({ status: 'success', ops: [{ result: ['node1.gantry.local'] }] })
  expect(await run(instance('STARTUP', 'vm1'))).toMatchObject({ status: 'success' })
  const { json } = await ask('GET', '/3/instances/vm1?fields=status,oper_state')
  expect(json).toEqual({ status: 'running', oper_state: true })
  const rest = [instance('SHUTDOWN', 'vm1'), instance('RENAME', 'vm1', { new_name: 'vm2' }), instance('REMOVE', 'vm2')]
  expect(await run(...rest)).toMatchObject({ status: 'success' })
  expect((await ask('GET', '/3/instances/vm2')).status).toBe(404)
})

test('an object of If-Match is looked at again when the job has its locks', async () => {
  await run(create('vm3'))
  const { headers } = await ask('GET', '/3/instances/vm3')
  const tag = { 'if-match': String(headers['etag']) }
  const change = instance('SET_PARAMS', 'vm3', { beparams: { maxmem: 256 } })
  const first = await hold({ on_master: true, on_nodes: [], no_locks: true }, change)
  const depends = [[first.id, ['success']]]
  const second = await ask('POST', '/3/jobs', { ops: [instance('STARTUP', 'vm3', { depends })] }, tag)
  expect(second.status).toBe(202)
  await first.release()
  expect(await ended(first.id)).toMatchObject({ status: 'success' })
  const { status, ops } = await ended(second.json['id'])
  expect(status).toBe('error')
  expect(ops[0]?.error).toMatchObject({
    class: 'OpPrereqError',
    args: [expect.stringMatching(/has changed/), 'changed'],
  })
  expect((await ask('POST', '/3/jobs', { ops: [instance('STARTUP', 'vm3')] }, tag)).status).toBe(412)
})

test('/metrics tells also what wconfd and the nodes measure of themselves', async () => {
  const measured = async () => {
    const options = { dispatcher: agent, headers: { authorization: authorization() } }
    return (await request(`${cluster.url}/metrics`, options)).body.text()
  }
  // A look does not wait for nodes; the figures of each are there from its answer on.
  let text = await measured()
  while ([1, 2].some((node) => !text.includes(`gantry_node_call_duration_seconds_count{node="node${node}`)))
    text = await measured()
  expect(text).toMatch(/^gantry_node_answer_age_seconds\{node="node2.gantry.local",cluster=".*"\} [\d.]+$/m)
  for (const name of [
    'gantry_lock_wait_seconds_count',
    'gantry_config_write_duration_seconds_count{kind="journal"}',
    'gantry_wconfd_call_duration_seconds_count{call="gantryChange"}',
    'gantry_node_call_duration_seconds_count{node="node1.gantry.local",call="instance_start"}',
    'gantry_node_call_duration_seconds_count{node="node2.gantry.local",call="gantry_config_append"}',
  ])
    expect(text).toMatch(new RegExp(`^${name.replace(/[{}.]/g, '\\$&')} [1-9]`, 'm'))
  // Each figure has one description, even if several daemons report it.
  const titles = text.match(/^# TYPE \S+/gm) ?? []
  expect(new Set(titles).size).toBe(titles.length)
})

test('events name the user of /2 who has changed a filter rule', async () => {
  const [latest] = await firstEvents(undefined, (events) => events.length > 0)
  const rule = { action: 'PAUSE', predicates: [['jobid', ['=', 'id', 0]]] }
  const { body: uuid } = await cluster.rapi('POST', '/2/filters', rule)
  expect((await cluster.rapi('DELETE', `/2/filters/${String(uuid)}`)).status).toBe(200)
  const ofRule = ({ data }: StreamEvent) => data.includes(`"uuid":"${String(uuid)}"`)
  const events = await firstEvents(latest?.id, (observed) => observed.filter(ofRule).length > 1)
  expect(events.filter(ofRule).map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
    { data: { kind: 'filter', change: 'added', config: { who: ['admin'] } } },
    { data: { kind: 'filter', change: 'removed', config: { who: ['admin'] } } },
  ])
})

test('a plan changes nothing, and binds a submission to what it has read', async () => {
  await run(create('vm5'))
  const ops = [instance('SET_PARAMS', 'vm5', { beparams: { maxmem: 192 } })]
  const { status, json: plan } = await ask('POST', '/3/plans', { ops })
  expect([status, plan]).toEqual([200, expect.objectContaining({ possible: true })])
  expect(plan).toMatchObject({
    ops: [{ hooks: { path: 'instance-modify' }, changes: [{ name: 'vm5', after: { beparams: { maxmem: 192 } } }] }],
    preconditions: expect.arrayContaining([{ object: 'instance/vm5', serial_no: expect.any(Number) }]),
  })
  expect((await ask('GET', '/3/instances/vm5?fields=custom_beparams')).json).toEqual({ custom_beparams: {} })
  expect((await ask('POST', '/3/jobs', { ops: [instance('STARTUP', 'vm5')], plan: plan['id'] })).status).toBe(422)
  const submitted = await ask('POST', '/3/jobs', { ops, plan: plan['id'] })
  expect(await ended(submitted.json['id'])).toMatchObject({ status: 'success' })
  expect(await ask('POST', '/3/jobs', { ops, plan: plan['id'] })).toMatchObject({
    status: 412,
    json: { detail: expect.stringMatching(/has changed: .*instance/), code: 'changed' },
  })
})

test('a balance is planned, carried out by one job, and good only for the cluster that it was made of', async () => {
  for (const name of ['vm6', 'vm7', 'vm8']) await run({ ...create(name), ...SHARED_DISK, start: true })
  const { status, json: balance } = await ask('POST', '/3/balance', { explain: true })
  expect([status, balance]).toEqual([
    200,
    expect.objectContaining({
      plan: expect.any(String),
      groups: [expect.objectContaining({ group: 'default' })],
      steps: expect.arrayContaining([expect.objectContaining({ from: ['node1.gantry.local'], op_count: 1 })]),
    }),
  ])
  const dead = await ask('POST', '/3/whatif', { nodes: ['node1'], explain: true })
  expect(dead.json).toMatchObject({ dead: ['node1.gantry.local'], lost: [], unmirrored: [] })
  const back = dead.json['restored'] as { instance: string; to: string[] }[]
  expect(back.map(({ instance: name }) => name)).toEqual(expect.arrayContaining(['vm6', 'vm7', 'vm8']))
  expect(back.flatMap(({ to }) => to)).not.toContain('node1.gantry.local')
  const { ops, plan } = balance
  expect(await ended((await ask('POST', '/3/jobs', { ops, plan })).json['id'])).toMatchObject({ status: 'success' })
  expect((await ask('POST', '/3/jobs', { ops, plan })).status).toBe(412)
  // The free memory of this machine moves by itself, so that a hair's gain is always to be had.
  const worthwhile = { min_gain: 0.01, min_gain_limit: 100 }
  expect((await ask('POST', '/3/balance', worthwhile)).json).toMatchObject({ plan: null, steps: [], ops: [] })
})

test('a question may be a job, whose result is the answer, and its plan one to submit', async () => {
  const prefer = { prefer: 'respond-async' }
  const spec = { disk_template: 'sharedfile', memory_mib: 256, vcpus: 1, disks_mib: [1024] }
  const body = { spec, max_instances: 2 }
  const requested = await ask('POST', '/3/capacity', body, prefer)
  expect([requested.status, requested.headers['location']]).toEqual([202, `/3/jobs/${String(requested.json['id'])}`])
  const { ops } = await ended(requested.json['id'])
  expect(ops).toMatchObject([{ OP_ID: 'OP_CLUSTER_CAPACITY', status: 'success' }])
  // Which nodes these are hangs on this machine's free memory, which changes.
  const nodes = [[expect.any(String)], [expect.any(String)]]
  const groups = [{ group: 'default', alloc_policy: 'preferred', fits: 2, nodes, reason: null, candidates: null }]
  for (const answer of [ops[0]?.result, (await ask('POST', '/3/capacity', body)).json])
    expect(answer).toEqual({ fits: 2, groups })
  for (const name of ['vm9', 'vm10', 'vm11']) await run({ ...create(name), ...SHARED_DISK, start: true })
  const plan = (await ended((await ask('POST', '/3/balance', {}, prefer)).json['id'])).ops[0]?.result as {
    plan: string
    ops: unknown[]
  }
  expect(plan).toMatchObject({ plan: expect.stringMatching(/^job-\d+-0$/), steps: expect.any(Array) })
  const submitted = await ask('POST', '/3/jobs', { ops: plan.ops, plan: plan.plan })
  expect(await ended(submitted.json['id'])).toMatchObject({ status: 'success' })
  expect((await ask('POST', '/3/jobs', { ops: plan.ops, plan: plan.plan })).status).toBe(412)
})

test('capacity tells how many fit, and why no more', async () => {
  const spec = { disk_template: 'sharedfile', memory_mib: 256, vcpus: 1, disks_mib: [1024] }
  const { json } = await ask('POST', '/3/capacity', { spec, max_instances: 2 })
  expect(json).toMatchObject({
    fits: 2,
    groups: [{ group: 'default', nodes: [[expect.any(String)], expect.any(Array)] }],
  })
  const big = { ...spec, memory_mib: 32_000, vcpus: 8 }
  const { groups } = (await ask('POST', '/3/capacity', { spec: big, explain: true })).json as {
    groups: { fits: number; reason: string; candidates: { accepted: boolean; reject: string | null }[] }[]
  }
  expect(groups[0]?.reason).toMatch(/^no node fits: /)
  expect(groups[0]?.candidates).toHaveLength(3)
  expect(await ask('POST', '/3/capacity', { spec: { ...spec, memory: 1 } })).toMatchObject({ status: 400 })
})

test('creations at the same time use the nodes that others have left, and wait for the rest only when these do not do', async () => {
  const holder = await hold({ on_master: false, on_nodes: ['node1', 'node2'], no_locks: false })
  const { pnode: _, ...anywhere } = create('')
  const ids: unknown[] = []
  for (const instance_name of ['opp1', 'opp2', 'opp3']) {
    const op = { ...anywhere, instance_name, iallocator: 'hail', opportunistic_locking: true }
    ids.push((await ask('POST', '/3/jobs', { ops: [op] })).json['id'])
  }
  const fellBack = ({ ops: [op] }: Job) => op?.log.some(({ message }) => message === FALLBACK) === true
  for (const id of ids) await until(id, (job) => isOver(job) || fellBack(job))
  await holder.release()
  const jobs = await Promise.all(ids.map(ended))
  expect(jobs.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
  const ops = jobs.flatMap((job) => job.ops)
  const early = ops.filter(({ input }) => input['opportunistic_locking'] === true)
  expect(early.length).toBeGreaterThan(0)
  for (const { result } of early) expect(result).toEqual(['node3.gantry.local'])
  expect(jobs.map(fellBack)).toEqual(ops.map(({ input }) => input['opportunistic_locking'] === false))
})

test('lists of default allocators are shown where they are set, and not to clients of Ganeti', async () => {
  const set = (lists: object) => run({ OP_ID: 'OP_CLUSTER_SET_PARAMS', default_iallocators: lists })
  expect(await set({ allocate: ['hail'] })).toMatchObject({ status: 'success' })
  expect((await ask('GET', '/3/cluster')).json).toMatchObject({ default_iallocators: { allocate: ['hail'] } })
  expect((await cluster.gnt('cluster', 'info')).stdout).toMatch(/^ *default instance allocators for allocate: hail$/m)
  expect(Object.keys(Object((await cluster.rapi('GET', '/2/info')).body))).not.toContain('default_iallocators')
  expect(await set({ allocate: ['nosuch'] })).toMatchObject({ status: 'error' })
  expect(await set({ balance: ['hail'], capacity: ['hail'] })).toMatchObject({ status: 'success' })
  const displayed = (await cluster.gnt('cluster', 'info')).stdout
  expect(displayed).toMatch(/^ *default instance allocators for balance: hail$/m)
  expect(await set({ allocate: [], balance: [], capacity: [] })).toMatchObject({ status: 'success' })
  expect((await cluster.gnt('cluster', 'info')).stdout).not.toContain('allocators for')
})

test('a killed luxid knows the Idempotency-Key, and tells readers of events that it was away', async () => {
  const before = await firstEvents(undefined, (events) => events.length > 0)
  const key = { 'idempotency-key': 'over the end of luxid' }
  const first = await ask('POST', '/3/jobs', { ops: [create('vm4')] }, key)
  await ended(first.json['id'])
  const added = (event: StreamEvent) => /"name":"vm4".*"change":"added"/.test(event.data)
  const reported = (await firstEvents(before[0]?.id, (observed) => observed.some(added))).find(added)
  expect(reported).toMatchObject({
    event: 'config',
    data: expect.stringContaining(`"jobs":[${String(first.json['id'])}],"who":["admin"]`),
  })
  const pidFile = path.join(cluster.root, 'node1.gantry.local/var/run/ganeti/ganeti-luxid.pid')
  const pid = Number(fs.readFileSync(pidFile, 'utf8'))
  process.kill(pid, 'SIGKILL')
  let again = await ask('POST', '/3/jobs', { ops: [create('vm4')] }, key)
  while (again.status === 502) again = await ask('POST', '/3/jobs', { ops: [create('vm4')] }, key)
  expect([again.status, again.json, again.headers['idempotent-replayed']]).toEqual([202, first.json, 'true'])
  // Events that luxid had not written before it was killed are lost, and the gap says so.
  const gap = ({ event }: StreamEvent) => event === 'gap'
  expect((await firstEvents(before[0]?.id, (observed) => observed.some(gap))).filter(gap)).toHaveLength(1)
})

interface StreamEvent {
  id: string
  event: string
  data: string
}

/** Reads events after an id until it has seen enough. */
async function firstEvents(
  after: string | undefined,
  enough: (events: StreamEvent[]) => boolean,
): Promise<StreamEvent[]> {
  const headers = { authorization: authorization(), ...(after !== undefined && { 'last-event-id': after }) }
  const { body } = await request(`${cluster.url}/3/events`, { dispatcher: agent, headers })
  const events: StreamEvent[] = []
  let text = ''
  for await (const chunk of body) {
    const frames = (text += String(chunk)).split('\n\n')
    text = frames.pop() ?? ''
    events.push(...frames.filter((frame) => frame.startsWith('id:')).map(parseFrame))
    if (enough(events)) break
  }
  body.destroy()
  return events
}

function parseFrame(frame: string): StreamEvent {
  const lines = frame.split('\n').map((line) => line.split(/: (.*)/s))
  return { id: '', event: '', data: '', ...Object.fromEntries(lines) }
}
