// The root of the console: the sign-in page, or the pages of the cluster.
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createQueryClient } from '../api/query-client'
import { useSignedIn } from '../api/session'
import { SignInAgain, SignInPage } from '../pages/sign-in/sign-in'
import { texts } from '../texts'
import { router } from './routes'
import { theme, variables } from './theme'

const client = createQueryClient()

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={client}>
        <Door />
        {/* Mantine renders dialogs and lists here. Screen readers find them as a region. */}
        <div data-mantine-shared-portal-node role="region" aria-label={texts.shell.overlays} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

function Door() {
  const { state, session, why } = useSignedIn()
  if (state === 'unknown') return null
  if (session === undefined) return <SignInPage why={why} />
  return (
    <>
      <RouterProvider router={router} />
      <SignInAgain opened={state === 'ended'} user={session.user} />
    </>
  )
}
