// Something that can be done to an object: a button, a dialog with what it takes, and then its job, which is shown until it ends. What was
// typed stays in the dialog when it is refused.
import { Button, Group, Menu, Modal, NumberInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { request as send } from '../api/client'
import { useMay } from '../api/session'
import { texts } from '../texts'
import { CopyAs, type Request } from './copy-as'
import { ProblemBox } from './problem-box'
import { showJob } from './job-tray'

interface FieldBase {
  readonly name: string
  readonly label: string
  readonly text?: string
}

/** A parameter of the action's opcode. The initial value is what the opcode has without it, and is not sent. */
export type Field = FieldBase &
  (
    | { readonly kind: 'switch'; readonly initial: boolean }
    | { readonly kind: 'number'; readonly initial: number }
    | { readonly kind: 'text'; readonly initial: string }
    | { readonly kind: 'choice'; readonly initial: string; readonly choices: readonly string[] }
  )

type Values = Readonly<Record<string, string | number | boolean>>

export interface Action<Subject> {
  readonly id: string
  readonly label: string
  readonly text: (subject: Subject) => string
  readonly permission: string
  readonly fields: readonly Field[]
  readonly request: (subject: Subject, body: Values) => Request
  /** Why it makes no sense now; undefined when it does. */
  readonly unfit?: (subject: Subject) => string | undefined
  /** What has to be typed first, where nothing can be taken back. */
  readonly typed?: (subject: Subject) => string
  readonly danger?: boolean
}

interface ActionsProps<Subject> {
  readonly subject: Subject
  readonly actions: readonly Action<Subject>[]
  /** How many have a button of their own; the others are in a menu. */
  readonly shown: number
}

export function Actions<Subject>({ subject, actions, shown }: ActionsProps<Subject>) {
  const may = useMay()
  const [open, setOpen] = useState<Action<Subject>>()
  const whyNot = ({ permission, unfit }: Action<Subject>) =>
    may(permission) ? unfit?.(subject) : texts.action.notAllowed(permission)
  const others = actions.slice(shown)
  return (
    <>
      {actions.slice(0, shown).map((action) => (
        <Button
          key={action.id}
          variant="default"
          title={whyNot(action)}
          disabled={whyNot(action) !== undefined}
          onClick={() => setOpen(action)}
        >
          {action.label}
        </Button>
      ))}
      {others.length > 0 && (
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <Button variant="default" aria-label={texts.action.more}>
              …
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map((action) => (
              <Menu.Item
                key={action.id}
                title={whyNot(action)}
                disabled={whyNot(action) !== undefined}
                color={action.danger ? 'red' : undefined}
                onClick={() => setOpen(action)}
              >
                {action.label} …
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {open !== undefined && <ActionDialog action={open} subject={subject} close={() => setOpen(undefined)} />}
    </>
  )
}

interface DialogProps<Subject> {
  readonly action: Action<Subject>
  readonly subject: Subject
  readonly close: () => void
}

function ActionDialog<Subject>({ action, subject, close }: DialogProps<Subject>) {
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(action.fields.map(({ name, initial }) => [name, initial])),
  )
  const [typed, setTyped] = useState('')
  const wanted = action.typed?.(subject)
  const changed = action.fields.filter(({ name, initial }) => values[name] !== initial)
  const request = action.request(subject, Object.fromEntries(changed.map(({ name }) => [name, values[name] ?? ''])))
  const run = useMutation({
    mutationFn: () => send(request.method, request.path, request.body),
    onSuccess(answer) {
      showJob({ id: idOf(answer), label: action.label })
      close()
    },
  })
  return (
    <Modal opened onClose={close} title={action.label} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          run.mutate()
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{action.text(subject)}</Text>
          {action.fields.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              value={values[field.name] ?? field.initial}
              onChange={(value) => setValues({ ...values, [field.name]: value })}
            />
          ))}
          {wanted !== undefined && (
            <TextInput
              label={texts.action.typeName(wanted)}
              value={typed}
              autoComplete="off"
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <ProblemBox error={run.error} />
          <Group justify="space-between" gap={8} mt={4}>
            <Group gap={0}>
              <CopyAs request={request} />
            </Group>
            <Group gap={8}>
              <Button variant="default" onClick={close}>
                {texts.action.cancel}
              </Button>
              <Button
                type="submit"
                color={action.danger ? 'red.8' : undefined}
                loading={run.isPending}
                disabled={wanted !== undefined && typed !== wanted}
              >
                {action.label}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

interface InputProps {
  readonly field: Field
  readonly value: string | number | boolean
  readonly onChange: (value: string | number | boolean) => void
}

function FieldInput({ field, value, onChange }: InputProps) {
  const { label, text } = field
  switch (field.kind) {
    case 'switch':
      return (
        <Switch
          label={label}
          description={text}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'number':
      return (
        <NumberInput
          size="xs"
          label={label}
          description={text}
          value={Number(value)}
          min={0}
          onChange={(next) => onChange(Number(next))}
        />
      )
    case 'text':
      return (
        <TextInput
          label={label}
          description={text}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'choice':
      return (
        <Select
          label={label}
          description={text}
          value={String(value)}
          data={field.choices}
          allowDeselect={false}
          onChange={(next) => onChange(next ?? field.initial)}
        />
      )
  }
}

function idOf(answer: unknown): number {
  if (typeof answer === 'object' && answer !== null && 'id' in answer) return Number(answer.id)
  throw new Error('The answer names no job')
}
