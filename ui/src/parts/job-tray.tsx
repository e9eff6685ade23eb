// The corner of the page that shows started jobs and runs.
import { CloseButton, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { Problem } from '../api/problem'
import { useSignedIn } from '../api/session'
import { texts } from '../texts'
import { begun, type BegunJob } from './begun'
import { isOver, type Job, jobQuery, JobStatus, lastLine } from './job'
import { JobFailure } from './job-failure'
import { Reopened } from './reopened'

/** How long a successful job stays. With reduced motion, it stays until the user hides it. */
const DONE_MS = 6000
const stays = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

export function JobTray() {
  const { jobs, runs } = useSyncExternalStore(begun.subscribe, begun.get)
  const user = useSignedIn().session?.user
  return (
    <>
      <div className="tray" role="region" aria-label={texts.jobs.tray}>
        {runs
          .filter((run) => run.user === user)
          .map(({ key, label, view }) => (
            <Entry key={key} label={label} hide={() => begun.hideRun(key)}>
              {view}
            </Entry>
          ))}
        {jobs
          .filter((job) => job.user === user)
          .map((job) => (
            <JobEntry key={job.id} {...job} />
          ))}
      </div>
      <Reopened />
    </>
  )
}

interface EntryProps {
  readonly label: string
  /** Screen readers announce each change of an entry with the role `status`. */
  readonly role?: 'status'
  readonly hide: () => void
  readonly children: ReactNode
}

function Entry({ label, role, hide, children }: EntryProps) {
  return (
    <Paper withBorder p="sm" role={role}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <CloseButton size="sm" aria-label={texts.jobs.dismiss} onClick={hide} />
      </Group>
      {children}
    </Paper>
  )
}

function JobEntry({ id, label }: BegunJob) {
  const { data: job, error: missing } = useQuery(jobQuery(id))
  const done = job?.status === 'success'
  const gone = missing instanceof Problem && missing.status === 404
  useEffect(() => {
    if (gone) begun.hideJob(id)
    if (done) begun.noteSuccess(id)
    if (!done || stays()) return undefined
    const timer = setTimeout(() => begun.hideJob(id), DONE_MS)
    return () => clearTimeout(timer)
  }, [done, gone, id])
  const line = job === undefined || isOver(job) ? undefined : lastLine(job)
  return (
    <Entry label={label} role="status" hide={() => begun.hideJob(id)}>
      <Group gap="sm" fz="sm">
        {job !== undefined && <JobStatus status={job.status} />}
        <Link to="/jobs/$id" params={{ id: String(id) }}>
          {texts.jobs.one(id)}
        </Link>
      </Group>
      {job !== undefined && <Failure job={job} />}
      {line !== undefined && (
        <Text size="xs" c="dimmed" mt={4} truncate>
          {line}
        </Text>
      )}
    </Entry>
  )
}

/** The error of the opcode that ended the job. */
function Failure({ job: { id, ops } }: { job: Job }) {
  const error = ops.flatMap((op) => op.error ?? [])[0]
  return error === undefined ? null : <JobFailure id={id} error={error} />
}
