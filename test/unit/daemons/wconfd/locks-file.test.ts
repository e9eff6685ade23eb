// The file of locks survives a kill, in Ganeti's form.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { LocksFile } from '../../../../src/daemons/wconfd/locks-file'
import { systemDisk } from '../../../../src/lib/disk'
import { LOCKS_FILE_BYTES_MAX } from '../../../../src/model/limits/wconfd'

let folder: string
let file: string
const opened: LocksFile[] = []

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'glf-'))
  file = path.join(folder, 'locks.data')
})

afterEach(async () => {
  for (const locks of opened.splice(0)) await locks.close('')
  fs.rmSync(folder, { recursive: true })
})

function open(disk = systemDisk): LocksFile {
  const locks = new LocksFile(disk, file)
  opened.push(locks)
  return locks
}

const reread = () => open().read()

test('the last state that was saved whole counts', async () => {
  const locks = open()
  await expect(locks.read()).resolves.toBeUndefined()
  for (const state of ['["first"]', '["second"]']) {
    await locks.save(state)
    await expect(reread()).resolves.toBe(state)
  }
  fs.appendFileSync(file, '["to')
  await expect(reread()).resolves.toBe('["second"]')
})

test("it is as Ganeti writes it after a clean stop, and Ganeti's is read", async () => {
  const locks = open()
  await locks.save('["first"]')
  await locks.save('["second"]')
  await locks.close('["second"]')
  expect(fs.readFileSync(file, 'utf8')).toBe('["second"]')
  await expect(reread()).resolves.toBe('["second"]')
})

test('it is written anew when it has become long', async () => {
  const locks = open()
  const long = 'x'.repeat(LOCKS_FILE_BYTES_MAX / 3)
  for (const state of ['1', '2', '3', '4']) {
    await locks.save(state + long)
    await expect(reread()).resolves.toBe(state + long)
    expect(fs.statSync(file).size).toBeLessThanOrEqual(LOCKS_FILE_BYTES_MAX)
  }
})

test('after a line that was written in part comes a whole file', async () => {
  let full = false
  const disk = {
    ...systemDisk,
    async openAppender(...args: Parameters<typeof systemDisk.openAppender>) {
      const appender = await systemDisk.openAppender(...args)
      const append = async (data: Buffer) => {
        await appender.append(full ? data.subarray(0, 3) : data)
        if (full) throw new Error('no space left')
      }
      return { ...appender, append }
    },
  }
  const locks = open(disk)
  await locks.save('["first"]')
  full = true
  await expect(locks.save('["second"]')).rejects.toThrow('no space left')
  await expect(reread()).resolves.toBe('["first"]')
  full = false
  await locks.save('["third"]')
  expect(fs.readFileSync(file, 'utf8')).toBe('["third"]\n')
})
