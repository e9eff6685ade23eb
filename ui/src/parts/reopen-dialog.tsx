// A dialog that is opened again with its previous input, on whatever page the user is.
import { type ReactNode, useSyncExternalStore } from 'react'

export type Reopening = (close: () => void) => ReactNode

let displayed: { readonly make: Reopening; readonly key: number } | undefined
let opened = 0
const watchers = new Set<() => void>()

function become(make: Reopening | undefined): void {
  displayed = make === undefined ? undefined : { make, key: ++opened }
  for (const watcher of watchers) watcher()
}

const subscribe = (watcher: () => void) => {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

export const reopen = (make: Reopening): void => become(make)

export function Reopened() {
  const now = useSyncExternalStore(subscribe, () => displayed)
  return now === undefined ? null : <div key={now.key}>{now.make(() => become(undefined))}</div>
}
