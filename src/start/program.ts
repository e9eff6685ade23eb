// The program that plays all roles, and how its processes are named.
import * as path from 'node:path'
import type { Paths } from '../lib/paths'

/** To be started for another role; from src/ and from dist/ alike. */
export const PROGRAM = path.join(__dirname, '../../bin/gantryd.js')

/** As `ps` shows it; virtual nodes say which one they are. */
export const processTitle = (role: string, { root, hostname }: Paths): string =>
  `ganeti-${role}${root === '' ? '' : ` ${hostname}`}`
