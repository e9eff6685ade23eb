// The dialog of a request that submits a job: the form, the plan, "Copy as", and errors. The dialog keeps the typed input when the request is
// refused, and when the object has changed.
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, type SyntheticEvent, useState } from 'react'
import { Problem } from '../api/problem'
import { texts } from '../texts'
import { CopyAs } from './copy-as'
import type { Request } from './request'
import { Diff } from './diff'
import { differences } from '../format/differences'
import { PlanView } from './plan-view'
import { ProblemBox } from './problem-box'
import { reopen, type Reopening } from './reopen-dialog'
import { useSubmit } from './submit'
import { usePlan } from './use-plan'

/** The object of a request, as the user has seen it. If it has changed, the dialog shows the differences. */
export interface Seen {
  readonly etag: string
  readonly facts: Readonly<Record<string, unknown>>
}

interface RequestDialogProps {
  readonly title: string
  readonly label: string
  readonly text?: ReactNode
  readonly request: Request
  /** The request contains a secret. */
  readonly secret: boolean
  /** The form is not complete or not valid, so the request cannot be sent yet. */
  readonly incomplete?: boolean
  /** An error of the form as a whole, shown above the buttons. */
  readonly complaint?: string
  readonly danger?: boolean
  readonly wide?: boolean
  /** The text to type as a confirmation, if the request cannot be undone. */
  readonly typed?: string
  /** The present object. */
  readonly object?: Seen
  readonly refuse?: (parameter: string | undefined, text: string) => boolean
  /** The same dialog with its present input. The user can open it again if the job fails. */
  readonly again?: Reopening
  /** The dialog was opened again. It shows the object from the first time, and does not follow changes. */
  readonly reopened?: boolean
  readonly close: () => void
  readonly children?: ReactNode
}

export function RequestDialog(props: RequestDialogProps) {
  const { title, text, label, request, danger, close, object, typed: desired } = props
  const [observed, setSeen] = useState(object)
  const [typed, setTyped] = useState('')
  const [reported, setTold] = useState(false)
  const planning = usePlan(request)
  const refuse = (parameter: string | undefined, what: string) => {
    const isTold = props.refuse?.(parameter, what) ?? false
    setTold(isTold)
    return isTold
  }
  const conflict = observed !== undefined && object !== undefined && observed.etag !== object.etag
  const { again } = props
  const submit = useSubmit(request, {
    ...{ label: title, etag: observed?.etag, plan: planning.plan?.id, refuse, done: close },
    again: again && (() => reopen(again)),
  })
  const isStale = submit.error instanceof Problem && submit.error.status === 412 && !conflict
  const bySeen = heldBySeen(props.reopened, observed)
  // The plan says why.
  const isImpossible = planning.plan?.possible === false
  const ready =
    !isImpossible && !props.incomplete && props.complaint === undefined && !conflict && (desired ?? typed) === typed
  const send = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready && !submit.isPending) submit.mutate()
  }
  return (
    <Modal opened onClose={close} title={title} size={props.wide ? 'xl' : 'lg'}>
      <form onSubmit={send} noValidate>
        <Stack gap="sm">
          {text !== undefined && <Text size="sm">{text}</Text>}
          {props.children}
          {desired !== undefined && (
            <TextInput
              label={texts.action.typeName(desired)}
              value={typed}
              autoComplete="off"
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          {conflict && (
            <Conflict
              seen={observed}
              now={object}
              goOn={() => {
                setSeen(object)
                submit.reset()
              }}
            />
          )}
          {!conflict && !reported && <ProblemBox error={submit.error} />}
          <ProblemBox error={planning.error} />
          {isStale && bySeen && (
            <Button
              variant="default"
              onClick={() => {
                setSeen(undefined)
                submit.reset()
              }}
            >
              {texts.conflict.goOn}
            </Button>
          )}
          {isStale && !bySeen && (
            <Button variant="default" onClick={planning.make} loading={planning.busy}>
              {texts.plan.again}
            </Button>
          )}
          {planning.plan !== undefined && <PlanView plan={planning.plan} />}
          {props.complaint !== undefined && (
            <Text size="sm" c="dimmed">
              {props.complaint}
            </Text>
          )}
          <Group justify="space-between" gap={8} mt={4}>
            <Group gap={0}>
              <Button
                variant="subtle"
                px={6}
                onClick={planning.make}
                loading={planning.busy}
                disabled={props.incomplete}
              >
                {texts.plan.show}
              </Button>
              <CopyAs request={request} secret={props.secret} />
            </Group>
            <Group gap={8} ml="auto">
              <Button variant="default" onClick={close}>
                {texts.action.cancel}
              </Button>
              <Button type="submit" color={danger ? 'red.8' : undefined} loading={submit.isPending} disabled={!ready}>
                {label}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** Whether "Continue" drops the check of the seen object. If not, the plan is stale, and is made again. */
export const heldBySeen = (isReopened: boolean | undefined, observed: Seen | undefined): boolean =>
  isReopened === true && observed !== undefined

function Conflict({ seen: observed, now, goOn }: { seen: Seen; now: Seen; goOn: () => void }) {
  const rows = differences(observed.facts, now.facts)
  return (
    <Alert
      color="orange"
      variant="outline"
      role="alert"
      title={texts.conflict.title}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      <Stack gap="xs">
        <Text size="sm">{texts.conflict.text}</Text>
        {rows.length === 0 ? (
          <Text size="sm">{texts.conflict.nothing}</Text>
        ) : (
          <Diff label={texts.conflict.title} rows={rows} />
        )}
        <Group>
          <Button variant="default" onClick={goOn}>
            {texts.conflict.goOn}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
