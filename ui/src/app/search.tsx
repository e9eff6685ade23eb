// Ctrl-K: pages, and everything of the cluster that has the name that is typed.
import { Modal } from '@mantine/core'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, got } from '../api/client'
import { allOf, nameLike } from '../parts/list-query'
import { texts } from '../texts'
import { SECTIONS } from './shell'

const [store, spotlight] = createSpotlight()
export const openSearch = (): void => spotlight.open()

const FOUND_MAX = 6

export function Search() {
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [letters] = useDebouncedValue(typed.trim(), 150)
  const { data: found } = useQuery({
    queryKey: ['search', letters],
    queryFn: () => find(letters),
    enabled: letters !== '',
  })
  const pages = SECTIONS.filter(({ icon }) => texts.nav[icon].toLowerCase().includes(letters.toLowerCase()))
  const groups = [
    {
      label: texts.nav.label,
      entries: pages.map(({ to, icon }) => ({ id: to, label: texts.nav[icon], go: () => navigate({ to }) })),
    },
    {
      label: texts.nav.instances,
      entries: (found?.instances ?? []).map((name) => ({
        ...{ id: `instance/${name}`, label: name },
        go: () => navigate({ to: '/instances/$name', params: { name } }),
      })),
    },
    {
      label: texts.nav.nodes,
      entries: (found?.nodes ?? []).map((name) => ({
        ...{ id: `node/${name}`, label: name },
        go: () => navigate({ to: '/nodes/$name', params: { name } }),
      })),
    },
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
  ].filter(({ entries }) => entries.length > 0)
  return (
    <Spotlight.Root store={store} shortcut={['mod + K', '/']} query={typed} onQueryChange={setTyped}>
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
  )
}

async function find(letters: string): Promise<{ instances: string[]; nodes: string[] }> {
  const query = { fields: 'name', limit: FOUND_MAX, filter: allOf([nameLike(letters)]) }
  const [instances, nodes] = await Promise.all([
    got(api.GET('/3/instances', { params: { query } })),
    got(api.GET('/3/nodes', { params: { query } })),
  ])
  const names = ({ items }: { items: { name?: string }[] }) => items.flatMap(({ name }) => name ?? [])
  return { instances: names(instances), nodes: names(nodes) }
}
