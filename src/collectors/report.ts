// Defines collectors of monitoring data: what they report, in Ganeti's format, and what they need of the node. Collectors do not know who asks.
import { type Clock, nanoseconds } from '../lib/clock'
import { whyNot } from '../lib/why-not'
import type { ConfdQuestion } from '../rpc/confd/protocol'

export interface Collector {
  readonly name: string
  /** Reports without one are asked for as `default`. */
  readonly category: 'storage' | 'instance' | null
  readonly kind: 'performance' | 'status'
  /** One line for people. */
  readonly help: string
  /** Sources that `mon-collector` may replace by files, by the option's name. */
  readonly inputs?: Readonly<Record<string, Input>>
  /** Whether it asks confd about the configuration. */
  readonly asksConfd?: boolean
  open(sources: NodeSources, inputs: Inputs): OpenCollector
}

interface Input {
  readonly short: string
  readonly help: string
}

/** Names of files. */
export type Inputs = Readonly<Record<string, string | undefined>>

/** A collector at work. What it remembers between two reports is its own, and bounded by it. */
export interface OpenCollector {
  /** The `data` of a report. */
  collect(): Promise<unknown>
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

/** The sources that collectors read. */
export interface NodeSources {
  readonly clock: Clock
  /** As the configuration calls it. */
  readonly hostname: string
  /** Where nodes keep why each instance is as it is. */
  readonly instanceReasonDir: string
  read(file: string): Promise<string>
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

export async function readSource(sources: NodeSources, file: string): Promise<string> {
  try {
    return await sources.read(file)
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
