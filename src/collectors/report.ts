// Defines collectors of monitoring data: what they report, in Ganeti's format, and what they need of the node. Collectors do not know who asks.
import { type Clock, nanoseconds } from '../lib/clock'
import { isMissing } from '../lib/disk'
import type { OwnFigures } from '../lib/own-figures'
import type { Paths } from '../lib/paths'
import { whyNot } from '../lib/why-not'
import type { DataCollector, REPORT_CATEGORIES } from '../model/constants/collectors'
import type { CandidateClock } from '../rpc/confd/clocks'
import type { ConfdQuestion } from '../rpc/confd/protocol'
import type { HypervisorInfo, InstanceRuntime } from '../rpc/node/dicts'
import type { AnyShape } from './shapes'

export interface Collector extends Described {
  readonly name: DataCollector
  /** The shape of its data. */
  readonly shape: AnyShape
  /** The meanings that the codes of its status have here, where it tells one. */
  readonly codes?: StatusRules
  /** Seconds between two collections while nothing is known of it yet, and its configuration says nothing. */
  readonly interval_s: number
  /** Milliseconds that a collection is expected to take on a common node. */
  readonly cost_ms: number
  /** One line for people. */
  readonly help: string
  /** It compares several looks, so it has to look at an even pace. */
  readonly stateful?: boolean
  /** Others act on what it tells, so its reports are signed. */
  readonly signed?: boolean
  /** Sources that `mon-collector` may replace by files, by the option's name. */
  readonly inputs?: Readonly<Record<string, Input>>
  /** Whether it asks confd about the configuration. */
  readonly asksConfd?: boolean
  open(sources: NodeSources, inputs: Inputs): OpenCollector
}

/** The part of a report that describes its collector. */
export interface Described {
  readonly name: string
  /** Reports without one are asked for as `default`. */
  readonly category: Category | null
  readonly kind: 'performance' | 'status'
}

type Category = (typeof REPORT_CATEGORIES)[number]

/** When a status has which code. */
export type StatusRules = Readonly<Partial<Record<StatusCode, string>>>

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
  /** `B` for what is built in. */
  readonly version: string
  readonly format_version: 1
  /** Nanoseconds. */
  readonly timestamp: number
  readonly category: string | null
  /** 0: figures, 1: a status. */
  readonly kind: 0 | 1
  readonly data: unknown
}

export const reportOf = ({ name, category, kind }: Described, clock: Clock, data: unknown): Report => ({
  name,
  version: 'B',
  format_version: 1,
  timestamp: nanoseconds(clock),
  category,
  kind: kind === 'status' ? 1 : 0,
  data,
})

/** All that collectors read, so that a test can show them another node. */
export interface NodeSources {
  readonly clock: Clock
  /** As the configuration calls it. */
  readonly hostname: string
  /** Its instances and its node daemon are only pretended. */
  readonly simulated?: boolean
  readonly paths: Pick<Paths, 'local' | 'ssconf' | 'pidFile' | 'runDir' | 'instanceReasonDir'>
  read(file: string): Promise<string>
  /** Names in a directory; none when it does not exist. */
  list(directory: string): Promise<readonly string[]>
  /** Undefined when there is no such file. */
  stat(file: string): Promise<FileFacts | undefined>
  /** Why a program of the administrator must not be started: others may change it, or put another one in its place. */
  whyUnsafe(file: string): Promise<string | undefined>
  /** Figures of the file system that a directory is on. */
  room(directory: string): Promise<Room>
  /** Its standard output; refused with what it said when it fails. Whoever prints more bytes is ended, and with it all that it started. */
  run(command: readonly string[], printed_max?: number): Promise<string>
  /** From the configuration, by way of confd. */
  ask(question: ConfdQuestion, query: string): Promise<unknown>
  /** The clocks of the master candidates, as far as these answer. */
  candidateClocks(): Promise<readonly CandidateClock[]>
  /** The back end of this name, which refuses to answer where the node has none. */
  backEnd(hypervisor: string): BackEnd
  /** What a daemon of this node tells of itself; undefined when it tells nothing. Rejects when it does not answer. */
  figures?(role: string): Promise<OwnFigures | undefined>
  /** Something is missing that the report can do without. */
  warn(text: string): void
}

export interface FileFacts {
  readonly isFile: boolean
  readonly uid: number
  readonly gid: number
  /** Its permissions alone. */
  readonly mode: number
  readonly size: number
}

export interface Room {
  readonly size_bytes: number
  /** That any user may take. */
  readonly free_bytes: number
}

/** The hypervisor of this node, as far as it is asked. */
export interface BackEnd {
  allInfo(): Promise<ReadonlyMap<string, InstanceRuntime>>
  nodeInfo(): Promise<HypervisorInfo>
}

/** There is nothing to report; the text says why. */
export class CollectorFailure extends Error {}

/** The program is not there, so it has nothing to tell of this node. */
export class NotInstalled extends CollectorFailure {}

/** Something without which there can be no report cannot be read; the text says what. */
export class NotReadable extends Error {}

export async function readSource(sources: NodeSources, file: string): Promise<string> {
  try {
    return await sources.read(file)
  } catch (error) {
    throw new CollectorFailure(`reading from file: ${whyNot(file, error)}`)
  }
}

/** Undefined when there is no such file. */
export async function readIfThere(sources: Pick<NodeSources, 'read'>, file: string): Promise<string | undefined> {
  try {
    return await sources.read(file)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new CollectorFailure(`reading from file: ${whyNot(file, error)}`)
  }
}

/** The lines of an ssconf file; none when there is no such file. */
export async function ssconf({ read, paths }: NodeSources, key: string): Promise<string[]> {
  const text = (await readIfThere({ read }, paths.ssconf(key))) ?? ''
  return text.split('\n').filter((line) => line !== '')
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
