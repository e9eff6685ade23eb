// The remote API as a server: its routes, long answers, files of users, browsers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { text } from 'node:stream/consumers'
import * as tls from 'node:tls'
import { systemRandom } from '../../../../src/lib/random'
import { systemFiles } from '../../../../src/lib/files'
import { UsersFile } from '../../../../src/daemons/rapi/users'
import { silentLog } from '../../../../src/lib/log'
import { routes } from '../../../../src/generated/rapi-routes'
import { GenericError, JobQueueFull, LuxiError, OpPrereqError } from '../../../../src/model/errors'
import { PeerError } from '../../../../src/rpc/json-protocol'
import type { Master } from '../../../../src/rpc/luxi/master'
import type { WireOpCode } from '../../../../src/rpc/luxi/calls'
import { basic, Harness, RecordedMaster, USERS } from './harness'

let harness: Harness
let submitted: WireOpCode[][]
/** The next call of queryClusterInfo throws this. */
let failure: unknown
/** The tags of the cluster. */
let tags: string[] = []

beforeAll(async () => {
  const recorded = new RecordedMaster()
  submitted = recorded.submitted
  recorded.queryClusterInfo = async () => {
    if (failure === undefined) return { name: 'é"\u{1F600}', empty: [], nested: { list: [1, 'two'] } }
    throw failure
  }
  recorded.queryTags = async () => tags
  harness = await Harness.start(recorded as unknown as Master)
})
afterAll(() => harness.stop())
afterEach(() => (failure = undefined))

test('every route has a controller with its action', () => {
  expect(routes.filter(({ path }) => !path.startsWith('/3/')).length).toBe(84)
  for (const { controller, action } of routes) expect(typeof controller.prototype[action]).toBe('function')
})

describe('answers', () => {
  test('are ASCII with blanks after separators and a newline at the end', async () => {
    const { body } = await harness.ask('GET', '/2/info')
    const name = '"name": "\\u00e9\\"\\ud83d\\ude00", "empty": [], "nested": {"list": [1, "two"]}'
    expect(body).toBe(`{${name}}\n`)
  })

  test('a long list comes in pieces that are together the same text', async () => {
    tags = Array.from({ length: 5001 }, (_, at) => `tag ${at}, "é"`)
    const options = { port: harness.rapi.addresses[0]?.port, path: '/2/tags', rejectUnauthorized: false }
    const body = await new Promise<string>((resolve, reject) =>
      get({ ...options, headers: { authorization: basic('admin', 'secret') } }, (response) => {
        expect([response.statusCode, response.headers['transfer-encoding']]).toEqual([200, 'chunked'])
        text(response).then(resolve, reject)
      }).on('error', reject),
    )
    expect(body).toBe(`[${tags.map((tag) => JSON.stringify(tag).replace('é', '\\u00e9')).join(', ')}]\n`)
  })

  test('a connection serves several requests', async () => {
    const socket = tls.connect({ port: harness.rapi.addresses[0]?.port, rejectUnauthorized: false })
    const request = `GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic('admin', 'secret')}\r\n\r\n`
    const bodies: string[] = []
    for (let count = 0; count < 3; count++) {
      socket.write(request)
      bodies.push(await new Promise((resolve) => socket.once('data', (data) => resolve(String(data).slice(-2)))))
    }
    socket.destroy()
    expect(bodies).toEqual(['2\n', '2\n', '2\n'])
  })

  test.each([
    ['a full queue', new JobQueueFull(), 503, /queue is full/],
    ['a drained queue', new GenericError('Queue drained'), 500, /^Queue drained$/],
    [
      'several arguments',
      new OpPrereqError("no 'x'", 'wrong_input'),
      500,
      /^\(&quot;no &#x27;x&#x27;&quot;, &#x27;wrong_input&#x27;\)$/,
    ],
    ['a lost master', new PeerError('luxid is gone', 'lost'), 502, /luxid is gone/],
    ['a silent master', new PeerError('luxid did not answer', 'timeout'), 504, /did not answer/],
    ['an unreadable call', new LuxiError('Failed to parse request: x'), 502, /^Failed to parse/],
    ['a defect', new TypeError('secret detail'), 500, /^Internal error; the log/],
  ])('%s has its status', async (_, error, status, message) => {
    failure = error
    const answer = await harness.ask('GET', '/2/info')
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toMatchObject({ code: status, message: expect.stringMatching(message) })
    expect(answer.body).not.toContain('secret detail')
  })
})

describe('changes that a browser asks for', () => {
  const status = async (method: string, url: string, ...headers: string[]) =>
    (await harness.ask(method, url, { headers })).status

  test.each([
    ['Sec-Fetch-Site: cross-site', 403],
    ['Sec-Fetch-Site: same-site', 403],
    ['Origin: https://evil.example', 403],
    ['Origin: https://x:5081', 403],
    ['Origin: null', 403],
    ['Sec-Fetch-Site: same-origin', 200],
    ['Sec-Fetch-Site: none', 200],
    ['Origin: https://x', 200],
    ['User-Agent: curl', 200],
  ])('with %s are answered with %i', async (header, expected) => {
    expect(await status('PUT', '/2/tags?tag=x', header)).toBe(expected)
    expect(await status('GET', '/version', header)).toBe(200)
  })

  test.each(['a b', '[::1', 'x:99999999'])('with Host %s, which is no address, are refused', async (host) => {
    const lines = ['PUT /2/tags?tag=x HTTP/1.1', `Host: ${host}`, `Authorization: ${basic('admin', 'secret')}`]
    expect((await harness.raw([...lines, 'Origin: null', '', ''].join('\r\n'))).status).toBe(403)
  })

  test.each(['[::1]:5080', '[fe80::1%lo]:5080', '[::ffff:127.0.0.1]'])('may come to Host %s', async (host) => {
    const lines = ['PUT /2/tags?tag=x HTTP/1.1', `Host: ${host}`, `Authorization: ${basic('admin', 'secret')}`]
    expect((await harness.raw([...lines, '', ''].join('\r\n'))).status).toBe(200)
  })

  test('are refused with the header and the way out, and nothing may be read across sites', async () => {
    const answer = await harness.ask('PUT', '/2/tags?tag=x', { headers: ['Origin: https://evil.example'] })
    expect(JSON.parse(answer.body).message).toMatch(/^Origin is https:\/\/evil.example and Host is x: .*\/docs\//)
    const all = await Promise.all(['GET', 'OPTIONS', 'PUT'].map((method) => harness.ask(method, '/2/info')))
    for (const { headers } of all) expect(Object.keys(headers).join()).not.toMatch(/access-control/i)
  })
})

describe('users', () => {
  test('a password may hold colons', async () => {
    expect((await harness.ask('GET', '/version', { as: basic('colon', 'a:b:c') })).status).toBe(200)
    expect((await harness.ask('GET', '/version', { as: basic('colon', 'a') })).status).toBe(401)
  })

  test.each([':first', 'last:', '::', 'ü%20', '%'])('a password may be %s', async (password) => {
    writeFileSync(harness.usersFile, `${USERS}\nodd ${password} read`)
    const answer = await harness.ask('GET', '/version', { as: basic('odd', password) })
    writeFileSync(harness.usersFile, USERS)
    expect(answer.status).toBe(200)
  })

  test('writing needs the write option', async () => {
    const answer = await harness.ask('PUT', '/2/tags?tag=x', { as: basic('reader', 'foo555') })
    expect(answer.status).toBe(403)
  })

  test.each([
    ['@admin', [200, 200, 200]],
    ['@readonly', [200, 403, 403]],
    ['@readonly,+instances.startup', [200, 200, 403]],
    ['@admin,-tags.set', [200, 200, 403]],
    ['instances.*', [403, 200, 403]],
    ['unheard-of', [403, 403, 403]],
  ])('%s may read through the query call, start an instance, set tags: %j', async (options, expected) => {
    writeFileSync(harness.usersFile, `${USERS}\nrole word ${options}\n`)
    const as = basic('role', 'word')
    const ask = async (verb: string, url: string) => (await harness.ask(verb, url, { as })).status
    const query = await ask('GET', '/2/query/nothing?fields=name')
    const statuses = [
      // A user with the permission gets the answer that there is no such resource.
      query === 403 ? 403 : 200,
      await ask('PUT', '/2/instances/inst1.gnt.example/startup'),
      await ask('PUT', '/2/tags?tag=x'),
    ]
    writeFileSync(harness.usersFile, USERS)
    expect(statuses).toEqual(expected)
  })

  test.each([
    ['instances.list', [200, 403, 403]],
    ['instances.query,nodes.role.query', [403, 200, 200]],
    ['@readonly,-nodes.role.query', [200, 200, 403]],
    ['@operator,-instances.list', [403, 200, 200]],
    ['@readonly,-instances.query', [403, 403, 200]],
    ['write, -instances.query', [403, 403, 200]],
  ])('%s may list instances, see one, and ask for a role: %j', async (options, expected) => {
    writeFileSync(harness.usersFile, `${USERS}\nrole word ${options}\n`)
    const urls = ['/2/instances', '/2/instances/inst1.gnt.example', '/2/nodes/node1.gnt.example/role']
    const answers = await Promise.all(urls.map((url) => harness.ask('GET', url, { as: basic('role', 'word') })))
    writeFileSync(harness.usersFile, USERS)
    expect(answers.map(({ status }) => status)).toEqual(expected)
    // A user without the permission must not learn what is missing.
    for (const { status, body } of answers) if (status === 403) expect(body).not.toMatch(/instances|nodes|role/)
  })

  test.each([
    ['instances.multi_alloc,-instances.create', 'POST', '/2/instances-multi-alloc', { instances: [] }],
    ['@operator,-instances.failover', 'PUT', '/2/instances/vm/migrate', { mode: 'live', allow_failover: true }],
    ['@readonly,-instances.query', 'GET', '/2/query/instance?fields=name', undefined],
  ])('%s may not do with %s %s what another permission is for', async (options, verb, url, body) => {
    writeFileSync(harness.usersFile, `${USERS}\nrole word ${options}\n`)
    const { status } = await harness.ask(verb, url, { as: basic('role', 'word'), body })
    writeFileSync(harness.usersFile, USERS)
    expect(status).toBe(403)
  })

  test.each([
    ['{SHA-256}pw7', 'write', /a password that begins with a brace must be/],
    ['{}pw7', 'write', /a password that begins with a brace/],
    ['{pw7', 'write', /a password that begins with a brace/],
    ['pw7', 'write,-Xyz', /'-Xyz' is no permission/],
    ['pw7', '@admin, -instances.delete', /'-instances.delete' is no permission/],
    ['pw7', '@admin,-*', /'-\*' is no permission/],
  ])('a line with %s %s lets nobody in, and the log says why', async (password, options, reason) => {
    const errors: string[] = []
    const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
      error: (_fields: unknown, text: string) => void errors.push(text),
    })
    const users = path.join(mkdtempSync(path.join(tmpdir(), 'gantry-users-')), 'users')
    writeFileSync(users, `odd ${password} ${options}\ngood pw7 write\n`)
    const file = new UsersFile(users, { files: systemFiles, random: systemRandom, log })
    expect(file.verify({ name: 'odd', password })).toBeUndefined()
    expect(file.verify({ name: 'good', password: 'pw7' })?.name).toBe('good')
    expect(errors).toEqual([expect.stringMatching(reason)])
    expect(errors[0]).not.toContain('pw7')
    rmSync(path.dirname(users), { recursive: true })
  })

  test('the users file is read anew when it has changed', async () => {
    const as = basic('fresh', 'word')
    expect((await harness.ask('GET', '/version', { as })).status).toBe(401)
    writeFileSync(harness.usersFile, `${USERS}\nfresh word\n`)
    expect((await harness.ask('GET', '/version', { as })).status).toBe(200)
    writeFileSync(harness.usersFile, USERS)
    expect((await harness.ask('GET', '/version', { as })).status).toBe(401)
  })

  test('an unknown password scheme lets nobody in', async () => {
    writeFileSync(harness.usersFile, `${USERS}\nodd {SHA1}word write\nnone {CLEARTEXT} write\n`)
    expect((await harness.ask('GET', '/version', { as: basic('odd', '{SHA1}word') })).status).toBe(401)
    expect((await harness.ask('GET', '/version', { as: basic('none', 'x') })).status).toBe(401)
  })

  test('without required authentication reads are open, but wrong passwords and writes are not', async () => {
    const open = await Harness.start(new RecordedMaster() as unknown as Master, { requireAuthentication: false })
    const anonymous = (verb: string, url: string) => open.raw(`${verb} ${url} HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect((await anonymous('GET', '/2/instances')).status).toBe(200)
    expect((await anonymous('GET', '/2/nosuch')).status).toBe(404)
    expect((await anonymous('PUT', '/2/tags?tag=x')).status).toBe(401)
    expect((await open.ask('GET', '/version', { as: basic('admin', 'wrong') })).status).toBe(401)
    await open.stop()
  })
})

describe('bad input', () => {
  const instance = (instance_name: string) => ({
    ...{ __version__: 1, instance_name, mode: 'create', disk_template: 'diskless', disks: [], nics: [] },
  })

  test('a body that is too long is refused before it is read', async () => {
    const answer = await harness.raw(
      `POST /2/groups HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic('admin', 'secret')}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n',
    )
    expect([answer.status, answer.headers['connection']]).toEqual([413, 'close'])
  })

  test('deep nesting is refused', async () => {
    const answer = await harness.ask('POST', '/2/groups', { body: '['.repeat(50_000) + ']'.repeat(50_000) })
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('nested deeper than 100')])
  })

  test('a body of very many values is refused before it is parsed', async () => {
    const answer = await harness.ask('POST', '/2/groups', { body: `[${'0,'.repeat(200_000)}0` })
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('more than 200000 values')])
  })

  test.each([
    ['a name with dots and slashes', 'GET', '/2/instances/../../etc/passwd', undefined, 404],
    ['a NUL', 'GET', '/2/instances/a%00b', undefined, 404],
    ['shell characters', 'GET', '/2/instances/$(id)', undefined, 404],
    ['a role like a built-in', 'PUT', '/2/nodes/n/role', 'constructor', 400],
    ['an instance named like a path', 'POST', '/2/instances', instance('../etc'), 400],
    ['an instance named like a command', 'POST', '/2/instances', instance('a;reboot'), 400],
    ['a name that ends early', 'PUT', '/2/instances/vm1/rename', { new_name: 'vm2\0.example.com' }, 400],
    ['a group named like a path', 'POST', '/2/groups', { group_name: 'a/b' }, 400],
    ['an inherited key', 'POST', '/2/groups', { group_name: 'x', toString: 1 }, 400],
    ['null instead of an object', 'PUT', '/2/instances/x/modify', null, 400],
    ['a wrong number', 'GET', '/2/jobs?bulk=1e3', undefined, 400],
    ['__proto__', 'POST', '/2/groups', '{"__proto__": {"group_name": "x"}}', 400],
  ])('%s is refused', async (_, verb, url, body, status) => {
    const text = typeof body === 'string' && !body.startsWith('{') ? JSON.stringify(body) : body
    expect((await harness.ask(verb, url, { body: text })).status).toBe(status)
  })

  test('a bad name is refused with the field that it is in', async () => {
    const { body } = await harness.ask('POST', '/2/instances', { body: instance('a;reboot') })
    expect(JSON.parse(body)).toMatchObject({
      code: 400,
      message: expect.stringMatching(
        /^Invalid body parameters: Parameter &#x27;instance_name&#x27;: &#x27;a;reboot&#x27;/,
      ),
    })
    expect((await harness.ask('POST', '/2/instances', { body: instance('vm1') })).status).toBe(200)
  })

  test.each(['2.0', '2.1', '3.0', '9.9'])('HTTP/%s is refused as Ganeti refuses it', async (version) => {
    const answer = await harness.raw(`GET /version HTTP/${version}\r\nHost: x\r\n\r\n`)
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      505,
      { code: 505, message: `Invalid HTTP Version (${version})`, explain: 'Cannot fulfill request.' },
    ])
  })

  test.each(['GET /version HTTP/x', 'GET /version', 'GET', 'GET /version HTTP/1.1 more', 'GET  /version  HTTP/1.1'])(
    'the request line %j gets an answer, and the daemon lives',
    async (line) => {
      const { status } = await harness.raw(`${line}\r\nHost: x\r\n\r\n`)
      expect([401, 400]).toContain(status)
      expect((await harness.ask('GET', '/version')).status).toBe(200)
    },
  )

  test('garbage gets an answer, and the daemon lives', async () => {
    expect((await harness.raw('\x00\x01\x02\r\n\r\n')).status).toBe(400)
    expect((await harness.ask('GET', '/version')).status).toBe(200)
  })
})

describe('requests that become opcodes', () => {
  const submit = async (verb: string, url: string, body?: unknown) => {
    const answer = await harness.ask(verb, url, { body })
    return answer.status === 200 ? submitted.at(-1) : answer.body
  }

  test('the reason and the resource are in the trail', async () => {
    const [op] = (await submit('POST', '/2/instances/vm/disk/1/grow?reason=more', { amount: 5 })) as WireOpCode[]
    expect(op).toMatchObject({ OP_ID: 'OP_INSTANCE_GROW_DISK', disk: 1, amount: 5 })
    expect(op?.['reason']).toEqual([
      ['gantry:user', 'admin', expect.any(Number)],
      ['gnt:user', 'more', expect.any(Number)],
      ['gnt:library:rlib2:instances_name_disk_grow', '', expect.any(Number)],
    ])
  })

  test('the user who has logged in is in the trail of each opcode, also where nothing else is', async () => {
    const ops = (await submit('POST', '/2/instances/vm/reinstall')) as WireOpCode[]
    expect(ops.map((op) => op['reason'])).toEqual(ops.map(() => [['gantry:user', 'admin', expect.any(Number)]]))
  })

  test('the permissions of a user go with opcodes that submit jobs for others', async () => {
    const [op] = (await submit('POST', '/2/nodes/node1/migrate', {})) as WireOpCode[]
    const rights = JSON.stringify({ user: ['*'], token: null })
    expect(op?.['reason']).toContainEqual(['gantry:rights', rights, expect.any(Number)])
  })

  test('a trail in the body is refused', async () => {
    expect(await submit('POST', '/2/groups', { name: 'x', reason: [] })).toContain(
      'Can&#x27;t overwrite static parameters {&#x27;reason&#x27;}',
    )
  })

  test('many instances are filled one by one', async () => {
    const [op] = (await submit('POST', '/2/instances-multi-alloc', {
      instances: [{ name: 'a', os: 'noop', mode: 'create', disks: [], nics: [] }],
    })) as WireOpCode[]
    expect(op?.['instances']).toEqual([expect.objectContaining({ instance_name: 'a', os_type: 'noop', start: true })])
  })

  test('our own entries in a trail cannot be written by a user', async () => {
    const reason = [
      ['gantry:user', 'another', 1],
      ['gantry:key', 'digests'],
      ['why', 'not', 1],
    ]
    const [op] = (await submit('POST', '/2/instances-multi-alloc', {
      instances: [
        {
          name: 'a',
          os: 'noop',
          mode: 'create',
          disks: [],
          nics: [],
          reason: reason.filter((one) => one.length === 3),
        },
      ],
    })) as WireOpCode[]
    expect(op?.['instances']).toEqual([expect.objectContaining({ reason: [['why', 'not', 1]] })])
    expect(op?.['reason']).toContainEqual(['gantry:user', 'admin', expect.anything()])
  })

  test('blanks between USB devices become commas', async () => {
    const [op] = (await submit('PUT', '/2/instances/vm/modify', { hvparams: { usb_devices: 'a b' } })) as WireOpCode[]
    expect(op?.['hvparams']).toEqual({ usb_devices: 'a,b' })
  })

  test('dependencies are taken from a body that is otherwise not used', async () => {
    const [op] = (await submit('PUT', '/2/tags?tag=a&tag=b', { depends: [[7, ['success']]], more: 1 })) as WireOpCode[]
    expect(op).toMatchObject({ tags: ['a', 'b'], depends: [[7, ['success']]] })
  })

  test.each(['/2/tags', '/2/instances/vm/tags', '/2/nodes/n/tags', '/2/groups/g/tags', '/2/networks/n/tags'])(
    'tags that are only in the body of %s are refused, since they belong into the query',
    async (address) => {
      // As Ganeti's client sends them.
      expect(await submit('PUT', `${address}?tag=a`, ['a'])).toMatchObject([{ tags: ['a'] }])
      for (const body of [{ tag: ['a'] }, { tags: ['a'] }, ['a']])
        for (const verb of ['PUT', 'DELETE'] as const) expect(await submit(verb, address, body)).toContain('?tag=')
    },
  )

  test('disks to replace may be a text', async () => {
    const [op] = (await submit('POST', '/2/instances/vm/replace-disks?mode=replace_auto&disks=0,2')) as WireOpCode[]
    expect(op).toMatchObject({ disks: [0, 2], mode: 'replace_auto' })
    expect(await submit('POST', '/2/instances/vm/replace-disks?mode=replace_auto&disks=x')).toContain(
      'Invalid disk index',
    )
  })

  test('programs that root runs cannot be set', async () => {
    expect(await submit('PUT', '/2/modify', { compression_tools: ['/bin/sh'] })).toContain('cannot be set via RAPI')
    expect(await submit('PUT', '/2/modify?compression_tools=x')).toContain('"code": 403')
  })

  test('a role becomes three flags', async () => {
    const [op] = (await submit('PUT', '/2/nodes/n/role?force=1', '"offline"')) as WireOpCode[]
    expect(op).toMatchObject({ OP_ID: 'OP_NODE_SET_PARAMS', node_name: 'n', offline: true, force: true })
    expect(op).not.toHaveProperty('drained')
  })

  test('an unavailable console is 503', async () => {
    expect((await harness.ask('GET', '/2/instances/inst2.gnt.example/console')).status).toBe(503)
  })
})

test('a connection goes on with the TLS session of one before, with either version of TLS', async () => {
  const [address] = harness.rapi.addresses
  const options = { host: '127.0.0.1', port: address?.port, rejectUnauthorized: false }
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = tls.connect({ ...options, maxVersion })
    const session = await new Promise<Buffer>((resolve) => first.once('session', resolve))
    first.destroy()
    const second = tls.connect({ ...options, maxVersion, session })
    await new Promise((resolve) => second.once('secureConnect', resolve))
    expect([second.getProtocol(), second.isSessionReused()]).toEqual([maxVersion, true])
    second.destroy()
  }
})

describe('documentation', () => {
  const look = (url: string, accept: string) =>
    harness.raw(`GET ${url} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`)

  test.each([
    ['/3', '/docs/'],
    ['/3/', '/docs/'],
    ['/', '/ui/'],
    ['/ui', '/ui/'],
  ])('a browser is sent from %s to %s, and nobody else', async (url, to) => {
    const { status, headers } = await look(url, 'text/html,application/xhtml+xml,*/*;q=0.8')
    expect([status, headers['location']]).toEqual([302, to])
    expect((await look(url, '*/*')).headers['location']).toBe(undefined)
    expect((await look('/2/info', 'text/html')).headers['location']).toBe(undefined)
  })

  test('is shown without login, and its policy admits only this server', async () => {
    const page = await harness.raw('GET /docs/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.body).toContain('swagger-ui')
    expect(page.body).not.toMatch(/<script>|<script(?![^>]*src=)/)
    expect(page.headers['content-security-policy']).toContain("default-src 'self'")
  })

  test('the contract is served', async () => {
    const { body } = await harness.raw('GET /docs/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const spec = JSON.parse(body)
    expect(spec.servers).toEqual([{ url: '/' }])
    expect(Object.keys(spec.paths).filter((path) => !/^\/(3\/|metrics$)/.test(path))).toHaveLength(61)
    expect(spec.components.schemas.OpInstanceStartup.properties.startup_paused).toMatchObject({ default: false })
  })
})
