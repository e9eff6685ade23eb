// An action as an icon button, with a name for screen readers.
import { useState } from 'react'
import { type Action, ActionDialog, useWhyNot } from './action'
import { Icon, type IconName } from '../icons/icon'
import { RefusableIcon } from './disable-with-reason'

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
      <RefusableIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={label}
        title={label}
        whyNot={whyNot}
        onClick={() => setOpened(true)}
      >
        <Icon name={icon} size={13} />
      </RefusableIcon>
      {opened && <ActionDialog action={action} subject={subject} close={() => setOpened(false)} />}
    </>
  )
}
