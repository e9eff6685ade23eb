// Finds declared properties that no file reads, with the compiler's types. It follows values that are passed on under other types. So tests
// find input that is accepted from outside and never read.
import * as path from 'node:path'
import * as ts from 'typescript'
import { root } from './source-tree'

/** The sources of the folders, with their names from the project's root. */
export const sourcesOf = (program: ts.Program, folders: readonly string[]): ts.SourceFile[] =>
  program.getSourceFiles().filter(({ fileName }) => isBelow(path.relative(root, fileName), folders))

const isBelow = (name: string, folders: readonly string[]): boolean =>
  folders.some((folder) => name.startsWith(`${folder}/`))

export class Reading {
  private readonly checker: ts.TypeChecker
  /** Declarations of properties that are read directly. */
  private readonly read = new Set<ts.Node>()
  /** Maps the declaration of a property to the declarations in other types under which its value is passed on. */
  private readonly becomes = new Map<ts.Node, Set<ts.Node>>()
  private readonly related = new Set<string>()
  private readonly ids = new Map<ts.Type, number>()

  /** Collects everything that the files read. */
  constructor(program: ts.Program, readers: readonly ts.SourceFile[]) {
    this.checker = program.getTypeChecker()
    for (const file of readers) this.visit(file)
  }

  /** Whether a declared property is read, under its own type or under one that it is passed on as. */
  isRead(declared: ts.Node, observed = new Set<ts.Node>()): boolean {
    if (this.read.has(declared)) return true
    if (observed.has(declared)) return false
    observed.add(declared)
    return [...(this.becomes.get(declared) ?? [])].some((next) => this.isRead(next, observed))
  }

  private visit(node: ts.Node): void {
    if (ts.isPropertyAccessExpression(node) && !isWritten(node)) this.note(this.checker.getSymbolAtLocation(node.name))
    if (ts.isElementAccessExpression(node)) this.noteElement(node)
    if (ts.isObjectBindingPattern(node)) this.notePattern(node)
    if (ts.isCallExpression(node)) this.call(node)
    if (ts.isExpression(node)) this.travel(node)
    ts.forEachChild(node, (child) => this.visit(child))
  }

  private note(symbol: ts.Symbol | undefined): void {
    for (const declared of this.declarations(symbol)) this.read.add(declared)
  }

  private noteElement({ expression, argumentExpression }: ts.ElementAccessExpression): void {
    const key = this.checker.getTypeAtLocation(argumentExpression)
    for (const one of key.isUnion() ? key.types : [key])
      if (one.isStringLiteral()) this.note(this.property(this.checker.getTypeAtLocation(expression), one.value))
  }

  private notePattern(node: ts.ObjectBindingPattern): void {
    const { parent } = node
    const source = ts.isVariableDeclaration(parent) ? parent.initializer : undefined
    const type = this.checker.getTypeAtLocation(source ?? node)
    for (const { dotDotDotToken, propertyName, name } of node.elements) {
      const key = propertyName ?? name
      if (dotDotDotToken === undefined && ts.isIdentifier(key)) this.note(this.property(type, key.text))
    }
  }

  /** An argument takes the type of the declared parameter. For a generic function this is wider than the type at the call. */
  private call(node: ts.CallExpression): void {
    const parameters = this.checker.getResolvedSignature(node)?.getDeclaration()?.parameters ?? []
    for (const [index, argument] of node.arguments.entries()) {
      const parameter = parameters[Math.min(index, parameters.length - 1)]
      if (parameter === undefined) continue
      const type = this.checker.getTypeAtLocation(parameter)
      const item = parameter.dotDotDotToken && this.checker.getIndexTypeOfType(type, ts.IndexKind.Number)
      this.relate(this.checker.getTypeAtLocation(argument), item ?? type)
    }
  }

  private travel(node: ts.Expression): void {
    const target = TRAVELS.some((is) => is(node)) ? this.checker.getContextualType(node) : undefined
    if (target !== undefined) this.relate(this.checker.getTypeAtLocation(node), target)
  }

  /** A value of one type is used as another type, so a read of the second counts as a read of the first. */
  private relate(from: ts.Type, to: ts.Type, depth = 0): void {
    const key = `${this.id(from)}>${this.id(to)}`
    if (from === to || depth > DEPTH_MAX || this.related.has(key)) return
    this.related.add(key)
    if (to.isUnion()) return to.types.forEach((one) => this.relate(from, one, depth))
    if (from.isUnion()) return from.types.forEach((one) => this.relate(one, to, depth))
    const target = this.checker.getApparentType(to)
    for (const desired of this.checker.getPropertiesOfType(target)) {
      const input = this.property(from, desired.name)
      if (input === undefined || input === desired || isLibrary(desired)) continue
      for (const one of this.declarations(input))
        for (const other of this.declarations(desired)) if (one !== other) this.edge(one, other)
      this.relate(this.checker.getTypeOfSymbol(input), this.checker.getTypeOfSymbol(desired), depth + 1)
    }
    this.relateCalls(from, target, depth)
  }

  /** A caller of the second passes its arguments to the first. */
  private relateCalls(from: ts.Type, to: ts.Type, depth: number): void {
    const [input] = this.checker.getSignaturesOfType(from, ts.SignatureKind.Call)
    const [desired] = this.checker.getSignaturesOfType(to, ts.SignatureKind.Call)
    if (input === undefined || desired === undefined) return
    for (const [index, parameter] of input.parameters.entries()) {
      const handed = desired.parameters[index]
      if (handed === undefined) break
      this.relate(this.checker.getTypeOfSymbol(handed), this.checker.getTypeOfSymbol(parameter), depth + 1)
    }
    this.relate(input.getReturnType(), desired.getReturnType(), depth + 1)
  }

  private edge(from: ts.Node, to: ts.Node): void {
    const found = this.becomes.get(from) ?? new Set()
    this.becomes.set(from, found.add(to))
  }

  /** The places where a property was written, whatever types were derived from its type. */
  private declarations(symbol: ts.Symbol | undefined): readonly ts.Node[] {
    if (symbol === undefined) return []
    return [symbol, ...this.checker.getRootSymbols(symbol)].flatMap((one) => one.declarations ?? [])
  }

  private property(type: ts.Type, name: string): ts.Symbol | undefined {
    return this.checker.getPropertyOfType(this.checker.getApparentType(this.checker.getNonNullableType(type)), name)
  }

  private id(type: ts.Type): number {
    const known = this.ids.get(type) ?? this.ids.size
    this.ids.set(type, known)
    return known
  }
}

/** The depth to which the parts of a value are followed. */
const DEPTH_MAX = 4

const TRAVELS: readonly ((node: ts.Node) => boolean)[] = [
  ts.isIdentifier,
  ts.isObjectLiteralExpression,
  ts.isCallExpression,
  ts.isPropertyAccessExpression,
  ts.isArrowFunction,
  ts.isAwaitExpression,
  ts.isConditionalExpression,
]

const isLibrary = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.some((one) => one.getSourceFile().isDeclarationFile) ?? false

const isWritten = (node: ts.PropertyAccessExpression): boolean =>
  ts.isBinaryExpression(node.parent) &&
  node.parent.left === node &&
  node.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
