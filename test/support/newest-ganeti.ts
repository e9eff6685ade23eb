// Debian's packages of Ganeti have folders by version, so that several stand beside each other.
import * as fs from 'node:fs'

/** The newest version of Ganeti's programs in a folder such as `/usr/lib/ganeti`; undefined if it has none. */
export function newestGaneti(folder: string): string | undefined {
  const entries = fs.existsSync(folder) ? fs.readdirSync(folder) : []
  const minors = entries.flatMap((name) => /^3\.(\d+)$/.exec(name)?.[1] ?? []).map(Number)
  return minors.length === 0 ? undefined : `3.${Math.max(...minors)}`
}
