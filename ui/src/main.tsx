// Where the console begins in the browser: its looks, who is signed in, and the page of the address.
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

admitOwnStyles()
presence.watch(window)

joinOtherPages()
// Both take a moment, and neither needs what is on the screen.
void resumeSession()
void router.preloadRoute({ to: router.latestLocation.pathname })

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
