// Which programs of allocation are compared with recordings, on which files.
import * as fs from 'node:fs'
import * as path from 'node:path'

export const DATA = path.join(__dirname, '..', 'data', 'htools')
export const ANSWERS = path.join(__dirname, '..', 'golden', 'htools', 'answers.json')

/** On these a node has exactly the memory it must keep: Ganeti 3.1, and we, call that too little; Debian's 3.0 does at load not. */
export const NEWER_RULE = ['hbal-location-2.data', 'missing-resources.data']

export const dataFiles = (): string[] =>
  fs.readdirSync(DATA).filter((name) => name.endsWith('.data') && !NEWER_RULE.includes(name))

export const VARIANTS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['hspace', '--machine-readable'],
  ['hcheck', '--machine-readable'],
  ['hcheck', '--no-simulation'],
]
