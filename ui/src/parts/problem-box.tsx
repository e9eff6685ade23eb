// An error with advice.
import { Alert, Button, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { adviceFor } from '../api/problem'
import { texts } from '../texts'

const TITLE = { title: { color: 'var(--mantine-color-error)' } }

interface ProblemProps {
  readonly error: unknown
  readonly title?: string
  readonly retry?: () => void
  /** Advice, if the error itself has none. */
  readonly advice?: string
  readonly children?: ReactNode
}

export function ProblemBox({
  error,
  title = texts.problems.title,
  retry,
  advice = adviceFor(error),
  children,
}: ProblemProps) {
  if (error === null || error === undefined) return null
  return (
    <Alert color="red" variant="outline" title={title} role="alert" styles={TITLE}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {error instanceof Error ? error.message : String(error)}
      </Text>
      {advice !== undefined && advice !== '' && (
        <Text size="sm" c="dimmed" mt={4}>
          {advice}
        </Text>
      )}
      {retry !== undefined && (
        <Button variant="default" mt="sm" onClick={retry}>
          {texts.problems.retry}
        </Button>
      )}
      {children}
    </Alert>
  )
}
