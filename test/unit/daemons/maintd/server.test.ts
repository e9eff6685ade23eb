// maintd's door: everybody may look, and who changes something has to log in, and may do only what the users file allows.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { Agent, request } from 'undici'
import { change } from '../../../../src/config/changes'
import { type Maintd, startMaintd } from '../../../../src/daemons/maintd/server'
import { passwordsOf } from '../../../../src/daemons/rapi/auth'
import { LoginThrottle } from '../../../../src/daemons/rapi/login-throttle'
import { UsersFile } from '../../../../src/daemons/rapi/users'
import { logins } from '../../../../src/daemons/rapi/v3/identity'
import { CHALLENGE, problemOf } from '../../../../src/daemons/rapi/v3/problem'
import { systemClock as clock } from '../../../../src/lib/clock'
import { systemDisk as disk } from '../../../../src/lib/disk'
import { systemFiles as files } from '../../../../src/lib/files'
import { silentLog as log } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { systemRandom as random } from '../../../../src/lib/random'
import { createCertificate } from '../../../../src/lib/tls'
import { observe } from '../../../../src/maintenance/event-lifecycle'
import { MAINTENANCE, maintenanceView } from '../../../../src/model/maintenance'
import type { WireOpCode } from '../../../../src/rpc/luxi/calls'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'
import { type GantryParts, localGantry } from '../../../../src/services/gantry'
import type { MasterContext } from '../../../../src/services/master-context'
import { GantryBox } from '../../../support/gantry-box'
import { wconfdOf } from '../../../support/job-surroundings'
import { master, smallConfig } from '../../config/builders'

const USERS =
  'admin secret write\nreader foo555 read\nnurse pw maintenance.cancel\nfallen pw write,-maintenance.cancel\n'
const folder = fs.mkdtempSync(path.join(tmpdir(), 'gantry-maintd-'))
const paths = pathsOf(folder, 'node1')
const agent = new Agent({ connect: { rejectUnauthorized: false } })
const config = smallConfig()
let door: Maintd
let box: GantryBox
let gantry: GantryMaster
let jobs: WireOpCode[]

beforeAll(async () => {
  fs.mkdirSync(path.dirname(paths.rapiUsers), { recursive: true })
  fs.mkdirSync(path.dirname(paths.rapiCert), { recursive: true })
  fs.writeFileSync(paths.rapiUsers, USERS)
  fs.writeFileSync(paths.rapiCert, await createCertificate())
})
afterAll(async () => {
  await agent.close()
  fs.rmSync(folder, { recursive: true })
})

beforeEach(async () => {
  box = new GantryBox(clock, config)
  jobs = []
  const report = { status: 'evacuate', details: '<script>alert(1)</script>' }
  const [event] = observe([], new Map([[master(config).uuid, report]]), { now_s: 1, newId: () => 'e1' }).events
  box.change(change('setGantry', MAINTENANCE.events, 'e1', { ...event, note: '<b>no room</b>' }))
  gantry = masterOf()
  const users = new UsersFile(paths.rapiUsers, { files, random, log })
  users.refresh()
  const turns = new LoginThrottle(clock, log)
  door = await startMaintd({
    ...{
      log,
      clock,
      random,
      files,
      gantry,
      challenge: CHALLENGE,
      addresses: ['127.0.0.1'],
      port: 0,
      accessLog: 'none',
    },
    ...{ certificate: { key: paths.rapiCert, cert: paths.rapiCert }, figures: { rounds: 1, looks: 2, failures: 0 } },
    view: () => maintenanceView(box.gantry, () => 'node1'),
    logins: logins({ gantry, users, passwords: passwordsOf(users, turns), turns }),
    problemOf: (error) => problemOf(error, log),
  })
})
afterEach(() => door.close())

/** The real one, as far as maintenance and tokens go. */
function masterOf(): GantryMaster {
  const context: Partial<MasterContext> = {
    ...{ clock, random, disk, paths, config: () => config, gantry: () => box.gantry },
    wconfd: wconfdOf({
      gantryChange: async (_client, _epoch, changes) => {
        box.change(...changes)
        return []
      },
    }),
  }
  const parts: Partial<GantryParts> = {
    documents: { current: () => box.gantry, onChange: () => () => undefined },
    jobs: { submit: async (ops: readonly WireOpCode[]) => jobs.push(...ops) } as unknown as GantryParts['jobs'],
  }
  return localGantry(context as MasterContext, parts as GantryParts)
}

interface Asked {
  readonly as?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

async function ask(method: 'GET' | 'POST' | 'PATCH' | 'PUT', url: string, { as, body, headers }: Asked = {}) {
  const [address] = door.addresses
  const auth = as?.startsWith('Bearer ') ? as : `Basic ${Buffer.from(as ?? '').toString('base64')}`
  const answer = await request(`https://127.0.0.1:${address?.port}${url}`, {
    ...{ method, dispatcher: agent },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: {
      ...(as !== undefined && { authorization: auth }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  const text = await answer.body.text()
  const isJson = String(answer.headers['content-type']).includes('json')
  return { status: answer.statusCode, text, body: isJson ? (JSON.parse(text) as unknown) : undefined }
}

const statusNow = () => maintenanceView(box.gantry, () => 'node1').events[0]?.['repair-status']
const CANCEL = '/1/events/e1/cancel'

test('everybody may look', async () => {
  expect(await ask('GET', '/')).toMatchObject({ status: 200, body: [1] })
  for (const url of ['/1', '/1/']) expect(await ask('GET', url)).toMatchObject({ status: 200, body: null })
  expect(await ask('GET', '/1/status')).toMatchObject({
    status: 200,
    body: [{ id: 'e1', uuid: 'e1', node_name: 'node1' }],
  })
  expect(await ask('GET', '/1/jobs')).toMatchObject({ status: 200, body: [] })
  expect(await ask('GET', '/1/evacuated')).toMatchObject({ status: 200, body: [] })
  expect(await ask('GET', '/1/maintenance')).toMatchObject({ status: 200, body: { settings: { evacuation: false } } })
  expect((await ask('GET', '/metrics')).text).toContain('gantry_maintenance_events{status="noted"} 1')
  expect((await ask('GET', '/docs/')).status).toBe(200)
  for (const url of ['/1/status', '/1/jobs', '/1/evacuated', '/1/maintenance'])
    expect((await ask('GET', `${url}/`)).body).toEqual((await ask('GET', url)).body)
  expect((await ask('GET', '/metrics/')).status).toBe(200)
})

test('the page for people shows what others wrote as text', async () => {
  const { text } = await ask('GET', '/', { headers: { accept: 'text/html' } })
  expect(text).toContain('&lt;b&gt;no room&lt;/b&gt;')
  expect(text).not.toMatch(/<script>|<b>no/)
})

test.each([
  ['nobody', {}],
  ['a wrong password', { as: 'admin:guessed' }],
  ['an unknown user', { as: 'somebody:secret' }],
  ['a token that nobody made', { as: 'Bearer gnt_12345678_abcdef' }],
  ['no credentials at all', { headers: { authorization: 'Digest x' } }],
])('nothing is changed for %s', async (_, who) => {
  for (const [method, url, body] of [
    ['POST', CANCEL],
    ['PATCH', '/1/settings', { evacuation: true }],
  ] as const)
    expect(await ask(method, url, { ...who, body })).toMatchObject({ status: 401, body: { status: 401 } })
  expect([statusNow(), jobs]).toEqual(['noted', []])
})

test('who has the permission cancels, with a password or a token, and who lacks it is told which', async () => {
  for (const as of ['reader:foo555', 'fallen:pw'])
    expect(await ask('POST', CANCEL, { as })).toMatchObject({
      ...{ status: 403, body: { detail: expect.stringContaining('maintenance.cancel') } },
    })
  const admin = { user: 'admin', token: null, permissions: ['*'] }
  const token = async (permissions: string[]) =>
    (await gantry.addToken(admin, { name: 't', permissions, tags: [], groups: [], expires: null })).secret
  const probes = await token(['cluster.query'])
  expect(await ask('POST', CANCEL, { as: `Bearer ${probes}` })).toMatchObject({ status: 403 })
  expect(statusNow()).toBe('noted')
  const cancels = await token(['maintenance.cancel'])
  const canceled = await ask('POST', CANCEL, { as: `Bearer ${cancels}` })
  expect(canceled).toMatchObject({ status: 200, body: { 'repair-status': 'canceled' } })
  expect(await ask('POST', CANCEL, { as: 'nurse:pw' })).toMatchObject({ status: 200 })
  expect(await ask('PATCH', '/1/settings', { as: 'nurse:pw', body: { evacuation: true } })).toMatchObject({
    status: 403,
  })
  expect(await ask('POST', '/1/events/e1/acknowledge', { as: 'nurse:pw' })).toMatchObject({ status: 403 })
})

test('settings are changed, and events acknowledged, by jobs', async () => {
  const set = await ask('PATCH', '/1/settings', { as: 'admin:secret', body: { evacuation: true, round_delay: 60 } })
  expect(set).toMatchObject({ status: 202, body: { job: 1 } })
  expect(jobs).toMatchObject([{ OP_ID: 'OP_CLUSTER_SET_PARAMS', maint_evacuation: true, maint_round_delay: 60 }])
  expect(await ask('POST', '/1/events/e1/acknowledge', { as: 'admin:secret' })).toMatchObject({
    ...{ status: 409, body: { detail: expect.stringContaining('cancel it instead') } },
  })
})

test.each<['GET' | 'POST' | 'PATCH' | 'PUT', string, number, unknown?]>([
  ['POST', '/1/events/e2/cancel', 404],
  ['POST', '/1/events/%2e%2e/cancel', 404],
  ['PATCH', '/1/settings', 400, { evacuate: true }],
  ['PATCH', '/1/settings', 400, { evacuation: 'yes' }],
  ['PATCH', '/1/settings', 400, { round_delay: 0 }],
  ['PATCH', '/1/settings', 400, { round_delay: 1.5 }],
  ['PATCH', '/1/settings', 400, { balance_threshold: 'much' }],
  ['PATCH', '/1/settings', 400, { diagnose_command: '../check' }],
  ['PATCH', '/1/settings', 400, {}],
  ['PATCH', '/1/settings', 400, []],
  ['PATCH', '/1/settings', 400],
  ['PATCH', '/1/settings', 400, '{"evacuation":'],
  ['PATCH', '/1/settings', 413, `{"diagnose_command":"${'x'.repeat(20_000)}"}`],
  ['PATCH', '/1/settings', 400, '['.repeat(50) + ']'.repeat(50)],
  ['GET', CANCEL, 405],
  ['PUT', '/1/status', 405, {}],
  ['GET', '/2/status', 404],
])('%s %s is refused where it is wrong: %i', async (method, url, status, ...[body]) => {
  const answer = await ask(method, url, { as: 'admin:secret', body })
  expect(answer).toMatchObject({ status, body: { status } })
  expect([statusNow(), jobs]).toEqual(['noted', []])
})

test('a body that is not JSON by its type is refused', async () => {
  const sent = { as: 'admin:secret', body: '{"evacuation":true}', headers: { 'content-type': 'text/plain' } }
  expect(await ask('PATCH', '/1/settings', sent)).toMatchObject({ status: 415 })
  expect(jobs).toEqual([])
})
