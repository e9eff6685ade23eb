// A link in a row of a long table. Scrolling renders new rows in each frame, and the router's own link costs more than the rest of a row.
import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'

interface RowLinkProps {
  /** The path of a page, with its names encoded. */
  readonly to: string
  readonly className?: string
  /** The name for screen readers, if the link shows only an icon. */
  readonly label?: string
  readonly children: ReactNode
}

export function RowLink({ to, className, label, children }: RowLinkProps) {
  const router = useRouter()
  const follow = (event: MouseEvent) => {
    if (isForBrowser(event)) return
    event.preventDefault()
    void router.navigate({ to })
  }
  return (
    <a
      href={router.basepath + to}
      className={className}
      aria-label={label}
      title={label}
      onClick={follow}
      onPointerEnter={() => void router.preloadRoute({ to })}
    >
      {children}
    </a>
  )
}

/** Whether the browser handles the click, because it opens another tab or window. */
const isForBrowser = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  button !== 0 || metaKey || ctrlKey || shiftKey || altKey

export const instanceTo = (name: string): string => `/instances/${encodeURIComponent(name)}`
export const nodeTo = (name: string): string => `/nodes/${encodeURIComponent(name)}`
