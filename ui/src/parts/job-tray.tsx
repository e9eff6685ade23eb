// The corner of the page that shows started jobs and runs.
import { Button, CloseButton, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { Problem } from '../api/problem'
import { useSignedIn } from '../api/session'
import { texts } from '../texts'
import { begun, type BegunJob } from './started-jobs'
import { isOver, type Job, jobQuery, lastLine } from './job'
import { JobFailure } from './job-failure'
import { Reopened } from './reopen-dialog'
import { Status } from './status'
import { FailedParts, useOutcome } from './use-outcome'

/** How long a successful job stays. With reduced motion, it stays until the user hides it. */
const DONE_MS = 6000
const stays = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

export function JobTray() {
  const { jobs, runs } = useSyncExternalStore(begun.subscribe, begun.get)
  const user = useSignedIn().session?.user
  const [small, setSmall] = useState(false)
  const [ownRuns, ownJobs] = [runs.filter((run) => run.user === user), jobs.filter((job) => job.user === user)]
  const count = ownRuns.length + ownJobs.length
  return (
    <>
      <div className="tray" role="region" aria-label={texts.jobs.tray}>
        {count > 0 && (
          <Button
            variant="default"
            size="compact-sm"
            aria-expanded={!small}
            style={{ alignSelf: 'flex-end', flex: 'none' }}
            onClick={() => setSmall(!small)}
          >
            {small ? texts.jobs.showTray(count) : texts.jobs.minimize}
          </Button>
        )}
        <div className="tray-entries" hidden={small}>
          {ownRuns.map(({ key, label, view }) => (
            <Entry key={key} label={label} hide={() => begun.hideRun(key)}>
              {view}
            </Entry>
          ))}
          {ownJobs.map((job) => (
            <JobEntry key={job.id} {...job} />
          ))}
        </div>
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
  const outcome = useOutcome(job)
  const succeeded = job?.status === 'success'
  const done = outcome?.well === true
  const gone = missing instanceof Problem && missing.status === 404
  useEffect(() => {
    if (gone) begun.hideJob(id)
    if (succeeded) begun.noteSuccess(id)
    if (!done || stays()) return undefined
    const timer = setTimeout(() => begun.hideJob(id), DONE_MS)
    return () => clearTimeout(timer)
  }, [done, gone, succeeded, id])
  const line = job === undefined || isOver(job) ? undefined : lastLine(job)
  return (
    <Entry label={label} role="status" hide={() => begun.hideJob(id)}>
      <Group gap="sm" fz="sm">
        {outcome !== undefined && <Status tone={outcome.tone} text={outcome.text} />}
        <Link to="/jobs/$id" params={{ id: String(id) }}>
          {texts.jobs.one(id)}
        </Link>
      </Group>
      {job !== undefined && <Failure job={job} />}
      {outcome !== undefined && <FailedParts failed={outcome.failed} />}
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
