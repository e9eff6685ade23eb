// The users file of the remote API: `<user> <password> [option,...]`, where a password is clear text, {CLEARTEXT}text or
// {HA1}md5-of-user:realm:password.

export interface UserEntry {
  readonly name: string
  readonly password: string
  /** `read` and `write`; write does not include read. */
  readonly options: ReadonlySet<string>
}

/** undefined for an unknown form: a text that begins with a brace is always a form. */
export function passwordForm(stored: string): { scheme: 'CLEARTEXT' | 'HA1'; value: string } | undefined {
  if (!stored.startsWith('{')) return { scheme: 'CLEARTEXT', value: stored }
  const [, named = '', value = ''] = /^\{([^}]*)\}(.*)$/s.exec(stored) ?? []
  const scheme = named.toUpperCase()
  return scheme === 'CLEARTEXT' || scheme === 'HA1' ? { scheme, value } : undefined
}

export function parseUsers(text: string): Map<string, UserEntry> {
  const users = new Map<string, UserEntry>()
  for (const line of text.split('\n')) {
    // We ignore blanks between options, as Ganeti does.
    const [, name, password, options = ''] = /^(\S+)\s+(\S+)\s*(.*)$/s.exec(line.trim()) ?? []
    if (name === undefined || name.startsWith('#') || password === undefined) continue
    const named = options.split(',').map((option) => option.trim())
    users.set(name, { name, password, options: new Set(named.filter((option) => option !== '')) })
  }
  return users
}
