// Nothing that is no plain file of a bounded length can hold up its reader.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { readBounded, readEnd, readPlainFile } from '../../../../src/lib/file/read-bounded'

test('a file that has no end is refused, another one is read whole', () => {
  expect(() => readBounded('/dev/zero', 1 << 20)).toThrow('it has more than 1048576 bytes')
  expect(readBounded(__filename, 1 << 20)).toContain('is read whole')
  expect(() => readBounded('/nosuch', 1)).toThrow('ENOENT')
})

test('a pipe and a device are refused at once where a plain file is expected', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-plain-'))
  const pipe = path.join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  await expect(readPlainFile(systemFiles, pipe, 100)).rejects.toThrow('it is no plain file')
  await expect(readPlainFile(systemFiles, '/dev/zero', 100)).rejects.toThrow('it is no plain file')
  fs.writeFileSync(path.join(folder, 'file'), 'secret\n')
  expect(await readPlainFile(systemFiles, path.join(folder, 'file'), 7)).toBe('secret\n')
  await expect(readPlainFile(systemFiles, path.join(folder, 'file'), 6)).rejects.toThrow('it has more than 6 bytes')
  await expect(readEnd(systemFiles, pipe, 100)).rejects.toThrow('it is no plain file')
  expect(await readEnd(systemFiles, path.join(folder, 'file'), 4)).toBe('ret\n')
  expect(await readEnd(systemFiles, path.join(folder, 'file'), 100)).toBe('secret\n')
  fs.rmSync(folder, { recursive: true })
})
