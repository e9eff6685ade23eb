// Ganeti's own command line programs, where they were fetched (test/peers/ganeti-programs.sh).
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { testWith } from './needs'

export const PYTHON = '/usr/bin/python3'
export const GANETI_PROGRAMS = path.join(__dirname, '../../.cache/ganeti-programs')
const MODULES = ['simplejson', 'pyparsing', 'openssl', 'pyinotify', 'pycurl', 'paramiko', 'bitarray', 'psutil']
export const GANETI_PACKAGES = `${MODULES.map((name) => `python3-${name}`).join(' ')} && sh test/peers/ganeti-programs.sh`

export const ganetiPresent =
  fs.existsSync(path.join(GANETI_PROGRAMS, 'gnt-instance')) &&
  spawnSync(PYTHON, [path.join(GANETI_PROGRAMS, 'gnt-instance'), '--version']).status === 0

export const ganetiTest = testWith(ganetiPresent, GANETI_PACKAGES)
