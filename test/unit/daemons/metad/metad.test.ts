// Checks what instances are told over HTTP, that each hears only of itself, and what a restart keeps.
import * as fs from 'node:fs'
import * as http from 'node:http'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { Instances } from '../../../../src/daemons/metad/instances'
import { type RunningMetad, startMetad } from '../../../../src/daemons/metad/server'
import { type Disk, systemDisk } from '../../../../src/lib/disk'
import { systemFiles } from '../../../../src/lib/files'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { systemRandom } from '../../../../src/lib/random'
import { INSTALLATION_S } from '../../../../src/model/limits/metad'
import { openMetad } from '../../../../src/rpc/metad/client'
import { SteppedClock } from '../../../support/stepped-clock'

const ONE = '169.254.0.1'
const TWO = '169.254.0.2'
const NOT_FOUND = { status: 404, text: 'Resource not found' }

let root: string
let clock: SteppedClock
let metad: RunningMetad
beforeEach(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'm-'))
  clock = new SteppedClock()
  metad = await start()
})
afterEach(async () => {
  await metad.close()
  fs.rmSync(root, { recursive: true })
})

const paths = () => pathsOf(path.join(root, 'n'), 'n')
const call = () => openMetad({ path: paths().socket('metad'), clock })

/** `routed`: the addresses from which only their instances can have come. */
function start(routed: readonly string[] = [], disk: Disk = systemDisk): Promise<RunningMetad> {
  return startMetad({
    ...{ paths: paths(), log: silentLog, clock, random: systemRandom, files: systemFiles, disk },
    ...{ addresses: ['127.0.0.1'], port: 0, accessLog: 'none' },
    node: {
      script: async (name, script) => (name === 'debian' ? path.join(root, script) : undefined),
      installPackage: async (file) => (file === path.join(root, 'os.tgz') ? file : undefined),
    },
    isOwn: async (address) => routed.includes(address),
  })
}

const instance = (name: string, ip: string, more: object = {}) => ({
  ...{ name, uuid: `uuid of ${name}`, os: 'debian', disks_info: [{ uuid: 'd', dev_type: 'file', size: 1024 }] },
  osparams: { color: name },
  nics: [
    { uuid: 'n0', mac: 'aa:00:00:00:00:01', nicparams: {} },
    { uuid: 'n1', mac: '52:54:00:00:00:01', name: `ganeti:communication:${name}`, ip, nicparams: { mode: 'routed' } },
  ],
  ...more,
})
const hidden = { osparams_private: { token: 'p' }, osparams_secret: { password: 's' } }

interface Answer {
  readonly status: number
  readonly text: string
}

type Where = { readonly socketPath: string } | { readonly port: number; readonly localAddress?: string }

/** As QEMU brings the requests of the instance with this address. */
const socketOf = (ip: string): Where => ({ socketPath: `${paths().metadataSocketDir}/${ip}` })

function ask(
  where: Where,
  url: string,
  { method = 'GET', body, headers = {} }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Answer & { headers: http.IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const request = http.request({ ...where, path: url, method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    request.on('error', reject).end(body)
  })
}
const get = async (where: Where, url: string): Promise<Answer> => {
  const { status, text } = await ask(where, url)
  return { status, text }
}
const PARAMETERS = '/ganeti/latest/os/parameters.json'

test("Ganeti's paths have Ganeti's answers", async () => {
  await call().updateConfig(instance('one', ONE, { ...hidden, tags: ['t'] }))
  fs.writeFileSync(path.join(root, 'create'), '#!/bin/sh\n')
  const from = socketOf(ONE)
  await expect(get(from, PARAMETERS)).resolves.toEqual({
    status: 200,
    text: '{"color":["one","public"],"token":["p","private"],"password":["s","secret"]}',
  })
  await expect(get(from, '/ganeti/latest/os/scripts/create')).resolves.toEqual({ status: 200, text: '#!/bin/sh\n' })
  for (const nothing of [
    'os/scripts/import',
    'os/scripts/..%2fcreate',
    'os/os-install-package',
    'os/package',
    'os/',
    'x',
  ])
    await expect(get(from, `/ganeti/latest/${nothing}`)).resolves.toEqual(NOT_FOUND)
  await expect(get(from, '/ganeti/1.0/read')).resolves.toEqual(NOT_FOUND)
  await expect(get(from, '/ganeti/latest/read')).resolves.toEqual({ status: 200, text: '' })
  const wrong = await ask(from, '/ganeti/latest/read', { method: 'POST' })
  expect(wrong).toMatchObject({ status: 405, text: '', headers: { allow: 'GET' } })
  await expect(ask(from, '/ganeti/latest/write')).resolves.toMatchObject({ status: 405, headers: { allow: 'POST' } })
  const written = ask(from, '/ganeti/latest/write', { method: 'POST', body: 'anything' })
  await expect(written).resolves.toMatchObject({ status: 200, text: '' })
  await expect(ask(from, PARAMETERS, { method: 'DELETE' })).resolves.toMatchObject(NOT_FOUND)
  await expect(get(from, '/')).resolves.toEqual({ status: 200, text: '["latest"]' })
  // A slash at the end means nothing.
  for (const path of [PARAMETERS, '/ganeti/latest/os/scripts/create', '/ganeti/latest/read', '/ganeti/latest/x'])
    await expect(get(from, `${path}/`)).resolves.toEqual(await get(from, path))
})

test('an instance is told its name, NICs and disks', async () => {
  await call().gantryShow(instance('one', ONE))
  const { text } = await get(socketOf(ONE), '/ganeti/latest/meta_data.json')
  expect(JSON.parse(text)).toMatchObject({
    ...{ name: 'one', uuid: 'uuid of one', os: 'debian', disks: [{ uuid: 'd', size: 1024 }] },
    nics: [
      { mac: 'aa:00:00:00:00:01', ip: null },
      { ip: ONE, name: 'ganeti:communication:one' },
    ],
  })
})

test("cloud-init reads its seed, with secrets while the instance is installed and with its own NICs' addresses", async () => {
  const osparams = { hostname: 'web', ssh_authorized_keys: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me' }
  const secret = { osparams_secret: { password_hash: '$6$salt$hash' } }
  await call().updateConfig(instance('one', ONE, { osparams, ...secret }))
  const read = async (name: string) => (await get(socketOf(ONE), `/nocloud/${name}`)).text
  expect(JSON.parse(await read('meta-data'))).toEqual({
    ...{ 'instance-id': 'uuid of one', 'local-hostname': 'web' },
    'public-keys': [osparams.ssh_authorized_keys],
  })
  expect(await read('user-data')).toMatch(/^#cloud-config\n[^]*hash/)
  expect(await read('network-config')).toContain(ONE)
  await expect(get(socketOf(ONE), '/nocloud/vendor-data')).resolves.toEqual(NOT_FOUND)
  await clock.pass(INSTALLATION_S)
  expect(await read('user-data')).not.toContain('hash')
})

test('an instance gets the package of its installation, and no other file that its parameters name', async () => {
  const file = path.join(root, 'os.tgz')
  fs.writeFileSync(file, 'archive')
  await call().updateConfig(
    instance('one', ONE, { osparams: { 'os-install-package': file, 'os-package': '/etc/passwd' } }),
  )
  await expect(get(socketOf(ONE), '/ganeti/latest/os/os-install-package')).resolves.toEqual({
    status: 200,
    text: 'archive',
  })
  await expect(get(socketOf(ONE), '/ganeti/latest/os/package')).resolves.toEqual(NOT_FOUND)
  fs.rmSync(file)
  fs.symlinkSync('/etc/passwd', file)
  await expect(get(socketOf(ONE), '/ganeti/latest/os/os-install-package')).resolves.toEqual(NOT_FOUND)
})

test('each of two instances hears only of itself', async () => {
  await call().updateConfig(instance('one', ONE, hidden))
  await call().updateConfig(instance('two', TWO))
  await expect(get(socketOf(TWO), PARAMETERS)).resolves.toMatchObject({ text: '{"color":["two","public"]}' })
  const headers = { 'X-Forwarded-For': ONE, Forwarded: `for=${ONE}`, 'X-Real-IP': ONE, Host: ONE }
  await expect(ask(socketOf(TWO), PARAMETERS, { headers })).resolves.toMatchObject({
    text: '{"color":["two","public"]}',
  })
})

test('over TCP whoever has no known address is told nothing, whatever the headers say', async () => {
  await call().updateConfig(instance('one', ONE))
  const port = metad.addresses[0]?.port ?? 0
  const headers = { 'X-Forwarded-For': ONE, Forwarded: `for=${ONE}` }
  for (const url of ['/', PARAMETERS, '/ganeti/latest/read', '/nothing'])
    for (const method of ['GET', 'POST', 'HEAD'])
      await expect(ask({ port }, url, { method, headers })).resolves.toMatchObject({ status: 404 })
})

test('a known address counts only where the answer can reach nobody but its instance', async () => {
  // Loopback addresses stand for those of instances.
  await call().updateConfig(instance('one', '127.0.0.7', hidden))
  const from = () => ({ port: metad.addresses[0]?.port ?? 0, localAddress: '127.0.0.7' })
  await expect(get(from(), PARAMETERS)).resolves.toEqual(NOT_FOUND)
  await metad.close()
  metad = await start(['127.0.0.7'])
  await expect(get(from(), PARAMETERS)).resolves.toEqual({ status: 200, text: '{"color":["one","public"]}' })
  await expect(get({ ...from(), localAddress: '127.0.0.8' }, PARAMETERS)).resolves.toEqual(NOT_FOUND)
})

test('a restart keeps what everybody may know, and no secrets, which are on no disk', async () => {
  await call().updateConfig(instance('one', ONE, hidden))
  const notes = fs.readdirSync(paths().metadataDir).map((name) => path.join(paths().metadataDir, name))
  expect(notes.map((file) => fs.statSync(file).mode & 0o777)).toEqual([0o600])
  expect(notes.map((file) => fs.readFileSync(file, 'utf8')).join('')).not.toMatch(/token|password/)
  await metad.close()
  metad = await start()
  await expect(get(socketOf(ONE), PARAMETERS)).resolves.toEqual({ status: 200, text: '{"color":["one","public"]}' })
})

test('a full disk keeps nobody from asking', async () => {
  await metad.close()
  metad = await start([], { ...systemDisk, write: () => Promise.reject(new Error('no space left')) })
  await call().updateConfig(instance('one', ONE, hidden))
  await expect(get(socketOf(ONE), PARAMETERS)).resolves.toMatchObject({ status: 200 })
})

test('where there are too many instances, those whose notes were swept make room', async () => {
  const instances = new Instances({
    ...{ disk: systemDisk, clock, log: silentLog, folder: paths().metadataDir, onAddresses: () => Promise.resolve() },
    most: 2,
  })
  await instances.show(instance('one', ONE))
  await instances.show(instance('two', TWO))
  await expect(instances.show(instance('three', '169.254.0.3'))).rejects.toThrow('knows 2 instances already')
  await instances.show(instance('two', TWO, { tags: ['changed'] }))
  fs.rmSync(path.join(paths().metadataDir, 'one'))
  await instances.show(instance('three', '169.254.0.3'))
  expect([ONE, TWO, '169.254.0.3'].map((address) => instances.at(address)?.name)).toEqual([undefined, 'two', 'three'])
})

test('a note that cannot be read costs that instance alone its answers', async () => {
  await call().updateConfig(instance('one', ONE))
  await metad.close()
  fs.writeFileSync(path.join(paths().metadataDir, 'two'), '{"name":')
  metad = await start()
  await expect(get(socketOf(ONE), PARAMETERS)).resolves.toMatchObject({ status: 200 })
})

test('private and secret parameters go when the installation is over', async () => {
  const isHidden = async () => !/private|secret/.test((await get(socketOf(ONE), PARAMETERS)).text)
  await call().updateConfig(instance('one', ONE, hidden))
  // It is started for the first time.
  await call().gantryShow(instance('one', ONE))
  expect(await isHidden()).toBe(false)
  await clock.pass(INSTALLATION_S - 1)
  expect(await isHidden()).toBe(false)
  await clock.pass(2)
  expect(await isHidden()).toBe(true)
  await call().updateConfig(instance('one', ONE, hidden))
  await call().gantryForget('one')
  await call().gantryShow(instance('one', ONE))
  expect(await isHidden()).toBe(true)
  await call().updateConfig(instance('one', ONE, hidden))
  await call().updateConfig(instance('one', ONE))
  expect(await isHidden()).toBe(true)
  // Another instance with its name is not the one that was installed.
  await call().updateConfig(instance('one', ONE, hidden))
  await call().gantryShow(instance('one', ONE, { uuid: 'another' }))
  expect(await isHidden()).toBe(true)
})

test('an instance that is gone, has given up communication or its address, is forgotten', async () => {
  await call().updateConfig(instance('one', ONE))
  await call().updateConfig(instance('two', TWO))
  await call().gantryForget('one')
  await call().gantryShow(instance('two', TWO, { nics: [] }))
  expect(fs.readdirSync(paths().metadataDir)).toEqual([])
  expect(fs.readdirSync(paths().metadataSocketDir)).toEqual([])
  await call().updateConfig(instance('one', ONE, hidden))
  await call().updateConfig(instance('two', ONE))
  await expect(get(socketOf(ONE), PARAMETERS)).resolves.toMatchObject({ text: '{"color":["two","public"]}' })
  expect(fs.readdirSync(paths().metadataDir)).toEqual(['two'])
})

test('calls that mean nothing are refused', async () => {
  await expect(call().echo('x')).resolves.toBe('x')
  await expect(call().gantryForget('../x')).rejects.toThrow('is no instance name')
  await expect(call().updateConfig(instance('../x', ONE))).rejects.toThrow('is no instance name')
  await expect(call().updateConfig(instance('one', '../x'))).rejects.toThrow('has no IPv4 address')
  await expect(call().updateConfig(instance('one', 'fe80::1'))).rejects.toThrow('has no IPv4 address')
})

test('what is no request, or too long, is refused, and others are answered meanwhile', async () => {
  await call().updateConfig(instance('one', ONE))
  const bytes = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = ''
      const socket = net.connect(`${paths().metadataSocketDir}/${ONE}`, () => socket.write(text))
      socket.on('data', (data: Buffer) => (answer += data.toString()))
      socket.on('close', () => resolve(answer)).on('error', () => undefined)
    })
  await expect(bytes('nonsense\r\n\r\n')).resolves.toMatch(/^HTTP\/1.1 400 /)
  await expect(bytes(`GET /${'x'.repeat(9000)} HTTP/1.1\r\nHost: h\r\n\r\n`)).resolves.toMatch(/^HTTP\/1.1 4\d\d /)
  const slow = net.connect(`${paths().metadataSocketDir}/${ONE}`)
  slow.on('error', () => undefined).write('GET / HTTP/1.1\r\nHo')
  await expect(get(socketOf(ONE), '/')).resolves.toMatchObject({ status: 200 })
  slow.destroy()
})
