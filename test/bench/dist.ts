// The built program, built anew when a source is younger.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'

const ROOT = path.join(__dirname, '..', '..')
const DIST = path.join(ROOT, 'dist')

export const findInstalledDist = (): string => DIST

export function buildIfStale(say: (text: string) => void): void {
  const built = path.join(DIST, 'main.js')
  const newest = youngest(path.join(ROOT, 'src'))
  // The compiler leaves files alone whose text would be the same, but always writes this one.
  const marks = [path.join(DIST, '.tsbuildinfo'), built].filter((file) => fs.existsSync(file))
  if (fs.existsSync(built) && marks.some((file) => fs.statSync(file).mtimeMs > newest)) return
  say('building')
  const run = (...words: string[]) => execFileSync(process.execPath, words, { cwd: ROOT, stdio: 'inherit' })
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
  run('scripts/bundle.mjs')
}

function youngest(directory: string): number {
  return fs.readdirSync(directory, { withFileTypes: true }).reduce((newest, entry) => {
    const file = path.join(directory, entry.name)
    return Math.max(newest, entry.isDirectory() ? youngest(file) : fs.statSync(file).mtimeMs)
  }, 0)
}
