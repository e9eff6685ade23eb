// A copy of the whole project in its own folder, with other texts in some of its files, and with additional files. Its own programs and
// tests run there. It uses the packages of the original.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import type { Overlay } from './overlay'
import { projectFiles, root } from './source-tree'

/** The history, packages, build results and caches. */
const NOT_COPIED = ['.git', '.cache', 'build', 'coverage', 'dist', 'node_modules']

/** Only ends a test that hangs. */
const PATIENCE_MS = 900_000

export class ProductCopy {
  private readonly folder = fs.mkdtempSync(path.join(tmpdir(), 'gantry-copy-'))

  constructor(overlay: Overlay) {
    const own = fs.readdirSync(root).filter((name) => !NOT_COPIED.includes(name))
    for (const name of own)
      fs.cpSync(path.join(root, name), path.join(this.folder, name), { recursive: true, verbatimSymlinks: true })
    for (const [name, text] of overlay) fs.writeFileSync(this.placeOf(name), text)
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(this.folder, 'node_modules'))
  }

  /** Runs a script of the copy. */
  run(script: string): void {
    execFileSync(process.execPath, ['-r', './scripts/typescript.cjs', script], { cwd: this.folder, stdio: 'pipe' })
  }

  /** The files that differ from the project's, and additional files, in order. */
  changes(): Map<string, string> {
    const files = projectFiles('', this.folder).sort()
    const texts = files.map((name) => [name, fs.readFileSync(path.join(this.folder, name), 'utf8')] as const)
    const isOther = ([name, text]: readonly [string, string]): boolean => {
      const original = path.join(root, name)
      return !fs.existsSync(original) || fs.readFileSync(original, 'utf8') !== text
    }
    return new Map(texts.filter(isOther))
  }

  /** Runs test files of the copy. Returns the lines of passed tests with their groups, and the messages of the others. */
  test(...files: readonly string[]): { told: string[]; failures: string[] } {
    const jest = path.join(root, 'node_modules/jest/bin/jest.js')
    // Without this, the inner Jest would take itself for a worker of the outer one.
    const { JEST_WORKER_ID: _outer, ...env } = process.env
    // A cache elsewhere would stay, and no later run would use it.
    const cache = ['--cacheDirectory', path.join(this.folder, '.cache/jest')]
    const { status, stderr } = spawnSync(
      process.execPath,
      [jest, '--verbose', '--maxWorkers', '1', ...cache, ...files],
      {
        ...{ cwd: this.folder, env, maxBuffer: 1 << 28, encoding: 'utf8', timeout: PATIENCE_MS },
      },
    )
    const said = stderr.split(/^(?= +● )/m).slice(1)
    return {
      told: stderr.split('\n').map((line) => line.replace(/ \([\d.]+ m?s\)$/, '').trim()),
      failures: status === 0 ? [] : said.length > 0 ? said : [stderr],
    }
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true })
  }

  private placeOf(name: string): string {
    const file = path.join(this.folder, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    return file
  }
}
