// Sends input to HTTP ports, sockets and daemons that no honest client sends. They must refuse it with a text that names the
// mistake, write nothing, and live on.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { createCertificate, createClientCertificate } from '../../src/lib/tls'
import { PORT } from '../../src/model/constants/daemons'
import { HTTP_LIMITS } from '../../src/model/limits/http'
import type { Role } from '../../src/roles/role'
import { ROLES } from '../../src/roles/table'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { NODES, daemonPids, dataDir, eventually, list, masterRun, residentMib, withWconfd } from '../support/faults'
import { queueText, writtenJobs } from '../support/queue-in-process'
import { crowd, dribble, httpsCall, megabytes, nodeCall, sendFrame } from '../support/faults-wire'

let cluster: EmbeddedCluster
let pids: Record<string, number>
const MASTER = NODES[0] ?? ''

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  pids = daemonPids(cluster.root)
})
afterAll(() => cluster.remove())
afterEach(async () => {
  expect(daemonPids(cluster.root)).toEqual(pids)
  expect(await cluster.master.queryConfigValues(['cluster_name'])).toEqual(['cluster.gantry.local'])
})

test('the processes that must live on are those of every daemon that the table of roles has', () => {
  const always = (ROLES as readonly Role[]).filter(
    ({ nodes, place, lines }) => nodes !== 'simulated' && place !== 'demand' && lines === undefined,
  )
  expect(new Set(Object.keys(pids).map((name) => name.split(' ')[0]))).toEqual(new Set(always.map(({ name }) => name)))
})

const luxi = () => cluster.socket
const wconfd = () => path.join(masterRun(cluster), 'socket/ganeti-wconfd')
const frame = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)) + '\x03'
const submit = (op: Record<string, unknown>) => ({ method: 'SubmitJob', args: [[op]] })
const deep = (levels: number, inside = ''): string => '['.repeat(levels) + inside + ']'.repeat(levels)

const queueOf = (node: string) => {
  const queueDir = path.join(dataDir(cluster, node), 'queue')
  return { queueDir, queueJournal: path.join(queueDir, 'journal') }
}

/** Everything that a bad request could have changed. */
const written = () => ({
  queue: NODES.map((node) => writtenJobs(queueOf(node)).sort()),
  serial: queueText(queueOf(MASTER), 'serial'),
  shared: list(path.join(cluster.root, 'shared')),
  roots: list(cluster.root),
  data: NODES.map((node) => list(dataDir(cluster, node)).filter((name) => !OWN_WILL.test(name))),
})
/** Files that daemons and the watcher write when nobody asks them to. */
const OWN_WILL = /^(config\.journal|locks\.data|tempres\.data|\.?(gantry-)?watcher\..*)$/

async function writesNothing(attack: () => Promise<void>): Promise<void> {
  const config = () => withWconfd(cluster, (calls) => calls.readConfig())
  const before = { files: written(), config: await config() }
  await attack()
  expect({ files: written(), config: await config() }).toEqual(before)
}

const CREATE = {
  ...{ OP_ID: 'OP_INSTANCE_CREATE', reason: [], mode: 'create', disk_template: 'sharedfile', os_type: 'gantry-tiny' },
  ...{ disks: [{ size: 4 }], nics: [{}], instance_name: 'vm.gantry.local' },
}
const DELAY = { OP_ID: 'OP_TEST_DELAY', duration: 0.1, on_master: true, on_nodes: [], reason: [] }

describe('LUXI', () => {
  const malformed: [what: string, request: unknown, answer: RegExp][] = [
    ['no JSON', 'GET / HTTP/1.1', /Failed to parse request.*Invalid JSON/],
    ['half of a JSON text', '{"method": "Query", ', /Failed to parse request.*Invalid JSON/],
    ['a list', [1, 2], /Unable to read JSObject/],
    ['no method', { args: [] }, /key 'method' not found/],
    ['a method that is a number', { method: 5, args: [] }, /value for 'LuxiReq': Unable to read String/],
    ['no arguments', { method: 'QueryClusterInfo' }, /key 'args' not found/],
    ['an unknown method', { method: 'DropAll', args: [] }, /Invalid string value.*DropAll/],
    ['a method of all objects', { method: 'constructor', args: [] }, /Invalid string value.*constructor/],
    ['too few arguments', { method: 'Query', args: ['node'] }, /Unable to read Triple/],
    ['an unknown resource', { method: 'Query', args: ['cheese', ['name'], null] }, /cheese/],
    ['fields that are a number', { method: 'Query', args: ['node', 7, null] }, /Cannot convert value/],
    ['a filter of an unknown operator', { method: 'Query', args: ['node', ['name'], ['%%', 'name', 'x']] }, /%%/],
    ['a job id that is no number', { method: 'ArchiveJob', args: ['../../etc/passwd'] }, /Cannot convert value/],
    ['a huge job id', { method: 'CancelJob', args: [1e30] }, /Cannot convert value|not found/],
    ['deep nesting', `{"method": "Query", "args": ${deep(200_000)}}`, /nested deeper than/],
    ['a deep filter', `{"method": "Query", "args": ["node", ["name"], ${deep(190, '"&"')}]}`, /"success":false/],
  ]
  test.each(malformed)('%s is refused', (_what, request, answer) =>
    writesNothing(async () => {
      const text = await sendFrame(luxi(), [frame(request)])
      expect(text).toMatch(answer)
      expect(text.length).toBeLessThan(2000)
    }),
  )

  test('bytes that are no UTF-8 are refused', () =>
    writesNothing(async () => {
      const [before = '', after = ''] = frame(submit({ ...DELAY, comment: 'HERE' })).split('HERE')
      const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe]), Buffer.from(after)])
      expect(await sendFrame(luxi(), [bytes])).toMatch(/Failed to decode UTF-8/)
    }))

  const opcodes: [what: string, op: Record<string, unknown>, answer: RegExp][] = [
    ['an unknown opcode', { OP_ID: 'OP_FORMAT_DISKS', reason: [] }, /OP_FORMAT_DISKS/],
    ['an opcode of all objects', { OP_ID: '__proto__', reason: [] }, /__proto__/],
    ['an opcode without a reason', { ...DELAY, reason: undefined }, /'reason' not found/],
    ['an unknown parameter', { ...DELAY, 'x; rm -rf /': 1 }, /x; rm -rf/],
    ['a parameter of the wrong type', { ...DELAY, duration: 'long' }, /duration/],
    ['a number instead of a name', { ...DELAY, on_nodes: [5] }, /on_nodes/],
    ['a huge priority', { ...DELAY, priority: 1e15 }, /priority/],
    ['a name that is no text', { ...CREATE, instance_name: { a: 1 } }, /instance_name/],
    ['a disk that is a text', { ...CREATE, disks: ['/dev/sda'] }, /disks/],
    ['an unknown template', { ...CREATE, disk_template: '../file' }, /disk_template/],
  ]
  test.each(opcodes)('%s is refused, and the answer names it', (_what, op, answer) =>
    writesNothing(async () => expect(await sendFrame(luxi(), [frame(submit(op))])).toMatch(answer)),
  )

  test('a deep parameter is refused', () =>
    writesNothing(async () => {
      const op = JSON.stringify({ ...CREATE, hvparams: { kernel_args: 0 } }).replace('0', deep(100_000))
      expect(await sendFrame(luxi(), [`{"method": "SubmitJob", "args": [[${op}]]}\x03`])).toMatch(/nested deeper than/)
    }))

  test('names with paths, shell characters and NUL make nothing, and the error names the field', async () => {
    const before = written()
    const bad: [Record<string, unknown>, RegExp][] = [
      [{ ...CREATE, instance_name: '' }, /instance.?name|''|""/i],
      [{ ...CREATE, instance_name: '../../../tmp/x' }, /\.\.\/\.\.\/\.\.\/tmp\/x|instance_name/],
      [{ ...CREATE, instance_name: 'vm;reboot' }, /vm;reboot|instance_name/],
      [{ ...CREATE, instance_name: '$(reboot)' }, /\$\(reboot\)|instance_name/],
      [{ ...CREATE, instance_name: 'vm\u0000x' }, /vm.{0,6}x|instance_name/],
      [{ ...CREATE, instance_name: `${'a'.repeat(300)}.example` }, /aaaa|instance_name/],
      [{ ...CREATE, os_type: '../../../bin/sh' }, /\.\.\/bin\/sh|os_type/],
      [{ ...CREATE, file_storage_dir: '../../../../etc' }, /file.storage/i],
      [{ ...CREATE, pnode: '../node1', iallocator: undefined }, /\.\.\/node1/],
      [{ ...CREATE, disks: [{ size: -5 }] }, /size/],
      [{ ...CREATE, disks: [{ size: 1e300 }] }, /size/],
      [{ ...CREATE, nics: [{ mac: '`id`' }] }, /mac|MAC/],
      [{ ...CREATE, nics: [{ ip: '1.2.3.4; ls' }] }, /1\.2\.3\.4; ls/],
      [{ ...CREATE, beparams: { memory: 'lots' } }, /minmem|maxmem|memory|beparams/],
      [{ OP_ID: 'OP_TAGS_SET', reason: [], kind: 'cluster', name: null, tags: ['a\nb', '$(id)'] }, /tag/i],
      [{ OP_ID: 'OP_TAGS_SET', reason: [], kind: 'instance', name: '../x', tags: ['a'] }, /\.\.\/x/],
      [{ OP_ID: 'OP_INSTANCE_REMOVE', reason: [], instance_name: '../..', shutdown_timeout: 1 }, /\.\.\/\.\./],
    ]
    for (const [op, text] of bad) {
      const ended = await cluster
        .run(op as never)
        .catch((error: unknown) => ({ status: 'refused', result: String(error) }))
      expect(['error', 'refused']).toContain(ended.status)
      expect(JSON.stringify(ended.result)).toMatch(text)
    }
    expect({ ...written(), queue: [], serial: '' }).toEqual({ ...before, queue: [], serial: '' })
    expect((await cluster.master.query('instance', ['name'], null)).data).toEqual([])
  })
})

describe('too much', () => {
  const memory = () => Math.max(...Object.values(pids).map(residentMib))

  test('100 MB in one frame are refused by luxid and wconfd while they come, and their memory stays bounded', () =>
    writesNothing(async () => {
      for (const socket of [luxi(), wconfd()]) {
        const start = '{"method": "echo", "args": ["'
        expect(await sendFrame(socket, megabytes(100, start))).toMatch(/longer than \d+ bytes/)
      }
      expect(memory()).toBeLessThan(400)
    }))

  test('100 MB in a body are refused by the remote API and the node daemon before they are read', () =>
    writesNothing(async () => {
      const pem = fs.readFileSync(path.join(dataDir(cluster, MASTER), 'client.pem'), 'utf8')
      const doors = [
        { port: PORT.rapi, path: '/2/instances', auth: `admin:${cluster.password}` },
        { port: PORT.noded, path: '/version', tls: { key: pem, cert: pem } },
      ]
      for (const door of doors) {
        const call = { host: cluster.address, method: 'POST', ...door }
        const json = { 'Content-Type': 'application/json' }
        const announced = await httpsCall({
          ...{ ...call, body: megabytes(100), headers: { ...json, 'Content-Length': 100 << 20 } },
        })
        expect(announced.status).toBe(413)
        const streamed = await httpsCall({ ...call, body: megabytes(100), headers: json })
        expect(streamed.status).toBe(413)
      }
      expect(memory()).toBeLessThan(400)
    }))

  test('thousands of silent connections hinder nobody after they are gone', async () => {
    const tcp = (port: number) => () => net.connect(port, cluster.address)
    for (const connect of [() => net.connect(luxi()), () => net.connect(wconfd()), tcp(PORT.rapi), tcp(PORT.noded)]) {
      const guests = await crowd(2500, connect)
      guests.leave()
    }
    await eventually('the remote API answers', async () =>
      (await cluster.rapi('GET', '/2/info')).status === 200 ? true : undefined,
    )
    expect(await cluster.run(DELAY)).toMatchObject({ status: 'success' })
    expect(memory()).toBeLessThan(400)
  })

  test('a client that dribbles is hung up on, and nobody else waits for it', async () => {
    const slow = Array.from({ length: 20 }, () =>
      dribble(
        cluster.address,
        PORT.rapi,
        'GET /2/info HTTP/1.1\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      ),
    )
    const began = performance.now()
    expect((await cluster.rapi('GET', '/2/info')).status).toBe(200)
    expect(performance.now() - began).toBeLessThan(3000)
    for (const seconds of await Promise.all(slow)) expect(seconds).toBeLessThan(2 * HTTP_LIMITS.receive_s + 5)
  })
})

describe('the remote API', () => {
  const body = (text: string | Buffer, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
    httpsCall({
      ...{ host: cluster.address, port: PORT.rapi, method: 'POST', path: '/2/instances' },
      ...{ auth: `admin:${cluster.password}`, headers, body: [text] },
    })

  test('refuses bodies that are no JSON, too deep, of another type, or not what the opcode takes', () =>
    writesNothing(async () => {
      expect(await body('{"a": ')).toMatchObject({ status: 400, body: expect.stringMatching(/JSON/) })
      const noText = Buffer.from('{"group_name": "\xff"}', 'latin1')
      expect(await body(noText)).toMatchObject({ status: 400, body: expect.stringMatching(/JSON/) })
      expect(await body(deep(100_000))).toMatchObject({ status: 400, body: expect.stringMatching(/nested/) })
      expect(await body('<a/>', { 'Content-Type': 'text/xml' })).toMatchObject({ status: 415 })
      const fields: [Record<string, unknown>, RegExp][] = [
        [{}, /version/],
        [{ __version__: 1, mode: 'create', instance_name: 7, disks: [], nics: [] }, /instance_name/],
        [{ __version__: 1, mode: 'make', instance_name: 'x', disks: [], nics: [], disk_template: 'file' }, /mode/],
        [{ __version__: 1, mode: 'create', instance_name: 'x', disks: 1, nics: [], disk_template: 'file' }, /disks/],
      ]
      for (const [fields_, text] of fields)
        expect(await body(JSON.stringify(fields_))).toMatchObject({ status: 400, body: expect.stringMatching(text) })
    }))

  test('refuses users that are unknown, wrong, malformed, or may not write', () =>
    writesNothing(async () => {
      const users = path.join(dataDir(cluster, MASTER), 'rapi/users')
      const before = fs.readFileSync(users, 'utf8')
      fs.appendFileSync(users, 'reader secret read\n')
      const ask = (method: string, user: string) => cluster.rapi(method, '/2/tags?tag=x', undefined, user)
      await eventually('the new user is known', async () =>
        (await ask('GET', 'reader:secret')).status === 200 ? true : undefined,
      )
      expect((await ask('PUT', 'reader:secret')).status).toBe(403)
      for (const user of ['reader:wrong', 'nobody:secret', `${'x'.repeat(5000)}:y`, "' or 1=1 --:x"])
        expect((await ask('GET', user)).status).toBe(401)
      const raw = (Authorization?: string) =>
        httpsCall({
          ...{ host: cluster.address, port: PORT.rapi, method: 'GET', path: '/2/info' },
          headers: Authorization === undefined ? {} : { Authorization },
        })
      for (const header of [undefined, 'Basic ====', 'Bearer abc', 'Digest x', 'Basic AAAA'])
        expect([400, 401]).toContain((await raw(header)).status)
      fs.writeFileSync(users, before)
    }))
})

describe('a node daemon', () => {
  test('answers nobody without the certificate of a master candidate', () =>
    writesNothing(async () => {
      const stranger = await createCertificate()
      const serverPem = fs.readFileSync(path.join(dataDir(cluster, MASTER), 'server.pem'), 'utf8')
      const demoted = await createClientCertificate(serverPem, 'node9.gantry.local')
      expect(await nodeCall(cluster, 'version', [], '')).toMatchObject({ status: 0 })
      expect(await nodeCall(cluster, 'version', [], stranger)).toMatchObject({ status: 0 })
      expect(await nodeCall(cluster, 'version', [], demoted)).toMatchObject({ status: 403 })
      expect(await nodeCall(cluster, 'version', [])).toMatchObject({ status: 200 })
    }))

  const paths = ['/etc/passwd', '/srv/ganeti/../../../../etc', '../../etc/passwd', '/###-VIRTUAL-PATH-###,/../../etc/x']
  const disk = (file: string) => ({ dev_type: 'file', logical_id: ['loop', file], size: 4, params: {}, children: [] })
  const calls: [name: string, args: unknown, answer: RegExp][] = [
    ['no_such_call', [], /There is no such call/],
    ['version', '{', /not JSON/],
    ['version', deep(100_000), /version: the arguments are nested deeper than 200 levels/],
    ['version', [1], /list of 0 arguments/],
    ['instance_start', [1, 2, 3], /instance_start: argument 'instance_hvp_bep'/],
    ['instance_info', ['../../etc/passwd', 'fake', {}], /argument '|not an instance name/i],
    ['hooks_runner', ['../../../bin', 'pre', {}], /\[false, /],
    ['os_validate', [true, '../../../bin', ['parameters'], {}, false], /\[false, /],
    ...paths.flatMap((file): [string, unknown, RegExp][] => [
      ['file_storage_dir_create', [file], /\[false, .*(allowed|absolute|storage|forbidden)/i],
      ['blockdev_create', [disk(file), 4, 'vm', true, '', false], /\[false, /],
      ['jobqueue_update', [file, [0, 'x']], /\[false, /],
      ['upload_file_single', [file, [0, 'x'], 420, 'root', 'root', null, null], /\[false, /],
    ]),
  ]
  test.each(calls.map(([name, args, answer]) => [name, JSON.stringify(args).slice(0, 80), args, answer] as const))(
    '%s with %s is refused',
    (name, _text, args, answer) =>
      writesNothing(async () => expect((await nodeCall(cluster, name, args)).body).toMatch(answer)),
  )
})

test('wconfd refuses what is no call of it, and names what is wrong', () =>
  writesNothing(async () => {
    const bad: [unknown, RegExp][] = [
      ['nonsense', /Failed to parse request/],
      [{ method: 'format', args: [] }, /No such method: format/],
      [{ method: 'toString', args: [] }, /No such method/],
      [{ method: 'gantryRead', args: [5] }, /RPC input/],
      [{ method: 'gantryChange', args: [['x'], null, []] }, /RPC input/],
      [{ method: 'gantryChange', args: [[1, '/tmp/none', 1], null, [['dropEverything']]] }, /dropEverything/],
      [{ method: 'gantryChange', args: [[1, '/tmp/none', 1], 7, [['addTcpUdpPort', 1]]] }, /"success":false/],
      [{ method: 'gantryChange', args: [[1, '/tmp/none', 1], null, [['addInstance', { name: 5 }, []]]] }, /name|uuid/],
      [`{"method": "gantryChange", "args": ${deep(100_000)}}`, /nested deeper than/],
    ]
    for (const [request, answer] of bad) expect(await sendFrame(wconfd(), [frame(request)])).toMatch(answer)
  }))
