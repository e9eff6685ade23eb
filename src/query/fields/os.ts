// Query fields of operating systems.
import { recordValues } from '../../config/records'
import type { ConfigData } from '../../model/config'
import type { OsDiagnosis } from '../../rpc/node/dicts'
import { cell, field, TEXTS, PARAMETERS, PARAMETERS_BY_NAME } from '../field'
import { niceSortBy } from '../../model/nice-sort'
import type { Resource } from '../resource'

/** An OS, with the answers of all nodes that answered; nodes without it have an empty list. */
interface OsRow {
  readonly name: string
  readonly config: ConfigData
  readonly byNode: ReadonlyMap<string, readonly OsDiagnosis[]>
}

export const osResource: Resource<OsRow> = {
  nameField: 'name',
  async all({ config, live }) {
    const nodes = recordValues(config.nodes).filter((node) => node.vm_capable && !node.offline)
    const answers = await live.operatingSystems(nodes)
    const reports = nodes.flatMap((node): [string, readonly OsDiagnosis[]][] => {
      const answer = answers.get(node.uuid)
      return answer?.ok === true ? [[node.name, answer.payload]] : []
    })
    const names = [...new Set(reports.flatMap(([, found]) => found.map(([name]) => name)))]
    return niceSortBy(names, (name) => name).map((name) => ({
      name,
      config,
      byNode: new Map(reports.map(([node, found]) => [node, found.filter((os) => os[0] === name)])),
    }))
  },
  fields: {
    name: field('Name', 'text', 'Operating system name', ({ name }) => cell(name)),
    valid: field('Valid', 'bool', 'Whether operating system definition is valid', (row) => cell(isValid(row))),
    hidden: field('Hidden', 'bool', 'Whether operating system is hidden', ({ name, config }) =>
      cell(config.cluster.hidden_os.includes(name)),
    ),
    blacklisted: field('Blacklisted', 'bool', 'Whether operating system is blacklisted', ({ name, config }) =>
      cell(config.cluster.blacklisted_os.includes(name)),
    ),
    variants: field('Variants', 'other', 'Operating system variants', (row) => cell(common(row, (os) => os[4])), {
      shape: TEXTS,
    }),
    api_versions: field(
      'ApiVersions',
      'other',
      'Operating system API versions',
      (row) => cell(common(row, (os) => os[6]).sort((a, b) => a - b)),
      { shape: 'number[]' },
    ),
    parameters: field(
      'Parameters',
      'other',
      'Operating system parameters',
      (row) =>
        cell(common(row, (os) => os[5].map((pair) => JSON.stringify(pair))).map((pair): unknown => JSON.parse(pair))),
      { shape: 'string[][]' },
    ),
    node_status: field(
      'NodeStatus',
      'other',
      'Status from node',
      ({ byNode }) =>
        cell(Object.fromEntries([...byNode].map(([node, found]) => [node, found.map(([, ...rest]) => rest)]))),
      { shape: '{ [node: string]: unknown[][] }' },
    ),
    os_hvp: field(
      'OsHypervisorParams',
      'other',
      'Operating system specific hypervisor parameters',
      ({ name, config }) => cell(config.cluster.os_hvp[name] ?? {}),
      { shape: PARAMETERS_BY_NAME },
    ),
    osparams: field(
      'OsParameters',
      'other',
      'Operating system specific parameters',
      ({ name, config }) => cell(config.cluster.osparams[name] ?? {}),
      { shape: PARAMETERS },
    ),
    trusted: field('Trusted', 'bool', 'Whether this OS is trusted', (row) =>
      cell([...row.byNode.values()].every(([first]) => first?.[7] !== false)),
    ),
  },
}

/** A node uses the first definition in its search path. */
const isValid = ({ byNode }: OsRow): boolean => [...byNode.values()].every(([first]) => first?.[2] === true)

function common<T>(row: OsRow, get: (os: OsDiagnosis) => readonly T[]): T[] {
  if (!isValid(row)) return []
  const [first, ...others] = [...row.byNode.values()].map(([os]) => (os === undefined ? [] : get(os)))
  return (first ?? []).filter((value) => others.every((list) => list.includes(value)))
}
