// The files of a page are loaded when somebody goes there, or is about to. What happens when they cannot be loaded: the server is away, or it
// has another version of the console.
import { useEffect } from 'react'
import { Problem } from '../api/problem'
import { Page } from '../parts/page'
import { ProblemBox } from '../parts/problem-box'
import { texts } from '../texts'

/** The router reloads the page at the browser's own error, and then nothing is left of it if the server is away. */
export const filesOf =
  <Module,>(load: () => Promise<Module>) =>
  (): Promise<Module> =>
    load().catch(() => {
      throw new Problem(0, texts.problems.pageNotLoaded)
    })

/** In place of a page that cannot be shown. */
export function BrokenPage({ error }: { error: unknown }) {
  useEffect(() => void reloadIfReplaced(), [])
  return (
    <Page title={texts.problems.noPage}>
      <ProblemBox error={error} retry={() => void reloadIfReachable()} />
    </Page>
  )
}

const askForConsole = () => fetch('/ui/', { cache: 'no-store' })

/** After the reload this page has the scripts that the server names, so it reloads once at most. */
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
