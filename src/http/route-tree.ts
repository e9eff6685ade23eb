// Finds the route of a path without trying each pattern: one look-up for each part of the path.

export interface PatternRoute {
  readonly verb: string
  readonly path: string
  readonly args: readonly { readonly in: string; readonly name: string; readonly dataType?: string }[]
}

interface Found<R> {
  readonly byVerb: ReadonlyMap<string, R>
  readonly params: Readonly<Record<string, string>>
}

interface Branch<R> {
  readonly children: Map<string, Branch<R>>
  variable?: { name: string; pattern: RegExp; branch: Branch<R> }
  byVerb?: Map<string, R>
}

/** Ganeti's names, which it does not decode. */
const NAME = /^[\w.-]+$/
const ANY_NAME = /^[^]{1,1024}$/
const NUMBER = /^\d{1,15}$/

export class RouteTree<R extends PatternRoute> {
  private readonly root: Branch<R> = { children: new Map() }

  constructor(
    routes: readonly R[],
    /** Whether names in paths are decoded, and may be any text. */
    private readonly decoded = false,
  ) {
    for (const route of routes) this.add(route)
  }

  find(path: string): Found<R> | undefined {
    const params: Record<string, string> = {}
    let branch = this.root
    for (const text of path.split('/').slice(1)) {
      const part = this.decoded ? decode(text) : text
      const fixed = branch.children.get(part)
      const { variable } = branch
      if (fixed === undefined && !variable?.pattern.test(part)) return undefined
      if (fixed === undefined && variable !== undefined) params[variable.name] = part
      branch = fixed ?? variable?.branch ?? branch
    }
    return branch.byVerb && path.startsWith('/') ? { byVerb: branch.byVerb, params } : undefined
  }

  private add(route: R): void {
    let branch = this.root
    for (const part of route.path.split('/').slice(1)) branch = this.step(branch, part, route)
    branch.byVerb ??= new Map()
    branch.byVerb.set(route.verb, route)
  }

  private step(branch: Branch<R>, part: string, route: R): Branch<R> {
    const fresh = (): Branch<R> => ({ children: new Map() })
    if (!part.startsWith(':')) {
      const next = branch.children.get(part) ?? fresh()
      branch.children.set(part, next)
      return next
    }
    const name = part.slice(1)
    const isNumber = route.args.some((arg) => arg.in === 'path' && arg.name === name && arg.dataType === 'integer')
    branch.variable ??= { name, pattern: isNumber ? NUMBER : this.decoded ? ANY_NAME : NAME, branch: fresh() }
    if (branch.variable.name !== name)
      throw new Error(`${route.path}: another route names this part ${branch.variable.name}`)
    return branch.variable.branch
  }
}

/** An undecodable text names no object. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
