// The states of jobs.
import type { components } from '../api/schema'
import type { Tone } from './tone'

export type Job = components['schemas']['Job']

export const TONES: Readonly<Record<string, Tone>> = {
  queued: 'off',
  waiting: 'busy',
  canceling: 'warn',
  running: 'busy',
  canceled: 'off',
  success: 'good',
  error: 'bad',
}

export const isOver = ({ status }: Job): boolean => ['success', 'error', 'canceled'].includes(status)

/** The error of the opcode that ended the job. */
export const errorOf = ({ ops }: Job): string | undefined =>
  ops.flatMap(({ error }) => error ?? []).map(({ message }) => message)[0]
