// Groups, nodes, instances and redundancy as a picture; the effects of dying nodes and arriving instances; and the
// balance as moves.
import { Button, Group, SegmentedControl, Select, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useForm } from '../../forms/use-form'
import { jobQuery } from '../../parts/job'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { ask, questionQuery, USUAL_BALANCE } from '../../parts/question'
import { standardSpec } from '../../parts/standard-spec'
import { texts } from '../../texts'
import { useCluster } from '../../api/cluster'
import type { Instance } from '../instances/instance'
import { type Balance, BalancePanel, type BalanceRun, isCarriedOut, type PlannedBalance } from './balance-panel'
import {
  groupsOf,
  type Happening,
  happeningOf,
  joined,
  NOTHING_HAPPENS,
  primariesOf,
  together,
} from './cluster-picture'
import { LookPanel } from './look-panel'
import { NodeTable } from './node-table'
import { Picture } from './picture'
import { PictureKey } from './picture-key'
import { instancesQuery, nodesQuery } from './topology-data'
import { useWhatIf } from './use-what-if'
import { arrivalFields, WhatIfPanel } from './what-if-panel'

const own = texts.topology
const route = getRouteApi('/topology')
const MODES = ['look', 'what-if', 'balance'] as const
type Mode = (typeof MODES)[number]

/**
 * Up to this many instances are shown and followed automatically; up to the other number of nodes have room for their
 * names.
 */
const FEW_INSTANCES = 1000
const FEW_NODES = 150

export interface TopologySearch {
  /** The group that is shown alone. */
  readonly group?: string
  readonly mode?: string
  readonly node?: string
  readonly view?: string
}

export function TopologyPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const go = (next: TopologySearch) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })
  const mode: Mode = MODES.find((one) => one === search.mode) ?? 'look'
  const cluster = usePicture(search.group)
  const { data: facts } = useCluster()
  const groupNames = cluster.groups.map(({ name }) => name)
  const fields = arrivalFields(facts && standardSpec(facts), facts?.enabled_disk_templates ?? [], groupNames)
  const form = useForm(fields)
  const whatIf = useWhatIf(cluster.nodes, form.values)
  const balance = useBalance()
  const look = useLook(mode === 'look' ? search.node : undefined)
  const happening = { look: look.happening, 'what-if': whatIf.happening, balance: balance.happening }[mode]
  const { dying } = whatIf.draft
  const chosen = useMemo(
    () => new Set(mode === 'what-if' ? dying : search.node === undefined ? [] : [search.node]),
    [mode, dying, search.node],
  )
  const choose = (name: string) => {
    if (mode !== 'what-if') return go({ node: search.node === name ? undefined : name, mode: 'look' })
    whatIf.change({ dying: dying.includes(name) ? dying.filter((one) => one !== name) : [...dying, name] })
  }
  const displayed = cluster.groups.filter(({ name }) => search.group === undefined || name === search.group)
  const zoom = search.group === undefined && cluster.instances === undefined
  const common = { groups: displayed, happening, chosen, choose }
  return (
    <Page
      title={texts.nav.topology}
      note={
        <Text size="sm" c="dimmed">
          {own.groupNote(cluster.nodes.length, primariesOf(cluster.nodes))}
        </Text>
      }
      actions={<Tools search={search} go={go} groups={groupNames} reload={cluster.reload} />}
    >
      <ProblemBox error={cluster.error} retry={cluster.reload} />
      <div className="topology">
        <div className="topology-main">
          {search.view === 'table' ? (
            <NodeTable {...common} />
          ) : (
            <div className="card picture-card">
              <PictureKey mode={mode} />
              <Picture
                {...common}
                several={mode === 'what-if'}
                instances={cluster.instances}
                wide={
                  displayed.reduce((sum, { nodes }) => sum + nodes.length, 0) <= FEW_NODES || search.group !== undefined
                }
                zoom={zoom ? (group) => go({ group }) : undefined}
              />
            </div>
          )}
        </div>
        <aside className="card topology-panel" aria-label={own.mode[mode]}>
          <SegmentedControl
            fullWidth
            size="xs"
            aria-label={own.mode.label}
            value={mode}
            data={MODES.map((value) => ({ value, label: own.mode[value] }))}
            onChange={(next) => go({ mode: next === 'look' ? undefined : next })}
          />
          {mode === 'look' && (
            <LookPanel
              node={cluster.nodes.find(({ name }) => name === search.node)}
              instances={look.instances}
              error={look.error}
            />
          )}
          {mode === 'what-if' && <WhatIfPanel nodes={cluster.nodes} whatIf={whatIf} form={form} fields={fields} />}
          {mode === 'balance' && (
            <BalancePanel balance={balance.asked} planned={balance.plan} run={balance.run} begin={balance.begin} />
          )}
        </aside>
      </div>
    </Page>
  )
}

interface ToolsProps {
  readonly search: TopologySearch
  readonly go: (next: TopologySearch) => void
  readonly groups: readonly string[]
  readonly reload: () => void
}

const Tools = ({ search, go, groups, reload }: ToolsProps) => (
  <Group gap={8}>
    <Select
      aria-label={own.group}
      placeholder={own.allGroups}
      value={search.group ?? null}
      data={[...groups]}
      clearable
      onChange={(group) => go({ group: group ?? undefined })}
    />
    <SegmentedControl
      size="xs"
      aria-label={own.view.label}
      value={search.view === 'table' ? 'table' : 'picture'}
      data={[
        { value: 'picture', label: own.view.picture },
        { value: 'table', label: own.view.table },
      ]}
      onChange={(view) => go({ view: view === 'table' ? view : undefined })}
    />
    <Button variant="default" onClick={reload}>
      {own.reload}
    </Button>
  </Group>
)

const NO_NODES: readonly never[] = []

/** All nodes; and the instances of the group that is shown alone, or all instances if there are few. */
function usePicture(group: string | undefined) {
  const nodes = useQuery(nodesQuery)
  const all = nodes.data ?? NO_NODES
  const groups = useMemo(() => groupsOf(all), [all])
  const count = primariesOf(group === undefined ? all : (groups.find(({ name }) => name === group)?.nodes ?? []))
  const few = count <= FEW_INSTANCES
  const instances = useQuery({
    ...instancesQuery({ group }, few),
    enabled: nodes.data !== undefined && (few || group !== undefined),
  })
  return {
    ...{ nodes: all, groups, instances: instances.data, error: nodes.error ?? instances.error },
    reload: () => {
      void nodes.refetch()
      if (instances.data !== undefined) void instances.refetch()
    },
  }
}

/** The chosen node with the mirrors of its instances. */
function useLook(node: string | undefined) {
  const { data, error } = useQuery({ ...instancesQuery({ node }, true), enabled: node !== undefined })
  const instances = node === undefined ? undefined : data
  const happening = useMemo((): Happening => (instances ? mirrorsOf(instances) : NOTHING_HAPPENS), [instances])
  return { instances, error, happening }
}

const mirrorsOf = (instances: readonly Instance[]): Happening => ({
  marks: new Map(),
  arrows: together(
    instances.flatMap(({ pnode, snodes }) => (snodes ?? []).map((to) => ({ from: pnode ?? undefined, to }))),
  ),
})

/** The balance, starting from the overview's last one, if there is one. A plan that was carried out is no longer shown. */
function useBalance() {
  const client = useQueryClient()
  const usual = questionQuery('/3/balance', USUAL_BALANCE).queryKey
  const known = client.getQueryData(usual)
  const requested: Balance = useMutation({
    mutationFn: async (body) => ({ asked: body, plan: await ask(client, '/3/balance', body) }),
  })
  const [begun, setBegun] = useState<Pick<BalanceRun, 'plan' | 'job'>>()
  const { data: state } = useQuery({ ...jobQuery(begun?.job ?? 0), enabled: begun !== undefined })
  const reported: PlannedBalance | undefined = requested.data ?? (known && { asked: USUAL_BALANCE, plan: known })
  const run = begun && { ...begun, state }
  const plan = isCarriedOut(reported?.plan, run) ? undefined : reported
  const steps = plan?.plan.steps
  const happening = useMemo(() => (steps ? happeningOf(joined(steps)) : NOTHING_HAPPENS), [steps])
  return {
    asked: requested,
    plan,
    happening,
    run,
    begin: (done: BalanceRun['plan'], job: number) => setBegun({ plan: done, job }),
  }
}
