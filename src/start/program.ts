// The program that plays all roles, and how its processes are named.
import * as path from 'node:path'
import type { Disk } from '../lib/disk'
import type { Paths } from '../lib/paths'
import { readRelease } from '../model/release'

/** The program that starts daemons; the path is right from src/ and from dist/. */
export const PROGRAM = path.join(__dirname, '../../bin/gantryd.js')

/** The package's description of its version. */
const RELEASE = path.join(__dirname, '../../release.json')

/** The version of the package that this process runs from; undefined without a package. */
export async function ownRelease(disk: Pick<Disk, 'read'>): Promise<string | undefined> {
  const text = await disk.read(RELEASE)
  return text && readRelease(text.toString('utf8'))?.version
}

/** The parent of a node's daemons starts this regularly. */
export const WATCHER = {
  program: path.join(__dirname, '../../bin/ganeti-watcher'),
  cleaner: path.join(__dirname, '../../bin/ganeti-cleaner'),
}

/** The title in `ps`; virtual nodes add their name. */
export const processTitle = (role: string, { root, hostname }: Paths): string =>
  `ganeti-${role}${root === '' ? '' : ` ${hostname}`}`
