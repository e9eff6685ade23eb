// Loads the files of a page when the user opens it, or is about to. Handles failures: the server is away, or it has another version of the
// console.
import { useEffect } from 'react'
import { Problem } from '../api/problem'
import { Page } from '../parts/page'
import { ProblemBox } from '../parts/problem-box'
import { texts } from '../texts'

/** Replaces the browser's own error. At that error, the router reloads the page, which is then lost if the server is away. */
export const filesOf =
  <Module,>(load: () => Promise<Module>) =>
  (): Promise<Module> =>
    load().catch(() => {
      throw new Problem(0, texts.problems.pageNotLoaded)
    })

/** Shown instead of a page that cannot be shown. */
export function BrokenPage({ error }: { error: unknown }) {
  useEffect(() => void reloadIfReplaced(), [])
  return (
    <Page title={texts.problems.noPage}>
      <ProblemBox error={error} retry={() => void reloadIfReachable()} />
    </Page>
  )
}

const askForConsole = () => fetch('/ui/', { cache: 'no-store' })

/** Reloads the page at most once, because afterwards it has the scripts that the server names. */
async function reloadIfReplaced(): Promise<void> {
  const own = document.querySelector('script[type="module"]')?.getAttribute('src')
  const served = await askForConsole().then(
    (answer) => (answer.ok ? answer.text() : undefined),
    () => undefined,
  )
  if (served !== undefined && typeof own === 'string' && !served.includes(own)) location.reload()
}

async function reloadIfReachable(): Promise<void> {
  const answer = await askForConsole().catch(() => undefined)
  if (answer?.ok === true) location.reload()
}
