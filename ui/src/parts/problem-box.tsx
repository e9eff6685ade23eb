// An error: what happened, and the way out.
import { Alert, Button, Text } from '@mantine/core'
import { adviceFor } from '../api/problem'
import { texts } from '../texts'

const TITLE = { title: { color: 'var(--mantine-color-error)' } }

export function ProblemBox({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === null || error === undefined) return null
  const advice = adviceFor(error)
  return (
    <Alert color="red" variant="outline" title={texts.problems.title} role="alert" styles={TITLE}>
      <Text size="sm">{error instanceof Error ? error.message : String(error)}</Text>
      {advice !== undefined && (
        <Text size="sm" c="dimmed" mt={4}>
          {advice}
        </Text>
      )}
      {retry !== undefined && (
        <Button variant="default" mt="sm" onClick={retry}>
          {texts.problems.retry}
        </Button>
      )}
    </Alert>
  )
}
