// What a caller may do, as patterns of permissions: `instances.create`, `nodes.*`, `*.query`, `*`. One that begins with `-` takes
// away. A permission is `<kind of object>.<what is done>`; reading is always `query`.

export const ROLES: Readonly<Record<string, readonly string[]>> = {
  '@admin': ['*'],
  '@readonly': ['*.query'],
}

/** Options of the users file, also the older `write` and `read`. Who has none of them may read, as in Ganeti. */
export function permissionsOf(options: Iterable<string>): string[] {
  const permissions: string[] = []
  for (const option of options) {
    if (option === 'write') permissions.push('*')
    else if (option === 'read') permissions.push('*.query')
    else if (option.startsWith('@')) permissions.push(...(ROLES[option] ?? []))
    else if (PATTERN.test(option)) permissions.push(option.replace(/^\+/, ''))
  }
  return permissions.some((pattern) => !pattern.startsWith('-')) ? permissions : ['*.query', ...permissions]
}

export function allows(permissions: readonly string[], wanted: string): boolean {
  const taken = permissions.some((pattern) => pattern.startsWith('-') && matches(pattern.slice(1), wanted))
  return !taken && permissions.some((pattern) => matches(pattern, wanted))
}

export const isPermissionPattern = (text: string): boolean => text === '*' || PATTERN.test(text)

const PATTERN = /^[+-]?([a-z]+|\*)\.([a-z-]+|\*)$/

function matches(pattern: string, wanted: string): boolean {
  if (pattern === '*' || pattern === wanted) return true
  const [kind, verb] = pattern.split('.')
  const [wantedKind, wantedVerb] = wanted.split('.')
  return (kind === '*' || kind === wantedKind) && (verb === '*' || verb === wantedVerb)
}
