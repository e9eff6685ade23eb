// The users file of the remote API: `<user> <password> [option,...]`, where a password is clear text, {CLEARTEXT}text or
// {HA1}md5-of-user:realm:password.

export interface UserEntry {
  readonly name: string
  readonly password: string
  /** `read` and `write`; write does not include read. */
  readonly options: ReadonlySet<string>
}

export function parseUsers(text: string): Map<string, UserEntry> {
  const users = new Map<string, UserEntry>()
  for (const line of text.split('\n')) {
    const [name, password, options = ''] = line.trim().split(/\s+/)
    if (name === undefined || name.startsWith('#') || password === undefined) continue
    users.set(name, { name, password, options: new Set(options.split(',').filter((option) => option !== '')) })
  }
  return users
}
