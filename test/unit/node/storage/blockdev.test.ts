// A device of the machine as a disk, which keeps its data whatever happens to the disk.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { Disks } from '../../../../src/node/storage/disks'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { storageMachine } from '../../../support/doubles/storage-machine'
import { type TestNode, testNode } from '../../../support/node-context'

const MIB = 1 << 20
const DEVICE = '/dev/disk/by-id/wwn-1'
const disk: DiskDict = { uuid: 'u', dev_type: 'blockdev', logical_id: ['manual', DEVICE], size: 2, params: {} }

let root: string
let node: TestNode
let disks: Disks
let local: (file: string) => string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-blockdev-'))
  const machine = storageMachine(root)
  node = testNode('node1.example.com', { files: machine.files, run: machine.run })
  disks = new Disks(node.context)
  local = machine.local
  fs.mkdirSync(path.dirname(local(DEVICE)), { recursive: true })
  fs.writeFileSync(local('/dev/sdb'), Buffer.alloc(2 * MIB, 'x'))
  fs.symlinkSync('../../sdb', local(DEVICE))
})
afterEach(() => {
  node.remove()
  fs.rmSync(root, { recursive: true })
})

test('a device becomes a disk with the data that it has, and keeps them when its disk is gone', async () => {
  await expect(disks.createAndUse(disk, 2, { onPrimary: true, info: 'originstname+inst1' })).resolves.toMatchObject({
    id: ['manual', DEVICE],
    device: { path: DEVICE, block: true },
  })
  await expect(disks.dimensions(disk)).resolves.toEqual({ size_bytes: 2 * MIB, spindles: null })
  await disks.shutdown(disk)
  await disks.remove(disk)
  expect(fs.readFileSync(local('/dev/sdb')).equals(Buffer.alloc(2 * MIB, 'x'))).toBe(true)
})

test('a device that is smaller than its disk is refused', async () => {
  await expect(disks.create(disk, 3)).rejects.toThrow(
    `${DEVICE} on node node1.example.com has 2 MiB, and the disk is to have 3`,
  )
})

test('a device can be neither grown, nor renamed, nor have snapshots', async () => {
  const why = `${DEVICE} is not the cluster's own`
  await expect(disks.grow(disk, 1, {})).rejects.toThrow(`Disks of template 'blockdev' cannot be grown: ${why}`)
  await expect(disks.rename([[disk, ['manual', '/dev/disk/by-id/wwn-2']]])).rejects.toThrow('cannot be renamed')
  await expect(disks.snapshot(disk, null, null)).rejects.toThrow('have no snapshots')
})

test('a link below /dev leads to a device there, not elsewhere', async () => {
  fs.rmSync(local(DEVICE))
  fs.symlinkSync(node.put('/srv/file', 'data'), local(DEVICE))
  await expect(disks.find(disk)).rejects.toThrow('which is not below /dev')
})

test.each([
  [['manual', '/dev/sdb'], 'Only devices below /dev/disk/ can become disks, not /dev/sdb'],
  [['manual', '/dev/disk/../sdb'], 'is no path of a device below /dev'],
  [['manual', '/etc/passwd'], 'is no path of a device below /dev'],
  [['manual', '/dev/disk/by-id/other'], 'There is no block device /dev/disk/by-id/other on node node1.example.com'],
  [['loop', DEVICE], "A block device's id is ['manual', path]"],
])('%j is refused', async (logical_id, text) => {
  await expect(disks.create({ ...disk, logical_id }, 1)).rejects.toThrow(text)
})
