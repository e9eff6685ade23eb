// Shell completion of gantryd and of the daemons: roles, other programs, and their options.
import { HELPERS, NODE_PROGRAMS } from './helpers'
import { optionsOf } from './options'
import type { Role } from './role'
import { ROLES, roleNamed } from './table'

/** `words` end with the one at the cursor. */
export function completions(words: readonly string[]): string[] {
  const current = words.at(-1) ?? ''
  return candidates(words).filter((one) => one.startsWith(current))
}

function candidates([first = '', ...rest]: readonly string[]): string[] {
  if (rest.length === 0)
    return [
      ...ROLES.map(({ name }) => name),
      'embedded',
      'fold',
      ...Object.keys(NODE_PROGRAMS),
      ...Object.keys(HELPERS),
    ]
  const role = roleNamed(first)
  if (role === undefined) return []
  const glued = /^--([^=]+)=/.exec(rest.at(-1) ?? '')?.[1]
  return optionsOf(role).flatMap(([name, { short, value, choices = [] }]) => {
    if (glued !== undefined) return glued === name ? choices.map((choice) => `--${name}=${choice}`) : []
    return [value === undefined ? `--${name}` : `--${name}=`, ...(short === undefined ? [] : [`-${short}`])]
  })
}

/** Ganeti's words for kinds of values. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ ADDRESS: 'inetaddr', PORT: 'integer', NUMBER: 'integer', FILE: 'file', FOLDER: 'dir', PATH: 'file' },
}

/** What --help-completion prints: names of an option, and what it takes. */
export const optionList = (role: Role): string =>
  optionsOf(role)
    .map(([name, { short, value, choices }]) => {
      const kind = choices === undefined ? (KINDS[value ?? ''] ?? 'string') : `choices=${choices.join(',')}`
      return `${short === undefined ? '' : `-${short},`}--${name} ${value === undefined ? 'none' : kind}\n`
    })
    .join('')
