// Nothing is accepted and dropped: what a caller may give is read by what carries it out, or the reason why not stands here. A list
// below has exactly what is not read, so that it shrinks with what is added to the code.
import * as path from 'node:path'
import * as ts from 'typescript'
import { COMMON_OPTIONS } from '../src/cli/input/parse'
import type { Option } from '../src/cli/input/option'
import { TOOLS } from '../src/cli/program'
import { allOpcodes, opcodeClass } from '../src/opcodes/index'
import { nodeCalls } from '../src/rpc/node/calls'
import { wordsOf, wordsOfCommands } from './support/command-words'
import { root } from './support/source-tree'
import { projectProgram, Reading, sourcesOf } from './support/unread'

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

const program = projectProgram()
const reading = new Reading(
  program,
  sourcesOf(program, ['src/operations', 'src/allocation', 'src/services', 'src/daemons/luxi']),
)

test("every parameter of an opcode is read by the opcode's unit", () => {
  const tables = sourcesOf(program, ['src/opcodes']).flatMap((file) => calls(file, 'opcode'))
  const unread = tables.flatMap(([id, declaration]) => {
    const params = parametersIn(property(declaration, 'params'))
    return params.filter((one) => !reading.isRead(one)).map((one) => `${textOf(id)} ${nameOf(one)}`)
  })
  expect(tables.length).toBeGreaterThan(50)
  expect(unread.sort()).toEqual(Object.keys(UNREAD_PARAMETERS).sort())
})

test('every parameter of a disk or NIC is read', () => {
  const file = program.getSourceFile(path.join(root, 'src/opcodes/types.ts'))
  const tables = new Map(variables(file).map((one) => [one.name.getText(), one.initializer]))
  const records = { disk: tables.get('DISK_PARAMS'), nic: calls(tables.get('nicParams'), 'partialOf')[0]?.[0] }
  const unread = Object.entries(records).flatMap(([kind, record]) => {
    const params = parametersIn(record)
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

/** The arguments of each call of a function. */
function calls(node: ts.Node | undefined, name: string): (readonly ts.Expression[])[] {
  const isNamed = ({ expression }: ts.CallExpression) => ts.isIdentifier(expression) && expression.text === name
  return descendants(node, ts.isCallExpression)
    .filter(isNamed)
    .map((call) => call.arguments)
}

/** The declarations of a table's properties, also of those that it shares with other tables. */
function parametersIn(table: ts.Expression | undefined): ts.ObjectLiteralElementLike[] {
  if (table !== undefined && ts.isIdentifier(table)) {
    const declared = program.getTypeChecker().getSymbolAtLocation(table)?.valueDeclaration
    return declared !== undefined && ts.isVariableDeclaration(declared) ? parametersIn(declared.initializer) : []
  }
  if (table === undefined || !ts.isObjectLiteralExpression(table)) return []
  return table.properties.flatMap((one) => (ts.isSpreadAssignment(one) ? parametersIn(one.expression) : [one]))
}

function property(node: ts.Expression | undefined, name: string): ts.Expression | undefined {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  const found = node.properties.find((one) => nameOf(one) === name)
  return found !== undefined && ts.isPropertyAssignment(found) ? found.initializer : undefined
}

function descendants<T extends ts.Node>(node: ts.Node | undefined, is: (node: ts.Node) => node is T): T[] {
  const found: T[] = []
  const visit = (one: ts.Node): void => {
    if (is(one)) found.push(one)
    ts.forEachChild(one, visit)
  }
  if (node !== undefined) visit(node)
  return found
}

const variables = (node: ts.Node | undefined) => descendants(node, ts.isVariableDeclaration)
const nameOf = (node: ts.ObjectLiteralElementLike): string => node.name?.getText() ?? ''
const textOf = (node: ts.Node | undefined): string =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : ''
