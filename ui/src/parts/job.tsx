// Queries and texts for jobs, on pages and in the tray.
import { queryOptions } from '@tanstack/react-query'
import { api, got } from '../api/client'
import type { components } from '../api/schema'
import { texts } from '../texts'
import { Status, type Tone } from './status'

export type Job = components['schemas']['Job']

const TONES: Readonly<Record<string, Tone>> = {
  queued: 'off',
  waiting: 'busy',
  canceling: 'warn',
  running: 'busy',
  canceled: 'off',
  success: 'good',
  error: 'bad',
}

export const jobQuery = (id: number) =>
  queryOptions({
    queryKey: ['jobs', 'one', String(id)],
    queryFn: () => got(api.GET('/3/jobs/{id}', { params: { path: { id } } })),
  })

export const JobStatus = ({ status }: { status: string }) => (
  <Status tone={TONES[status] ?? 'off'} text={texts.jobs.status[status] ?? status} />
)

export const isOver = ({ status }: Job): boolean => ['success', 'error', 'canceled'].includes(status)

export const summaryOf = ({ ops }: Job): string => ops.map(({ summary }) => summary).join(', ')

/** The error of the opcode that ended the job. */
export const errorOf = ({ ops }: Job): string | undefined =>
  ops.flatMap(({ error }) => error ?? []).map(({ message }) => message)[0]

export const lastLine = ({ ops }: Job): string | undefined =>
  ops
    .flatMap(({ log }) => log ?? [])
    .map(({ message }) => lineText(message))
    .at(-1)

export const lineText = (message: unknown): string => (typeof message === 'string' ? message : JSON.stringify(message))

export const tookMs = ({ started, ended }: Job, now: number): number | undefined =>
  started === null ? undefined : (ended === null ? now : Date.parse(ended)) - Date.parse(started)
