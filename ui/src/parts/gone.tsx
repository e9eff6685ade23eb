// What becomes of the page of an object that is removed or renamed while it is shown: it goes to the list, or to the new name.
import { Alert } from '@mantine/core'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { request } from '../api/client'
import { Problem } from '../api/problem'
import { texts } from '../texts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The object that was removed while its page was shown. */
    readonly removed?: string
  }
}

type Resource = 'instances' | 'nodes' | 'groups' | 'networks'

interface Shown {
  readonly resource: Resource
  readonly name: string
  readonly object: { readonly uuid?: string | null } | undefined
  readonly error: Error | null
}

/** Returns whether the object no longer exists. */
export function useGone({ resource, name, object, error }: Shown): boolean {
  const navigate = useNavigate()
  const observed = useRef<{ readonly name: string; readonly uuid: string }>(undefined)
  if (typeof object?.uuid === 'string') observed.current = { name, uuid: object.uuid }
  const gone = error instanceof Problem && error.status === 404
  useEffect(() => {
    // The page may have shown another object before.
    if (!gone || observed.current?.name !== name) return
    nameOf(resource, observed.current.uuid)
      .then((now) => {
        if (now === undefined) return navigate({ to: `/${resource}`, state: { removed: name }, replace: true })
        return now === name ? undefined : navigate({ to: `/${resource}/$name`, params: { name: now } })
      })
      .catch(() => undefined)
  }, [gone, resource, name, navigate])
  return gone && observed.current?.name === name
}

/** The present name of an object that was renamed; undefined if it was removed. */
async function nameOf(resource: Resource, uuid: string): Promise<string | undefined> {
  const query = new URLSearchParams({ fields: 'name', filter: JSON.stringify(['==', 'uuid', uuid]) })
  const { items } = (await request('GET', `/3/${resource}?${query.toString()}`)) as { items: { name?: string }[] }
  return items[0]?.name
}

/** Tells that the object whose page was shown before is gone. */
export function RemovedNote() {
  const { pathname, state } = useRouterState({ select: ({ location }) => location })
  const navigate = useNavigate()
  if (state.removed === undefined) return null
  return (
    <Alert
      color="green"
      variant="outline"
      mb="md"
      p="xs"
      role="status"
      withCloseButton
      closeButtonLabel={texts.removed.close}
      onClose={() => void navigate({ to: pathname, replace: true })}
    >
      {texts.removed.told(state.removed)}
    </Alert>
  )
}
