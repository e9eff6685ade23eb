// The progress and the failures of a run over many instances.
import { Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { texts } from '../../texts'
import type { BulkRun } from './bulk-run'

const words = texts.instances.bulk

export function BulkProgress({ run, id }: { run: BulkRun; id: string }) {
  const { done, failed, failures, total, obstacle, over } = useSyncExternalStore(run.subscribe, run.get)
  // A single query for all jobs of the run. Events of jobs refetch it.
  useQuery({
    queryKey: ['jobs', 'list', 'bulk', id],
    queryFn: async () => {
      await run.look()
      return run.get().done
    },
    enabled: !over,
  })
  return (
    <Stack gap={8} role="group" aria-label={words.progress}>
      <Progress.Root size="lg">
        <Progress.Section value={(100 * done) / total} color="green.8" aria-label={words.done(done, total)} />
        <Progress.Section value={(100 * failed) / total} color="red.8" aria-label={words.failed(failed)} />
      </Progress.Root>
      <Text size="sm" role="status">
        {words.done(done, total)}
        {failed > 0 && `, ${words.failed(failed)}`}
      </Text>
      {obstacle !== undefined && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {words.waits(obstacle)}
        </Text>
      )}
      {failed > 0 && (
        <div className="bulk-failures" tabIndex={0} role="group" aria-label={words.failed(failed)}>
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
          {failed > failures.length && <Text size="sm">{words.others(failed - failures.length)}</Text>}
        </div>
      )}
    </Stack>
  )
}
