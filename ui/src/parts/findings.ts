// Findings of verify, read from the logs of its jobs.
import type { components } from '../api/schema'

type Job = components['schemas']['Job']

export interface Finding {
  readonly level: 'error' | 'warning'
  readonly kind: string
  readonly name: string
  readonly text: string
}

const LINE = /^\s*-?\s*(ERROR|WARNING): (?:(cluster|node|instance|group|network)(?: ([^\s:]+))?: )?(.*)$/s

/** Finds log lines such as `- ERROR: node node1: unresponsive`. */
export function findingsOf(job: Pick<Job, 'ops'>): Finding[] {
  return job.ops
    .flatMap(({ log }) => log ?? [])
    .flatMap(({ message }) => (typeof message === 'string' ? findingOf(message) : []))
}

export function findingOf(line: string): Finding[] {
  const [, level, kind = 'cluster', name = '', text = ''] = LINE.exec(line) ?? []
  return level === undefined ? [] : [{ level: level === 'ERROR' ? 'error' : 'warning', kind, name, text }]
}
