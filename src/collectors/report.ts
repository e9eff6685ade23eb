// What a collector of monitoring data reports, in Ganeti's format, and what it needs of the node. Collectors know nothing of who asks.
import { type Clock, nanoseconds } from '../lib/clock'
import { whyNot } from '../lib/why-not'
import type { ConfdQuestion } from '../rpc/confd/protocol'

export interface Collector {
  readonly name: string
  readonly category: 'storage' | 'instance'
  readonly kind: 'performance' | 'status'
}

export interface Report {
  readonly name: string
  /** Built in. */
  readonly version: 'B'
  readonly format_version: 1
  /** Nanoseconds. */
  readonly timestamp: number
  readonly category: Collector['category']
  /** 0: figures, 1: a status. */
  readonly kind: 0 | 1
  readonly data: unknown
}

export const reportOf = ({ name, category, kind }: Collector, clock: Clock, data: unknown): Report => ({
  name,
  version: 'B',
  format_version: 1,
  timestamp: nanoseconds(clock),
  category,
  kind: kind === 'status' ? 1 : 0,
  data,
})

/** What collectors read. */
export interface NodeSources {
  readonly clock: Clock
  /** As the configuration calls it. */
  readonly hostname: string
  read(file: string): string
  /** Its standard output; refused with what it said when it fails. */
  run(command: readonly string[]): Promise<string>
  /** From the configuration, by way of confd. */
  ask(question: ConfdQuestion, query: string): Promise<unknown>
  /** Something is missing that the report can do without. */
  warn(text: string): void
}

/** There is nothing to report; the text says why. */
export class CollectorFailure extends Error {}

/** Something without which there can be no report cannot be read; the text says what. */
export class NotReadable extends Error {}

export function readSource(sources: NodeSources, file: string): string {
  try {
    return sources.read(file)
  } catch (error) {
    throw new CollectorFailure(`reading from file: ${whyNot(file, error)}`)
  }
}

/** Ok, bad but healing, unknown, bad. */
export type StatusCode = 0 | 1 | 2 | 4

export interface Status {
  readonly code: StatusCode
  readonly message: string
}

export const OK: Status = { code: 0, message: '' }

/** The worst code, and all messages, what is listed last coming first, as Ganeti's. */
export const summary = (statuses: readonly Status[]): Status => ({
  code: statuses.reduce<StatusCode>((worst, { code }) => (code > worst ? code : worst), 0),
  message: ['', ...statuses.flatMap(({ message }) => (message === '' ? [] : [message])).reverse()].join('\n'),
})

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
