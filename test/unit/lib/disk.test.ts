// What the disk does beyond writing: leftovers, and files of an unknown length.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { removeLeftovers, systemDisk } from '../../../src/lib/disk'

test('temporary files of processes that were killed are removed, and those of the living are not', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'disk-'))
  // The kernel gives no process such a number.
  const dead = 2 ** 22 + 1
  const names = [`.job-1.${dead}.7.new`, `.job-2.${process.pid}.8.new`, 'job-1', '.hidden', '.x.new']
  for (const name of names) fs.writeFileSync(path.join(directory, name), '')
  await removeLeftovers(systemDisk, directory)
  expect(fs.readdirSync(directory).sort()).toEqual(names.slice(1).sort())
  await removeLeftovers(systemDisk, path.join(directory, 'absent'))
  fs.rmSync(directory, { recursive: true })
})

test('a file is read whole, whatever its length, and whether or not it has one', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gd'))
  for (const length of [0, 1, 100_000]) {
    fs.writeFileSync(`${directory}/file`, 'x'.repeat(length))
    expect((await systemDisk.read(`${directory}/file`))?.length).toBe(length)
  }
  expect((await systemDisk.read('/proc/self/status'))?.toString()).toMatch(/^Name:/)
  expect(await systemDisk.read(`${directory}/none`)).toBeUndefined()
  fs.rmSync(directory, { recursive: true })
})
