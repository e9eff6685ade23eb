// The jobs that were begun on this page, each until it has ended well, or its user has seen how it failed.
import { CloseButton, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'
import { errorOf, isOver, jobQuery, JobStatus, lastLine } from './job'
import { texts } from '../texts'

interface BegunJob {
  readonly id: number
  readonly label: string
}

const SHOWN_MAX = 4
/** How long one that ended well stays; where nothing shall move by itself, until it is hidden. */
const DONE_MS = 6000
const stays = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

let begun: readonly BegunJob[] = []
const watchers = new Set<() => void>()

function become(next: readonly BegunJob[]): void {
  begun = next
  for (const watcher of watchers) watcher()
}

const subscribe = (watcher: () => void) => {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

export const showJob = (job: BegunJob): void => become([...begun, job].slice(-SHOWN_MAX))
const hideJob = (id: number): void => become(begun.filter((job) => job.id !== id))

export function JobTray() {
  const jobs = useSyncExternalStore(subscribe, () => begun)
  return (
    <div className="tray" role="status" aria-label={texts.jobs.tray}>
      {jobs.map((job) => (
        <TrayEntry key={job.id} {...job} />
      ))}
    </div>
  )
}

function TrayEntry({ id, label }: BegunJob) {
  const { data: job } = useQuery(jobQuery(id))
  const done = job?.status === 'success'
  useEffect(() => {
    if (!done || stays()) return undefined
    const timer = setTimeout(() => hideJob(id), DONE_MS)
    return () => clearTimeout(timer)
  }, [done, id])
  const error = job === undefined ? undefined : errorOf(job)
  const line = job === undefined || isOver(job) ? undefined : lastLine(job)
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <CloseButton size="sm" aria-label={texts.jobs.dismiss} onClick={() => hideJob(id)} />
      </Group>
      <Group gap="sm" fz="sm">
        {job !== undefined && <JobStatus status={job.status} />}
        <Link to="/jobs/$id" params={{ id: String(id) }}>
          {texts.jobs.one(id)}
        </Link>
      </Group>
      {error !== undefined && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }} lineClamp={6}>
          {error}
        </Text>
      )}
      {line !== undefined && (
        <Text size="xs" c="dimmed" mt={4} truncate>
          {line}
        </Text>
      )}
    </Paper>
  )
}
