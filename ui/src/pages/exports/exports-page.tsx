// All exports and their nodes. Every node is asked.
import { schema } from 'openapi:POST /3/instances'
import { Group, Text } from '@mantine/core'
import type { components } from '../../api/schema'
import { sessionStore } from '../../api/session-store'
import { fieldOf } from '../../forms/schema'
import { type Action, ActionAt } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { useList } from '../../parts/list-query'
import { ObjectLink } from '../../parts/names'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { outsideScope } from '../instances/scope'
import { gntOfDraft } from '../instances/draft'

type Export = components['schemas']['ExportView']
type Made = Export & { readonly export: string }

const own = texts.exports
const isMade = (one: Export): one is Made => typeof one.export === 'string'

export const REMOVE_EXPORT: Action<Made> = {
  ...{ id: 'remove', label: own.remove, permission: 'instances.export.remove', danger: true },
  text: ({ export: name }) => own.removeText(name),
  fields: [],
  request: ({ export: name }, body) => ({
    ...{ method: 'DELETE', path: `/3/instances/${encodeURIComponent(name)}/export`, body },
    gnt: gntText('backup remove', {}, [name]),
  }),
}

export const IMPORT: Action<Made> = {
  ...{ id: 'import', label: own.import, permission: 'instances.create' },
  text: ({ export: name }) => own.importText(name),
  fields: ({ export: name }) => [
    fieldOf(schema, 'instance_name', { label: own.columns.instance, text: '', initial: name }),
    fieldOf(schema, 'disk_template', { required: true, initial: 'sharedfile' }),
    fieldOf(schema, 'pnode', { label: own.pnode, text: own.pnodeText, source: 'nodes' }),
    fieldOf(schema, 'tags', texts.instances.actions.tags.tags),
  ],
  complaint: (_export, body) => outsideScope(sessionStore.scope(), body),
  others: [fieldOf(schema, 'start'), fieldOf(schema, 'name_check'), fieldOf(schema, 'ip_check')],
  request({ export: name, node }, given) {
    const from = { mode: 'import', src_node: node, src_path: name, disks: [], nics: [] }
    const body = { instance_name: name, disk_template: 'sharedfile', ...given, ...from }
    return {
      ...{ method: 'POST', path: '/3/instances', body },
      gnt: gntOfDraft(body, { kind: 'export', node: String(node), name }),
    }
  },
}

const COLUMNS: readonly Column<Export>[] = [
  {
    ...{ id: 'export', title: own.columns.instance, width: 110, share: 2 },
    cell: (one) => (isMade(one) ? one.export : own.silent),
  },
  {
    ...{ id: 'actions', title: own.columns.actions, width: 240 },
    cell: (one) =>
      isMade(one) && (
        <Group gap={8} wrap="nowrap">
          <ActionAt subject={one} action={IMPORT} />
          <ActionAt subject={one} action={REMOVE_EXPORT} />
        </Group>
      ),
  },
  {
    ...{ id: 'node', title: own.columns.node, width: 170, share: 2 },
    cell: ({ node }) => node && <ObjectLink kind="node" name={node} />,
  },
]

export function ExportsPage() {
  const list = useList<Export>({ resource: 'exports', query: {} })
  const made = list.rows.filter(isMade).length
  return (
    <Page
      whole
      title={texts.nav.exports}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(made, list.hasMore, own.noun)}
        </Text>
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.exports}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={(one) => `${one.node}/${one.export}`}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        empty={own.none}
      />
    </Page>
  )
}
