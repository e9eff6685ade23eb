// Buttons that may be refused. A refused button keeps the focus, so that keyboard, touch and screen readers reach the reason.
import { ActionIcon, type ActionIconProps, Button, type ButtonProps, Tooltip } from '@mantine/core'
import { type ComponentPropsWithoutRef, type KeyboardEvent, type MouseEvent, type ReactElement, useState } from 'react'

interface Refusable {
  /** Why it is not possible; undefined if it is. */
  readonly whyNot: string | undefined
}

type Own<Props> = Props & Omit<ComponentPropsWithoutRef<'button'>, keyof Props> & Refusable

export const RefusableButton = ({ whyNot, ...props }: Own<ButtonProps>) => (
  <Reasoned whyNot={whyNot}>{(refused) => <Button {...props} {...refused} />}</Reasoned>
)

export const RefusableIcon = ({ whyNot, ...props }: Own<ActionIconProps>) => (
  <Reasoned whyNot={whyNot}>{(refused) => <ActionIcon {...props} {...refused} />}</Reasoned>
)

interface ReasonedProps extends Refusable {
  readonly children: (refused: object) => ReactElement
}

/** Shows the reason to whoever points at the button, moves the focus to it, or presses it. */
function Reasoned({ whyNot, children }: ReasonedProps) {
  const [opened, setOpened] = useState(false)
  const show = () => setOpened(true)
  const hide = () => setOpened(false)
  const refused = {
    // The attribute `disabled` would take the focus away, and with it the reason.
    ...{ 'aria-disabled': true, 'data-disabled': true, 'aria-description': whyNot, title: undefined },
    ...{ onMouseEnter: show, onMouseLeave: hide, onFocus: show, onBlur: hide },
    onClick(event: MouseEvent) {
      event.preventDefault()
      show()
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.key === 'Escape') hide()
    },
  }
  return (
    <Tooltip label={whyNot} disabled={whyNot === undefined} opened={opened} multiline maw="min(320px, 90vw)">
      {children(whyNot === undefined ? {} : refused)}
    </Tooltip>
  )
}
