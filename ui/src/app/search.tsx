// The search (Ctrl-K) finds pages, actions, objects and settings.
import { Modal } from '@mantine/core'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useDebouncedValue } from '@mantine/hooks'
import { type QueryFunctionContext, useQueries } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useRefusal, useSignedIn } from '../api/session'
import { texts } from '../texts'
import { FOUND_KINDS, type FoundKind } from './find'
import type { Found } from './found'
import { SECTIONS } from './sections'

const [store, spotlight] = createSpotlight()
export const openSearch = (): void => spotlight.open()

/** In the order in which they are shown. */
const KINDS = Object.keys(FOUND_KINDS) as readonly FoundKind[]
const KIND_LABELS: Readonly<Record<FoundKind, string>> = {
  ...texts.nav,
  ...{ tokens: texts.access.tokens, settings: texts.shell.searchSettings },
}

const TOGETHER_MS = 150
const PAUSE_MS = 600

/** The code of forms is loaded with the first action. */
const ClusterAction = lazy(async () => ({ default: (await import('./cluster-action')).ClusterAction }))

export function Search() {
  const [typed, setTyped] = useState('')
  const [letters] = useDebouncedValue(typed.trim(), TOGETHER_MS)
  const [doing, setDoing] = useState<string>()
  const [rested] = useDebouncedValue(letters, PAUSE_MS)
  const { groups, pending } = useEntries(letters, rested === letters, setDoing)
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
              {entries.map(({ id, label: title, note, go }) => (
                <Spotlight.Action key={id} label={title} description={note || undefined} onClick={() => void go()} />
              ))}
            </Spotlight.ActionsGroup>
          ))}
          {groups.length === 0 && (
            <Spotlight.Empty>{pending ? texts.table.loading : texts.shell.searchNothing}</Spotlight.Empty>
          )}
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
  readonly note?: string
  readonly go: () => unknown
}

interface Entries {
  readonly groups: readonly { label: string; entries: readonly Entry[] }[]
  /** More may come. */
  readonly pending: boolean
}

function useEntries(letters: string, rested: boolean, act: (id: string) => void): Entries {
  const navigate = useNavigate()
  const refusal = useRefusal()
  const withPassword = useSignedIn().session?.token === null
  const { found, pending } = useFound(letters, rested)
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
      label: KIND_LABELS[kind],
      entries: (found.get(kind) ?? []).map((one) => ({ ...one, id: `${kind}/${one.id}`, go: () => go(kind, one) })),
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
  return { groups: all.filter(({ entries }) => entries.length > 0), pending }
}

/** Each kind is shown when it is found, so that a node that does not answer delays no other kind. */
function useFound(letters: string, rested: boolean) {
  const refusal = useRefusal()
  const desired = KINDS.filter((kind) => letters !== '' && refusal(FOUND_KINDS[kind].permission) === undefined)
  const requested = useQueries({
    queries: desired.map((kind) => ({
      queryKey: ['search', kind, letters],
      queryFn: ({ client }: QueryFunctionContext) => FOUND_KINDS[kind].find(letters, client),
      enabled: rested || !('asksNodes' in FOUND_KINDS[kind]),
      retry: false,
    })),
  })
  return {
    found: new Map(desired.map((kind, at): [FoundKind, readonly Found[] | undefined] => [kind, requested[at]?.data])),
    pending: requested.some(({ isPending }) => isPending),
  }
}

function useGo() {
  const navigate = useNavigate()
  return (kind: FoundKind, { label: name, target: q = name }: Found) => {
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
      case 'exports':
        return navigate({ to: '/exports', search: { q } })
      case 'tags':
        return navigate({ to: '/tags', search: { q } })
      case 'rules':
        return navigate({ to: '/rules', search: { q } })
      case 'tokens':
        return navigate({ to: '/access', search: { q } })
      case 'settings':
        return navigate({ to: '/cluster', search: { q } })
    }
  }
}
