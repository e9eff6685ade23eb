// Volumes in user space: what their groups give away, and what the node says of them. What every driver does is in the contract suite.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles as files } from '../../../../../src/lib/files'
import { groupSpace } from '../../../../../src/node/storage/lvm/space'
import { userVolumeDriver } from '../../../../../src/node/storage/user/driver'
import { makeGroup } from '../../../../../src/node/storage/user/volumes'
import { reportsOf, volumeStates } from '../../../../../src/node/storage/volume-reports'
import { type TestNode, testNode } from '../../../../support/node-context'

const folders: string[] = []
let node: TestNode
let folder: string
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-volumes-'))
  folders.push(folder)
  node = testNode('node1.example.com', { userVolumes: folder })
  await makeGroup(files, folder, 'xenvg', 100)
})
afterEach(() => {
  node.remove()
  for (const one of folders.splice(0)) fs.rmSync(one, { recursive: true })
})

const driver = () => userVolumeDriver(folder)(node.context)
const disk = (name: string, size = 60) => ({ uuid: name, dev_type: 'plain', logical_id: ['xenvg', name], size })
const reports = () => reportsOf(node.context)

test('a group gives away no more than it has, and names what is left', async () => {
  await driver().create(disk('a'), 60, [], {})
  await expect(driver().create(disk('b'), 60, [], {})).rejects.toThrow(
    /Volume group 'xenvg' on node node1.example.com is too full for 60 MiB, it has 40 MiB left/,
  )
  const device = await driver().find(disk('a'), [])
  if (device === undefined) throw new Error('the volume is missing')
  await expect(driver().grow(disk('a'), device, 41, { dryRun: true })).rejects.toThrow('too full for 41 MiB')
  await driver().grow(disk('a'), device, 40, { dryRun: false })
  await expect(reports().groups()).resolves.toEqual([{ name: 'xenvg', size_mib: 100, free_mib: 0 }])
})

test('two volumes that are made in the same moment do not both get the last room', async () => {
  const made = await Promise.allSettled(['a', 'b'].map((name) => driver().create(disk(name), 60, [], {})))
  expect(made.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2)
  const [group] = await reports().groups()
  expect([40, 100]).toContain(group?.free_mib)
})

test('nothing is allocated on a closed physical volume, and what is there stays', async () => {
  await driver().create(disk('a', 10), 10, [], {})
  await reports().modify('lvm-pv', 'xenvg', { allocatable: false })
  await expect(reports().physical()).resolves.toMatchObject([{ name: 'xenvg', allocatable: false, attributes: '---' }])
  await expect(driver().create(disk('b'), 10, [], {})).rejects.toThrow(
    "No physical volume of group 'xenvg' on node node1.example.com may be used: 'gnt-node modify-storage --allocatable yes",
  )
  expect(await driver().find(disk('a'), [])).toBeDefined()
  await reports().modify('lvm-pv', 'xenvg', { allocatable: true })
  await driver().create(disk('b', 10), 10, [], {})
  await expect(reports().modify('lvm-pv', 'other', { allocatable: true })).rejects.toThrow(
    "There is no volume group 'other'",
  )
  await expect(reports().modify('lvm-pv', 'xenvg', { size: 1 })).rejects.toThrow('have nothing to modify in: size')
  await expect(reports().modify('lvm-vg', 'xenvg', { allocatable: true })).rejects.toThrow('have nothing to modify in')
})

test('a group that has lost its volumes says so, makes none, and is usable again after a repair', async () => {
  await driver().create(disk('a', 10), 10, [], {})
  const device = await driver().find(disk('a'), [])
  if (device === undefined) throw new Error('the volume is missing')
  await driver().setInfo(disk('a'), device, 'originstname+vm1')
  fs.rmSync(path.join(folder, 'xenvg/volumes'), { recursive: true })
  await expect(reports().physical()).resolves.toMatchObject([{ attributes: 'a-m' }])
  await expect(driver().create(disk('b', 10), 10, [], {})).rejects.toThrow(
    "'gnt-node repair-storage node1.example.com lvm-vg xenvg'",
  )
  await reports().repair('lvm-vg', 'xenvg', 'fix-consistency')
  await expect(reports().physical()).resolves.toMatchObject([{ attributes: 'a--' }])
  expect(fs.readdirSync(path.join(folder, 'xenvg/tags'))).toEqual([])
  await driver().create(disk('a', 10), 10, [], {})
  await expect(reports().repair('lvm-vg', 'other', 'fix-consistency')).rejects.toThrow(
    "There is no volume group 'other'",
  )
  await expect(reports().repair('lvm-pv', 'xenvg', 'fix-consistency')).rejects.toThrow('do not know the operation')
})

test('a group that is not there is told by its name', async () => {
  const strange = { ...disk('a'), logical_id: ['other', 'a'] }
  await expect(driver().create(strange, 1, [], {})).rejects.toThrow("There is no volume group 'other'")
  await expect(volumeStates(reports(), ['other'])).rejects.toThrow("There is no volume group 'other'")
})

test.each([
  ['EOPNOTSUPP', 'cannot share blocks of files, so there are no snapshots of volumes in user space'],
  ['ENOSPC', 'ENOSPC'],
])('a snapshot for which the file system answers %s says what is wrong, and leaves nothing', async (code, text) => {
  const copyFile: typeof files.copyFile = async (_from, to) => {
    await files.writeFile(to, 'a part')
    throw Object.assign(new Error(code), { code })
  }
  const volumes = userVolumeDriver(folder)({ ...node.context, files: { ...files, copyFile } })
  await volumes.create(disk('a', 1), 1, [], {})
  const device = await volumes.find(disk('a', 1), [])
  if (device === undefined) throw new Error('the volume is missing')
  await expect(volumes.snapshot(disk('a', 1), device, 'before', null)).rejects.toThrow(text)
  expect((await reports().logical()).map(({ name }) => name)).toEqual(['a'])
})

test('making a group again changes nothing', async () => {
  await driver().create(disk('a'), 60, [], {})
  await makeGroup(files, folder, 'xenvg', 1000)
  await expect(reports().groups()).resolves.toEqual([{ name: 'xenvg', size_mib: 100, free_mib: 40 }])
})

test('the node lists volumes and the space of groups as it does those of LVM', async () => {
  await driver().create(disk('a'), 60, [], {})
  await expect(volumeStates(reports(), ['xenvg'])).resolves.toEqual({ 'xenvg/a': ['60.00', false, false] })
  await expect(groupSpace(reports(), 'xenvg', false)).resolves.toEqual({
    ...{ type: 'lvm-vg', name: 'xenvg' },
    ...{ storage_free: 40, storage_size: 100 },
  })
})

test('whose a volume is goes along with it, and away with it', async () => {
  await driver().create(disk('a'), 60, [], {})
  const device = { path: driver().place?.(disk('a')) ?? '', block: false }
  await driver().setInfo(disk('a'), device, 'originstname+vm1')
  await driver().setInfo(disk('a'), device, 'originstname+vm2')
  await driver().rename(disk('a'), device, ['xenvg', 'b'])
  expect(fs.readFileSync(path.join(folder, 'xenvg/tags/b'), 'utf8')).toBe('originstname+vm2\n')
  await driver().remove(disk('b'), { path: driver().place?.(disk('b')) ?? '', block: false })
  expect(fs.readdirSync(path.join(folder, 'xenvg/tags'))).toEqual([])
  expect(fs.readdirSync(path.join(folder, 'xenvg/volumes'))).toEqual([])
})

test('a name that would lead elsewhere is refused', async () => {
  const bad = { ...disk('a'), logical_id: ['xenvg', '../../a'] }
  await expect(driver().create(bad, 1, [], {})).rejects.toThrow("'../../a' is not a valid name of a volume")
})
