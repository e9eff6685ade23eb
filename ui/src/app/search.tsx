// The search (Ctrl-K) finds pages, actions and objects by a part of their name.
import { Modal } from '@mantine/core'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useMay, useRefusal, useSignedIn } from '../api/session'
import { texts } from '../texts'
import { type Found, find, type FoundKind } from './find'
import { SECTIONS } from './shell'

const [store, spotlight] = createSpotlight()
export const openSearch = (): void => spotlight.open()

const KINDS = ['instances', 'nodes', 'groups', 'networks', 'os', 'tags'] as const satisfies readonly FoundKind[]

/** The code of forms is loaded with the first action. */
const ClusterAction = lazy(async () => ({ default: (await import('./cluster-action')).ClusterAction }))

export function Search() {
  const [typed, setTyped] = useState('')
  const [letters] = useDebouncedValue(typed.trim(), 150)
  const [doing, setDoing] = useState<string>()
  const groups = useEntries(letters, setDoing)
  return (
    <>
      <Spotlight.Root
        store={store}
        shortcut={['mod + K', '/']}
        query={typed}
        onQueryChange={setTyped}
        scrollable
        maxHeight="70vh"
      >
        <Modal.Title className="unseen">{texts.shell.search}</Modal.Title>
        <Spotlight.Search placeholder={texts.shell.searchHint} aria-label={texts.shell.search} />
        <Spotlight.ActionsList>
          {groups.map(({ label, entries }) => (
            <Spotlight.ActionsGroup key={label} label={label}>
              {entries.map(({ id, label: title, go }) => (
                <Spotlight.Action key={id} label={title} onClick={() => void go()} />
              ))}
            </Spotlight.ActionsGroup>
          ))}
          {groups.length === 0 && <Spotlight.Empty>{texts.shell.searchNothing}</Spotlight.Empty>}
        </Spotlight.ActionsList>
      </Spotlight.Root>
      {doing !== undefined && (
        <Suspense fallback={null}>
          <ClusterAction id={doing} close={() => setDoing(undefined)} />
        </Suspense>
      )}
    </>
  )
}

interface Entry {
  readonly id: string
  readonly label: string
  readonly go: () => unknown
}

function useEntries(letters: string, act: (id: string) => void): { label: string; entries: Entry[] }[] {
  const navigate = useNavigate()
  const may = useMay()
  const refusal = useRefusal()
  const withPassword = useSignedIn().session?.token === null
  const { data: found } = useQuery({
    queryKey: ['search', letters],
    queryFn: () => find(letters, may),
    enabled: letters !== '',
  })
  const fits = (text: string) => text.toLowerCase().includes(letters.toLowerCase())
  const go = useGo()
  const pages = SECTIONS.filter(({ icon }) => fits(texts.nav[icon]))
  const actions = texts.doing.filter(
    ({ label, permission, ...needs }) =>
      letters !== '' &&
      fits(label) &&
      refusal(permission) === undefined &&
      (withPassword || needs.withPassword !== true),
  )
  const all = [
    {
      label: texts.nav.label,
      entries: pages.map(({ to, icon }) => ({ id: to, label: texts.nav[icon], go: () => navigate({ to }) })),
    },
    ...KINDS.map((kind) => ({
      label: texts.nav[kind],
      entries: (found?.[kind] ?? []).map((name) => ({ id: `${kind}/${name}`, label: name, go: () => go(kind, name) })),
    })),
    {
      label: texts.nav.jobs,
      entries: /^\d+$/.test(letters)
        ? [
            {
              id: `job/${letters}`,
              label: texts.jobs.one(letters),
              go: () => navigate({ to: '/jobs/$id', params: { id: letters } }),
            },
          ]
        : [],
    },
    {
      label: texts.shell.searchActions,
      entries: actions.map(({ id, label }) => ({ id: `do/${id}`, label: `${label} …`, go: () => act(id) })),
    },
  ]
  return all.filter(({ entries }) => entries.length > 0)
}

function useGo() {
  const navigate = useNavigate()
  return (kind: keyof Found, name: string) => {
    switch (kind) {
      case 'instances':
        return navigate({ to: '/instances/$name', params: { name } })
      case 'nodes':
        return navigate({ to: '/nodes/$name', params: { name } })
      case 'groups':
        return navigate({ to: '/groups/$name', params: { name } })
      case 'networks':
        return navigate({ to: '/networks/$name', params: { name } })
      case 'os':
        return navigate({ to: '/os/$name', params: { name } })
      case 'tags':
        return navigate({ to: '/tags', search: { q: name } })
    }
  }
}
