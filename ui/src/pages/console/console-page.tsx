// The consoles of an instance: the serial console, the VNC screen, and the file for a SPICE viewer.
import { Button, Group, Switch, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { useRefusal } from '../../api/session'
import { Icon } from '../../icons/icon'
import { Card, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { CONSOLE_PERMISSION } from './console-link'
import { saveAs } from './save'
import { spiceFile } from './spice-file'

const own = texts.console
const route = getRouteApi('/instances/$name/console')

const PANELS = {
  serial: lazy(() => import('./serial-panel').then(({ SerialPanel }) => ({ default: SerialPanel }))),
  vnc: lazy(() => import('./screen-panel').then(({ ScreenPanel }) => ({ default: ScreenPanel }))),
}

export interface ConsoleSearch {
  readonly kind?: string
  /** Without header and navigation. */
  readonly bare?: string
}

type Consoles = components['schemas']['ConsolesView']

export function ConsolePage() {
  const { name } = route.useParams()
  const refusal = useRefusal()(CONSOLE_PERMISSION)
  const may = refusal === undefined
  const [readOnly, setReadOnly] = useState(false)
  const { data, error, refetch } = useQuery({
    // With this key, each event of the instance refetches the consoles.
    queryKey: ['instances', 'one', name, 'consoles'],
    queryFn: (): Promise<Consoles> => got(api.GET('/3/instances/{name}/consoles', { params: { path: { name } } })),
    enabled: may,
  })
  return (
    <Page
      whole
      title={own.title(name)}
      note={
        <Link to="/instances/$name" params={{ name }}>
          {own.toInstance}
        </Link>
      }
      actions={
        may && (
          <Group gap={12}>
            <Switch
              label={own.readOnly}
              checked={readOnly}
              onChange={(event) => setReadOnly(event.currentTarget.checked)}
            />
            <Button
              variant="default"
              component="a"
              href={`/ui/instances/${encodeURIComponent(name)}/console?bare=1`}
              target="_blank"
              rel="noopener"
            >
              {own.newWindow}
            </Button>
          </Group>
        )
      }
    >
      <ProblemBox error={refusal ?? error} retry={may ? () => void refetch() : undefined} />
      {data && <Choice consoles={data} readOnly={readOnly} />}
    </Page>
  )
}

function Choice({ consoles, readOnly }: { consoles: Consoles; readOnly: boolean }) {
  const { kinds, spice, instance } = consoles
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const displayed = kinds.find((kind) => kind === search.kind) ?? kinds[0]
  // An opened console stays connected when the user switches to the other tab.
  const [opened, setOpened] = useState<readonly string[]>([])
  if (displayed === undefined)
    return (
      <Card title={own.none}>
        <Nothing text={spice === null ? own.noneText : own.onlySpice} />
        {spice && <Spice instance={instance} spice={spice} />}
      </Card>
    )
  if (!opened.includes(displayed)) setOpened([...opened, displayed])
  return (
    <Tabs
      className="console-tabs"
      value={displayed}
      keepMounted
      keepMountedMode="display-none"
      onChange={(kind) => void navigate({ search: { ...search, kind: kind ?? undefined }, replace: true })}
    >
      <Group gap={8} justify="space-between">
        <Tabs.List>
          {kinds.map((kind) => (
            <Tabs.Tab key={kind} value={kind}>
              {own.kinds[kind]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {spice && <Spice instance={instance} spice={spice} />}
      </Group>
      {kinds.map((kind) => {
        const Shown = PANELS[kind]
        return (
          <Tabs.Panel key={kind} value={kind} className="console-tab">
            {opened.includes(kind) && (
              <Suspense fallback={<Text size="sm">{texts.table.loading}</Text>}>
                <Shown name={instance} readOnly={readOnly} />
              </Suspense>
            )}
          </Tabs.Panel>
        )
      })}
    </Tabs>
  )
}

function Spice({ instance, spice }: { instance: string; spice: NonNullable<Consoles['spice']> }) {
  const save = () =>
    saveAs(`${instance}.vv`, new Blob([spiceFile(instance, spice)], { type: 'application/x-virt-viewer' }))
  return (
    <Button variant="default" onClick={save} leftSection={<Icon name="terminal" size={16} />}>
      {own.spice}
    </Button>
  )
}
