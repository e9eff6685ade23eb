// Shell completion of gantryd: roles, its other programs, and their options.
import { HELPERS, NODE_PROGRAMS } from './helpers'
import { optionsOf } from './options'
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
  return optionsOf(role).flatMap(([name, { short, value }]) => [
    value === undefined ? `--${name}` : `--${name}=`,
    ...(short === undefined ? [] : [`-${short}`]),
  ])
}
