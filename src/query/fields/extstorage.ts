// Query fields of providers of external storage.
import { recordValues } from '../../config/records'
import type { NodeGroup } from '../../model/node-group'
import { niceSortBy } from '../../model/nice-sort'
import { ConfigIndex } from '../config-index'
import { cell, field } from '../field'
import type { ExtStorageDiagnosis } from '../live-data'
import type { Resource } from '../resource'

/** A provider, with the answers of all nodes that answered. */
interface ProviderRow {
  readonly name: string
  readonly index: ConfigIndex
  readonly byNode: ReadonlyMap<string, readonly ExtStorageDiagnosis[]>
}

export const extStorageResource: Resource<ProviderRow> = {
  nameField: 'name',
  async all({ config, live }) {
    const nodes = recordValues(config.nodes).filter((node) => node.vm_capable && !node.offline)
    const answers = await live.extStorage(nodes)
    const reports = nodes.flatMap((node): [string, readonly ExtStorageDiagnosis[]][] => {
      const answer = answers.get(node.uuid)
      return answer?.ok === true ? [[node.name, answer.payload]] : []
    })
    const names = [...new Set(reports.flatMap(([, found]) => found.map(([name]) => name)))]
    return niceSortBy(names, (name) => name).map((name) => ({
      name,
      index: ConfigIndex.of(config),
      byNode: new Map(reports.map(([node, found]) => [node, found.filter((provider) => provider[0] === name)])),
    }))
  },
  fields: {
    name: field('Name', 'text', 'ExtStorage provider name', ({ name }) => cell(name)),
    node_status: field('NodeStatus', 'other', 'Status from node', ({ byNode }) =>
      cell(Object.fromEntries([...byNode].map(([node, found]) => [node, found.map(([, ...rest]) => rest)]))),
    ),
    nodegroup_status: field('NodegroupStatus', 'other', 'Overall Nodegroup status', (row) =>
      cell(Object.fromEntries(row.index.groups().map((group) => [group.name, isUsable(row, group)]))),
    ),
    parameters: field('Parameters', 'other', 'ExtStorage provider parameters', ({ byNode }) =>
      cell(commonParameters([...byNode.values()].map(([first]) => first?.[4] ?? []))),
    ),
  },
}

/** On every node of the group that answered. */
function isUsable({ byNode, index }: ProviderRow, group: NodeGroup): boolean {
  const requested = index.nodesOfGroup(group.uuid).filter(({ name }) => byNode.has(name))
  return requested.length > 0 && requested.every(({ name }) => byNode.get(name)?.[0]?.[2] === true)
}

function commonParameters(lists: readonly (readonly (readonly [name: string, text: string])[])[]): unknown[] {
  const [first, ...others] = lists
  return (first ?? []).filter(([name]) => others.every((list) => list.some(([other]) => other === name)))
}
