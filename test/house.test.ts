// A role, a collector, a disk template with children and a hypervisor are added to a copy of the product, each by touching only the
// places that its recipe in CONTRIBUTING.md names; then the copy compiles, and knows them. A door over HTTP is in unit/http/door.test.ts.
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
import { root } from './support/source-tree'
import { Reading, sourcesOf } from './support/unread'

interface Addition {
  /** The heading of its recipe. */
  readonly recipe: string
  /** In each of these files, a text and what comes behind it. */
  readonly lines: Readonly<Record<string, readonly (readonly [behind: string, added: string])[]>>
  /** New files, and the doubles that they are made from. */
  readonly files: Readonly<Record<string, string>>
}

const ADDITIONS: Readonly<Record<string, Addition>> = {
  tickd: {
    recipe: 'A daemon',
    lines: {
      'src/roles/table.ts': [
        [
          'export const ROLES = [\n',
          "{ name: 'tickd', program: 'ganeti-tickd', text: 'ticks', place: 'node', user: USER.noded, group: GROUP.noded, log: 'tick', options: [] },",
        ],
      ],
      'src/main.ts': [
        [
          'const starts: Record<RoleName, () => Promise<Start>> = {',
          "tickd: async () => (await import('./start/tickd.js')).start,",
        ],
      ],
    },
    files: { 'src/start/tickd.ts': 'tickd.ts' },
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
    files: { 'src/collectors/node/pulse.ts': 'pulse.ts' },
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
    files: { 'src/node/storage/twin.ts': 'twin-driver.ts' },
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
    files: { 'src/node/hypervisor/still.ts': 'still-hypervisor.ts' },
  },
}

const textOf = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8')

const overlay = new Map(
  Object.values(ADDITIONS).flatMap(({ lines, files }) => [
    ...Object.entries(lines).map(([name, added]) => [name, added.reduce(addBehind, textOf(name))] as const),
    ...Object.entries(files).map(([name, double]) => [name, moved(double, name)] as const),
  ]),
)

function addBehind(text: string, [behind, added]: readonly [string, string]): string {
  expect(text.split(behind)).toHaveLength(2)
  return text.replace(behind, (found) => found + added)
}

/** A double's text, with its imports as they are from its new place. */
function moved(double: string, name: string): string {
  return textOf(`test/support/doubles/${double}`).replaceAll(/'(?:\.\.\/){3}(src\/[^']*)'/g, (_, file: string) => {
    const from = path.posix.relative(path.posix.dirname(name), file)
    return `'${from.startsWith('.') ? from : `./${from}`}'`
  })
}

const program = programWith(overlay)

const recipes = new Map(
  textOf('CONTRIBUTING.md')
    .split(/^### /m)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

test.each(Object.entries(ADDITIONS))(
  '%s is added in the places that its recipe names',
  (_, { recipe, lines, files }) => {
    const named = [...(recipes.get(recipe) ?? '').matchAll(/`(src\/[^`]*)`/g)].map(([, place = '']) => place)
    const fits = (place: string) => (name: string) =>
      new RegExp(
        `^${place.replaceAll('.', '\\.').replaceAll(/<\w+>/g, '[\\w-]+')}${place.endsWith('/') ? '' : '$'}`,
      ).test(name)
    for (const name of [...Object.keys(lines), ...Object.keys(files)])
      expect(named.filter((place) => fits(place)(name))).not.toEqual([])
  },
)

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
    import { usage } from './src/roles/help'
    import { inOrder } from './src/roles/role'
    import { ROLES } from './src/roles/table'

    process.stdout.write(JSON.stringify({
      role: [usage().includes('ticks (every node)'), inOrder(ROLES).some(({ name }) => name === 'tickd')],
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
    collector: true,
    template: [true, true, true],
    hypervisor: [true, 'still'],
  })
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
  sourcesOf(program, ['src/operations', 'src/allocation', 'src/services', 'src/daemons/luxi']),
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
