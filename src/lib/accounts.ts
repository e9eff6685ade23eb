// Users and groups by name, as Ganeti's file uploads name owners.
import * as fs from 'node:fs'
import type { FileOwner } from './disk'
import { fileStamp } from './file-stamp'

/**
 * The owner that a file must get, or undefined to leave it. Root may give files to everybody; others may give their own
 * files to a group of theirs. Without the accounts of a packaged installation, files stay as they are.
 */
export function fileOwner(user: string | null, group: string | null): FileOwner | undefined {
  const uid = user === null ? 0 : lookUp('/etc/passwd', user)
  const gid = group === null ? 0 : lookUp('/etc/group', group)
  if (uid === undefined || gid === undefined) return undefined
  const own = process.getuid?.()
  return own === 0 || (own === uid && isIn(gid)) ? { uid, gid } : undefined
}

/** `user:group` of a file for people, or numbers if there is no such account. */
export function ownerText({ uid, gid }: FileOwner): string {
  return `${nameIn('/etc/passwd', uid)}:${nameIn('/etc/group', gid)}`
}

const isIn = (gid: number): boolean => process.getegid?.() === gid || (process.getgroups?.() ?? []).includes(gid)

const known = new Map<string, { stamp: string | undefined; ids: ReadonlyMap<string, number> }>()

const lookUp = (file: string, name: string): number | undefined => accountsIn(file).get(name)

const nameIn = (file: string, id: number): string => [...accountsIn(file)].find(([, one]) => one === id)?.[0] ?? `${id}`

/** Cached until the file changes: every file of the job queue asks for it. */
function accountsIn(file: string): ReadonlyMap<string, number> {
  const stamp = fileStamp(fs, file)
  let accounts = known.get(file)
  if (accounts === undefined || accounts.stamp !== stamp) known.set(file, (accounts = { stamp, ids: readIds(file) }))
  return accounts.ids
}

/** Both files have lines `name:password:number:...`. The first line of a name counts. */
function readIds(file: string): ReadonlyMap<string, number> {
  const lines = fs.readFileSync(file, 'utf8').split('\n').reverse()
  return new Map(
    lines.map((line) => {
      const [account = '', , id] = line.split(':')
      return [account, Number(id)]
    }),
  )
}
