// Describes a daemon. All code that starts, stops, names or installs daemons reads these descriptions.
import type { Frugal } from '../lib/programs/node-flags'
import type { OptionName, OptionTexts } from './options'

/**
 * Where a role runs. `system`: the machine's service manager starts it. `node`: on every node. `candidate`: on master
 * candidates. `master`: on the master. `demand`: where the master has asked for it.
 */
export type Place = 'system' | 'node' | 'candidate' | 'master' | 'demand'

export interface Role {
  /** `gantryd NAME` plays it. */
  readonly name: string
  /** Ganeti's name of the daemon, and of the process. */
  readonly program: `ganeti-${string}`
  /** One line for people: what it does. */
  readonly text: string
  readonly place: Place
  /** Missing if it runs with both kinds of nodes. */
  readonly nodes?: 'real' | 'simulated'
  /** Its account in Debian's packages. */
  readonly user: string
  readonly group: string
  /** The default of its option. Code that may not know of roles has it from `PORT`. */
  readonly port?: { readonly protocol: 'tcp' | 'udp'; readonly number: number }
  /** A node without this role lacks these things, and nothing else. So it starts all the same, and tries again. */
  readonly part?: string
  /** Its Unix sockets: `ganeti-NAME` in the directory of sockets. */
  readonly sockets?: readonly string[]
  /** The file's name below the directory of logs, without `.log`. */
  readonly log: string
  readonly options: readonly OptionName[]
  /** Help texts for options that mean something else than in other roles. */
  readonly meanings?: OptionTexts
  /** Options that Ganeti's daemon takes and this one does not, and why. */
  readonly refuses?: OptionTexts
  /** The meanings of exit codes other than 0 and 1. After one of these the daemon is not started again. */
  readonly exits?: Readonly<Record<number, string>>
  /** Roles on the same node that must be ready before this one starts. */
  readonly after?: readonly string[]
  /** If the place alone does not decide: the role runs where these ssconf files have these lines. %H stands for the node's name. */
  readonly lines?: Readonly<Record<string, string>>
  /** It ends after a defect, since all that it knows is on the disk or comes from others. The others go on. */
  readonly losesNothing?: true
  /** How a role with few objects saves memory. */
  readonly frugal?: Frugal
}

/** Whether nodes have it that are not simulated, and their service manager may start it alone. */
export const isDaemonOfNode = <R extends Role>(role: R): role is DaemonOfNode<R> =>
  role.nodes !== 'simulated' && role.place !== 'system'

export type DaemonOfNode<R extends Role> = Exclude<R, { nodes: 'simulated' } | { place: 'system' }>

/** All of these lines are in the ssconf files of a node that should have the role. */
export const wantedLines = ({ lines = {} }: Role, hostname: string): (readonly [file: string, line: string])[] =>
  Object.entries(lines).map(([file, line]) => [file, line.replace('%H', hostname)])

/** The roles of one place, each after the roles for which it waits. */
export function inOrder(roles: readonly Role[]): Role[] {
  const ordered: Role[] = []
  const add = (role: Role, above: readonly Role[]): void => {
    if (ordered.includes(role)) return
    if (above.includes(role))
      throw new Error(`roles wait for each other: ${[...above, role].map(({ name }) => name).join(', ')}`)
    for (const other of roles) if (role.after?.includes(other.name)) add(other, [...above, role])
    ordered.push(role)
  }
  for (const role of roles) add(role, [])
  return ordered
}
