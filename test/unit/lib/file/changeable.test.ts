// Whether somebody else could change what root is about to start.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { whyUnsafe } from '../../../../src/lib/file/changeable'
import { systemFiles } from '../../../../src/lib/files'

let root = ''
let program = ''
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-unsafe-'))
  program = path.join(root, 'etc/commands/check')
  fs.mkdirSync(path.dirname(program), { recursive: true, mode: 0o755 })
  fs.writeFileSync(program, '#!/bin/sh\n')
  fs.chmodSync(program, 0o755)
})
afterEach(() => fs.rmSync(root, { recursive: true }))

const why = (file = program) => whyUnsafe(systemFiles, file, root)

test('a program that only its owner may change is safe, whatever may be done above the root of its node', async () => {
  expect(await why()).toBeUndefined()
  expect(await whyUnsafe(systemFiles, program, path.join(root, 'etc'))).toBeUndefined()
  fs.chmodSync(root, 0o777)
  expect(await whyUnsafe(systemFiles, program, path.join(root, 'etc'))).toBeUndefined()
  expect(await why()).toContain(`${root} can be written by others`)
})

test.each([
  [
    'a link',
    () => void (fs.renameSync(program, `${program}.real`), fs.symlinkSync(`${program}.real`, program)),
    'a link',
  ],
  ['a folder', () => void (fs.rmSync(program), fs.mkdirSync(program)), 'not a plain file'],
  ['one that is gone', () => fs.rmSync(program), 'does not exist'],
  ['one that others may write', () => fs.chmodSync(program, 0o775), 'check can be written by others'],
  ['one in a folder of others', () => fs.chmodSync(path.dirname(program), 0o775), 'commands can be written by others'],
  ['one further down', () => fs.chmodSync(path.join(root, 'etc'), 0o757), 'etc can be written by others'],
  ['one that cannot be started', () => fs.chmodSync(program, 0o644), 'not executable'],
])('a program is refused: %s', async (_, change, reported) => {
  change()
  expect(await why()).toContain(reported)
})

test('a program that somebody else owns is refused', async () => {
  const lstat = (file: string) => Promise.resolve(Object.assign(fs.lstatSync(file), { uid: 4711 }))
  const files = { ...systemFiles, lstat: lstat as typeof systemFiles.lstat }
  expect(await whyUnsafe(files, program, root)).toContain('belongs to another user')
})
