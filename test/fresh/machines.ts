// The machines on which both commands of README.md must hold. Any two properties meet on some machine.

export interface Machine {
  readonly user: 'root' | 'ordinary'
  readonly umask: '0002' | '0022' | '0077'
  /** The major version of Node. */
  readonly node: '20' | '22' | '24'
  readonly qemu: 'there' | 'hidden'
  /** Whether Ganeti's accounts exist. */
  readonly accounts: 'none' | 'ganeti'
  /** The name of the project's folder. */
  readonly folder: 'gantry' | 'a b'
  /** Whether the home is on a file system of its own. */
  readonly home: 'here' | 'apart'
  readonly tmp: 'large' | 'small'
}

const VALUES = {
  user: ['root', 'ordinary'],
  umask: ['0002', '0022', '0077'],
  node: ['20', '22', '24'],
  qemu: ['there', 'hidden'],
  accounts: ['none', 'ganeti'],
  folder: ['gantry', 'a b'],
  home: ['here', 'apart'],
  tmp: ['large', 'small'],
} as const satisfies { readonly [K in keyof Machine]: readonly Machine[K][] }

const KEYS = Object.keys(VALUES) as (keyof Machine)[]

/** The first few have every property once. */
export const MACHINES: readonly Machine[] = [
  machine('ordinary', '0002', '24', 'hidden', 'none', 'a b', 'apart', 'small'),
  machine('ordinary', '0077', '22', 'there', 'ganeti', 'a b', 'here', 'large'),
  machine('root', '0022', '22', 'hidden', 'ganeti', 'gantry', 'apart', 'small'),
  machine('ordinary', '0022', '20', 'there', 'none', 'gantry', 'here', 'small'),
  machine('root', '0002', '20', 'there', 'ganeti', 'gantry', 'apart', 'large'),
  machine('root', '0077', '24', 'hidden', 'none', 'gantry', 'here', 'large'),
  machine('root', '0022', '24', 'there', 'ganeti', 'a b', 'apart', 'large'),
  machine('root', '0077', '20', 'hidden', 'ganeti', 'a b', 'apart', 'small'),
  machine('root', '0002', '22', 'there', 'none', 'gantry', 'here', 'large'),
]

function machine(
  ...[user, umask, node, qemu, accounts, folder, home, tmp]: [
    Machine['user'],
    Machine['umask'],
    Machine['node'],
    Machine['qemu'],
    Machine['accounts'],
    Machine['folder'],
    Machine['home'],
    Machine['tmp'],
  ]
): Machine {
  return { user, umask, node, qemu, accounts, folder, home, tmp }
}

/** How many of them every change is tried on. */
export const EVERY_CHANGE = 4

export const nameOf = (machine: Machine): string => KEYS.map((key) => `${key}=${machine[key]}`).join(' ')

/** Properties, and pairs of them, that no machine has. */
export function unmet(machines: readonly Machine[], together: 1 | 2): string[] {
  const all = KEYS.flatMap((key) => VALUES[key].map((value) => ({ key, value })))
  const sets = together === 1 ? all.map((one) => [one]) : all.flatMap((one) => all.map((other) => [one, other]))
  const possible = sets.filter((set) => new Set(set.map(({ key }) => key)).size === set.length)
  return possible
    .filter((set) => !machines.some((machine) => set.every(({ key, value }) => machine[key] === value)))
    .map((set) => set.map(({ key, value }) => `${key}=${value}`).join(' with '))
}
