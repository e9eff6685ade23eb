// Actions on many instances: a plan for the first instances, then a job for each. The tray shows the progress.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type SyntheticEvent, useState } from 'react'
import { useRefusal } from '../../api/session'
import { Fields } from '../../forms/fields'
import { useForm } from '../../forms/use-form'
import { CopyAs } from '../../parts/copy-as'
import { PlanView } from '../../parts/plan-view'
import { ProblemBox } from '../../parts/problem-box'
import { RefusableButton } from '../../parts/disable-with-reason'
import { JOBS, usePlan } from '../../parts/use-plan'
import { texts } from '../../texts'
import { BULK, type BulkAction, isHopeless, opcodesOf } from './bulk-actions'
import { beginBulk } from './bulk-begin'
import { stillThere } from './chosen'

const words = texts.instances.bulk

interface BarProps {
  readonly names: readonly string[]
  readonly children: React.ReactNode
  readonly choose: (names: readonly string[]) => void
}

interface Opened {
  readonly bulk: BulkAction
  readonly names: readonly string[]
  /** How many chosen instances are gone. */
  readonly gone: number
}

export function BulkBar({ names, children, choose }: BarProps) {
  const refusal = useRefusal()
  const [open, setOpen] = useState<Opened>()
  // A choice outlives its instances, because rows of another filter are not loaded.
  const opening = useMutation({
    async mutationFn(bulk: BulkAction): Promise<Opened> {
      const there = await stillThere(names)
      return { bulk, names: there, gone: names.length - there.length }
    },
    onSuccess(next) {
      if (next.names.length > 0) setOpen(next)
      choose(next.names)
    },
  })
  return (
    <div className="card bulk" role="region" aria-label={words.label}>
      <Text size="sm" fw={600} role="status">
        {words.chosen(names.length)}
      </Text>
      {children}
      <Group gap={6} ml="auto">
        {BULK.map((one) => (
          <RefusableButton
            key={one.action.id}
            variant="default"
            c={
              one.action.danger && refusal(one.action.permission) === undefined
                ? 'var(--mantine-color-error)'
                : undefined
            }
            whyNot={refusal(one.action.permission)}
            loading={opening.isPending && opening.variables === one}
            onClick={() => opening.mutate(one)}
          >
            {one.action.label}
          </RefusableButton>
        ))}
        <Button variant="subtle" onClick={() => choose([])}>
          {words.clear}
        </Button>
      </Group>
      <ProblemBox error={opening.error} />
      {open !== undefined && <BulkDialog {...open} close={() => setOpen(undefined)} />}
    </div>
  )
}

/** The maximum number of instances in one plan. */
const PLANNED_MAX = 100

interface DialogProps extends Opened {
  readonly close: () => void
}

function BulkDialog({ bulk, names, gone, close }: DialogProps) {
  const [typed, setTyped] = useState('')
  const { action } = bulk
  const form = useForm(bulk.fields)
  const planned = names.slice(0, PLANNED_MAX)
  // With `apart`, each opcode is planned as a separate job.
  const body = { ops: opcodesOf(bulk, planned, form.body), apart: true }
  const planning = usePlan({ method: 'POST', path: JOBS, body, gnt: '' })
  const { plan } = planning
  const removes = action.id === 'remove'
  const sure = !removes || typed === String(names.length)
  const ready = form.complete && sure && (plan === undefined || !isHopeless(plan, names))
  const title = words.title(action.label, names.length)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (!ready) return
    void beginBulk(bulk, names, form.body, plan && { id: plan.id, names: planned })
    close()
  }
  return (
    <Modal opened onClose={close} title={title} size="lg">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Text size="sm">{bulk.text(names.length)}</Text>
          <div className="bulk-names" tabIndex={0} role="group" aria-label={words.names}>
            {names.join('\n')}
          </div>
          {gone > 0 && (
            <Text size="sm" role="status">
              {words.goneNames(gone)}
            </Text>
          )}
          <Fields fields={bulk.fields} values={form.values} errors={form.errors} change={form.change} />
          {removes && (
            <TextInput
              label={texts.action.typeName(String(names.length))}
              value={typed}
              autoComplete="off"
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <ProblemBox error={planning.error} />
          {plan !== undefined && (
            <>
              {names.length > PLANNED_MAX && <Text size="sm">{words.planned(PLANNED_MAX)}</Text>}
              <PlanView plan={plan} />
            </>
          )}
          <Group justify="space-between" gap={8}>
            <Group gap={0}>
              <Button variant="subtle" px={6} onClick={planning.make} loading={planning.busy} disabled={!form.complete}>
                {texts.plan.show}
              </Button>
              <CopyAs request={() => names.map((name) => action.request({ name }, form.body))} />
            </Group>
            <Group gap={8} ml="auto">
              <Button variant="default" onClick={close}>
                {texts.action.cancel}
              </Button>
              <Button type="submit" color={action.danger ? 'red.8' : undefined} disabled={!ready}>
                {title}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
