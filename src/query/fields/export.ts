// Query fields of exports.
import type { NodeResult } from '../../rpc/node/client'
import type { Node } from '../../model/node'
import { NO_DATA, OFFLINE, cell, field } from '../field'
import { ConfigIndex } from '../config-index'
import { niceSort } from '../../model/nice-sort'
import type { Resource } from '../resource'
import type { QuerySource } from '../source'

/** One export of a node. A node without exports has no row. A node that did not answer has one row that says so. */
interface ExportRow {
  readonly node: string
  readonly answer: { name: string } | Extract<NodeResult<unknown>, { ok: false }>
}

export const exportResource: Resource<ExportRow> = {
  nameField: 'node',
  all: (source) => rowsOf(ConfigIndex.of(source.config).nodes(), source),
  fields: {
    node: field('Node', 'text', 'Node name', ({ node }) => cell(node), { compare: 'host' }),
    // Nodes already supply the rows themselves, so nothing is collected later.
    export: field('Export', 'text', 'Export name', ({ answer }) => {
      if ('name' in answer) return cell(answer.name)
      return answer.offline ? OFFLINE : NO_DATA
    }),
  },
}

async function rowsOf(nodes: readonly Node[], source: QuerySource): Promise<ExportRow[]> {
  const answers = await source.live.exports(nodes)
  return nodes.flatMap((node): ExportRow[] => {
    const answer = answers.get(node.uuid)
    if (answer === undefined) return []
    if (!answer.ok) return [{ node: node.name, answer }]
    return niceSort(answer.payload).map((name) => ({ node: node.name, answer: { name } }))
  })
}
