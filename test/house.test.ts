// A role, its door over HTTP, a collector, a disk template with children and a hypervisor are added to a copy of the product, each by
// touching only the places that its recipe in docs/recipes/ names. Then the copy generates what is derived, compiles, knows them, and
// passes the tests of its style and the contracts of its parts. What the door of the double does is in unit/http/door.test.ts.
// What callers may give is looked up with the same types: to have the compiler find them takes half a minute.
import * as fs from 'node:fs'
import * as path from 'node:path'
import * as ts from 'typescript'
import { COMMON_OPTIONS } from '../src/cli/input/parse'
import type { Option } from '../src/cli/input/option'
import { TOOLS } from '../src/cli/program'
import { allOpcodes, opcodeClass } from '../src/opcodes/index'
import { nodeCalls } from '../src/rpc/node/calls'
import { wordsOf, wordsOfCommands } from './support/command-words'
import {
  calls,
  descendants,
  nameOf,
  parametersIn,
  property,
  textOf as literal,
  variables,
} from './support/declarations'
import { answerOf, mistakes, programWith } from './support/overlay'
import { ProductCopy } from './support/product-copy'
import { root } from './support/source-tree'
import { Reading, sourcesOf } from './support/unread'

interface Addition {
  /** The title of its recipe. */
  readonly recipe: string
  /** Lines that the project has already, because its own tests run the double as well. */
  readonly there?: Readonly<Record<string, string>>
  /** In each of these files, a text and what comes behind it. */
  readonly lines: Readonly<Record<string, readonly (readonly [behind: string | RegExp, added: string])[]>>
  /** New files, and the doubles that they are made from, or their text. */
  readonly files: Readonly<Record<string, string>>
}

const ADDITIONS: Readonly<Record<string, Addition>> = {
  tickd: {
    recipe: 'A daemon',
    lines: {
      'src/roles/table.ts': [
        [
          'export const ROLES = [\n',
          `{
            name: 'tickd', program: 'ganeti-tickd', text: 'ticks', place: 'node', user: USER.tickd, group: GROUP.tickd, log: 'tick',
            port: { protocol: 'tcp', number: 1899 }, sockets: ['tick'], options: ['bind', 'port', 'every'],
            exits: { 15: 'it has ticked enough' },
          },`,
        ],
      ],
      'src/roles/options.ts': [
        ['const OPTIONS = {\n', "every: { type: 'string', value: 'SECONDS', text: 'tick so often' },"],
      ],
      'src/model/constants/daemons.ts': [
        ['export const USER = {\n', "tickd: 'gnt-tick',"],
        ['export const GROUP = {\n', "tickd: 'gnt-tick',"],
      ],
      'packaging/maintainer/gantry.postinst': [
        ['gnt-rapi gnt-metad', ' gnt-tick'],
        ['masterd confd rapi metad', ' tick'],
      ],
      'src/main.ts': [
        [
          'const starts: Record<RoleName, () => Promise<Start>> = {',
          "tickd: async () => (await import('./start/tickd.js')).start,",
        ],
      ],
      'src/model/owners.ts': [
        [
          "  [log('jobs')]: [masterd, GROUP.luxid, MODE.secureFile],\n",
          "[log('tick')]: [USER.tickd, GROUP.tickd, MODE.secureFile],",
        ],
      ],
      'scripts/package/sandbox.ts': [
        ['Readonly<Record<PackagedName, Lines>> = {', 'tickd: [...SHUT_IN, ...NO_CAPABILITY, ...NETWORK],'],
      ],
      'test/tidy.test.ts': [
        [
          'Partial<Record<RoleName, Loaded>> = {',
          'tickd: { packages: [...DOOR_PACKAGES, "helmet"], folders: ["generated"] },',
        ],
      ],
      'ARCHITECTURE.md': [[/\| role +\| runs on .*\n\|.*\n/, '| `tickd` | every node | nothing: it ticks |\n']],
      'docs/install.md': [[/\| unit +\| runs on .*\n\|.*\n/, '| `ganeti-tickd` | every node |\n']],
    },
    files: {
      'src/start/tickd.ts': `// Starts tickd with all that it needs.
import * as path from 'node:path'
import { startDouble } from '../daemons/tickd/door'
import { routes } from '../generated/tickd-routes'
import { systemClock as clock } from '../lib/clock'
import { systemFiles as files } from '../lib/files'
import { serveFramed } from '../lib/net/json-socket'
import { systemRandom as random } from '../lib/random'
import type { Start } from './start'

export const start: Start = async ({ paths, log, options: { bind = ['127.0.0.1'], port, every = '1' } }) => {
  if (every === '0') throw Object.assign(new Error('it has ticked enough'), { exitCode: 15 })
  const file = path.join(__dirname, '../../openapi/tickd.json')
  const door = await startDouble({ routes, file, addresses: bind, port, clock, log, random, files })
  const socket = { path: paths.socket('tick'), maxFrame: 100, maxConnections: 10 }
  const calls = await serveFramed({ ...socket, onMessage: (_, line) => void line.send(every) })
  return {
    async close() {
      await calls.close()
      await door.close()
    },
  }
}
`,
    },
  },
  'the door of tickd': {
    recipe: 'A server for HTTP',
    lines: {
      'tsoa.json': [
        [
          '"documents": {',
          `"tickd": {
            "name": "Ticks",
            "description": "A door in small.",
            "controllerPathGlobs": ["src/daemons/tickd/*.controller.ts"],
            "context": { "type": "DoubleContext", "file": "src/daemons/tickd/context" },
            "securityDefinitions": { "bearer": { "type": "http", "scheme": "bearer" } }
          },`,
        ],
      ],
    },
    files: {
      'src/daemons/tickd/context.ts': 'test/unit/http/double/context.ts',
      'src/daemons/tickd/door.ts': 'test/unit/http/double/door.ts',
      'src/daemons/tickd/notes.controller.ts': 'test/unit/http/double/notes.controller.ts',
    },
  },
  pulse: {
    recipe: 'A collector of monitoring data',
    lines: {
      'src/model/constants/collectors.ts': [['const OWN_COLLECTORS = [', "'pulse',"]],
      'src/collectors/registry.ts': [
        ["import type { Collector } from './report'\n", "import { pulse } from './node/pulse'\n"],
        ['export const COLLECTORS: readonly Collector[] = [', 'pulse,'],
      ],
    },
    files: { 'src/collectors/node/pulse.ts': 'test/support/doubles/pulse.ts' },
  },
  twin: {
    recipe: 'A disk template',
    lines: {
      'src/model/templates.ts': [
        ['export const TEMPLATES = {', "twin: { storage: 'blockdev', mirror: 'inside', params: {} },"],
      ],
      'src/node/storage/registry.ts': [
        ["import { fileDriver } from './file'\n", "import { twinDriver } from './twin'\n"],
        ['DriverFactory>> = {', 'twin: twinDriver,'],
      ],
    },
    there: { 'test/unit/node/storage/contract.test.ts': '  twin: (n) => [n],\n' },
    files: { 'src/node/storage/twin.ts': 'test/support/doubles/twin-driver.ts' },
  },
  still: {
    recipe: 'A hypervisor',
    lines: {
      'src/model/constants/hypervisors.ts': [['const PARAMS = {', 'still: {},']],
      'src/node/hypervisor/index.ts': [
        ["import { HypervisorFailure } from './hypervisor'\n", "import { stillHypervisor } from './still'\n"],
        ['HypervisorContext) => Hypervisor>> = {', 'still: stillHypervisor,'],
      ],
    },
    there: {
      'test/processes/node/hypervisor/contract.test.ts': '  still: { present: true, params: {}, hotplug: false },\n',
    },
    files: { 'src/node/hypervisor/still.ts': 'test/support/doubles/still-hypervisor.ts' },
  },
}

const textOf = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8')

const additions = new Map(
  Object.values(ADDITIONS).flatMap(({ lines, files }) => [
    ...Object.entries(lines).map(([name, added]) => [name, added.reduce(addBehind, textOf(name))] as const),
    ...Object.entries(files).map(([name, text]) => [name, text.startsWith('//') ? text : moved(text, name)] as const),
  ]),
)

function addBehind(text: string, [behind, added]: readonly [string | RegExp, string]): string {
  expect(text.split(behind)).toHaveLength(2)
  return text.replace(behind, (found) => found + added)
}

/** A double's text, with its imports as they are from its new place. */
function moved(double: string, name: string): string {
  return textOf(double).replaceAll(/'(?:\.\.\/)+(src\/[^']*)'/g, (_, file: string) => {
    const from = path.posix.relative(path.posix.dirname(name), file)
    return `'${from.startsWith('.') ? from : `./${from}`}'`
  })
}

const copy = new ProductCopy(additions)
afterAll(() => copy.remove())
const overlay = generated()
const program = programWith(overlay)

/** What the copy has that the project has not. When it fails, nothing runs after this file's tests, of which there are none yet. */
function generated(): Map<string, string> {
  try {
    copy.run('scripts/generate.ts')
    return copy.changes()
  } catch (error) {
    copy.remove()
    throw error
  }
}

const recipes = new Map(
  fs
    .readdirSync(path.join(root, 'docs/recipes'))
    .map((name) => textOf(`docs/recipes/${name}`))
    .map((text) => [text.slice('# '.length, text.indexOf('\n')), text]),
)

/** Whether a recipe names the place of a file. */
function names(recipe: string, file: string): boolean {
  const places = [...(recipes.get(recipe) ?? '').matchAll(/`([\w./<>-]+)`/g)].map(([, place = '']) => place)
  const fits = (place: string): boolean => {
    const pattern = place.replaceAll('.', '\\.').replaceAll(/<\w+>/g, '[\\w-]+')
    return new RegExp(`^${pattern}${place.endsWith('/') ? '' : '$'}`).test(file)
  }
  return places.some(fits)
}

test.each(Object.entries(ADDITIONS))(
  '%s is added in the places that its recipe names',
  (_, { recipe, lines, files, there = {} }) => {
    const touched = [...Object.keys(lines), ...Object.keys(files), ...Object.keys(there)]
    expect(touched.filter((name) => !names(recipe, name))).toEqual([])
    for (const [name, line] of Object.entries(there)) expect(textOf(name).split(line)).toHaveLength(2)
  },
)

test('what is generated for them is in the places that the recipe of a server for HTTP names, and nothing else differs', () => {
  const derived = [...overlay.keys()].filter((name) => !additions.has(name))
  const ofServer = derived.filter((name) => names('A server for HTTP', name))
  expect(ofServer).toEqual(['openapi/rapi.json', 'openapi/tickd.json', 'src/generated/tickd-routes.ts'])
  // Templates, hypervisors and collectors are values of parameters, which the document of the remote API and its readers tell.
  const ofValues = derived.filter((name) => !ofServer.includes(name))
  expect(ofValues).toEqual(['src/generated/opcode-params.ts'])
  const generate = Object.values(ADDITIONS).filter(({ recipe }) => recipes.get(recipe)?.includes('`npm run generate`'))
  expect(generate.map(({ recipe }) => recipe)).toEqual([
    'A daemon',
    'A server for HTTP',
    'A collector of monitoring data',
    'A disk template',
    'A hypervisor',
  ])
})

test('the product compiles with them', () => {
  expect(mistakes(program)).toEqual([])
})

test('it knows them where it knows the others', async () => {
  const known = await answerOf(
    overlay,
    `
    import { COLLECTORS } from './src/collectors/registry'
    import { IPOLICY_DEFAULTS } from './src/model/constants/params'
    import { hypervisorsOf } from './src/node/hypervisor/index'
    import { DRIVERS } from './src/node/storage/registry'
    import { diskTemplate, hypervisor } from './src/opcodes/types'
    import { roleHelp, usage } from './src/roles/help'
    import { readOptions } from './src/roles/options'
    import { inOrder } from './src/roles/role'
    import { ROLES, roleNamed } from './src/roles/table'

    const tickd = roleNamed('tickd')

    process.stdout.write(JSON.stringify({
      role: [usage().includes('ticks (every node)'), inOrder(ROLES).some(({ name }) => name === 'tickd')],
      help: ['gnt-tick', '1899/tcp', 'ganeti-tick', '--every SECONDS', 'it has ticked enough']
        .filter((text) => !roleHelp(tickd).includes(text)),
      options: readOptions(tickd, ['--every=5']),
      collector: COLLECTORS.map(({ name }) => name).includes('pulse'),
      template: [
        diskTemplate.schema.enum.includes('twin'),
        IPOLICY_DEFAULTS['disk-templates'].includes('twin'),
        DRIVERS.twin !== undefined,
      ],
      hypervisor: [
        hypervisor.schema.enum.includes('still'),
        hypervisorsOf({ paths: { local: (path) => path } })('still').name,
      ],
    }))
    `,
  )
  expect(known).toEqual({
    role: [true, true],
    help: [],
    options: expect.objectContaining({ port: 1899, every: '5' }),
    collector: true,
    template: [true, true, true],
    hypervisor: [true, 'still'],
  })
})

test('the copy passes the tests of style, of the places where additions are entered, and of the contracts', () => {
  const { told: reported, failures } = copy.test(
    ...[
      'test/tidy.test.ts',
      'test/documents.test.ts',
      'test/growing.test.ts',
      'test/unit/roles',
      'test/unit/collectors/registry.test.ts',
    ],
    ...['test/unit/scripts/package.test.ts'],
    ...['test/unit/node/storage/contract.test.ts', 'test/processes/node/hypervisor/contract.test.ts'],
  )
  expect(failures).toEqual([])
  expect(reported).toEqual(
    expect.arrayContaining([
      ...['✓ tickd loads no more than it needs when it starts', '✓ pulse declares what it tells and what it costs'],
      ...['twin', 'hypervisor still'],
    ]),
  )
})

// Nothing is accepted and dropped: what a caller may give is read by what carries it out, or the reason why not stands here. A list
// below has exactly what is not read, so that it shrinks with what is added to the code. The compiler has looked at the product above.

/** Parameters of opcodes that no unit reads. */
const UNREAD_PARAMETERS: Readonly<Record<string, string>> = {
  'OP_CLUSTER_RENEW_CRYPTO verbose': 'only how much the tools print on other nodes; the job tells of each node anyway',
  'OP_CLUSTER_RENEW_CRYPTO debug': 'only how much the tools print on other nodes; the job tells of each node anyway',
  'OP_NETWORK_REMOVE force': "Ganeti's unit does not read it either: a network that is connected is never removed",
  'OP_TEST_DELAY on_node_uuids': "as in Ganeti, an answer of the unit: it shows on_nodes and the master's uuid in it",
}

const XEN = "only Xen's programs are called otherwise for it"
const NO_DIRECTORIES = 'directories, the only units that are told as arguments, have nothing that could be changed'

/** Arguments of node calls that Ganeti sends, and that a handler need not know. */
const UNREAD_ARGUMENTS: Readonly<Record<string, string>> = {
  'node_powercycle hvparams': XEN,
  'instance_migrate cluster_name': XEN,
  'instance_info hvparams': XEN,
  'instance_list hvparams': XEN,
  'all_instances_info all_hvparams': XEN,
  'storage_modify su_args': NO_DIRECTORIES,
  'storage_execute su_args': NO_DIRECTORIES,
}

/** Options of commands that their commands do not read. */
const UNREAD_OPTIONS: Readonly<Record<string, string>> = {
  'backup export --force': "Ganeti's does not read it either: it asks no question",
  'instance console --priority': "Ganeti's does not read it either: it submits no job",
  'cluster renew-crypto --no-ssh-key-check': 'the nodes renew their keys themselves, and are not asked over SSH',
}

const reading = new Reading(
  program,
  sourcesOf(program, ['src/operations', 'src/allocation', 'src/services', 'src/daemons/luxid']),
)

test("every parameter of an opcode is read by the opcode's unit", () => {
  const tables = sourcesOf(program, ['src/opcodes']).flatMap((file) => calls(file, 'opcode'))
  const unread = tables.flatMap(([id, declaration]) => {
    const params = parametersIn(program, property(declaration, 'params'))
    return params.filter((one) => !reading.isRead(one)).map((one) => `${literal(id)} ${nameOf(one)}`)
  })
  expect(tables.length).toBeGreaterThan(50)
  expect(unread.sort()).toEqual(Object.keys(UNREAD_PARAMETERS).sort())
})

test('every parameter of a disk or NIC is read', () => {
  const file = program.getSourceFile(path.join(root, 'src/opcodes/types.ts'))
  const tables = new Map(variables(file).map((one) => [one.name.getText(), one.initializer]))
  const records = { disk: tables.get('DISK_PARAMS'), nic: calls(tables.get('nicParams'), 'partialOf')[0]?.[0] }
  const unread = Object.entries(records).flatMap(([kind, record]) => {
    const params = parametersIn(program, record)
    expect(params.length).toBeGreaterThan(5)
    return params.filter((one) => !reading.isRead(one)).map((one) => `${kind} ${nameOf(one)}`)
  })
  expect(unread.sort()).toEqual([])
})

test('every argument of a node call is read by its handler', () => {
  const checker = program.getTypeChecker()
  const [handlers] = variables(program.getSourceFile(path.join(root, 'src/node/handlers/index.ts'))).filter(
    (one) => one.name.getText() === 'handlers',
  )
  const unread = Object.entries(nodeCalls).flatMap(([call, { args }]) => {
    const handler = handlers && checker.getTypeAtLocation(handlers).getProperty(call)
    if (handler === undefined) return []
    const [signature] = checker.getSignaturesOfType(checker.getTypeOfSymbol(handler), ts.SignatureKind.Call)
    const [, ...parameters] = signature?.getDeclaration()?.parameters ?? []
    const rest = parameters.at(-1)?.dotDotDotToken !== undefined
    const isRead = (at: number) => !(parameters[at]?.name.getText() ?? (rest ? 'rest' : '_')).startsWith('_')
    return args.flatMap((argument, at) => (isRead(at) ? [] : [`${call} ${argument.name}`]))
  })
  expect(unread.sort()).toEqual(Object.keys(UNREAD_ARGUMENTS).sort())
})

test('every option of a command is read by the command', async () => {
  const words = wordsOfCommands(program, sourcesOf(program, ['src/cli']))
  const unread: string[] = []
  for (const [object, tool] of Object.entries(TOOLS))
    for (const command of (await tool.load()).commands) {
      const known = wordsOf(words, command)
      if (known === undefined) throw new Error(`gnt-${object} ${command.name}: its functions were not found`)
      const handedOn = [...allOpcodes.values()].filter(({ id }) => known.has(opcodeClass(id)))
      const isHandedOn = ({ dest, isParameter }: Option) =>
        isParameter === true && handedOn.some(({ params }) => Object.hasOwn(params, dest))
      for (const option of command.options)
        if (option.ignored === undefined && !known.has(option.dest) && !isHandedOn(option))
          unread.push(`${object} ${command.name} ${option.long[0]}`)
    }
  expect(unread.sort()).toEqual(Object.keys(UNREAD_OPTIONS).sort())
  expect(COMMON_OPTIONS.map(({ dest }) => dest)).toEqual(['debug', 'reason'])
})

test("no argument of a controller's method is dropped: the compiler refuses what is not read, but for names like _this", () => {
  const methods = sourcesOf(program, ['src/daemons/rapi/controllers']).flatMap((file) =>
    descendants(file, ts.isParameter),
  )
  expect(methods.length).toBeGreaterThan(100)
  expect(methods.map(({ name }) => name.getText()).filter((name) => name.startsWith('_'))).toEqual([])
})
