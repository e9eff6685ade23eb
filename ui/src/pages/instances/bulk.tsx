// What can be done to many instances: one plan for all before, then a job for each, whose progress and failures are shown.
import { Button, Group, Modal, Progress, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { schema as migrate } from 'openapi:POST /3/instances/{name}/migrate'
import { schema as failover } from 'openapi:POST /3/instances/{name}/failover'
import { schema as shutdown } from 'openapi:POST /3/instances/{name}/shutdown'
import { schema as tags } from 'openapi:POST /3/instances/{name}/tags'
import { type SyntheticEvent, useState } from 'react'
import { api, got, request as send } from '../../api/client'
import { useMay } from '../../api/session'
import { Fields } from '../../forms/fields'
import { type Field, fieldOf, type Values } from '../../forms/schema'
import { useForm } from '../../forms/use-form'
import { errorOf, type Job } from '../../parts/job'
import { PlanView } from '../../parts/plan-view'
import { ProblemBox } from '../../parts/problem-box'
import { idOf } from '../../parts/submit'
import type { Plan } from '../../parts/use-plan'
import { texts } from '../../texts'
import { pathOf } from './actions/request'

const words = texts.instances.bulk
const action = texts.instances.actions

interface BulkAction {
  readonly id: string
  readonly label: string
  readonly permission: string
  readonly text: (count: number) => string
  readonly fields: readonly Field[]
  readonly danger?: boolean
  readonly opcode: string
  readonly method: 'POST' | 'DELETE'
  /** After the instance in the address. */
  readonly verb: string
}

const BULK: readonly BulkAction[] = [
  {
    ...{ id: 'startup', label: action.startup.label, permission: 'instances.startup', opcode: 'OP_INSTANCE_STARTUP' },
    ...{ method: 'POST', verb: '/startup', text: words.start, fields: [] },
  },
  {
    ...{ id: 'shutdown', label: action.shutdown.label, permission: 'instances.shutdown' },
    ...{ opcode: 'OP_INSTANCE_SHUTDOWN', method: 'POST', verb: '/shutdown', text: words.stop },
    fields: [fieldOf(shutdown, 'timeout', action.shutdown.timeout)],
  },
  {
    ...{ id: 'migrate', label: action.migrate.label, permission: 'instances.migrate', opcode: 'OP_INSTANCE_MIGRATE' },
    ...{ method: 'POST', verb: '/migrate', text: words.migrate },
    fields: [
      fieldOf(migrate, 'target_node', action.target),
      fieldOf(migrate, 'allow_failover', action.migrate.allow_failover),
    ],
  },
  {
    ...{ id: 'failover', label: action.failover.label, permission: 'instances.failover', danger: true },
    ...{ opcode: 'OP_INSTANCE_FAILOVER', method: 'POST', verb: '/failover', text: words.failover },
    fields: [fieldOf(failover, 'target_node', action.target)],
  },
  {
    ...{ id: 'tags', label: action.tags.label, permission: 'tags.set', opcode: 'OP_TAGS_SET' },
    ...{ method: 'POST', verb: '/tags', text: words.tags },
    fields: [{ ...fieldOf(tags, 'tags', action.tags.tags), required: true }],
  },
  {
    ...{ id: 'remove', label: action.remove.label, permission: 'instances.remove', danger: true },
    ...{ opcode: 'OP_INSTANCE_REMOVE', method: 'DELETE', verb: '', text: words.remove, fields: [] },
  },
]

interface BarProps {
  readonly names: readonly string[]
  readonly children: React.ReactNode
  readonly clear: () => void
}

export function BulkBar({ names, children, clear }: BarProps) {
  const may = useMay()
  const [open, setOpen] = useState<BulkAction>()
  return (
    <div className="card bulk" role="region" aria-label={words.label}>
      <Text size="sm" fw={600} role="status">
        {words.chosen(names.length)}
      </Text>
      {children}
      <Group gap={6} ml="auto">
        {BULK.map((one) => (
          <Button
            key={one.id}
            variant="default"
            c={one.danger ? 'var(--mantine-color-error)' : undefined}
            disabled={!may(one.permission)}
            title={may(one.permission) ? undefined : texts.action.notAllowed(one.permission)}
            onClick={() => setOpen(one)}
          >
            {one.label}
          </Button>
        ))}
        <Button variant="subtle" onClick={clear}>
          {words.clear}
        </Button>
      </Group>
      {open !== undefined && <BulkDialog action={open} names={names} close={() => setOpen(undefined)} />}
    </div>
  )
}

/** As many as one plan looks at. */
const PLANNED_MAX = 100
const AT_ONCE = 4

interface Submitted {
  readonly name: string
  readonly job?: number
  readonly refusal?: string
}

interface DialogProps {
  readonly action: BulkAction
  readonly names: readonly string[]
  readonly close: () => void
}

function BulkDialog({ action: bulk, names: chosen, close }: DialogProps) {
  // The list goes on changing; what was chosen stays.
  const [names] = useState(chosen)
  const [typed, setTyped] = useState('')
  const [submitted, setSubmitted] = useState<readonly Submitted[]>([])
  const form = useForm(bulk.fields)
  const plan = useMutation({ mutationFn: () => planAll(bulk, names, form.body) })
  const run = useMutation({
    mutationFn: () => submitAll(bulk, names, form.body, (one) => setSubmitted((before) => [...before, one])),
  })
  const begun = run.isPending || run.isSuccess
  const sure = bulk.id !== 'remove' || typed === String(names.length)
  const complete = form.complete && (bulk.id !== 'tags' || form.body['tags'] !== undefined)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (complete && sure && !begun) run.mutate()
  }
  return (
    <Modal opened onClose={close} title={words.title(bulk.label, names.length)} size="lg">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Text size="sm">{bulk.text(names.length)}</Text>
          {!begun && <Fields fields={bulk.fields} values={form.values} errors={form.errors} change={form.change} />}
          {!begun && bulk.id === 'remove' && (
            <TextInput
              label={texts.action.typeName(String(names.length))}
              value={typed}
              autoComplete="off"
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <ProblemBox error={plan.error ?? run.error} />
          {!begun && plan.data !== undefined && (
            <>
              {names.length > PLANNED_MAX && <Text size="sm">{words.planned(PLANNED_MAX)}</Text>}
              <PlanView plan={plan.data} />
            </>
          )}
          {begun && <ProgressOf submitted={submitted} total={names.length} />}
          <Group justify="space-between" gap={8}>
            {begun ? (
              <span />
            ) : (
              <Button
                variant="subtle"
                px={6}
                onClick={() => plan.mutate()}
                loading={plan.isPending}
                disabled={!complete}
              >
                {texts.plan.show}
              </Button>
            )}
            <Group gap={8}>
              <Button variant="default" onClick={close}>
                {begun ? words.close : texts.action.cancel}
              </Button>
              {!begun && (
                <Button type="submit" color={bulk.danger ? 'red.8' : undefined} disabled={!complete || !sure}>
                  {words.title(bulk.label, names.length)}
                </Button>
              )}
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function ProgressOf({ submitted, total }: { submitted: readonly Submitted[]; total: number }) {
  const ids = submitted.flatMap(({ job }) => job ?? [])
  const { data = [] } = useQuery({
    queryKey: ['jobs', 'list', 'bulk', ids],
    queryFn: () => jobsOf(ids),
    enabled: ids.length > 0,
    placeholderData: (before) => before,
  })
  const jobs = new Map(data.map((job) => [job.id, job]))
  const failures = submitted.flatMap(({ name, job: id, refusal }) => {
    const job = id === undefined ? undefined : jobs.get(id)
    const why = refusal ?? (job && failureOf(job))
    return why === undefined ? [] : [{ name, id, why }]
  })
  const done = data.filter(({ status }) => status === 'success').length
  return (
    <Stack gap={8} role="status" aria-label={words.progress}>
      <Progress.Root size="lg">
        <Progress.Section value={(100 * done) / total} color="green.8" aria-label={words.done(done, total)} />
        <Progress.Section
          value={(100 * failures.length) / total}
          color="red.8"
          aria-label={words.failed(failures.length)}
        />
      </Progress.Root>
      <Text size="sm">
        {words.done(done, total)}
        {failures.length > 0 && `, ${words.failed(failures.length)}`}
      </Text>
      {failures.map(({ name, id, why }) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {id === undefined ? (
            name
          ) : (
            <Link to="/jobs/$id" params={{ id: String(id) }}>
              {name}
            </Link>
          )}
          : {why}
        </Text>
      ))}
    </Stack>
  )
}

const failureOf = (job: Job): string | undefined =>
  job.status === 'error' || job.status === 'canceled' ? (errorOf(job) ?? texts.jobs.status[job.status]) : undefined

async function planAll({ opcode }: BulkAction, names: readonly string[], body: Values): Promise<Plan> {
  const about = (name: string) => (opcode === 'OP_TAGS_SET' ? { kind: 'instance', name } : { instance_name: name })
  const ops = names.slice(0, PLANNED_MAX).map((name) => ({ OP_ID: opcode, ...about(name), ...body }))
  return (await send('POST', '/3/plans', { ops })) as Plan
}

async function submitAll(
  { method, verb }: BulkAction,
  names: readonly string[],
  body: Values,
  told: (one: Submitted) => void,
): Promise<void> {
  const waiting = [...names]
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      try {
        const key = { 'Idempotency-Key': crypto.randomUUID() }
        told({ name, job: idOf(await send(method, pathOf({ name }, verb), body, key)) })
      } catch (error) {
        told({ name, refusal: error instanceof Error ? error.message : String(error) })
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

const PAGE = 200
/** For so many jobs the reason is asked for; the others are only said to have failed. */
const REASONS_MAX = 50

async function jobsOf(ids: readonly number[]): Promise<Job[]> {
  const pages = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, at) => ids.slice(at * PAGE, (at + 1) * PAGE))
  const answers = await Promise.all(
    pages.map((page) => {
      const filter = JSON.stringify(['|', ...page.map((id) => ['==', 'id', id])])
      return got(api.GET('/3/jobs', { params: { query: { filter, limit: PAGE } } }))
    }),
  )
  const jobs = answers.flatMap(({ items }) => items)
  // Lists leave out why a job failed.
  const failed = jobs.filter(({ status }) => status === 'error').slice(0, REASONS_MAX)
  const told = await Promise.all(failed.map(({ id }) => got(api.GET('/3/jobs/{id}', { params: { path: { id } } }))))
  const whole = new Map(told.map((job) => [job.id, job]))
  return jobs.map((job) => whole.get(job.id) ?? job)
}
