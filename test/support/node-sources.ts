// A node for collectors, made of recorded texts. Whatever a test does not give is missing.
import {
  NotInstalled,
  type BackEnd,
  type FileFacts,
  type NodeSources,
  type Room,
  type UserSpaceStorage,
} from '../../src/collectors/report'
import type { Clock } from '../../src/lib/clock'
import type { SelfMetrics } from '../../src/lib/self-metrics'
import { pathsOf } from '../../src/lib/paths'
import type { CandidateClock } from '../../src/rpc/confd/clocks'
import { SteppedClock } from './stepped-clock'

export const NODE = 'node1.example.com'

export interface RecordedNode {
  readonly clock?: Clock
  readonly root?: string
  /** Texts by the names of their files. Directories follow from them. */
  files?: Readonly<Record<string, string>>
  facts?: Readonly<Record<string, Partial<FileFacts>>>
  /** The reasons why programs must not be started, by program. */
  unsafe?: Readonly<Record<string, string>>
  rooms?: Readonly<Record<string, Room | NodeJS.ErrnoException>>
  /** The outputs of programs, by their names or whole commands; an error is thrown. */
  programs?: Readonly<Record<string, string | Error>>
  readonly userSpace?: UserSpaceStorage
  /** Confd's answers, by `number query`. */
  answers?: Readonly<Record<string, unknown>>
  clocks?: readonly CandidateClock[]
  /** The daemons' own figures, by role. An error is thrown. */
  figures?: Readonly<Record<string, SelfMetrics | Error>>
  backEnds?: Readonly<Record<string, BackEnd>>
  /** Collects all warnings. */
  readonly warnings?: string[]
}

/** Storage in user space that is still empty. */
export const noStorage: UserSpaceStorage = {
  groups: () => Promise.resolve([]),
  volumes: () => Promise.resolve([]),
  mirrors: () => Promise.resolve(new Map()),
}

export function nodeSources(node: RecordedNode): NodeSources {
  return {
    clock: node.clock ?? new SteppedClock(),
    hostname: NODE,
    paths: pathsOf(node.root ?? '', NODE),
    read(file) {
      const text = node.files?.[file]
      return text === undefined ? Promise.reject(missing(file)) : Promise.resolve(text)
    },
    list(directory) {
      const below = Object.keys(node.files ?? {}).filter((file) => file.startsWith(`${directory}/`))
      return Promise.resolve([...new Set(below.map((file) => file.slice(directory.length + 1).split('/')[0] ?? ''))])
    },
    stat: (file) => Promise.resolve(factsOf(node, file)),
    whyUnsafe: (file) => Promise.resolve(node.unsafe?.[file]),
    room(directory) {
      const room = node.rooms?.[directory] ?? missing(directory)
      return room instanceof Error ? Promise.reject(room) : Promise.resolve(room)
    },
    run(command) {
      const output = node.programs?.[command.join(' ')] ?? node.programs?.[command[0] ?? '']
      if (output === undefined) return Promise.reject(new NotInstalled(`${command[0]} is not installed`))
      return output instanceof Error ? Promise.reject(output) : Promise.resolve(output)
    },
    userSpace: () => Promise.resolve(node.userSpace),
    ask(question, query) {
      const answer = node.answers?.[`${question} ${query}`]
      if (answer === undefined) return Promise.reject(new Error('No answer from the Confd server'))
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    candidateClocks: () => Promise.resolve(node.clocks ?? []),
    backEnd(name) {
      const unknown = () => Promise.reject(new Error(`Unknown hypervisor '${name}'`))
      return node.backEnds?.[name] ?? { allInfo: unknown, nodeInfo: unknown }
    },
    figures(role) {
      const reported = node.figures?.[role]
      return reported instanceof Error ? Promise.reject(reported) : Promise.resolve(reported)
    },
    warn: (text) => void node.warnings?.push(text),
  }
}

function factsOf({ files, facts }: RecordedNode, file: string): FileFacts | undefined {
  const text = files?.[file]
  if (text === undefined && facts?.[file] === undefined) return undefined
  return { isFile: true, uid: 0, gid: 0, mode: 0o644, size: text?.length ?? 0, ...facts?.[file] }
}

const missing = (file: string): NodeJS.ErrnoException => systemError('ENOENT', file)

export const systemError = (code: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${path}`), { code, path })
