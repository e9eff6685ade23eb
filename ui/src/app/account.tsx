// The menu with the signed-in user and "Sign out".
import { ActionIcon, Menu, Modal } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { signOut, useSignedIn } from '../api/session'
import { Icon } from '../icons/icon'
import { ProblemBox } from '../parts/problem-box'
import { texts } from '../texts'

export function Account() {
  const { session } = useSignedIn()
  const leaving = useMutation({ mutationFn: signOut })
  const label = texts.shell.account(session?.user ?? '')
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={label}>
            <Icon name="account" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{label}</Menu.Label>
          <Menu.Item component="a" href="/docs/">
            {texts.shell.documentation}
          </Menu.Item>
          <Menu.Item onClick={() => leaving.mutate(false)}>{texts.shell.signOut}</Menu.Item>
          <Menu.Item onClick={() => leaving.mutate(true)}>{texts.shell.signOutEverywhere}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={leaving.isError} onClose={() => leaving.reset()} title={texts.shell.stillSignedIn}>
        <ProblemBox error={leaving.error} retry={() => leaving.mutate(leaving.variables ?? false)} />
      </Modal>
    </>
  )
}
