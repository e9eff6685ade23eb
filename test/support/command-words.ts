// The words that occur in the code that a command runs: in its functions, and in everything that they use. An option whose name is not
// among these words is never read.
import * as ts from 'typescript'
import type { Command } from '../../src/cli/command'

/** Properties that describe a command but do not carry it out. */
const TOLD = ['name', 'help', 'options', 'usage', 'args', 'aliases']

/** The words of each command. The key is its description, because several tools have a command of the same name. */
export function wordsOfCommands(program: ts.Program, sources: readonly ts.SourceFile[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const [name, usage, help = ''] = ['name', 'usage', 'help'].map((reported) => textOf(node, reported))
      const carriedOut = node.properties.filter((one) => !TOLD.includes(nameOf(one)))
      if (name !== undefined && usage !== undefined && carriedOut.length > 0)
        found.set(commandKey({ name, usage, help }), wordsIn(program.getTypeChecker(), new Set(sources), carriedOut))
    }
    ts.forEachChild(node, visit)
  }
  for (const source of sources) visit(source)
  return found
}

/** A help text that is computed counts as empty. */
const commandKey = ({ name, usage, help }: Pick<Command, 'name' | 'usage' | 'help'>): string =>
  `${name} ${usage}: ${help}`

export const wordsOf = (words: ReadonlyMap<string, ReadonlySet<string>>, command: Command) =>
  words.get(commandKey(command)) ?? words.get(commandKey({ ...command, help: '' }))

function wordsIn(checker: ts.TypeChecker, sources: ReadonlySet<ts.SourceFile>, start: readonly ts.Node[]): Set<string> {
  const words = new Set<string>()
  const observed = new Set<ts.Node>(start)
  const waiting = [...start]
  const follow = (input: ts.Symbol | undefined): void => {
    const symbol = input !== undefined && input.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(input) : input
    for (const declared of symbol?.declarations ?? []) {
      if (observed.has(declared) || !sources.has(declared.getSourceFile()) || !isFollowed(checker, declared)) continue
      observed.add(declared)
      waiting.push(declared)
    }
  }
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) words.add(node.text)
    if (ts.isCallExpression(node)) for (const opcode of handedOn(node)) words.add(opcode)
    if (ts.isIdentifier(node)) follow(checker.getSymbolAtLocation(node))
    if (ts.isShorthandPropertyAssignment(node)) follow(checker.getShorthandAssignmentValueSymbol(node))
    // Follows names that are destructured from a module that was loaded on demand.
    if (ts.isBindingElement(node) && ts.isIdentifier(node.name))
      follow(checker.getTypeAtLocation(node.parent).getProperty(node.name.text))
    ts.forEachChild(node, visit)
  }
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) visit(node)
  return words
}

/** In `options.parametersOf(OpNodeAdd)`, finds the options that are parameters of `OpNodeAdd`, because that call passes all of them on. */
function handedOn({ expression, arguments: [opcode] }: ts.CallExpression): string[] {
  const isReading = ts.isPropertyAccessExpression(expression) && expression.name.text === 'parametersOf'
  return isReading && opcode !== undefined && ts.isIdentifier(opcode) ? [opcode.text] : []
}

/** Follows functions, constants and single options. Lists of options would hide options that are never read. */
function isFollowed(checker: ts.TypeChecker, node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isPropertyAssignment(node)) return true
  if (!ts.isVariableDeclaration(node)) return false
  return !/\b(Option\[\]|Tool)\b/.test(checker.typeToString(checker.getTypeAtLocation(node)))
}

const nameOf = ({ name }: ts.ObjectLiteralElementLike): string =>
  name !== undefined && ts.isIdentifier(name) ? name.text : ''

function textOf(node: ts.ObjectLiteralExpression, desired: string): string | undefined {
  const found = node.properties.find((one) => nameOf(one) === desired)
  if (found === undefined || !ts.isPropertyAssignment(found)) return undefined
  return ts.isStringLiteralLike(found.initializer) ? found.initializer.text : undefined
}
