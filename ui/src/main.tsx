import '@mantine/core/styles.css'
import '@mantine/spotlight/styles.css'
import './app/look.css'
import './app/resources.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/app'
import { admitOwnStyles } from './app/style-nonce'

admitOwnStyles()
// A page of an older version asks for files that are no longer there.
addEventListener('vite:preloadError', () => location.reload())

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
