// A new instance: the form, and beside it the plan, which is made again after each change.
import { Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { ReactNode, SyntheticEvent } from 'react'
import { api, got } from '../../api/client'
import { useCluster, valuesOf } from '../../api/cluster'
import { Problem } from '../../api/problem'
import { useRefusal } from '../../api/session'
import { Fields } from '../../forms/fields'
import { type Field, wordsOf } from '../../forms/schema'
import { CopyAs } from '../../parts/copy-as'
import { Card, Page } from '../../parts/page'
import { PlanView } from '../../parts/plan-view'
import { ProblemBox } from '../../parts/problem-box'
import { RefusableButton } from '../../parts/disable-with-reason'
import { useSubmit } from '../../parts/submit'
import { type Plan, planOf, requestKey } from '../../parts/use-plan'
import { texts } from '../../texts'
import { DeviceRows } from './device-rows'
import type { Source } from './draft'
import { PlacementView, type Wanted } from './placement-view'
import { type Draft, useDraft } from './use-draft'

const own = texts.instances.create
const route = getRouteApi('/instances/new')
const PLAN_AFTER_MS = 500

export interface CreateSearch {
  /** The export to import: its node and its name. */
  readonly node?: string
  readonly export?: string
  /** The key of the input of a failed job, with which the form starts. */
  readonly again?: string
}

export function CreatePage() {
  const { node, export: name, again } = route.useSearch()
  const source: Source = node !== undefined && name !== undefined ? { kind: 'export', node, name } : { kind: 'new' }
  // Another source needs a new form.
  return <CreateForm key={`${node ?? ''}/${name ?? ''}/${again ?? ''}`} source={source} again={again} />
}

function CreateForm({ source, again }: { source: Source; again: string | undefined }) {
  const draft = useDraft(source, again)
  const { template } = draft
  const { sections, form } = draft
  const fields = (some: readonly Field[], others: readonly Field[] = []) => (
    <Fields fields={some} others={others} values={form.values} errors={form.errors} change={form.change} />
  )
  return (
    <Page title={source.kind === 'export' ? own.importTitle(source.name) : own.title}>
      <Frame draft={draft} source={source}>
        <Section title={own.general}>
          <SourceChoice source={source} />
          {fields(sections.general)}
          {fields(sections.os)}
        </Section>
        <Section title={texts.instances.backend}>
          <div className="pair">{fields(sections.backend)}</div>
          {fields([], sections.rareBackend)}
        </Section>
        <Section title={texts.instances.disks}>
          {fields(sections.template)}
          {template !== 'diskless' && (
            <DeviceRows
              {...{ noun: own.disk, rows: draft.disks, change: draft.setDisks }}
              {...{ fields: sections.disk, rare: sections.rareDisk }}
              none={source.kind === 'export' ? own.asExported : own.noDisks}
            />
          )}
        </Section>
        <Section title={texts.instances.nics}>
          <DeviceRows
            {...{ noun: own.nic, rows: draft.nics, change: draft.setNics }}
            {...{ fields: sections.nic, rare: sections.rareNic }}
            none={source.kind === 'export' ? own.asExported : own.noNics}
          />
        </Section>
        <Section title={own.place}>
          <SegmentedControl
            size="xs"
            aria-label={own.place}
            value={draft.chosen ? 'node' : 'allocator'}
            data={[
              { value: 'allocator', label: own.byAllocator },
              { value: 'node', label: own.byHand },
            ]}
            onChange={(value) => draft.setChosen(value === 'node')}
          />
          <div className="pair">{fields(sections.place)}</div>
        </Section>
        <Section title={texts.instances.hypervisor}>
          <div className="pair">{fields(sections.hypervisor)}</div>
          {fields([], sections.rareHypervisor)}
        </Section>
        <Section title={own.options}>{fields(sections.options, sections.others)}</Section>
      </Frame>
    </Page>
  )
}

/** The choice of the source: an OS, or an export on a node. */
function SourceChoice({ source }: { source: Source }) {
  const navigate = route.useNavigate()
  const { data } = useQuery({
    queryKey: ['exports', 'list'],
    queryFn: () => got(api.GET('/3/exports', { params: { query: { limit: 1000 } } })),
  })
  const exports = (data?.items ?? []).flatMap(({ node, export: name }) => (node && name ? [{ node, name }] : []))
  if (exports.length === 0 && source.kind === 'new') return null
  const keyOf = ({ node, name }: { node: string; name: string }) => `${node}/${name}`
  const known =
    source.kind === 'new' || exports.some((one) => keyOf(one) === keyOf(source)) ? exports : [source, ...exports]
  return (
    <Select
      label={own.source}
      value={source.kind === 'new' ? '' : keyOf(source)}
      data={[
        { value: '', label: own.fromOs },
        ...known.map((one) => ({ value: keyOf(one), label: own.fromExport(one.name, one.node) })),
      ]}
      allowDeselect={false}
      onChange={(key) => {
        const chosen = known.find((one) => keyOf(one) === key)
        void navigate({ search: chosen === undefined ? {} : { node: chosen.node, export: chosen.name } })
      }}
    />
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card title={title}>
    <Stack gap="sm" p={14}>
      {children}
    </Stack>
  </Card>
)

function Frame({ draft, source, children }: { draft: Draft; source: Source; children: ReactNode }) {
  const { request, complete, form } = draft
  const navigate = useNavigate()
  const refusal = useRefusal()
  const plan = usePlanWhileTyping(draft)
  const name = String(request.body['instance_name'] ?? '')
  const submit = useSubmit(request, {
    label: own.jobLabel(name),
    plan: plan.data?.id,
    refuse: form.refuse,
    again() {
      const key = String(Date.now())
      draft.keep(key)
      const from = source.kind === 'export' ? { node: source.node, export: source.name } : {}
      void navigate({ to: '/instances/new', search: { ...from, again: key } })
    },
    done(job) {
      draft.forget()
      void navigate({ to: '/instances/$name', params: { name }, state: { creating: job } })
    },
  })
  const whyNot = refusal('instances.create') ?? draft.outside
  const mistaken = plan.error !== null && isTold(plan.error, draft) ? own.correct : undefined
  const impossible = mistaken ?? (plan.data?.possible === false ? own.impossible : undefined)
  const ready = complete && whyNot === undefined && impossible === undefined
  const send = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready && !submit.isPending) submit.mutate()
  }
  return (
    <form className="with-aside" onSubmit={send} noValidate>
      <Stack gap="md">{children}</Stack>
      <aside className="aside" aria-label={own.plan}>
        <Card title={own.plan}>
          <Stack gap="sm" p={14}>
            <ProblemBox error={submit.error} />
            {whyNot !== undefined && <Text size="sm">{whyNot}</Text>}
            <Group justify="space-between" gap={8}>
              <Group gap={0}>
                <CopyAs request={request} secret={form.isSecret} />
              </Group>
              <RefusableButton
                type="submit"
                whyNot={whyNot ?? impossible}
                disabled={!complete}
                loading={submit.isPending}
              >
                {own.submit}
              </RefusableButton>
            </Group>
            <PlanOrWhy draft={draft} plan={plan} />
          </Stack>
        </Card>
      </aside>
    </form>
  )
}

interface Planned {
  readonly data?: Plan
  readonly error: Error | null
  readonly busy: boolean
  again(this: void): void
}

function usePlanWhileTyping({ request, form, outside, ...draft }: Draft): Planned {
  const complete = draft.complete && outside === undefined
  const [planned] = useDebouncedValue(request, PLAN_AFTER_MS)
  const isSame = requestKey(planned) === requestKey(request)
  const requested = useQuery({
    queryKey: ['plan', requestKey(planned)],
    queryFn: async () => {
      try {
        return await planOf(planned)
      } catch (error) {
        if (error instanceof Problem) form.refuse(error.parameter, error.message)
        throw error
      }
    },
    enabled: complete && isSame,
    retry: false,
    gcTime: 0,
  })
  const settled = complete && isSame
  return {
    data: settled ? requested.data : undefined,
    error: settled ? requested.error : null,
    busy: complete && (!isSame || requested.isFetching),
    again: () => void requested.refetch(),
  }
}

function PlanOrWhy({ draft, plan: { data, error, busy, again } }: { draft: Draft; plan: Planned }) {
  const { data: cluster } = useCluster()
  if (draft.outside !== undefined) return null
  if (!draft.complete) return <Text size="sm">{own.incomplete}</Text>
  if (error !== null && isTold(error, draft)) return <Text size="sm">{own.correct}</Text>
  if (error !== null) return <ProblemBox error={error} retry={again} />
  if (data === undefined)
    return (
      <Text size="sm" c="dimmed" role="status">
        {busy ? own.planning : own.incomplete}
      </Text>
    )
  const be = { ...valuesOf(cluster?.beparams, 'default'), ...(draft.request.body['beparams'] as object | undefined) }
  return (
    <>
      {!draft.chosen && <PlacementView wanted={wantedOf(draft, be)} chosen={nodesOf(data)} />}
      <PlanView plan={data} />
      {data.possible === false && (
        <Button variant="default" onClick={again} loading={busy}>
          {texts.plan.again}
        </Button>
      )}
    </>
  )
}

const networksOf = (nics: unknown): string[] => [
  ...new Set(
    (Array.isArray(nics) ? (nics as readonly { network?: unknown }[]) : []).flatMap(({ network }) =>
      typeof network === 'string' && network !== '' ? [network] : [],
    ),
  ),
]

/** Whether a field shows the error. */
const isTold = (error: Error, { form }: Draft): boolean =>
  error instanceof Problem && error.parameter !== undefined && form.errors[error.parameter] !== undefined

function wantedOf({ request: { body } }: Draft, be: Readonly<Record<string, unknown>>): Wanted {
  const disks = (body['disks'] as readonly { size?: number; spindles?: number }[] | undefined) ?? []
  const sized = disks.filter(({ size = 0 }) => size > 0)
  const spindles = sized.flatMap(({ spindles: count }) => count ?? [])
  return {
    disk_template: String(body['disk_template'] ?? ''),
    ...{ memory_mib: Number(be['memory'] ?? be['maxmem']), vcpus: Number(be['vcpus']) },
    disks_mib: sized.map(({ size }) => size ?? 0),
    disks_spindles: spindles.length === sized.length ? spindles : [],
    ...{ tags: wordsOf(body['tags']), networks: networksOf(body['nics']) },
    ...(body['group_name'] === undefined ? {} : { group: String(body['group_name']) }),
  }
}

/** The nodes of the new instance according to the plan. */
function nodesOf({ ops }: Plan): string[] {
  const calls = ops.flatMap(({ node_calls: reported }) => reported.map(({ node }) => node))
  return [...new Set(calls)]
}
