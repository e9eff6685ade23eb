// What every disk does alike: the system's, that of the unit tests, and that of the simulation.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Disk, systemDisk } from '../../../src/lib/disk'
import { SimDisk } from '../../simulation/sim-disk'
import { Simulator } from '../../simulation/simulator'
import { MemoryDisk } from '../config/memory-disk'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'disk-contract-'))
let number = 0
afterAll(() => fs.rmSync(folder, { recursive: true }))

describe.each<[string, () => Disk]>([
  ['the system', () => systemDisk],
  ['unit tests', () => new MemoryDisk()],
  ['the simulation', () => new SimDisk(new Simulator(1, false)).now],
])('the disk of %s', (_, make) => {
  let disk: Disk
  let file: string
  beforeEach(() => {
    disk = make()
    file = `${folder}/${++number}`
  })
  const text = async (name = file) => (await disk.read(name))?.toString()

  test('has no content for a file that is not there', async () => {
    expect(await text()).toBeUndefined()
    await disk.remove(file)
    expect(await text()).toBeUndefined()
  })

  test('replaces a file whole', async () => {
    await disk.write(file, 'longer than the next')
    await disk.write(file, 'new')
    expect(await text()).toBe('new')
  })

  test('adds to a file, and makes it', async () => {
    await disk.append(file, Buffer.from('a'))
    await disk.append(file, Buffer.from('b'))
    const appender = await disk.openAppender(file)
    await appender.append(Buffer.from('c'))
    expect([await text(), appender.size()]).toEqual(['abc', 3])
    await appender.close()
    await (await disk.openAppender(file, { truncate: true })).close()
    expect(await text()).toBe('')
  })

  test('accepts what is appended to a file that was removed or replaced, and nobody finds it', async () => {
    const removed = await disk.openAppender(file)
    await disk.remove(file)
    await removed.append(Buffer.from('lost'))
    expect(await text()).toBeUndefined()
    await disk.write(file, 'old')
    const replaced = await disk.openAppender(file)
    await disk.write(file, 'new')
    await replaced.append(Buffer.from('lost'))
    expect(await text()).toBe('new')
    await removed.close()
    await replaced.close()
  })

  test('moves a file over another, and refuses to move one that is not there', async () => {
    await disk.write(file, 'moved')
    await disk.write(`${file}b`, 'replaced')
    await disk.rename(file, `${file}b`)
    expect([await text(), await text(`${file}b`)]).toEqual([undefined, 'moved'])
    await expect(disk.rename(file, `${file}b`)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
