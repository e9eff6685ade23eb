// Reads the project's own files for the tidy test, and finds the imports, functions and uses of globals of each TypeScript
// file.
import * as fs from 'node:fs'
import * as path from 'node:path'
import * as ts from 'typescript'

export const root = path.join(__dirname, '..', '..')

export interface SourceFile {
  /** The path from the project's root: `src/lib/clock.ts`. */
  readonly name: string
  readonly text: string
  readonly lines: number
  readonly imports: readonly Import[]
  readonly functions: readonly { readonly name: string; readonly line: number; readonly lines: number }[]
  /** Globals and members of globals that the file mentions: `Date.now`, `setTimeout`, `process.env`. */
  readonly globals: readonly { readonly name: string; readonly line: number }[]
  /** `export { x } from`, without anything of its own. */
  readonly onlyReexports: boolean
}

export interface Import {
  readonly line: number
  /** As written: './clock', 'node:fs', 'express'. */
  readonly from: string
  /** The project's file that it names, or undefined for a package. */
  readonly file: string | undefined
  /** True if the import is loaded with the file. False if it is only for types, or loaded when a function needs it. */
  readonly atOnce: boolean
  /** True if the compiler needs the import to understand the file. False if a function loads it by name. */
  readonly declared: boolean
  /** The values that it takes by name; `*` for all of them. None when it is for types only. */
  readonly names: readonly string[]
}

const IGNORED = new Set(['node_modules', '.git', 'dist', 'coverage', '.cache'])

/** Every file of the project, from its root, without what is installed or built. */
export function projectFiles(folder = '', project = root): string[] {
  return fs.readdirSync(path.join(project, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name)
    if (IGNORED.has(entry.name) || entry.isSymbolicLink()) return []
    return entry.isDirectory() ? projectFiles(name, project) : [name]
  })
}

export function readSource(name: string): SourceFile {
  const text = fs.readFileSync(path.join(root, name), 'utf8')
  const tree = ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, false)
  const imports: Import[] = []
  const functions: { name: string; line: number; lines: number }[] = []
  const globals: { name: string; line: number }[] = []
  const lineOf = (position: number): number => tree.getLineAndCharacterOfPosition(position).line + 1

  function visit(node: ts.Node, label: string, inFunction: boolean): void {
    const from = importedFrom(node)
    if (from !== undefined) {
      const atOnce = !inFunction && !isForTypes(node)
      const declared = ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      const [line, file] = [lineOf(node.getStart(tree)), resolve(name, from)]
      imports.push({ line, from, file, atOnce, declared, names: namesOf(node) })
    }
    if (isFunction(node))
      functions.push({ name: labelOf(node) ?? label, line: lineOf(node.getStart(tree)), lines: span(node) })
    const used = globalName(node)
    if (used !== undefined) globals.push({ name: used, line: lineOf(node.getStart(tree)) })
    const inside = inFunction || isFunction(node)
    ts.forEachChild(node, (child) => visit(child, labelOf(node) ?? label, inside))
  }
  const span = (node: ts.Node): number => lineOf(node.end) - lineOf(node.getStart(tree)) + 1

  tree.statements.forEach((statement) => visit(statement, 'the file', false))
  return { name, text, lines: countLines(text), imports, functions, globals, onlyReexports: onlyReexports(tree) }
}

/** All files that can be reached from the entries by following imports. */
export function reachable(
  entries: readonly string[],
  sources: { get(name: string): SourceFile | undefined },
  follow: (one: Import) => boolean = () => true,
): Set<string> {
  const observed = new Set<string>()
  const waiting = [...entries]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (observed.has(name)) continue
    observed.add(name)
    for (const one of sources.get(name)?.imports ?? [])
      if (one.file !== undefined && follow(one)) waiting.push(one.file)
  }
  return observed
}

function importedFrom(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return stringOf(node.moduleSpecifier)
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? stringOf(node.argument.literal) : undefined
  if (!ts.isCallExpression(node)) return undefined
  const called = node.expression
  const loader = ts.isCallExpression(called) ? called.expression : called
  const loads = ts.isIdentifier(loader) && (loader.text === 'require' || loader.text === 'createRequire')
  const asks = ts.isPropertyAccessExpression(called) && called.name.text === 'getBuiltinModule'
  return loads || asks || called.kind === ts.SyntaxKind.ImportKeyword ? stringOf(node.arguments[0]) : undefined
}

function isForTypes(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true
  if (ts.isExportDeclaration(node)) return node.isTypeOnly
  if (!ts.isImportDeclaration(node)) return false
  const clause = node.importClause
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const named = clause.namedBindings
  const onlyTypes = named !== undefined && ts.isNamedImports(named) && named.elements.every((one) => one.isTypeOnly)
  return clause.name === undefined && onlyTypes
}

function namesOf(node: ts.Node): readonly string[] {
  if (isForTypes(node)) return []
  const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined
  if (named === undefined || !ts.isNamedImports(named)) return ['*']
  return named.elements.filter((one) => !one.isTypeOnly).map((one) => (one.propertyName ?? one.name).text)
}

function stringOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined
}

function resolve(importer: string, from: string): string | undefined {
  if (!from.startsWith('.')) return undefined
  const base = path.posix.join(path.posix.dirname(importer), from.replace(/\.js$/, ''))
  return [`${base}.ts`, `${base}/index.ts`, base].find((name) => fs.existsSync(path.join(root, name))) ?? `${base}.ts`
}

function isFunction(node: ts.Node): boolean {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isConstructorDeclaration(node) ||
    ts.isAccessor(node)
  )
}

function labelOf(node: ts.Node): string | undefined {
  const named =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isPropertyAssignment(node)
  return named && node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : undefined
}

function globalName(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression))
    return `${node.expression.text}.${node.name.text}`
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) return node.expression.text
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.arguments?.length === 0)
    return `new ${node.expression.text}()`
  return undefined
}

function onlyReexports(tree: ts.SourceFile): boolean {
  return (
    tree.statements.length > 0 && tree.statements.every((one) => ts.isExportDeclaration(one) && one.moduleSpecifier)
  )
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
