// The picture as a table, for screen readers and for people who prefer text.
import { Checkbox } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { sizeText } from '../../format/size'
import { Status } from '../../parts/status'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { type ClusterNode, NodeRole } from '../nodes/node'
import { type GroupPicture, type Happening, UNMARKED } from './cluster-picture'

const own = texts.topology

interface TableProps {
  readonly groups: readonly GroupPicture[]
  readonly happening: Happening
  readonly chosen: ReadonlySet<string>
  readonly choose: (node: string) => void
}

export function NodeTable({ groups, happening, chosen, choose }: TableProps) {
  const columns = useMemo(() => columnsOf(happening, chosen, choose), [happening, chosen, choose])
  const rows = useMemo(() => groups.flatMap(({ nodes }) => nodes), [groups])
  return (
    <VirtualTable
      label={texts.nav.nodes}
      columns={columns}
      rows={rows}
      rowKey={nameOf}
      loading={false}
      empty={texts.table.none(texts.nodes.noun)}
    />
  )
}

function columnsOf({ marks }: Happening, chosen: ReadonlySet<string>, choose: (node: string) => void) {
  const mark = ({ name }: ClusterNode) => marks.get(name) ?? UNMARKED
  const columns: Column<ClusterNode>[] = [
    {
      ...{
        id: 'choose',
        title: own.columns.choose,
        width: 44,
        head: <span className="unseen">{own.columns.choose}</span>,
      },
      cell: ({ name }) => (
        <Checkbox aria-label={own.choose(name)} checked={chosen.has(name)} onChange={() => choose(name)} />
      ),
    },
    {
      ...{ id: 'name', title: own.columns.name, width: 140, share: 2 },
      cell: ({ name }) => (
        <Link to="/nodes/$name" params={{ name }}>
          {name}
        </Link>
      ),
    },
    {
      ...{ id: 'state', title: own.columns.state, width: 170, share: 1 },
      cell: (node) => (mark(node).dead ? <Status tone="bad" text={own.columns.dead} /> : <NodeRole role={node.role} />),
    },
    {
      ...{ id: 'gives', title: own.columns.gives, width: 170, share: 1 },
      cell: (node) => own.tile.moved(mark(node).gives),
    },
    {
      ...{ id: 'gains', title: own.columns.gains, width: 170, share: 1 },
      cell: (node) => own.tile.moved(mark(node).gains),
    },
    {
      ...{ id: 'memory', title: own.columns.memory, width: 170, right: true },
      cell: ({ mfree, mtotal }) =>
        typeof mfree === 'number' && typeof mtotal === 'number'
          ? `${sizeText(mtotal - mfree)} / ${sizeText(mtotal)}`
          : '–',
    },
    {
      ...{ id: 'instances', title: own.columns.instances, width: 160, right: true },
      cell: ({ pinst_cnt: primary, sinst_cnt: secondary }) => `${primary ?? 0} / ${secondary ?? 0}`,
    },
    { ...{ id: 'group', title: own.columns.group, width: 120, share: 1 }, cell: ({ group }) => group },
  ]
  return columns
}
