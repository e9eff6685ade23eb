// One job: its steps with their logs, as they come.
import { Button, Code, Spoiler } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { useMay } from '../../api/session'
import { spanText, timeText } from '../../format/time'
import { isOver, type Job, jobQuery, JobStatus, lineText, summaryOf, tookMs } from '../../parts/job'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'

const own = texts.jobs
const route = getRouteApi('/jobs/$id')

export function JobPage() {
  const id = Number(route.useParams().id)
  const { data: job, error, refetch } = useQuery(jobQuery(id))
  const may = useMay()
  const cancel = useMutation({ mutationFn: () => got(api.DELETE('/3/jobs/{id}', { params: { path: { id } } })) })
  return (
    <Page
      title={own.one(id)}
      note={job && <JobStatus status={job.status} />}
      actions={
        job &&
        !isOver(job) && (
          <Button
            variant="default"
            disabled={!may('jobs.cancel')}
            title={may('jobs.cancel') ? undefined : texts.action.notAllowed('jobs.cancel')}
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            {own.cancel}
          </Button>
        )
      }
    >
      <ProblemBox error={error ?? cancel.error} retry={() => void refetch()} />
      {cancel.data?.cancelled === false && <ProblemBox error={cancel.data.message} />}
      {job && (
        <>
          <Card title={own.glance}>
            <Facts facts={factsOf(job)} />
          </Card>
          {job.ops.map((op, index) => (
            <Step key={index} op={op} title={`${index + 1}. ${op.summary}`} />
          ))}
        </>
      )}
    </Page>
  )
}

function factsOf(job: Job): [string, string][] {
  const took_ms = tookMs(job, Date.now())
  return [
    [own.columns.summary, summaryOf(job)],
    [own.columns.received, timeText(job.received)],
    [own.started, timeText(job.started)],
    [own.ended, timeText(job.ended)],
    [own.columns.took, took_ms === undefined ? '–' : spanText(took_ms)],
    [own.priority, String(job.priority)],
  ]
}

function Step({ op, title }: { op: Job['ops'][number]; title: string }) {
  const log = op.log ?? []
  return (
    <Card title={title} aside={<JobStatus status={op.status} />}>
      {op.error && (
        <div style={{ padding: '12px 14px 0' }}>
          <ProblemBox error={op.error.message} />
        </div>
      )}
      {log.length === 0 ? (
        <Nothing text={own.noLog} />
      ) : (
        <pre className="log mono" tabIndex={0} aria-label={own.log}>
          {log.map(({ serial, time, message }) =>
            `${timeText(time).slice(11, 19)}  ${lineText(message)}`.concat(serial === log.at(-1)?.serial ? '' : '\n'),
          )}
        </pre>
      )}
      <div style={{ padding: '0 14px 12px' }}>
        <Spoiler maxHeight={0} showLabel={own.input} hideLabel={own.input} fz="sm">
          <Code block>{JSON.stringify(op.input ?? {}, null, 2)}</Code>
        </Spoiler>
      </div>
    </Card>
  )
}
