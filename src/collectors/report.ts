// Defines monitoring collectors: their reports, in Ganeti's format, and what they need of the node. Collectors do not
// know who asks.
import { type Clock, nanoseconds } from '../lib/clock'
import { isMissing } from '../lib/disk'
import type { SelfMetrics } from '../lib/self-metrics'
import type { Paths } from '../lib/paths'
import { whyNot } from '../lib/text/why-not'
import type { DataCollector, REPORT_CATEGORIES } from '../model/constants/collectors'
import type { CandidateClock } from '../rpc/confd/clocks'
import type { ConfdQuestion } from '../rpc/confd/protocol'
import type { HypervisorInfo, InstanceRuntime } from '../rpc/node/dicts'
import type { AnyShape } from './shapes'

export interface Collector extends Described {
  readonly name: DataCollector
  /** The shape of its data. */
  readonly shape: AnyShape
  /** The meanings of its status codes, if it reports a status. */
  readonly codes?: StatusRules
  /** Seconds between two collections, until something is known or configured. */
  readonly interval_s: number
  /** Expected milliseconds of a collection on a usual node. */
  readonly cost_ms: number
  /** One line for people. */
  readonly help: string
  /** It compares looks, so it needs an even pace. */
  readonly stateful?: boolean
  /** maintd acts on its reports, so they are signed. */
  readonly signed?: boolean
  /** Sources that options of `mon-collector` can replace by files, by option name. */
  readonly inputs?: Readonly<Record<string, Input>>
  /** Whether it asks confd about the configuration. */
  readonly asksConfd?: boolean
  open(sources: NodeSources, inputs: Inputs): OpenCollector
}

/** The part of a report that describes its collector. */
export interface Described {
  readonly name: string
  /** Requests name a missing category `default`. */
  readonly category: Category | null
  readonly kind: 'performance' | 'status'
}

type Category = (typeof REPORT_CATEGORIES)[number]

/** The condition of each status code. */
export type StatusRules = Readonly<Partial<Record<StatusCode, string>>>

interface Input {
  readonly short: string
  readonly help: string
}

/** Names of files. */
export type Inputs = Readonly<Record<string, string | undefined>>

/** A running collector. It keeps and bounds its own memory. */
export interface OpenCollector {
  /** The `data` of a report. */
  collect(): Promise<unknown>
}

export interface Report {
  readonly name: string
  /** `B` for built-in collectors. */
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

/** Everything that collectors read. A test can pass another node's. */
export interface NodeSources {
  readonly clock: Clock
  /** The node's name in the configuration. */
  readonly hostname: string
  /** Its instances and node daemon are simulated. */
  readonly simulated?: boolean
  readonly paths: Pick<Paths, 'local' | 'ssconf' | 'pidFile' | 'runDir' | 'instanceReasonDir'>
  read(file: string): Promise<string>
  /** Names in a directory; empty if it does not exist. */
  list(directory: string): Promise<readonly string[]>
  /** Undefined if there is no such file. */
  stat(file: string): Promise<FileFacts | undefined>
  /** Why an administrator's program must not be started: other users could change or replace it. */
  whyUnsafe(file: string): Promise<string | undefined>
  /** Figures of a directory's file system. */
  room(directory: string): Promise<Room>
  /**
   * Returns its standard output; rejects with its message if it fails. A program that prints more bytes is ended, with
   * all that it started.
   */
  run(command: readonly string[], printed_max?: number): Promise<string>
  /** Storage that the node has in place of LVM and DRBD; undefined if it has these. */
  userSpace?(): Promise<UserSpaceStorage | undefined>
  /** From the configuration, through confd. */
  ask(question: ConfdQuestion, query: string): Promise<unknown>
  /** The clocks of the master candidates, as far as these answer. */
  candidateClocks(): Promise<readonly CandidateClock[]>
  /** The back end of this name. It rejects questions if the node lacks the hypervisor. */
  backEnd(hypervisor: string): BackEnd
  /** A local daemon's figures about itself; undefined if it has none. Rejects if it does not answer. */
  figures?(role: string): Promise<SelfMetrics | undefined>
  /** Reports that something dispensable is missing. */
  warn(text: string): void
}

export interface FileFacts {
  readonly isFile: boolean
  readonly uid: number
  readonly gid: number
  /** Only its permission bits. */
  readonly mode: number
  readonly size: number
}

export interface Room {
  readonly size_bytes: number
  /** Available to any user. */
  readonly free_bytes: number
}

/** Volumes and mirrors in user space, in the words of LVM and DRBD. */
export interface UserSpaceStorage {
  groups(): Promise<readonly { readonly name: string; readonly size_mib: number; readonly free_mib: number }[]>
  volumes(): Promise<readonly UserSpaceVolume[]>
  /** By minor. */
  mirrors(): Promise<ReadonlyMap<number, UserSpaceMirror>>
}

interface UserSpaceVolume {
  readonly vg: string
  readonly name: string
  /** MiB. */
  readonly size: string
  readonly attributes: string
}

interface UserSpaceMirror {
  readonly connection: string
  readonly role: string
  readonly disk: string
  readonly peerDisk: string
  /** Undefined while the two are not connected. */
  readonly peerPrimary?: boolean
}

/** The questions to a hypervisor of this node. */
export interface BackEnd {
  allInfo(): Promise<ReadonlyMap<string, InstanceRuntime>>
  nodeInfo(): Promise<HypervisorInfo>
}

/** There is nothing to report; the text says why. */
export class CollectorFailure extends Error {}

/** The program is missing, so it has nothing to report about this node. */
export class NotInstalled extends CollectorFailure {}

/** Something essential is unreadable; the text names it. */
export class NotReadable extends Error {}

export async function readSource(sources: NodeSources, file: string): Promise<string> {
  try {
    return await sources.read(file)
  } catch (error) {
    throw new CollectorFailure(`reading from file: ${whyNot(file, error)}`)
  }
}

/** Undefined if there is no such file. */
export async function readIfThere(sources: Pick<NodeSources, 'read'>, file: string): Promise<string | undefined> {
  try {
    return await sources.read(file)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new CollectorFailure(`reading from file: ${whyNot(file, error)}`)
  }
}

/** The lines of an ssconf file; empty if there is no such file. */
export async function ssconf({ read, paths }: NodeSources, key: string): Promise<string[]> {
  const text = (await readIfThere({ read }, paths.ssconf(key))) ?? ''
  return text.split('\n').filter((line) => line !== '')
}

/** OK, bad but healing, unknown, bad. */
export type StatusCode = 0 | 1 | 2 | 4

export interface Status {
  readonly code: StatusCode
  readonly message: string
}

export const OK: Status = { code: 0, message: '' }

/** The worst code, and all messages, last one first, as in Ganeti. */
export const summary = (statuses: readonly Status[]): Status => ({
  code: statuses.reduce<StatusCode>((worst, { code }) => (code > worst ? code : worst), 0),
  message: ['', ...statuses.flatMap(({ message }) => (message === '' ? [] : [message])).reverse()].join('\n'),
})

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
