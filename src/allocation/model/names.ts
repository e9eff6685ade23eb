// Names for people: shortened for display, and found from what a user typed.
import { BadClusterData, type ClusterData } from './cluster-data'

export interface Aliases {
  readonly suffix: string
  readonly nodeAliases: readonly string[]
  readonly instanceAliases: readonly string[]
}

/** All names, without the domain that they share. */
export function aliases({ nodes, instances }: ClusterData): Aliases {
  const names = [...nodes, ...instances].map(({ name }) => name)
  const suffix = commonDomain(names)
  const cut = ({ name }: { name: string }) => name.slice(0, name.length - suffix.length)
  return { suffix, nodeAliases: nodes.map(cut), instanceAliases: instances.map(cut) }
}

/** Indexes of objects by full name, or by first labels if only one fits; refuses the others by name. */
export function findNames(all: readonly { name: string }[], desired: readonly string[], complaint: string): number[] {
  const lookUp = (text: string) => {
    const exact = all.findIndex(({ name }) => name === text)
    if (exact >= 0) return exact
    const partial = all.flatMap(({ name }, at) => (name.startsWith(`${text}.`) ? [at] : []))
    return partial.length === 1 ? (partial[0] ?? -1) : -1
  }
  const found = desired.map(lookUp)
  const unknown = desired.filter((_, at) => found[at] === -1)
  if (unknown.length > 0) throw new BadClusterData(complaint + unknown.join(', '))
  return found
}

function commonDomain(names: readonly string[]): string {
  const [first = '', ...others] = names
  for (let dot = first.indexOf('.'); dot >= 0; dot = first.indexOf('.', dot + 1)) {
    const suffix = first.slice(dot)
    if (others.every((name) => name.endsWith(suffix))) return suffix
  }
  return ''
}
