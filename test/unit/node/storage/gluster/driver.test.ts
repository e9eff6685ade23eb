// Disks on Gluster, with recorded answers of its programs.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { Disks } from '../../../../../src/node/storage/disks'
import { linkDisk, removeLinks } from '../../../../../src/node/storage/links'
import type { DiskDict } from '../../../../../src/rpc/node/dicts'
import { addPools } from '../../../../support/doubles/pools-machine'
import { Refused, type StorageMachine, storageMachine } from '../../../../support/doubles/storage-machine'
import { type TestNode, testNode } from '../../../../support/node-context'

const PLACE = '/var/run/ganeti/gluster'
const disk = (number = 0): DiskDict => ({
  ...{ uuid: `u${number}`, dev_type: 'gluster', logical_id: ['loop', `ganeti/inst.${number}`], size: 1 },
  params: { access: 'userspace', host: 'fd00::1', port: 24007, volume: 'gv0' },
})

let root: string
let node: TestNode
let machine: StorageMachine
let disks: Disks
let mounted: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-gluster-'))
  machine = storageMachine(root)
  node = testNode('node1.example.com', { files: machine.files, run: machine.run })
  addPools(machine, node)
  node.put('/etc/ganeti/file-storage-paths', `${PLACE}\n`)
  disks = new Disks(node.context)
  mounted = node.paths.local(PLACE)
})
afterEach(() => {
  node.remove()
  fs.rmSync(root, { recursive: true })
})

const commands = (name: string) => machine.asked.filter((one) => one.startsWith(`${name} `))

test('the volume is mounted once, however many look for disks at a time', async () => {
  await Promise.all([0, 1, 2].map((number) => disks.find(disk(number))))
  await disks.create(disk(), 1)
  expect(commands('mount')).toEqual([`mount -t glusterfs -o server-port=24007 [fd00::1]:/gv0 ${mounted}`])
})

test('the disk is a file on the volume, and QEMU hears its URI', async () => {
  await disks.create(disk(), 1)
  await expect(disks.assemble(disk())).resolves.toEqual({
    ...{ path: `${mounted}/ganeti/inst.0`, block: false },
    uri: 'gluster://[fd00::1]:24007/gv0/ganeti/inst.0',
  })
})

test('the volume is unmounted with its last disk that is in use', async () => {
  for (const number of [0, 1]) await disks.create(disk(number), 1)
  await linkDisk(node.context, 'inst.example.com', disk(1), 0, await disks.assemble(disk(1)))
  await disks.remove(disk(0))
  expect(commands('umount')).toEqual([])
  await removeLinks(node.context, 'inst.example.com', 1)
  await disks.remove(disk(1))
  expect(commands('umount')).toEqual([`umount ${mounted}`])
})

test('a volume that cannot be unmounted stays, and its disk is gone', async () => {
  machine.programs.set('umount', () => {
    throw new Refused('target is busy', 32)
  })
  await disks.create(disk(), 1)
  await disks.remove(disk())
  await expect(disks.find(disk())).resolves.toBeUndefined()
})

test('a mount that fails with exit code 0 is seen, and the error says where to look', async () => {
  machine.programs.set('mount', () => 'Mount failed. Please check the log file for more details.\n')
  await expect(disks.create(disk(), 1)).rejects.toThrow(
    `Cannot mount [fd00::1]:/gv0 (port 24007) at ${PLACE} on node node1.example.com: Mount failed. Please check the log file ` +
      "for more details.; see whether 'gluster volume info gv0' on fd00::1 says that it is started",
  )
  expect(fs.existsSync(`${mounted}/ganeti`)).toBe(false)
})

test('where the client of Gluster is missing, the error says what to install', async () => {
  machine.programs.set('mount', () => {
    throw new Refused("mount: /mnt: unknown filesystem type 'glusterfs'.", 32)
  })
  await expect(disks.create(disk(), 1)).rejects.toThrow(
    'mount.glusterfs is missing there; install the Debian package glusterfs-client',
  )
})

test('files do not go to another file system in the place of the volume', async () => {
  fs.appendFileSync(machine.local('/proc/mounts'), `10.0.0.1:/other ${mounted} fuse.glusterfs rw 0 0\n`)
  await expect(disks.create(disk(), 1)).rejects.toThrow(
    `10.0.0.1:/other (fuse.glusterfs) is mounted at ${PLACE}, where the Gluster volume 'gv0' belongs: unmount it`,
  )
  expect(commands('mount')).toEqual([])
})

test('what Ganeti has mounted by its address is the same volume', async () => {
  fs.appendFileSync(machine.local('/proc/mounts'), `10.0.0.1:/gv0 ${mounted} fuse.glusterfs rw 0 0\n`)
  fs.mkdirSync(mounted, { recursive: true })
  await disks.create(disk(), 1)
  expect(commands('mount')).toEqual([])
})

test.each([
  [{ logical_id: ['loop', '../../etc/passwd'] }, 'must lie below its volume'],
  [{ logical_id: ['loop', '/etc/passwd'] }, 'must lie below its volume'],
  [{ params: { ...disk().params, host: '-o exec' } }, 'The disk parameter host'],
  [{ params: { ...disk().params, port: 0 } }, 'The disk parameter port'],
  [{ params: { ...disk().params, volume: 'a/b' } }, 'The disk parameter volume'],
])('%j is refused', async (change, text) => {
  await expect(disks.create({ ...disk(), ...change }, 1)).rejects.toThrow(text)
})

test("a directory that this node's administrator does not allow is not mounted", async () => {
  node.put('/etc/ganeti/file-storage-paths', '/srv\n')
  await expect(disks.create(disk(), 1)).rejects.toThrow('is not acceptable for file storage')
  expect(commands('mount')).toEqual([])
})
