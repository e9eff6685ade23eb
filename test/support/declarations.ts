// Looks up tables in the product's sources: calls that declare something, and the properties of object literals.
import * as ts from 'typescript'

/** The arguments of each call of a function. */
export function calls(node: ts.Node | undefined, name: string): (readonly ts.Expression[])[] {
  const isNamed = ({ expression }: ts.CallExpression) => ts.isIdentifier(expression) && expression.text === name
  return descendants(node, ts.isCallExpression)
    .filter(isNamed)
    .map((call) => call.arguments)
}

/** The declarations of a table's properties, also of those that it shares with other tables. */
export function parametersIn(program: ts.Program, table: ts.Expression | undefined): ts.ObjectLiteralElementLike[] {
  if (table !== undefined && ts.isIdentifier(table)) {
    const declared = program.getTypeChecker().getSymbolAtLocation(table)?.valueDeclaration
    return declared !== undefined && ts.isVariableDeclaration(declared)
      ? parametersIn(program, declared.initializer)
      : []
  }
  if (table === undefined || !ts.isObjectLiteralExpression(table)) return []
  return table.properties.flatMap((one) => (ts.isSpreadAssignment(one) ? parametersIn(program, one.expression) : [one]))
}

export function property(node: ts.Expression | undefined, name: string): ts.Expression | undefined {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  const found = node.properties.find((one) => nameOf(one) === name)
  return found !== undefined && ts.isPropertyAssignment(found) ? found.initializer : undefined
}

export function descendants<T extends ts.Node>(node: ts.Node | undefined, is: (node: ts.Node) => node is T): T[] {
  const found: T[] = []
  const visit = (one: ts.Node): void => {
    if (is(one)) found.push(one)
    ts.forEachChild(one, visit)
  }
  if (node !== undefined) visit(node)
  return found
}

export const variables = (node: ts.Node | undefined) => descendants(node, ts.isVariableDeclaration)
export const nameOf = (node: ts.ObjectLiteralElementLike): string => node.name?.getText() ?? ''
export const textOf = (node: ts.Node | undefined): string =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : ''
