// OS definitions: each node's must be usable, and equal to those of the group's first node.
import { OS_SEARCH_PATH } from '../../../model/constants/paths'
import { RELEASE_VERSION } from '../../../model/constants/versions'
import type { OsDiagnosis } from '../../../rpc/node/dicts'
import type { NodeImage } from './group-state'
import type { VerifyReport } from './report'

interface NodeSystems {
  readonly node: string
  readonly byName: ReadonlyMap<string, readonly OsDiagnosis[]>
}

export function verifySystems(report: VerifyReport, images: readonly NodeImage[]): void {
  // Nodes with another version lack the OS definitions that come with this program, so these are not compared.
  const mixed = images.some(({ answer: { version } }) => Array.isArray(version) && version[1] !== RELEASE_VERSION)
  const expected = ([, path]: OsDiagnosis) => !mixed || OS_SEARCH_PATH.some((place) => path.startsWith(`${place}/`))
  const all = images.flatMap(({ node, answer }): NodeSystems[] => {
    const list = answer['oslist']
    const good = Array.isArray(list) && list.every(isDiagnosis)
    report.when(!good, 'ENODEOS', node.name, "node hasn't returned valid OS data")
    return good ? [{ node: node.name, byName: grouped(list.filter(expected)) }] : []
  })
  const [reference] = all
  if (reference !== undefined) for (const one of all) verifyNode(report, one, reference)
}

function verifyNode(report: VerifyReport, { node, byName }: NodeSystems, reference: NodeSystems): void {
  for (const [name, found] of byName) {
    const [first] = found
    if (first === undefined) continue
    const [, path, usable, problem] = first
    report.when(!usable, 'ENODEOS', node, `Invalid OS ${name} (located at ${path}): ${problem}`)
    const paths = found.map((one) => one[1]).join(', ')
    const shadowed = `OS '${name}' has multiple entries (first one shadows the rest): ${paths}`
    report.when(found.length > 1, 'ENODEOS', node, shadowed)
    compare(report, node, name, first, reference)
  }
  const missing = [...reference.byName.keys()].filter((name) => !byName.has(name))
  const text = `OSes present on reference node ${reference.node} but missing on this node: ${missing.join(', ')}`
  report.when(missing.length > 0, 'ENODEOS', node, text)
}

function compare(report: VerifyReport, node: string, name: string, here: OsDiagnosis, reference: NodeSystems): void {
  const [there] = reference.byName.get(name) ?? []
  const extra = `Extra OS ${name} not present on reference node (${reference.node})`
  if (report.when(there === undefined, 'ENODEOS', node, extra) || there === undefined || !there[2]) return
  for (const [kind, a, b] of aspects(here, there)) {
    const text = `OS ${kind} for ${name} differs from reference node ${reference.node}: [${a}] vs. [${b}]`
    report.when(a !== b, 'ENODEOS', node, text)
  }
}

const aspects = (a: OsDiagnosis, b: OsDiagnosis): [kind: string, here: string, there: string][] => [
  ['API version', sorted(a[6]), sorted(b[6])],
  ['variants list', sorted(a[4]), sorted(b[4])],
  ['parameters', sorted(a[5].map((one) => one.join(': '))), sorted(b[5].map((one) => one.join(': ')))],
  ['trusted', String(a[7]), String(b[7])],
]

const sorted = (values: readonly (string | number)[]): string => values.map(String).sort().join(', ')

function grouped(list: readonly OsDiagnosis[]): Map<string, OsDiagnosis[]> {
  const byName = new Map<string, OsDiagnosis[]>()
  for (const one of list) byName.set(one[0], [...(byName.get(one[0]) ?? []), one])
  return byName
}

const isDiagnosis = (value: unknown): value is OsDiagnosis =>
  Array.isArray(value) && value.length === 8 && [4, 5, 6].every((index) => Array.isArray(value[index]))
