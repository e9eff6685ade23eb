// Snapshots of disks that are files: copies that share their blocks.
import { constants, systemFiles } from '../../../../src/lib/files'
import { Disks } from '../../../../src/node/storage/disks'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { type TestNode, testNode } from '../../../support/node-context'

const PLACE = '/srv/ganeti/file-storage'
const FILE = `${PLACE}/inst/disk0`
const disk: DiskDict = { uuid: 'u', dev_type: 'file', logical_id: ['loop', FILE], size: 1, params: {} }

let node: TestNode
let copied: unknown[]
let refuse: string | undefined
beforeEach(() => {
  copied = []
  refuse = undefined
  const copyFile: typeof systemFiles.copyFile = async (from, to, mode) => {
    copied.push([from, to, mode])
    if (refuse !== undefined) throw Object.assign(new Error(refuse), { code: refuse })
    await systemFiles.copyFile(from, to)
  }
  node = testNode('node1.example.com', { files: { ...systemFiles, copyFile } })
  node.put('/etc/ganeti/file-storage-paths', `${PLACE}\n`)
  node.put(FILE, 'data')
})
afterEach(() => node.remove())

const local = (name: string) => node.paths.local(name)

test('it is a copy beside the file, made by the file system in one step, and a disk of its own', async () => {
  const disks = new Disks(node.context)
  await expect(disks.snapshot(disk, 'before', null)).resolves.toEqual(['loop', `${FILE}.before`])
  const mode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE
  expect(copied).toEqual([[local(FILE), local(`${FILE}.before`), mode]])
  await disks.remove({ ...disk, logical_id: ['loop', `${FILE}.before`] })
  expect(systemFiles.existsSync(local(`${FILE}.before`))).toBe(false)
  expect(systemFiles.existsSync(local(FILE))).toBe(true)
})

test('that of an export takes the place of one from an export that did not end', async () => {
  node.put(`${FILE}.snap`, 'old')
  await expect(new Disks(node.context).snapshot(disk, null, null)).resolves.toEqual(['loop', `${FILE}.snap`])
  expect(systemFiles.readFileSync(local(`${FILE}.snap`), 'utf8')).toBe('data')
})

test.each(['ENOTSUP', 'EXDEV', 'EINVAL'])('a file system that answers %s cannot do it', async (code) => {
  refuse = code
  await expect(new Disks(node.context).snapshot(disk, 'before', null)).rejects.toThrow(
    `The file system of '${FILE}' cannot share blocks between files, so there are no snapshots: Btrfs, and XFS made with reflink=1, can`,
  )
  expect(systemFiles.existsSync(local(`${FILE}.before`))).toBe(false)
})

test('what is there already is not overwritten, and other failures are told as they are', async () => {
  refuse = 'EEXIST'
  node.put(`${FILE}.before`, 'other')
  const taken = `File already exists: ${FILE}.before; give the snapshot another name`
  await expect(new Disks(node.context).snapshot(disk, 'before', null)).rejects.toThrow(taken)
  expect(systemFiles.existsSync(local(`${FILE}.before`))).toBe(true)
  refuse = 'ENOSPC'
  await expect(new Disks(node.context).snapshot(disk, 'full', null)).rejects.toThrow('ENOSPC')
})

test('it never leads out of the folders that are allowed', async () => {
  await expect(new Disks(node.context).snapshot(disk, '/../../../etc/passwd', null)).rejects.toThrow()
  expect(copied).toEqual([])
})

test('whether it can be made is tried with other files, of which none is left', async () => {
  const disks = new Disks(node.context)
  await expect(disks.snapshotProblem(disk)).resolves.toBe(null)
  refuse = 'EOPNOTSUPP'
  await expect(disks.snapshotProblem(disk)).resolves.toMatch(/^The file system of .* cannot share blocks between files/)
  // A full disk says nothing of it.
  refuse = 'ENOSPC'
  await expect(disks.snapshotProblem(disk)).resolves.toBe(null)
  await expect(systemFiles.readdir(local(`${PLACE}/inst`))).resolves.toEqual(['disk0'])
})
