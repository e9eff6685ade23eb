// The program that plays all roles, and how its processes are named.
import * as path from 'node:path'
import type { Paths } from '../lib/paths'

/** The program that starts daemons; the path is right from src/ and from dist/. */
export const PROGRAM = path.join(__dirname, '../../bin/gantryd.js')

/** What the parent of a node's daemons starts now and then. */
export const WATCHER = {
  program: path.join(__dirname, '../../bin/ganeti-watcher'),
  cleaner: path.join(__dirname, '../../bin/ganeti-cleaner'),
}

/** As `ps` shows it; virtual nodes say which one they are. */
export const processTitle = (role: string, { root, hostname }: Paths): string =>
  `ganeti-${role}${root === '' ? '' : ` ${hostname}`}`
