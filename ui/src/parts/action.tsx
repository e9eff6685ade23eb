// Actions on objects. An action has a button, a dialog with fields, and usually a job, which is shown until it ends. An action is a line of data.
// If fields are not enough, it has its own dialog, based on RequestDialog.
import { Button, Menu } from '@mantine/core'
import { type ComponentType, useState } from 'react'
import type { Beyond } from '../api/rights'
import { useSignedIn } from '../api/session'
import { Fields } from '../forms/fields'
import type { Field, Values } from '../forms/schema'
import { useForm } from '../forms/use-form'
import { texts } from '../texts'
import { notAllowed } from './not-allowed'
import type { Request } from './request'
import { RefusableButton } from './disable-with-reason'
import { RequestDialog, type Seen } from './request-dialog'

/** The complaint about a change without changes. `manner` lists parameters that only say how to make the change. */
export const nothingChanged = (body: Values, manner: readonly string[] = []): string | undefined =>
  Object.keys(body).every((name) => manner.includes(name)) ? texts.action.nothingChanged : undefined

export interface DialogProps<Subject> {
  readonly subject: Subject
  /** The previous input, if the dialog is opened again. */
  readonly typed?: Values
  readonly close: () => void
}

interface ActionBase<Subject> {
  readonly id: string
  readonly label: string
  readonly permission: string
  /** Why a token with a scope may not do this. */
  readonly beyond?: (subject: Subject) => Beyond | undefined
  /** Why the action is not possible now; undefined if it is. */
  readonly unfit?: (subject: Subject) => string | undefined
  readonly danger?: boolean
  /** The heading in the menu. */
  readonly group?: string
}

type FieldsOf<Subject> = readonly Field[] | ((subject: Subject) => readonly Field[])

export interface FieldAction<Subject> extends ActionBase<Subject> {
  readonly text: (subject: Subject) => string
  readonly fields: FieldsOf<Subject>
  /** Fields that few users need. */
  readonly others?: FieldsOf<Subject>
  /** `body` has only parameters that differ from their defaults. */
  readonly request: (subject: Subject, body: Values) => Request
  /** The text to type as a confirmation, if the action cannot be undone. */
  readonly typed?: (subject: Subject) => string
  /** An error of the form as a whole. */
  readonly complaint?: (subject: Subject, body: Values) => string | undefined
  /** The job changes instances that the request does not name. It fails if one is outside the scope of the session's token. */
  readonly forOthers?: boolean
  /** For changes. They are refused if the object has changed since it was shown. */
  readonly seen?: (subject: Subject) => Seen
}

interface DialogAction<Subject> extends ActionBase<Subject> {
  readonly dialog: ComponentType<DialogProps<Subject>>
}

export type Action<Subject> = FieldAction<Subject> | DialogAction<Subject>

interface ActionsProps<Subject> {
  readonly subject: Subject
  readonly actions: readonly Action<Subject>[]
  /** How many actions have their own button. The others are in a menu. */
  readonly shown: number
}

export function Actions<Subject>({ subject, actions, shown: displayed }: ActionsProps<Subject>) {
  const whyNot = useWhyNot(subject)
  const [open, setOpen] = useState<Action<Subject>>()
  const others = actions.slice(displayed)
  return (
    <>
      {actions.slice(0, displayed).map((action) => (
        <ActionButton key={action.id} action={action} whyNot={whyNot(action)} open={() => setOpen(action)} />
      ))}
      {others.length > 0 && (
        <Menu position="bottom-end" withinPortal={false}>
          <Menu.Target>
            <Button variant="default" aria-label={texts.action.more}>
              …
            </Button>
          </Menu.Target>
          <Menu.Dropdown maw="calc(100vw - 16px)" mah="min(70vh, 640px)" style={{ overflowY: 'auto' }}>
            {sectionsOf(others).map(([group, members]) => (
              <div key={members[0]?.id} role="group" aria-label={group}>
                {group !== undefined && <Menu.Label aria-hidden>{group}</Menu.Label>}
                {members.map((action) => (
                  <ActionItem key={action.id} action={action} whyNot={whyNot(action)} open={() => setOpen(action)} />
                ))}
              </div>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {open !== undefined && <ActionDialog action={open} subject={subject} close={() => setOpen(undefined)} />}
    </>
  )
}

type Section<Subject> = readonly [group: string | undefined, members: Action<Subject>[]]

/** Joins consecutive actions of the same group. */
function sectionsOf<Subject>(actions: readonly Action<Subject>[]): Section<Subject>[] {
  const sections: Section<Subject>[] = []
  for (const action of actions) {
    const last = sections.at(-1)
    if (last !== undefined && last[0] === action.group) last[1].push(action)
    else sections.push([action.group, [action]])
  }
  return sections
}

/** A single action as a small button beside its object. */
export function ActionAt<Subject>({
  subject,
  action,
  label,
  name,
}: {
  subject: Subject
  action: Action<Subject>
  label?: string
  name?: string
}) {
  const whyNot = useWhyNot(subject)(action)
  const [opened, setOpened] = useState(false)
  return (
    <>
      <RefusableButton
        variant="subtle"
        size="compact-xs"
        title={name}
        aria-label={name}
        whyNot={whyNot}
        onClick={() => setOpened(true)}
      >
        {label ?? action.label}
      </RefusableButton>
      {opened && <ActionDialog action={action} subject={subject} close={() => setOpened(false)} />}
    </>
  )
}

/** Why an action is not possible now; undefined if it is. */
export function useWhyNot<Subject>(subject: Subject) {
  const { session } = useSignedIn()
  return (action: Action<Subject>) => notAllowed(session, action, subject) ?? action.unfit?.(subject)
}

interface ButtonProps<Subject> {
  readonly action: Action<Subject>
  readonly whyNot: string | undefined
  readonly open: () => void
}

const ActionButton = <Subject,>({ action, whyNot, open }: ButtonProps<Subject>) => (
  <RefusableButton variant="default" whyNot={whyNot} onClick={open}>
    {action.label}
  </RefusableButton>
)

/** A refused item stays among those that the arrow keys reach, and shows the reason in itself. */
function ActionItem<Subject>({ action: { label, danger }, whyNot, open }: ButtonProps<Subject>) {
  if (whyNot === undefined)
    return (
      <Menu.Item c={danger ? 'var(--mantine-color-error)' : undefined} onClick={open}>
        {label} …
      </Menu.Item>
    )
  return (
    <Menu.Item aria-disabled closeMenuOnClick={false} c="dimmed" aria-description={whyNot}>
      {label} …
      <div className="small" aria-hidden>
        {whyNot}
      </div>
    </Menu.Item>
  )
}

export function ActionDialog<Subject>({ action, ...props }: DialogProps<Subject> & { action: Action<Subject> }) {
  if (!('dialog' in action)) return <FieldDialog action={action} {...props} />
  const Dialog = action.dialog
  return <Dialog {...props} />
}

type FieldDialogProps<Subject> = DialogProps<Subject> & { action: FieldAction<Subject> }

function FieldDialog<Subject>({ action, subject, typed, close }: FieldDialogProps<Subject>) {
  const of = (fields: FieldsOf<Subject>) => (typeof fields === 'function' ? fields(subject) : fields)
  const [fields, others] = [of(action.fields), of(action.others ?? [])]
  const form = useForm([...fields, ...others], typed)
  const { session } = useSignedIn()
  const isHalfSeen = action.forOthers === true && (session?.scope ?? null) !== null
  return (
    <RequestDialog
      title={action.label}
      label={action.label}
      text={[action.text(subject), ...(isHalfSeen ? [texts.action.onlyWhole] : [])].join(' ')}
      request={action.request(subject, form.body)}
      secret={form.isSecret}
      incomplete={!form.complete}
      complaint={action.complaint?.(subject, form.body)}
      danger={action.danger}
      typed={action.typed?.(subject)}
      object={action.seen?.(subject)}
      refuse={form.refuse}
      reopened={typed !== undefined}
      again={(done) => <FieldDialog {...{ action, subject }} typed={form.typed} close={done} />}
      close={close}
    >
      <Fields fields={fields} others={others} values={form.values} errors={form.errors} change={form.change} />
    </RequestDialog>
  )
}
