// A real noded obeys the master's certificate, over mutual TLS, and nobody else's.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import type * as http from 'node:http'
import * as https from 'node:https'
import * as os from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { text } from 'node:stream/consumers'
import { type Files, systemFiles } from '../../../../src/lib/files'
import { ownedDisk } from '../../../../src/model/owners'
import { systemRandom } from '../../../../src/lib/random'
import { systemClock } from '../../../../src/lib/clock'
import { openLog } from '../../../../src/lib/log'
import { thisMachine } from '../../../../src/lib/machine'
import { pathsOf } from '../../../../src/lib/paths'
import { certificateDigest, createCertificate, createClientCertificate, nodeClientTls } from '../../../../src/lib/tls'
import { nodeUuid } from '../../../../src/model/ids'
import { type Noded, type NodedOptions, startNoded } from '../../../../src/daemons/noded/noded'
import { CONSOLE_PATH, CONSOLE_PROTOCOL } from '../../../../src/rpc/node/consoles'
import { type NodeTarget, openNodeClient } from '../../../../src/rpc/node/client'

const HOST = 'node1.example.com'
let folder: string
let options: NodedOptions
let noded: Noded
let own: string
let target: NodeTarget
const left: string[] = []

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-noded-'))
  const paths = pathsOf(path.join(folder, HOST), HOST)
  fs.mkdirSync(paths.dataDir, { recursive: true })
  const server = await createCertificate()
  own = await createClientCertificate(server, HOST)
  fs.writeFileSync(paths.serverCert, server)
  fs.writeFileSync(paths.clientCert, own)
  options = {
    ...{ paths, clock: systemClock, random: systemRandom, disk: ownedDisk, machine: thisMachine },
    hostname: HOST,
    address: '127.0.0.1',
    port: 0,
    daemons: {
      startMaster: () => Promise.resolve(),
      stopMaster: () => Promise.resolve(),
      yieldMaster: () => Promise.resolve(true),
      ensure: () => Promise.resolve(true),
      settle: () => Promise.resolve(),
      leave: () => void left.push('left'),
    },
  }
  noded = await startNoded(options)
  target = {
    uuid: nodeUuid('6579ba41-4950-4722-b2a1-7f1efa659aad'),
    name: HOST,
    primary_ip: '127.0.0.1',
    offline: false,
  }
  nameCandidates(own)
})

afterAll(async () => {
  await noded.close()
  fs.rmSync(folder, { recursive: true })
})

const client = () =>
  openNodeClient({ files: systemFiles, clock: systemClock, paths: noded.context.paths, port: noded.port })
const nameCandidates = (...certificates: string[]) =>
  fs.writeFileSync(
    noded.context.paths.ssconf('master_candidates_certs'),
    certificates.map((pem, index) => `uuid-${index}=${certificateDigest(pem)}\n`).join(''),
  )

test('a call comes back with its result, over mutual TLS', async () => {
  const nodes = client()
  await expect(nodes.one(target, 'version', [])).resolves.toBe(3010000)
  nodes.close()
})

test('a failing call names node, call and cause', async () => {
  const nodes = client()
  await expect(nodes.one(target, 'export_remove', ['nowhere'])).rejects.toThrow(
    /^Call 'export_remove' to node 'node1.example.com' has failed: .*nowhere/,
  )
  nodes.close()
})

test('a candidate that was demoted is refused at once, on its open connection too', async () => {
  const nodes = client()
  await nodes.one(target, 'version', [])
  const other = await createClientCertificate(fs.readFileSync(noded.context.paths.serverCert, 'utf8'), 'other')
  nameCandidates(other)
  await expect(nodes.one(target, 'version', [])).rejects.toThrow('not one of a master candidate')
  nameCandidates(other, own)
  await expect(nodes.one(target, 'version', [])).resolves.toBe(3010000)
  nodes.close()
})

test('a call that was still being sent when its caller was demoted is not carried out', async () => {
  const address = { host: '127.0.0.1', port: noded.port, path: '/version', method: 'POST' }
  // The node says when it has the headers.
  const headers = { Expect: '100-continue' }
  const request = https.request({
    ...address,
    ...nodeClientTls(systemFiles, noded.context.paths),
    headers,
    agent: false,
  })
  const answered = once(request, 'response')
  request.write('[')
  await once(request, 'continue')
  nameCandidates(await createClientCertificate(fs.readFileSync(noded.context.paths.serverCert, 'utf8'), 'other'))
  request.end(']')
  const [{ statusCode }] = (await answered) as [http.IncomingMessage]
  nameCandidates(own)
  expect(statusCode).toBe(403)
})

test('a script that nobody waits for any more is ended', async () => {
  const nodes = client()
  const folder = noded.context.paths.local('/usr/lib/ganeti/iallocators')
  const pipe = path.join(folder, 'witness')
  fs.mkdirSync(folder, { recursive: true })
  execFileSync('mkfifo', [pipe])
  const script = `#!/bin/sh\nexec 9> ${pipe}; echo begun >&9; sleep 1000\n`
  fs.writeFileSync(path.join(folder, 'mine'), script, { mode: 0o755 })
  const requested = nodes.one(target, 'iallocator_runner', ['mine', '{}', {}])
  requested.catch(() => undefined)
  const witness = fs.createReadStream(pipe)
  await once(witness, 'readable')
  nodes.close()
  await expect(requested).rejects.toThrow('closed the connection')
  // The pipe's end is read when nobody has it open to write any more.
  expect(await text(witness)).toBe('begun\n')
})

test("before the first list of candidates only the cluster's own certificate is accepted", async () => {
  const nodes = client()
  fs.rmSync(noded.context.paths.ssconf('master_candidates_certs'))
  await expect(nodes.one(target, 'version', [])).rejects.toThrow('certificate')
  fs.renameSync(noded.context.paths.clientCert, `${noded.context.paths.clientCert}.aside`)
  await expect(nodes.one(target, 'version', [])).resolves.toBe(3010000)
  fs.renameSync(`${noded.context.paths.clientCert}.aside`, noded.context.paths.clientCert)
  nameCandidates(own)
  nodes.close()
})

test('only the master keeps its queue on a node: a former one, which does not know better, is refused', async () => {
  const nodes = client()
  const { paths } = noded.context
  const write = () => nodes.one(target, 'jobqueue_update', [`${paths.queueDir}/job-1`, '{}'])
  fs.writeFileSync(paths.ssconf('master_node'), 'node2.example.com\n')
  // The certificates of Ganeti carry no node's name, so noded cannot tell whose they are.
  fs.writeFileSync(paths.ssconf('node_list'), 'node2.example.com\n')
  await expect(write()).resolves.toBeNull()
  fs.writeFileSync(paths.ssconf('node_list'), `${HOST}\nnode2.example.com\n`)
  await expect(write()).rejects.toThrow('takes this only from the master, which is node2.example.com and not node1')
  await expect(nodes.one(target, 'version', [])).resolves.toBe(3010000)
  fs.writeFileSync(paths.ssconf('master_node'), `${HOST}\n`)
  await expect(write()).resolves.toBeNull()
  nodes.close()
})

test('it has as many connections at once as it was told', async () => {
  const one = await startNoded({ ...options, connections: 1 })
  const opened: tls.TLSSocket[] = []
  const connect = (event: string) => {
    const socket = tls.connect({
      ...{ host: '127.0.0.1', port: one.port, ...nodeClientTls(systemFiles, options.paths) },
    })
    opened.push(socket.on('error', () => undefined))
    return new Promise((resolve) => socket.once(event, resolve))
  }
  try {
    await connect('secureConnect')
    await connect('close')
    expect(opened.map(({ closed }) => closed)).toEqual([false, true])
  } finally {
    for (const socket of opened) socket.destroy()
    await one.close()
  }
})

test('a caller whose certificate another cluster signed does not get past TLS', async () => {
  const stranger = await createCertificate()
  await expect(raw({ method: 'POST', path: '/version' }, '[]', stranger)).rejects.toThrow()
})

test('wrong methods, unknown calls and long bodies get their HTTP errors', async () => {
  expect(await raw({ method: 'GET', path: '/version' })).toMatchObject({ status: 400 })
  expect(await raw({ method: 'POST', path: '/nosuch' }, '[]')).toMatchObject({ status: 404 })
  expect(await raw({ method: 'POST', path: '/version', headers: { 'Content-Length': 1e9 } }, '[')).toMatchObject({
    status: 413,
  })
})

test.each([
  ['not JSON', '/version', '[', 'version: the arguments are not JSON'],
  ['a wrong number', '/test_delay', '[]', 'test_delay takes a list of 1 arguments (duration)'],
  ['a wrong type', '/test_delay', '["x"]', "test_delay: argument 'duration': expected a number"],
  ['a path that climbs', '/jobqueue_update', '["/var/lib/ganeti/queue/../x", [0, ""]]', 'without \\"..\\"'],
  ['a path with NUL', '/jobqueue_update', '["/etc/\\u0000", [0, ""]]', 'without NUL'],
])('arguments that are %s are refused by name', async (_what, call, body, text) => {
  const answer = await raw({ method: 'POST', path: call }, body)
  expect(answer.status).toBe(200)
  expect(answer.body).toContain(text)
  expect(answer.body.startsWith('[false, ')).toBe(true)
})

test('many nodes are asked at once, and each has its own result', async () => {
  const nodes = client()
  const down = {
    ...target,
    uuid: nodeUuid('e8d56ac1-915c-49f9-8bb1-36e90c83850b'),
    name: 'down',
    primary_ip: '127.9.9.9',
  }
  const offline = { ...target, uuid: nodeUuid('7c48018d-57b4-4e07-8a53-0e4baf8f8e59'), name: 'off', offline: true }
  const results = await nodes.all([target, down, offline], 'test_delay', (node) => [node === target ? 0.01 : 0])
  expect(results.get(target.uuid)).toEqual({ ok: true, payload: null })
  expect(results.get(down.uuid)).toMatchObject({ ok: false, offline: false })
  expect(results.get(down.uuid)).toHaveProperty('error', expect.stringContaining('is ganeti-noded running there?'))
  expect(results.get(offline.uuid)).toEqual({ ok: false, error: 'Node is marked offline', offline: true })
  nodes.close()
})

test('a node that leaves the cluster forgets it and ends', async () => {
  const { paths } = noded.context
  const nodes = client()
  const kept = fs.readFileSync(paths.serverCert)
  await expect(nodes.one(target, 'node_leave_cluster', [false])).resolves.toBe('Shutdown scheduled')
  expect(fs.readdirSync(paths.dataDir).filter((name) => name.startsWith('ssconf_') || name.endsWith('.pem'))).toEqual(
    [],
  )
  expect(left).toEqual(['left'])
  fs.writeFileSync(paths.serverCert, kept)
  fs.writeFileSync(paths.clientCert, own)
  nodes.close()
})

describe('whether a caller may call cannot be read', () => {
  const full = () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' })
  }
  let broken: string
  let lines: string[]
  let one: Noded
  beforeEach(async () => {
    broken = ''
    nameCandidates(own)
    fs.writeFileSync(options.paths.ssconf('master_node'), `${HOST}\n`)
    const log = openLog({ write: (line) => void lines.push(line) })
    const readFileSync = ((file: string, ...more: []) =>
      file === options.paths.ssconf(broken) ? full() : systemFiles.readFileSync(file, ...more)) as Files['readFileSync']
    const files = { ...systemFiles, readFileSync }
    lines = []
    one = await startNoded({ ...options, log, machine: { ...thisMachine, files } })
  })
  afterEach(() => one.close())

  test.each([
    ['whether it is a candidate', 'master_candidates_certs'],
    ['whether it is the master', 'master_node'],
  ])('%s: the caller gets 500, the log the cause, and the next call its answer', async (_, key) => {
    broken = key
    // It is read again only after a change.
    fs.copyFileSync(options.paths.ssconf(key), path.join(folder, 'copy'))
    fs.renameSync(path.join(folder, 'copy'), options.paths.ssconf(key))
    const call = { method: 'POST', path: '/jobqueue_set_drain_flag', port: one.port }
    expect(await raw(call, '[false]')).toMatchObject({ status: 500, body: expect.stringContaining('a defect') })
    expect(lines.join('')).toMatch(/EMFILE[^]*a call was not answered because of a defect/)
    broken = ''
    expect(await raw(call, '[false]')).toMatchObject({ status: 200 })
  })

  test('a console is not opened, and the next call has its answer', async () => {
    broken = 'master_candidates_certs'
    const headers = { Connection: 'Upgrade', Upgrade: CONSOLE_PROTOCOL }
    await expect(raw({ path: CONSOLE_PATH, port: one.port, headers })).rejects.toThrow('hang up')
    expect(lines.join('')).toMatch(/EMFILE[^]*a console ended because of a defect/)
    broken = ''
    expect(await raw({ method: 'POST', path: '/version', port: one.port }, '[]')).toMatchObject({ status: 200 })
  })
})

test('a call is not carried out for a caller that has left before it was begun', async () => {
  nameCandidates(own)
  const flag = `${noded.context.paths.queueDir}/drain`
  const socket = tls.connect({ host: '127.0.0.1', port: noded.port, key: own, cert: own, rejectUnauthorized: false })
  socket.on('error', () => undefined).resume()
  await once(socket, 'secureConnect')
  // As for a daemon that was stopped: the call and the end of its connection are there at the same time.
  socket.end('POST /jobqueue_set_drain_flag HTTP/1.1\r\nHost: n\r\nContent-Length: 6\r\n\r\n[true]')
  await once(socket, 'close')
  expect((await raw({ method: 'POST', path: '/version' }, '[]')).status).toBe(200)
  expect(fs.existsSync(flag)).toBe(false)
  const nodes = client()
  await nodes.one(target, 'jobqueue_set_drain_flag', [true])
  expect(fs.existsSync(flag)).toBe(true)
  await nodes.one(target, 'jobqueue_set_drain_flag', [false])
  nodes.close()
})

function raw(
  options: https.RequestOptions,
  body = '',
  certificate = own,
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const tls = { key: certificate, cert: certificate, rejectUnauthorized: false, agent: false }
    const request = https.request({ host: '127.0.0.1', port: noded.port, ...tls, ...options }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode, body: text }))
    })
    request.on('error', reject)
    request.end(body)
  })
}
