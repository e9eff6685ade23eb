// The storage units of a node. The node itself is asked.
import { schema as repair } from 'openapi:POST /3/nodes/{name}/storage/{storage_type}/repair'
import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { fieldOf } from '../../forms/schema'
import { type Action, ActionAt } from '../../parts/action'
import { Usage } from '../../parts/bar'
import { gntText } from '../../parts/gnt'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { texts } from '../../texts'

type Storage = components['schemas']['NodeStorageView']
type Unit = Storage['units'][number] & {
  readonly node: string
  readonly type: string
}

const own = texts.nodes.storage

const path = ({ node, type }: Unit, verb = ''): string =>
  `/3/nodes/${encodeURIComponent(node)}/storage/${encodeURIComponent(type)}${verb}`

export const ALLOCATABLE: Action<Unit> = {
  ...{ id: 'allocatable', label: own.allocatable, permission: 'nodes.storage.modify' },
  beyond: () => 'machines',
  text: ({ name, node, allocatable }) => `${allocatable ? own.refuse : own.allow}: ${own.changeText(name, node)}`,
  fields: [],
  request: (unit, body) => ({
    ...{ method: 'PATCH', path: path(unit) },
    body: { ...body, name: unit.name, changes: { allocatable: !unit.allocatable } },
    gnt: gntText('node modify-storage', { allocatable: unit.allocatable ? 'no' : 'yes' }, [
      ...[unit.node, unit.type, unit.name],
    ]),
  }),
}

export const REPAIR_STORAGE: Action<Unit> = {
  ...{ id: 'repair', label: own.repair, permission: 'nodes.storage.repair', danger: true },
  text: ({ name, node }) => own.repairText(name, node),
  fields: [fieldOf(repair, 'ignore_consistency', { label: own.ignoreConsistency, text: '' })],
  request: (unit, body) => ({
    ...{ method: 'POST', path: path(unit, '/repair'), body: { ...body, name: unit.name } },
    gnt: gntText('node repair-storage', body, [unit.node, unit.type, unit.name]),
  }),
}

export function StorageCard({ node }: { node: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['nodes', 'one', node, 'storage'],
    queryFn: () => got(api.GET('/3/nodes/{name}/storage', { params: { path: { name: node } } })),
  })
  if (error || data === undefined)
    return (
      <Card title={own.title}>
        {error ? <ProblemBox error={error} retry={() => void refetch()} /> : <Nothing text={texts.table.loading} />}
      </Card>
    )
  const units = data.items.flatMap(({ type, units: all }) => all.map((unit): Unit => ({ ...unit, node, type })))
  return (
    <Card title={own.title}>
      {data.items.map(({ type, problem }) => problem && <ProblemBox key={type} error={`${type}: ${problem}`} />)}
      <Rows
        label={own.title}
        head={[own.type, own.name, own.used, own.allocatable, '']}
        none={own.none}
        keys={units.map(({ type, name }) => `${type}/${name}`)}
        rows={units.map((unit) => [
          unit.type,
          unit.name,
          <Usage key="used" label={`${unit.name}: ${own.used}`} used={unit.used_mib} total={unit.size_mib} />,
          unit.allocatable ? own.allowed : own.refused,
          <UnitActions key="actions" unit={unit} />,
        ])}
      />
    </Card>
  )
}

/** Only physical volumes can refuse new volumes, and only volume groups can be repaired. */
function UnitActions({ unit }: { unit: Unit }) {
  if (unit.type === 'lvm-pv')
    return <ActionAt subject={unit} action={{ ...ALLOCATABLE, label: unit.allocatable ? own.refuse : own.allow }} />
  return unit.type === 'lvm-vg' ? <ActionAt subject={unit} action={REPAIR_STORAGE} /> : null
}
