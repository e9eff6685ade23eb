// The entry point of the console in the browser.
import '@mantine/core/styles.css'
import '@mantine/spotlight/styles.css'
import './app/look.css'
import './app/resources.css'
import { createRoot } from 'react-dom/client'
import { presence } from './api/client'
import { joinOtherPages, resumeSession } from './api/session'
import { App } from './app/app'
import { router } from './app/routes'
import { admitOwnStyles } from './app/style-nonce'
import { completeStyles } from './app/whole-styles'

admitOwnStyles()
completeStyles()
presence.watch(window)

joinOtherPages()
// Both take a moment and need nothing from the screen, so they start at once.
void resumeSession()
void router.preloadRoute({ to: router.latestLocation.pathname })

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
