// Users and groups by name, as Ganeti's file uploads name owners.
import type { FileOwner } from '../disk'
import { fileVersion } from './file-version'
import type { Files } from '../files'

type Read = Pick<Files, 'readFileSync' | 'statSync'>

/**
 * The owner that a file must get, or undefined to leave it. Root may give files to everybody; others may give their own
 * files to a group of theirs. Without the accounts of a packaged installation, files stay as they are.
 */
export function fileOwner(files: Read, user: string | null, group: string | null): FileOwner | undefined {
  const uid = user === null ? 0 : lookUp(files, '/etc/passwd', user)
  const gid = group === null ? 0 : lookUp(files, '/etc/group', group)
  if (uid === undefined || gid === undefined) return undefined
  const own = process.getuid?.()
  return own === 0 || (own === uid && isIn(gid)) ? { uid, gid } : undefined
}

/** `user:group` of a file for people, or numbers if there is no such account. */
export function ownerText(files: Read, { uid, gid }: FileOwner): string {
  const { user, group } = ownerNames(files, { uid, gid })
  return `${user}:${group}`
}

export const ownerNames = (
  files: Read,
  { uid, gid }: FileOwner,
): { readonly user: string; readonly group: string } => ({
  user: nameIn(files, '/etc/passwd', uid),
  group: nameIn(files, '/etc/group', gid),
})

const isIn = (gid: number): boolean => process.getegid?.() === gid || (process.getgroups?.() ?? []).includes(gid)

interface Accounts {
  readonly stamp: string | undefined
  readonly ids: ReadonlyMap<string, number>
}
const known = new WeakMap<Read, Map<string, Accounts>>()

const lookUp = (files: Read, file: string, name: string): number | undefined => accountsIn(files, file).get(name)

const nameIn = (files: Read, file: string, id: number): string =>
  [...accountsIn(files, file)].find(([, one]) => one === id)?.[0] ?? `${id}`

/** Cached until the file changes: every file of the job queue asks for it. */
function accountsIn(files: Read, file: string): ReadonlyMap<string, number> {
  const stamp = fileVersion(files, file)
  const read = known.get(files) ?? new Map<string, Accounts>()
  known.set(files, read)
  let accounts = read.get(file)
  if (accounts === undefined || accounts.stamp !== stamp)
    read.set(file, (accounts = { stamp, ids: readIds(files, file) }))
  return accounts.ids
}

/** Both files have lines `name:password:number:...`. The first line of a name counts. */
function readIds(files: Read, file: string): ReadonlyMap<string, number> {
  const lines = files.readFileSync(file, 'utf8').split('\n').reverse()
  return new Map(
    lines.map((line) => {
      const [account = '', , id] = line.split(':')
      return [account, Number(id)]
    }),
  )
}
