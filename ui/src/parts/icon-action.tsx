// An action as an icon button, with a name for screen readers.
import { ActionIcon } from '@mantine/core'
import { useState } from 'react'
import { type Action, ActionDialog, useWhyNot } from './action'
import { Icon, type IconName } from './icon'

interface IconActionProps<Subject> {
  readonly subject: Subject
  readonly action: Action<Subject>
  readonly icon: IconName
  readonly label: string
}

export function IconAction<Subject>({ subject, action, icon, label }: IconActionProps<Subject>) {
  const [opened, setOpened] = useState(false)
  const whyNot = useWhyNot(subject)(action)
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={label}
        title={whyNot ?? label}
        disabled={whyNot !== undefined}
        onClick={() => setOpened(true)}
      >
        <Icon name={icon} size={13} />
      </ActionIcon>
      {opened && <ActionDialog action={action} subject={subject} close={() => setOpened(false)} />}
    </>
  )
}
