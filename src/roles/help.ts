// The texts of `gantryd --help` and `gantryd ROLE --help`.
import { DAEMON_ACTIONS, HELPERS, NODE_PROGRAMS, NODE_SERVERS } from './helpers'
import { optionsOf } from './options'
import type { Place, Role } from './role'
import { ROLES } from './table'

const PLACES: Record<Place, string> = {
  system: 'every node, started by its service manager',
  node: 'every node',
  candidate: 'master candidates',
  master: 'the master',
  demand: 'nodes where the master asks for it',
}

/** Names in one column, their texts in another. */
function table(rows: readonly (readonly [name: string, text: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}\n`).join('')
}

export const usage = (): string => `usage: gantryd ROLE [options]

roles:
${table(ROLES.map(({ name, text, place }) => [name, `${text} (${PLACES[place]})`]))}
for people:
${table([
  ['embedded', 'a cluster of virtual nodes on this machine: what "npm start" runs; see "gantryd embedded --help"'],
  [
    'fold',
    'writes plain files from the journals, config.data and jobs, for other tools; no daemon may run; --take-file: they are right as they are',
  ],
])}
processes that noded starts:
${table(Object.entries(NODE_SERVERS).map(([name, { text }]) => [name, text]))}
programs that a master runs here over SSH, with a request on the standard input; they have these names, too:
${table(Object.entries(NODE_PROGRAMS).map(([name, { text }]) => [name, text]))}
programs for scripts of this node, which have these names, too:
${table(Object.entries(HELPERS).map(([name, { text }]) => [name, text]))}
"gantryd ROLE --help" lists the options of a role. GANETI_ROOTDIR and GANETI_HOSTNAME select a virtual node.
`

/** Describes a program that is no daemon. */
export function helperHelp(name: string): string {
  const { text = '', usage: line = name, about = '' } = { ...HELPERS, ...NODE_PROGRAMS, ...NODE_SERVERS }[name] ?? {}
  const actions = name === 'daemon-util' ? `\nactions:\n${table(Object.entries(DAEMON_ACTIONS))}` : ''
  return `usage: ${line}\n\n${text}. ${about}\n${actions}`
}

export function roleHelp(role: Role): string {
  const { name, program, text, place, user, port, sockets = [], log, after = [], exits = {} } = role
  const facts: [string, string | undefined][] = [
    ['runs on', PLACES[place]],
    ['account', user],
    ['port', port && `${port.number}/${port.protocol}`],
    ['sockets', sockets.map((socket) => `ganeti-${socket}`).join(', ') || undefined],
    ['log', `${log}.log`],
    ['waits for', after.join(', ') || undefined],
  ]
  const codes: [string, string][] = [
    ['0', 'it was stopped'],
    ['1', 'it cannot start, or did not stop cleanly; its log says why'],
    ...Object.entries(exits),
  ]
  return `usage: gantryd ${name} [options]   (or ${program})

${text}

${table(facts.flatMap(([fact, value]) => (value === undefined ? [] : [[fact, value] as const])))}
options:
${table(optionsOf(role).map(([option, described]) => [optionName(option, described), described.text]))}
exit codes:
${table(codes)}`
}

const optionName = (
  name: string,
  option: { readonly text: string; readonly short?: string; readonly value?: string },
): string =>
  `${option.short === undefined ? '    ' : `-${option.short}, `}--${name}${option.value === undefined ? '' : ` ${option.value}`}`
