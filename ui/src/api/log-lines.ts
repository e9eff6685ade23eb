// Lines of jobs' logs come with their events: a job that is shown gets them as they come, and is not asked for anew for each.
import type { components } from './schema'

type Job = components['schemas']['Job']
type Line = components['schemas']['JobLogLine']

/** A line of a job's log, and the opcode that it belongs to. */
export interface ToldLine extends Line {
  readonly job: number
  readonly op: number
}

/** Events shorten longer ones. */
const MESSAGE_CHARS_MAX = 4096

export function toldLine(data: Readonly<Record<string, unknown>>): ToldLine | undefined {
  const { job, op, serial, time, type, message } = data
  const isLine = [job, op, serial].every((value) => typeof value === 'number') && typeof time === 'string'
  return isLine ? ({ job, op, serial, time, type: String(type), message } as ToldLine) : undefined
}

/** The job with more lines, those that it has already left out; undefined if one in between or a part of one is missing. */
export function withLines(job: Job, lines: readonly ToldLine[]): Job | undefined {
  const logs = job.ops.map(({ log }) => [...(log ?? [])])
  // All lines of a job are counted together.
  let last = Math.max(0, ...logs.flatMap((log) => log.at(-1)?.serial ?? 0))
  for (const { op, serial, time, type, message } of lines) {
    if (serial <= last) continue
    const log = logs[op]
    if (serial > last + 1 || log === undefined || isShort(message)) return undefined
    log.push({ serial, time, type, message })
    last = serial
  }
  return { ...job, ops: job.ops.map((op, index) => ({ ...op, log: logs[index] })) }
}

const isShort = (message: unknown): boolean => typeof message === 'string' && message.length > MESSAGE_CHARS_MAX
