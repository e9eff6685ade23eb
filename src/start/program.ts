// The program that plays all roles, and how its processes are named.
import * as path from 'node:path'
import type { Disk } from '../lib/disk'
import type { Paths } from '../lib/paths'
import { readRelease } from '../model/release'

/** The program that starts daemons; the path is right from src/ and from dist/. */
export const PROGRAM = path.join(__dirname, '../../bin/gantryd.js')

/** What a package says of the version that it is. */
const RELEASE = path.join(__dirname, '../../release.json')

/** The version of the package that this process runs from; undefined where there is none. */
export async function ownRelease(disk: Pick<Disk, 'read'>): Promise<string | undefined> {
  const text = await disk.read(RELEASE)
  return text && readRelease(text.toString('utf8'))?.version
}

/** What the parent of a node's daemons starts now and then. */
export const WATCHER = {
  program: path.join(__dirname, '../../bin/ganeti-watcher'),
  cleaner: path.join(__dirname, '../../bin/ganeti-cleaner'),
}

/** As `ps` shows it; virtual nodes say which one they are. */
export const processTitle = (role: string, { root, hostname }: Paths): string =>
  `ganeti-${role}${root === '' ? '' : ` ${hostname}`}`
