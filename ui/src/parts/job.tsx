// Queries and texts for jobs, on pages and in the tray.
import { queryOptions } from '@tanstack/react-query'
import { api, got } from '../api/client'
import { texts } from '../texts'
import { type Job, TONES } from './job-state'
import { Status } from './status'

export { errorOf, isOver, type Job } from './job-state'

export const jobQuery = (id: number) =>
  queryOptions({
    queryKey: ['jobs', 'one', String(id)],
    queryFn: () => got(api.GET('/3/jobs/{id}', { params: { path: { id } } })),
  })

export const JobStatus = ({ status }: { status: string }) => (
  <Status tone={TONES[status] ?? 'off'} text={texts.jobs.status[status] ?? status} />
)

export const summaryOf = ({ ops }: Job): string => ops.map(({ summary }) => summary).join(', ')

export const lastLine = ({ ops }: Job): string | undefined =>
  ops
    .flatMap(({ log }) => log ?? [])
    .map(({ message }) => lineText(message))
    .at(-1)

export const lineText = (message: unknown): string => (typeof message === 'string' ? message : JSON.stringify(message))

export const tookMs = ({ started, ended }: Job, now: number): number | undefined =>
  started === null ? undefined : (ended === null ? now : Date.parse(ended)) - Date.parse(started)
