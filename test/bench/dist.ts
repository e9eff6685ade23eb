// The built program, built anew when a source is younger.
import { execFileSync } from 'node:child_process'
import * as path from 'node:path'

const ROOT = path.join(__dirname, '..', '..')

export const findInstalledDist = (): string => path.join(ROOT, 'dist')

export const buildIfStale = (): void =>
  void execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: 'inherit' })

export const buildConsoleIfStale = (): void =>
  void execFileSync(process.execPath, ['scripts/build-ui.mjs'], { cwd: ROOT, stdio: 'inherit' })
