// The dialog of a request without a job, such as a filter rule, a token, or the priority of a job. The dialog keeps the typed input when the
// request is refused.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { request as send } from '../api/client'
import { Problem } from '../api/problem'
import { Fields } from '../forms/fields'
import type { Field, Values } from '../forms/schema'
import { useForm } from '../forms/use-form'
import { texts } from '../texts'
import type { Action, DialogProps } from './action'
import { CopyAs } from './copy-as'
import type { Request } from './request'
import { ProblemBox } from './problem-box'

export interface PlainSpec<Subject> {
  readonly id: string
  readonly label: string
  readonly permission: string
  readonly text: (subject: Subject) => string
  readonly fields: readonly Field[] | ((subject: Subject) => readonly Field[])
  readonly others?: readonly Field[]
  readonly request: (subject: Subject, body: Values) => Request
  /** The first words of query keys. These queries are refetched afterwards. */
  readonly changes: readonly string[]
  readonly unfit?: (subject: Subject) => string | undefined
  /** The text to type as a confirmation, if the request cannot be undone. */
  readonly typed?: (subject: Subject) => string
  /** An error of the form as a whole. */
  readonly complaint?: (body: Values) => string | undefined
  /** The reason, if an answer with a success status is still a refusal. */
  readonly refused?: (answer: unknown) => string | undefined
  /** Shows the answer instead of the form. Without it, the dialog closes. */
  readonly answer?: (answer: unknown) => ReactNode
  readonly danger?: boolean
  readonly group?: string
}

export function plainAction<Subject>(
  spec: PlainSpec<Subject>,
): Action<Subject> & { readonly spec: PlainSpec<Subject> } {
  const { id, label, permission, unfit, danger, group } = spec
  const dialog = (props: DialogProps<Subject>) => <PlainDialog spec={spec} {...props} />
  return { id, label, permission, unfit, danger, group, dialog, spec }
}

function PlainDialog<Subject>({ spec, subject, close }: DialogProps<Subject> & { spec: PlainSpec<Subject> }) {
  const { fields: own, others = [], label, answer } = spec
  const fields = typeof own === 'function' ? own(subject) : own
  const form = useForm([...fields, ...others])
  const [typed, setTyped] = useState('')
  const desired = spec.typed?.(subject) ?? typed
  const request = spec.request(subject, form.body)
  const complaint = spec.complaint?.(form.body)
  const run = usePlain(spec, request, {
    done: () => answer === undefined && close(),
    refused: (error) => form.refuse(error.parameter, error.message),
  })
  const ready = form.complete && complaint === undefined && desired === typed
  if (run.data !== undefined && answer !== undefined)
    return <Told label={label} close={close} told={answer(run.data)} />
  return (
    <Modal opened onClose={close} title={label} size="lg">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !run.isPending) run.mutate()
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{spec.text(subject)}</Text>
          <Fields fields={fields} others={others} values={form.values} errors={form.errors} change={form.change} />
          {spec.typed !== undefined && (
            <TextInput
              label={texts.action.typeName(desired)}
              value={typed}
              autoComplete="off"
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <ProblemBox error={run.error} />
          {complaint !== undefined && (
            <Text size="sm" c="dimmed">
              {complaint}
            </Text>
          )}
          <Group justify="space-between" gap={8} mt={4}>
            <Group gap={0}>
              <CopyAs request={request} secret={form.isSecret} />
            </Group>
            <Group gap={8} ml="auto">
              <Button variant="default" onClick={close}>
                {texts.action.cancel}
              </Button>
              <Button type="submit" color={spec.danger ? 'red.8' : undefined} loading={run.isPending} disabled={!ready}>
                {label}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function Told({ label, close, told: reported }: { label: string; close: () => void; told: ReactNode }) {
  return (
    <Modal opened onClose={close} title={label} size="lg">
      <Stack gap="sm">
        {reported}
        <Group justify="flex-end">
          <Button onClick={close}>{texts.action.close}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface Ends {
  readonly done: () => void
  readonly refused: (error: Problem) => void
}

function usePlain<Subject>({ changes, refused }: PlainSpec<Subject>, request: Request, ends: Ends) {
  const client = useQueryClient()
  return useMutation({
    async mutationFn() {
      const body = Object.keys(request.body).length === 0 ? undefined : request.body
      const answer = await send(request.method, request.path, body)
      const why = refused?.(answer)
      if (why !== undefined) throw new Problem(409, why)
      return answer
    },
    onSuccess() {
      // Some of these changes cause no event.
      for (const resource of changes) void client.invalidateQueries({ queryKey: [resource] })
      ends.done()
    },
    onError(error) {
      if (error instanceof Problem) ends.refused(error)
    },
  })
}
