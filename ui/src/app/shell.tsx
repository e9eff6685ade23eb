// The frame of every page: the sections, the search, the state of the connection, and the user.
import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useSearch } from '@tanstack/react-router'
import { useConnection } from '../api/connection'
import { useLive } from '../api/live'
import { useSignedIn } from '../api/session'
import { RemovedNote } from '../parts/gone'
import { Icon } from '../icons/icon'
import { JobTray } from '../parts/job-tray'
import { Status } from '../parts/status'
import { texts } from '../texts'
import { Account } from './account'
import { openSearch, Search } from './search'
import { SECTIONS } from './sections'

const KEYS = 'Ctrl K'

export function Shell() {
  const { session } = useSignedIn()
  // A window without a frame, such as that of a console, needs no event stream: a console follows its instance itself.
  const { bare }: { bare?: string } = useSearch({ strict: false })
  useLive(bare === undefined ? (session?.csrf ?? '') : undefined)
  const [opened, { toggle, close }] = useDisclosure()
  const connection = useConnection()
  return (
    <AppShell
      disabled={bare !== undefined}
      header={{ height: 48 }}
      navbar={{ width: 190, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={16}
      transitionDuration={0}
    >
      <AppShell.Header style={{ background: 'var(--surface)', borderColor: 'var(--line)' }}>
        <Group h="100%" px={14} justify="space-between" wrap="nowrap">
          <Group gap={10} wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? texts.nav.close : texts.nav.open}
            />
            <Text fw={700} component={Link} to="/" c="inherit" td="none">
              {texts.product}
            </Text>
          </Group>
          <Group gap={8} wrap="nowrap">
            <Button
              variant="default"
              onClick={openSearch}
              leftSection={<Icon name="search" size={14} />}
              aria-label={`${texts.shell.search} ${KEYS}`}
            >
              <Group gap={8} visibleFrom="sm">
                {texts.shell.search} <Kbd size="xs">{KEYS}</Kbd>
              </Group>
            </Button>
            <Live />
            <Colors />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p={10}
        style={{ background: 'var(--surface)', borderColor: 'var(--line)' }}
        aria-label={texts.nav.label}
      >
        {SECTIONS.map(({ to, icon }) => (
          <Link
            key={to}
            to={to}
            className="nav-link"
            onClick={close}
            activeOptions={{ exact: to === '/', includeSearch: false }}
          >
            <Icon name={icon} />
            {texts.nav[icon]}
          </Link>
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        {connection === 'lost' && (
          <Alert color="orange" variant="outline" mb="md" p="xs" role="status">
            {texts.connection.lost}
          </Alert>
        )}
        <RemovedNote />
        <Outlet />
      </AppShell.Main>
      <JobTray />
      <Search />
    </AppShell>
  )
}

function Live() {
  const connection = useConnection()
  if (connection === 'denied')
    return (
      <>
        <Group visibleFrom="sm" fz="sm">
          <Status tone="off" text={texts.connection.denied} />
        </Group>
        <Group hiddenFrom="sm" fz="sm">
          <Status tone="off" text={texts.connection.notLive} />
        </Group>
      </>
    )
  return (
    <Group fz="sm" style={{ whiteSpace: 'nowrap' }}>
      {connection === 'live' ? (
        <Status tone="good" text={texts.connection.live} />
      ) : (
        <Status tone="warn" text={texts.connection.connecting} />
      )}
    </Group>
  )
}

function Colors() {
  const { setColorScheme } = useMantineColorScheme()
  const now = useComputedColorScheme('light')
  return (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={texts.shell.colors}
      onClick={() => setColorScheme(now === 'dark' ? 'light' : 'dark')}
    >
      <Icon name="colors" size={16} />
    </ActionIcon>
  )
}
