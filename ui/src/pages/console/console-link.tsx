// Links to an instance's consoles.
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay, useRefusal } from '../../api/session'
import { Icon } from '../../icons/icon'
import { RefusableButton } from '../../parts/disable-with-reason'
import { instanceTo, RowLink } from '../../parts/row-link'
import { texts } from '../../texts'

export const CONSOLE_PERMISSION = 'instances.query.console'

const consoleTo = (name: string): string => `${instanceTo(name)}/console`

export function ConsoleButton({ name }: { name: string }) {
  const refusal = useRefusal()(CONSOLE_PERMISSION)
  if (refusal !== undefined)
    return (
      <RefusableButton variant="default" whyNot={refusal}>
        {texts.console.open}
      </RefusableButton>
    )
  return (
    <Button variant="default" component={Link} to={consoleTo(name)}>
      {texts.console.open}
    </Button>
  )
}

/** The link for a row of a table. */
export function ConsoleIcon({ name }: { name: string }) {
  if (!useMay()(CONSOLE_PERMISSION)) return null
  return (
    <RowLink to={consoleTo(name)} className="row-icon" label={texts.console.title(name)}>
      <Icon name="terminal" size={16} />
    </RowLink>
  )
}
