// The way to an instance's consoles, from wherever the instance is shown.
import { ActionIcon, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/session'
import { Icon } from '../../parts/icon'
import { texts } from '../../texts'

export const CONSOLE_PERMISSION = 'instances.query.console'

export function ConsoleButton({ name }: { name: string }) {
  if (!useMay()(CONSOLE_PERMISSION))
    return (
      <Button variant="default" disabled title={texts.action.notAllowed(CONSOLE_PERMISSION)}>
        {texts.console.open}
      </Button>
    )
  return (
    <Button variant="default" component={Link} to={`/instances/${encodeURIComponent(name)}/console`}>
      {texts.console.open}
    </Button>
  )
}

/** For a row of a table. */
export function ConsoleIcon({ name }: { name: string }) {
  if (!useMay()(CONSOLE_PERMISSION)) return null
  const label = texts.console.title(name)
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      component={Link}
      to={`/instances/${encodeURIComponent(name)}/console`}
      aria-label={label}
      title={label}
    >
      <Icon name="terminal" size={16} />
    </ActionIcon>
  )
}
