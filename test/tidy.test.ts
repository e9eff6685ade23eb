// The style guide as a test. A failure names the file, the line and what to write instead.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { dependencies } from '../package.json'
import limits from '../scripts/style-limits.json'
import tsoa from '../tsoa.json'
import { type RoleName, ROLES } from '../src/roles/table'
import { GROWING_TABLES, growingFields } from './support/growing'
import { projectFiles, reachable, readSource, root, type SourceFile } from './support/source-tree'

const files = projectFiles()
const sources = files.filter((name) => /^(src|test)\/.*\.ts$/.test(name)).map(readSource)
const product = sources.filter(({ name }) => name.startsWith('src/'))
const byName = new Map(sources.map((source) => [source.name, source]))

/** Where the product starts; everything in src/ is reached from one of these. */
const ENTRIES = [
  'src/main.ts',
  'src/gnt.ts',
  'src/job.ts',
  'src/htools.ts',
  'src/watcher.ts',
  'src/allocation-thread.ts',
  'src/maintenance-thread.ts',
]

/** Doors over HTTP, each with its own table of routes. */
const HTTP_DOORS = Object.keys(tsoa.documents)
/** Layer 8: these wire the others together. */
const MAY_IMPORT_ANYTHING = [...ENTRIES, 'src/start/', 'src/embedded/']

const MEASURES = ['prom-client']
/** What every process writes its log with. */
const LOGS = 'pino'
/** What a door over HTTP needs. */
const DOOR_PACKAGES = ['router', 'ipaddr.js']
/** Folders that only their own processes load. */
const LARGE =
  /^src\/(allocation|cli|collectors|config|embedded|generated|jobs|locks|maintenance|node|query|operations(?:\/[^/]+)*)\//
interface Loaded {
  readonly packages: readonly string[]
  readonly folders: readonly string[]
}
/**
 * The packages and large folders that a process loads when it starts. All else is loaded when it is first needed, because code that
 * nobody uses costs a daemon memory for as long as it runs.
 */
const LOADED_AT_START: Partial<Record<RoleName, Loaded>> = {
  node: { packages: [], folders: ['jobs'] },
  noded: { packages: ['ipaddr.js', ...MEASURES], folders: ['config', 'node'] },
  confd: { packages: [], folders: ['config'] },
  kvmd: { packages: [], folders: ['node'] },
  wconfd: { packages: [...MEASURES], folders: ['config', 'locks'] },
  luxid: { packages: ['tinyqueue'], folders: ['allocation', 'config', 'jobs', 'query'] },
  rapi: {
    packages: [...MEASURES, ...DOOR_PACKAGES, 'helmet', 'passport'],
    folders: ['generated', 'query'],
  },
  mond: {
    packages: [...DOOR_PACKAGES, 'helmet'],
    folders: ['collectors', 'generated'],
  },
  metad: {
    packages: DOOR_PACKAGES,
    folders: ['generated', 'node'],
  },
  maintd: {
    packages: [...MEASURES, ...DOOR_PACKAGES, 'helmet', 'passport'],
    folders: ['allocation', 'config', 'generated', 'maintenance'],
  },
  sim: { packages: [], folders: ['config'] },
}
const NOTHING_MORE: Loaded = { packages: [], folders: [] }
const LOADED_BY_JOBS = { packages: [], folders: ['config', 'jobs', 'operations', 'query'] }

const HTTP_PACKAGES = /^(express|passport|router|@tsoa\/runtime(\/.*)?|helmet|swagger-ui-express|ws)$/
const HTTP_DAEMONS = new RegExp(`^src/(daemons/(${HTTP_DOORS.join('|')})|http|generated)/`)

/** Globals that only lib/ may touch, and what the rest of src/ uses. */
const ONLY_IN_LIB: Record<string, string> = {
  'Date.now': 'a Clock of lib/clock.ts',
  'new Date()': 'a Clock of lib/clock.ts',
  'performance.now': 'a Clock of lib/clock.ts',
  'process.hrtime': 'a Clock of lib/clock.ts',
  setTimeout: 'a Clock of lib/clock.ts',
  setInterval: 'a Clock of lib/clock.ts',
  setImmediate: '`breathe` or `nextTurn` of lib/clock.ts',
  'Math.random': 'a Random of lib/random.ts',
  'crypto.randomUUID': 'a Random of lib/random.ts',
  'crypto.randomBytes': 'a Random of lib/random.ts',
  randomUUID: 'a Random of lib/random.ts',
  randomBytes: 'a Random of lib/random.ts',
  'process.env': 'lib/paths.ts or lib/environment.ts',
}

/** Ganeti's names of our daemons. */
const PROGRAMS = ROLES.map(({ program }) => program).join('|')

/** Modules that reach the machine, its disk, its programs or its clock without having been given it. */
const REACHING_MODULES = /^node:(fs|fs\/promises|child_process)$/
const REACHING_GLOBALS = ['process.kill', 'os.networkInterfaces', 'os.cpus']
const REACHING_NAMES = /^(thisMachine|system(Files|Processes|Disk|Clock|Random)|ownedDisk)$/
/**
 * Values of files in lib/ that themselves reach the disk or programs, and that reach nothing but what they are given: they only
 * compute, or they take a `Files`, a `Disk` or a `Run`. Sockets count as computing: whoever opens one has been told its path. All
 * other values of such files are handed in.
 */
const TAKE_WHAT_THEY_REACH: Readonly<Record<string, readonly string[]>> = {
  'src/lib/disk.ts': ['errorCode', 'isFull', 'isMissing', 'removeLeftovers'],
  'src/lib/files.ts': ['accessible', 'constants'],
  'src/lib/net/json-socket.ts': [
    'END',
    'checkSocketPath',
    'connectFramed',
    'connectSocket',
    'isServed',
    'removeStaleSocket',
    'serveFramed',
    'serveSocket',
  ],
  'src/lib/file/read-bounded.ts': ['readEnd', 'readPlainFile'],
  'src/lib/net/rendezvous.ts': ['meet'],
  'src/lib/programs/run-command.ts': ['NOT_STARTED', 'PLAIN_ENVIRONMENT', 'runBounded'],
  // They look at the mounts for the words of an error that names no file.
  'src/lib/system-failure.ts': ['errorText', 'saysFull', 'systemFailure'],
}
/**
 * Who does so, beside lib/ and those that wire the others together, and why. All others get a `Machine`, a `Disk`, a `Clock` and a
 * `Random` handed in, so that a test can hand in its own. The list only gets shorter.
 */
const MAY_REACH_THE_MACHINE: Readonly<Record<string, string>> = {
  'src/model/owners.ts': 'it is the disk of the product, with owners and modes',
  'src/node/hypervisor/kvm/console-bridge.ts': 'a program of its own, that gnt-instance console starts over SSH',
  'src/node/hypervisor/kvm/migration-relay.ts': 'a program of its own, between a QEMU and the other node',
  'src/node/transfer/program.ts': 'a program of its own: it wires the transfer',
}

/**
 * Who starts programs without a time limit, and why. All others take a `Run`, which asks for one. The list only gets
 * shorter.
 */
const MAY_START_WITHOUT_LIMIT: Readonly<Record<string, string>> = {
  'src/gnt.ts': 'a person uses the program, such as a console, and ends it',
  'src/lib/file/lock.ts': 'it has a limit of its own',
  'src/lib/programs/processes.ts': 'processes in the background: a job, a transfer, a QEMU, whose owner ends them',
  'src/lib/programs/run-command.ts': 'it has the limit',
  'src/lib/programs/service-manager.ts': 'each message has its limit',
  'src/node/transfer/program.ts': 'the programs of a transfer end with it, and the master ends the transfer',
  'src/start/background.ts': 'a daemon',
  'src/start/node-program.ts': 'the daemons of a node',
  'src/start/system-log.ts': 'the program takes the log as long as the daemon lives',
  'src/watcher.ts': 'the watcher of one group, which ends itself',
}

/** Who serves others, and what happens when the code that should answer fails: nobody may wait for an answer that never comes. */
const MAY_SERVE: Readonly<Record<string, string>> = {
  'src/daemons/confd/server.ts': 'the failure is logged; the client asks another candidate',
  'src/daemons/noded/noded.ts': 'the failure is logged, and the caller gets 500',
  'src/daemons/sim/sim.ts': 'the failure is logged, and the connection closed',
  'src/http/serve.ts': 'the failure is logged, and the client gets 500',
  'src/http/websockets.ts': 'src/http/serve.ts has caught it: only what it accepts becomes a websocket',
  'src/lib/net/json-socket.ts': 'the connection is closed, and `onDefect` gets the failure',
  'src/lib/net/rendezvous.ts': 'it only accepts a connection',
  'src/lib/self-metrics.ts': 'the connection is closed',
  'src/node/hypervisor/kvm/migration-relay.ts': 'the connection is closed, and the migration fails or is interrupted',
  'src/node/transfer/stream.ts': 'the transfer fails',
}

/** A server of Node, or a socket that hears from strangers. */
const SERVES = /\b(create(Secure)?Server|createPlain|createSocket)\(|\bnew (\w+\.)?(WebSocket|Secure)?Server\(/
/** A request of Node, or a connection. */
const ASKS =
  /\b(https?|http2|net|tls)\.(request|get|connect|createConnection)\(|(?<![.\w])(fetch|connect)\(\{|[^.\w]fetch\(|\bnew (net\.)?Socket\(|\bnew WebSocket\(/

/** Who asks others, and how that ends if they never answer. The list only gets shorter. */
const MAY_ASK: Readonly<Record<string, string>> = {
  'src/collectors/plugin-socket.ts': 'PLUGIN_S',
  'src/lib/net/json-socket.ts': 'the limit that its caller names; whether a socket is served, the kernel tells at once',
  'src/lib/net/rendezvous.ts': 'the kernel tells at once whether the socket is served; what follows is its caller’s',
  'src/lib/net/resolve.ts': 'the limit that its caller names',
  'src/lib/self-metrics.ts': 'the limit that its caller names',
  'src/node/consoles/rfb.ts': 'SCREEN_HANDSHAKE_S around all of it',
  'src/node/consoles/screen.ts': 'SCREEN_HANDSHAKE_S',
  'src/node/consoles/serial-lines.ts': 'the kernel tells at once whether the socket is served',
  'src/node/hypervisor/kvm/console-bridge.ts': 'a person ends it, or the instance',
  'src/node/hypervisor/kvm/metadata-relay.ts': 'the guest ends it',
  'src/node/hypervisor/kvm/migration-relay.ts':
    'RELAY_CONNECT_S; then the migration ends it, whose job sees whether it moves on',
  'src/node/hypervisor/kvm/qmp.ts': 'QMP_CONNECT_S, and each command has its limit',
  'src/node/storage/image.ts': 'IMAGE_PACE',
  'src/node/transfer/stream.ts': 'the limit of the transfer, then TRANSFER_STALL_S',
  'src/operations/backup/zeroing.ts': 'IMAGE_SIZE_S',
  'src/rpc/mond/client.ts': 'the limit that its caller names',
  'src/rpc/node/consoles.ts': 'NODE_CONNECT_S; then a person ends it',
  'src/rpc/node/exchange.ts': 'NODE_CONNECT_S, and the limit of the call',
  'src/rpc/rapi/client.ts': 'MOVE_ANSWER_S',
  'src/start/watcher-duties.ts': 'WATCHER_DAEMON_ANSWER_S',
}

/** Texts that no file of ours contains, and what to do instead. */
const BANNED: readonly { text: RegExp; instead: string; where?: RegExp }[] = [
  { text: /\b(TODO|FIXME|XXX)\b/, instead: 'do it, or open an issue' },
  {
    text: /\b(end|deadline)_ms = [\w.]*\bnow_ms\(\)/,
    instead: '`monotonic_ms`: nobody waits longer because somebody sets the clock',
    where: /^src\//,
  },
  {
    text: /\.catch\(\(\) => response\.(destroy|end)\(\)\)/,
    instead: 'log the error first: a request that is not answered because of a defect must leave a trace',
    where: /^src\//,
  },
  {
    text: /\bjest\.setTimeout\(([1-5]?\d?\d_\d{3}|600_000)\)/,
    instead: 'the limit of all tests, in jest.config.js: it is only there to end one that hangs',
    where: /^test\//,
  },
  {
    text: /\b(const|let|function|class) [[{]?(told|asked|wanted|given|shown|seen|looks|heard)\b/,
    instead:
      "the field's term, which a search finds: reported, requested, desired, input, displayed, observed, probes, received",
    where: /^(src|ui\/src|test)\/(?!tidy)/,
  },
  { text: /@ts-(ignore|nocheck)/, instead: 'give the value its type' },
  { text: /@ts-expect-error/, instead: 'give the value its type', where: /^(src|scripts)\// },
  { text: /@ts-expect-error\s*$/, instead: 'say behind it which error the test expects' },
  { text: /eslint-disable/, instead: 'mend the line, or change the rule in eslint.config.js and say why there' },
  { text: /\b(test|it|describe)\.only\(/, instead: 'run one test with `npx jest -t NAME`' },
  {
    text: /^\s*(test|it|describe)\.skip\(|\bx(test|it|describe)\(/,
    instead: '`if (!present) test.skip(REASON, ...)`: a skip depends on something and says on what',
  },
  {
    text: /\bfrom '(tsoa|@tsoa\/runtime)'|require\('tsoa'\)/,
    instead: "src/http/decorators.ts: tsoa itself loads a compiler, and all of '@tsoa/runtime' validators",
    where: /^src\/(?!http\/decorators\.ts)/,
  },
  {
    text: /([!=]==? |\bcase |includes\()'(diskless|plain|drbd|sharedfile|rbd|gluster|blockdev)'|_type[^\n]* [!=]==? '(file|ext)'/,
    instead: 'a fact of its template, from src/model/templates.ts: others may have it, too',
    where: /^src\/(?!model\/templates\.ts|node\/storage\/)/,
  },
  {
    text: /^\s*(\/\/|\/?\*\*?) (Of|What is) /,
    instead: 'a sentence in which somebody does something: these words leave a reader to guess what it is about',
    where: /\.(c?js|tsx?)$/,
  },
  {
    text: new RegExp(`['"\`](${PROGRAMS})['"\`]`),
    instead: 'roles that src/roles/table.ts describes, or `programOf`: a new daemon is known from there on',
    where: /^src\/(?!roles\/table\.ts|model\/constants\/|daemons\/supervisor\/system-daemons\.ts)/,
  },
  {
    text: /\bfc\.(assert|check|sample)\(|\bMath\.random\b/,
    instead:
      '`checkProperty` or `seededRandom(SEED)`, with the seed of test/support/effort.ts: the gate says the same each time',
    where: /^test\/(?!support\/effort\.ts|bench\/)/,
  },
  {
    text: /(remove|delete|clean) (it|them|up|this)( with lv\w+| with 'rbd[^']*)? by hand|if nobody needs (it|them), (remove|delete|lvremove|rm)|[Rr]emove (it|them) with (lv|'rbd rm|'rm )/,
    instead:
      'KEEP_UNTIL_UNKNOWN of src/model/leftovers.ts: what somebody removes may be the only copy of a disk, and only verify knows all disks',
    where: /^src\/(?!operations\/cluster\/verify\/)/,
  },
  { text: /\bas any\b|: any\b(?! )/, instead: '`unknown`, and a check', where: /^src\// },
]

/** Code that runs for a long time. The command line, operations and allocation end with their task. */
const LONG_LIVED =
  /^src\/(bootstrap|collectors|config|daemons|http|jobs|lib|locks|node|query|replication|rpc|services)\//

const OURS = /\.(ts|tsx|css|html|js|cjs|mjs|json|md|hbs|sh|yml)$|^bin\/|^\.ci\/|^os\//
const GENERATED = /^(openapi|src\/generated|ui\/src\/api\/schema|test\/(golden|data)|package-lock\.json)/

const STARTS: readonly (readonly [name: string, entries: readonly string[], expected: Loaded])[] = [
  ...ROLES.map(
    ({ name }) => [name, ['src/main.ts', `src/start/${name}.ts`], LOADED_AT_START[name] ?? NOTHING_MORE] as const,
  ),
  ['job', ['src/job.ts'], LOADED_BY_JOBS],
]

test.each(STARTS)('%s loads no more than it needs when it starts', (_, entries, expected) => {
  const loaded = [...reachable(entries, byName, ({ atOnce }) => atOnce)]
  const packages = loaded
    .flatMap((file) => byName.get(file)?.imports ?? [])
    .filter(({ atOnce, file, from }) => atOnce && file === undefined && !from.startsWith('node:'))
  const folders = loaded.flatMap((file) => LARGE.exec(file)?.[1] ?? [])
  expect({
    packages: new Set(packages.map(({ from }) => from)),
    folders: new Set(folders),
  }).toEqual({ packages: new Set([LOGS, ...expected.packages]), folders: new Set(expected.folders) })
})

test('units are tested without processes', () => {
  // test/support/one-process.ts sees what a test starts through the product; it cannot see what a test waits for.
  const found = sources
    .filter(({ name }) => name.startsWith('test/unit/'))
    .flatMap(({ name, imports }) =>
      imports
        .filter(({ from }) => from === 'node:child_process')
        .map(({ line }) => `${name}:${line}: tests that start processes belong below test/processes/`),
    )
  expect(found).toEqual([])
})

test('HTTP frameworks are known only to the HTTP daemons', () => {
  const found = product.flatMap((source) =>
    source.imports
      .filter(({ from }) => HTTP_PACKAGES.test(from) && !HTTP_DAEMONS.test(source.name))
      .map(
        ({ from, line }) =>
          `${source.name}:${line}: '${from}' belongs under src/http or src/daemons/{${HTTP_DOORS.join(',')}}`,
      ),
  )
  expect(found).toEqual([])
})

test('time, chance and the environment enter through lib/', () => {
  const found = product
    .filter(({ name }) => !name.startsWith('src/lib/'))
    .flatMap(({ name, globals }) =>
      globals
        .filter((used) => Object.hasOwn(ONLY_IN_LIB, used.name))
        .map((used) => `${name}:${used.line}: ${used.name} -> ${ONLY_IN_LIB[used.name]}`),
    )
  expect(found).toEqual([])
})

test('the disk, programs and the clock are reached only through what is handed in', () => {
  const reaching = product
    .filter(({ name }) => !name.startsWith('src/lib/') && !mayImportAnything(name))
    .flatMap((source) => reachedBy(source).map((what) => ({ name: source.name, what })))
  const wrong = reaching.filter(({ name }) => !Object.hasOwn(MAY_REACH_THE_MACHINE, name))
  expect(wrong.map(({ name, what }) => `${name}:${what} -> take it as an argument (lib/machine.ts)`)).toEqual([])
  const needless = Object.keys(MAY_REACH_THE_MACHINE).filter((name) => !reaching.some((one) => one.name === name))
  expect(needless.map((name) => `${name}: take it out of MAY_REACH_THE_MACHINE`)).toEqual([])
})

test('a program is run with a time limit', () => {
  const starting = product.filter(({ imports }) =>
    imports.some(({ from, names, declared }) => from === 'node:child_process' && (names.length > 0 || !declared)),
  )
  const names = starting.map(({ name }) => name)
  const wrong = names.filter((name) => !Object.hasOwn(MAY_START_WITHOUT_LIMIT, name))
  expect(wrong.map((name) => `${name}: take a Run (lib/machine.ts), which asks for a time limit`)).toEqual([])
  const needless = Object.keys(MAY_START_WITHOUT_LIMIT).filter((name) => !names.includes(name))
  expect(needless.map((name) => `${name}: take it out of MAY_START_WITHOUT_LIMIT`)).toEqual([])
})

test('whoever serves others says what happens when the code that should answer fails', () => {
  const serving = product.filter(({ text }) => SERVES.test(text)).map(({ name }) => name)
  expect(serving.filter((name) => !Object.hasOwn(MAY_SERVE, name) && !ONLY_LOOKS.test(name))).toEqual([])
  expect(Object.keys(MAY_SERVE).filter((name) => !serving.includes(name))).toEqual([])
})

test('whoever asks others says how that ends if they never answer', () => {
  const asking = product.filter(({ text }) => ASKS.test(text)).map(({ name }) => name)
  expect(asking.filter((name) => !Object.hasOwn(MAY_ASK, name))).toEqual([])
  expect(Object.keys(MAY_ASK).filter((name) => !asking.includes(name))).toEqual([])
})

test.each<[string, RegExp, readonly string[], readonly string[]]>([
  [
    'servers',
    SERVES,
    ['http.createServer(f)', 'http2.createSecureServer(', 'new http.Server(', 'new WebSocketServer({', "dgram.createSocket('udp4')"], // prettier-ignore
    ['serveFramed(options)', 'new ServerSettings('],
  ],
  [
    'requests',
    ASKS,
    ['https.request({', 'http.get(url', 'await fetch(image', 'net.connect(path)', 'tls.connect({', 'new net.Socket(', 'new WebSocket(url'], // prettier-ignore
    ['prefetch(1)', 'this.connect(path)', 'follower.fetch(x)'],
  ],
])('the rule about %s knows each form of them', (_, rule, forms, others) => {
  expect(forms.filter((form) => !rule.test(form))).toEqual([])
  expect(others.filter((form) => rule.test(form))).toEqual([])
})

/** They ask others, or try whether an address can be had. */
const ONLY_LOOKS = /^src\/(rpc\/confd\/client|embedded\/preflight|lib\/net\/resolve)\.ts$/

test('a module of Node that a function asks the process for counts as imported', () => {
  const asking = product.filter(({ text }) => text.includes('process.getBuiltinModule('))
  expect(asking).not.toEqual([])
  for (const { imports } of asking)
    expect(imports.filter(({ declared, from }) => !declared && from.startsWith('node:'))).not.toEqual([])
})

test('every value of lib/ that is listed as reaching nothing by itself is used, from a file that does reach something', () => {
  const used = new Set(
    product.flatMap(({ imports }) => imports.flatMap(({ file, names }) => names.map((name) => `${file} ${name}`))),
  )
  const listed = Object.entries(TAKE_WHAT_THEY_REACH)
  expect(listed.map(([file]) => file).filter((file) => !reachesByItself(file))).toEqual([])
  expect(
    listed.flatMap(([file, names]) => names.map((name) => `${file} ${name}`)).filter((one) => !used.has(one)),
  ).toEqual([])
})

test('every table that a daemon fills is listed with its bound, and nothing else is', () => {
  const found = product
    .filter(({ name }) => LONG_LIVED.test(name))
    .flatMap(({ name, text }) => growingFields(name, text).map((field) => `${name} ${field}`))
  const listed = Object.entries(GROWING_TABLES).flatMap(([name, fields]) =>
    Object.keys(fields).map((field) => `${name} ${field}`),
  )
  const hint = 'in test/support/growing.ts'
  expect({ hint, tables: found.sort() }).toEqual({ hint, tables: listed.sort() })
})

test('no file is longer than a reader can hold', () => {
  const isTable = (name: string): boolean => limits.tables.some((table) => name.startsWith(table))
  const long = product.filter(({ name, lines }) => lines > limits.file_lines && !isTable(name))
  expect(long.map(({ name, lines }) => `${name}: ${lines} lines; split it at ${limits.file_lines}`)).toEqual([])
})

test('no function is longer than a screen', () => {
  const long = product
    .filter(({ name }) => !GENERATED.test(name))
    .flatMap(({ name, functions }) =>
      functions
        .filter(({ lines }) => lines > limits.function_lines)
        .map((one) => `${name}:${one.line}: ${one.name} has ${one.lines} lines; split it at ${limits.function_lines}`),
    )
  expect(long).toEqual([])
})

test('files have names in kebab-case', () => {
  const allowed = /^[a-z0-9]+(-[a-z0-9]+)*(\.(controller|test|prop\.test|d|config))?\.(tsx?|cjs|mjs|js|json)$/
  const ours = files.filter((name) => /^(src|test|scripts|bin|ui)\//.test(name) && !GENERATED.test(name))
  const odd = ours.filter((name) => /\.(tsx?|cjs|mjs|js)$/.test(name) && !allowed.test(path.basename(name)))
  expect(odd.map((name) => `${name}: write it as some-name.ts`)).toEqual([])
})

test('every file says in its first lines what it is for', () => {
  const code = /^(src|ui\/src|scripts|test)\/.*\.(tsx?|cjs|mjs|js|sh)$/
  const silent = files
    .filter((name) => code.test(name) && !GENERATED.test(name))
    .filter((name) => !/^(#!.*\n)?(\/\/|\/\*|#) ?\S/.test(fs.readFileSync(path.join(root, name), 'utf8')))
  expect(
    silent.map((name) => `${name}: begin with a sentence that says what it is for, or what its tests show`),
  ).toEqual([])
})

test('no file only hands on what others of ours export, the index of a table aside', () => {
  const isOurs = ({ imports }: SourceFile) => imports.some(({ file }) => file !== undefined)
  const barrels = product.filter((one) => one.onlyReexports && isOurs(one) && one.name !== 'src/opcodes/index.ts')
  expect(barrels.map(({ name }) => `${name}: import from the file that has it`)).toEqual([])
})

test('every source file is reached from an entry of the product', () => {
  const alive = reachable(ENTRIES, byName)
  const dead = product.filter(({ name }) => !alive.has(name))
  expect(dead.map(({ name }) => `${name}: nothing that runs imports it; remove it, or use it`)).toEqual([])
})

test('each name that a file declares is used somewhere', () => {
  const declared = /^export (?:async |abstract )*(?:function\*?|const|class|interface|type) (\w+)/gm
  const uses = new Map<string, number>()
  for (const { text } of textFiles(/^src\/generated\//))
    for (const [word] of text.matchAll(/\w+/g)) uses.set(word, (uses.get(word) ?? 0) + 1)
  const unused = product
    .filter(({ name }) => !GENERATED.test(name))
    .flatMap(({ name, text }) => [...text.matchAll(declared)].map(([, word = '']) => ({ name, word })))
    .filter(({ word }) => uses.get(word) === 1)
  expect(unused.map(({ name, word }) => `${name}: nothing names ${word}; remove it, or use it`)).toEqual([])
})

test('every imported file exists', () => {
  const broken = sources.flatMap(({ name, imports }) =>
    imports
      .filter(({ file }) => file !== undefined && !fs.existsSync(path.join(root, file)))
      .map(({ from, line }) => `${name}:${line}: there is no ${from}`),
  )
  expect(broken).toEqual([])
})

test('no file has words that promise or silence something', () => {
  expect(textFiles().flatMap(({ name, text }) => bannedIn(name, text))).toEqual([])
})

test('no file names a place that exists on one machine only', () => {
  // Put together from pieces, so that this file does not name them itself.
  const places = new RegExp(['/wor' + 'k/(main|shared|notes)', '/hom' + 'e/[a-z]+/', '/User' + 's/[a-z]+/'].join('|'))
  const registries = /https?:\/\/[\w.-]*(registry|artifactory|nexus|verdaccio)[\w.-]*/
  const found = textFiles(/^package-lock\.json$/).flatMap(({ name, text }) =>
    linesWith(text, new RegExp(`${places.source}|${registries.source}`)).map(
      ([line, match]) => `${name}:${line}: '${match}' is of one machine; use a path from the project's root, or none`,
    ),
  )
  expect(found).toEqual([])
})

test('the lock file names packages, not where they were downloaded', () => {
  const lock = fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')
  const found = linesWith(lock, /"resolved"\s*:.*/).map(
    ([line]) => `package-lock.json:${line}: remove "resolved" (.npmrc has omit-lockfile-registry-resolved)`,
  )
  expect(found).toEqual([])
})

test('the product needs only packages that package.json names, and all of those', () => {
  const packages = product.flatMap(({ name, imports }) =>
    imports
      .filter(({ from }) => /^@?[a-z]/.test(from) && !from.startsWith('node:'))
      .map(({ from, atOnce, declared }) => ({ name, from, isType: declared && !atOnce })),
  )
  const nameOf = (from: string): string => /^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from
  const used = new Set(packages.map(({ from }) => nameOf(from)))
  const unnamed = packages.filter(({ from, isType }) => !isType && !Object.hasOwn(dependencies, nameOf(from)))
  expect([
    ...unnamed.map(({ name, from }) => `${name}: '${from}' is not among the dependencies of package.json`),
    ...Object.keys(dependencies)
      .filter((name) => !used.has(name))
      .map((name) => `package.json: nothing in src/ needs ${name}; remove it`),
  ]).toEqual([])
})

/** Line and name of each thing by which a file reaches the machine. */
function reachedBy({ imports, globals }: SourceFile): string[] {
  const names = imports.flatMap(({ from, file, line, names }) => {
    const harmless = file !== undefined && reachesByItself(file) ? (TAKE_WHAT_THEY_REACH[file] ?? []) : undefined
    const taken = names.filter(
      (name) => REACHING_MODULES.test(from) || REACHING_NAMES.test(name) || harmless?.includes(name) === false,
    )
    return taken.map((name) => `${line}: ${name} of ${from}`)
  })
  return [
    ...names,
    ...globals.filter(({ name }) => REACHING_GLOBALS.includes(name)).map(({ name, line }) => `${line}: ${name}`),
  ]
}

/** A file of lib/ that reaches the disk or programs, and hands out more than types. */
function reachesByItself(file: string): boolean {
  const imports = file.startsWith('src/lib/') ? byName.get(file)?.imports : undefined
  return imports?.some(({ from, names }) => REACHING_MODULES.test(from) && names.length > 0) === true
}

function mayImportAnything(name: string): boolean {
  return MAY_IMPORT_ANYTHING.some((entry) => within(name, entry))
}

function within(file: string, layer: string): boolean {
  return file === layer || file === `${layer}.ts` || file.startsWith(layer.endsWith('/') ? layer : `${layer}/`)
}

function textFiles(also?: RegExp): { name: string; text: string }[] {
  return files
    .filter((name) => name !== 'test/tidy.test.ts' && (also?.test(name) || (OURS.test(name) && !GENERATED.test(name))))
    .map((name) => ({ name, text: fs.readFileSync(path.join(root, name), 'utf8') }))
}

function bannedIn(name: string, text: string): string[] {
  return BANNED.filter(({ where }) => where?.test(name) ?? true).flatMap(({ text: banned, instead }) =>
    linesWith(text, banned).map(([line, match]) => `${name}:${line}: '${match.trim()}' -> ${instead}`),
  )
}

function linesWith(text: string, desired: RegExp): [number, string][] {
  // Most files have none: look once at the whole text before looking at its lines.
  if (!new RegExp(desired.source, 'm').test(text)) return []
  return text.split('\n').flatMap((line, index): [number, string][] => {
    const found = desired.exec(line)
    return found === null ? [] : [[index + 1, found[0]]]
  })
}
