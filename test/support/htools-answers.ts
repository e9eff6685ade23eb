// The allocation programs that are compared with recordings, and their input files.
import * as fs from 'node:fs'
import * as path from 'node:path'

export const DATA = path.join(__dirname, '..', 'data', 'htools')
export const ANSWERS = path.join(__dirname, '..', 'golden', 'htools', 'answers.json')

export const dataFiles = (): string[] => fs.readdirSync(DATA).filter((name) => name.endsWith('.data'))

export const VARIANTS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['hspace', '--machine-readable'],
  ['hcheck', '--machine-readable'],
  ['hcheck', '--no-simulation'],
]
