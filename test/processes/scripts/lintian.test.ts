// Packages are checked by lintian where it is there; a double takes its place.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { passesLintian } from '../../../scripts/package/lintian'
import manifest from '../../../package.json'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lintian-'))
})
afterEach(() => {
  jest.restoreAllMocks()
  fs.rmSync(folder, { recursive: true })
})

function double(code: number): string {
  const file = path.join(folder, 'lintian')
  fs.writeFileSync(file, `#!/bin/sh\nprintf '%s|' "$@" > ${folder}/asked\nexit ${code}\n`, { mode: 0o755 })
  return file
}

test('each package that was built is shown to it, and a warning is a failure', () => {
  expect(passesLintian(['a.deb', 'b.deb'], double(0))).toBe(true)
  expect(fs.readFileSync(path.join(folder, 'asked'), 'utf8')).toBe('--allow-root|--fail-on|error,warning|a.deb|b.deb|')
  expect(passesLintian(['a.deb'], double(2))).toBe(false)
})

test('where it is not installed, packages are built without it, and that is said', () => {
  const said = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
  expect(passesLintian(['a.deb'], path.join(folder, 'nowhere'))).toBe(true)
  expect(said).toHaveBeenCalledWith(expect.stringContaining('apt-get install lintian'))
})

test('npm run package asks for it', () => {
  expect(manifest.scripts.package).toMatch(/ --check$/)
})
