// Users and groups by name, as Ganeti's file uploads name owners.
import * as fs from 'node:fs'
import type { FileOwner } from '../lib/disk'

/**
 * The owner to give a file, or undefined when it stays ours: only root may give files away, and where the accounts of a
 * packaged installation do not exist there is nobody to give them to.
 */
export function fileOwner(user: string | null, group: string | null): FileOwner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const uid = user === null ? 0 : lookUp('/etc/passwd', user)
  const gid = group === null ? 0 : lookUp('/etc/group', group)
  return uid === undefined || gid === undefined ? undefined : { uid, gid }
}

/** Both files are `name:password:number:...`. */
function lookUp(file: string, name: string): number | undefined {
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    const [account, , id] = line.split(':')
    if (account === name) return Number(id)
  }
  return undefined
}
