// How far a run over many instances is, and what has failed.
import { Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'
import { texts } from '../../texts'
import type { BulkRun } from './bulk-run'

const words = texts.instances.bulk

export function BulkProgress({ run, id }: { run: BulkRun; id: string }) {
  const { done, failures, total, submitted, over } = useSyncExternalStore(run.subscribe, run.get)
  // One question, however many jobs there are by now: events of jobs have it asked again.
  useQuery({
    queryKey: ['jobs', 'list', 'bulk', id],
    queryFn: async () => {
      await run.look()
      return run.get().done
    },
    enabled: !over,
  })
  useStaying(!submitted)
  return (
    <Stack gap={8} role="status" aria-label={words.progress}>
      <Progress.Root size="lg">
        <Progress.Section value={(100 * done) / total} color="green.8" aria-label={words.done(done, total)} />
        <Progress.Section
          value={(100 * failures.length) / total}
          color="red.8"
          aria-label={words.failed(failures.length)}
        />
      </Progress.Root>
      <Text size="sm">
        {words.done(done, total)}
        {failures.length > 0 && `, ${words.failed(failures.length)}`}
      </Text>
      {failures.length > 0 && (
        <div className="bulk-failures" tabIndex={0} role="group" aria-label={words.failed(failures.length)}>
          {failures.map(({ name, job, why }) => (
            <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {job === undefined ? (
                name
              ) : (
                <Link to="/jobs/$id" params={{ id: String(job) }}>
                  {name}
                </Link>
              )}
              : {why}
            </Text>
          ))}
        </div>
      )}
    </Stack>
  )
}

/** Who leaves the page would leave the others unsubmitted, so the browser asks. */
function useStaying(needed: boolean): void {
  useEffect(() => {
    if (!needed) return undefined
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [needed])
}
