// Every template obeys the same rules; a new one needs only a line in `sample`.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { Disks } from '../../../../src/node/storage/disks'
import { copyDevice } from '../../../../src/node/storage/image'
import { DRIVERS } from '../../../../src/node/storage/registry'
import type { StorageContext } from '../../../../src/node/storage/storage'
import { userVolumeDriver } from '../../../../src/node/storage/user/driver'
import { userMirrorDriver } from '../../../../src/node/storage/user/mirror'
import { makeGroup } from '../../../../src/node/storage/user/volumes'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { withDrbd } from '../../../support/doubles/drbd-machine'
import { MirrorsOfNode } from '../../../support/doubles/mirrors-of-node'
import { addPools } from '../../../support/doubles/pools-machine'
import { storageMachine } from '../../../support/doubles/storage-machine'
import { twinDriver } from '../../../support/doubles/twin-driver'
import { clockAt } from '../../../support/instant-clock'
import { type TestNode, testNode } from '../../../support/node-context'
import { roomyFolder } from '../../../support/roomy-folder'

const MIB = 1 << 20

/** A logical id in each template, for a disk of that number. */
const sample: Record<string, (number: number) => readonly (string | number | null)[]> = {
  diskless: () => [],
  file: (n) => ['loop', `/srv/ganeti/file-storage/inst1.example.com/${n}.file.disk${n}`],
  sharedfile: (n) => ['loop', `/srv/ganeti/shared-file-storage/inst1.example.com/${n}.sharedfile.disk${n}`],
  plain: (n) => ['xenvg', `${n}.disk${n}`],
  blockdev: (n) => ['manual', `/dev/disk/by-id/lun${n}`],
  rbd: (n) => ['rbd', `${n}.rbd.disk${n}`],
  ext: (n) => ['shelf', `${n}.ext.disk${n}`],
  gluster: (n) => ['loop', `ganeti/inst1.${n}`],
  drbd: (n) => ['uuid-a', 'uuid-b', null, n, n, 'secret'],
  twin: (n) => [n],
  'plain in user space': (n) => ['xenvg', `${n}.disk${n}`],
  'drbd in user space': (n) => ['uuid-a', 'uuid-b', null, n, n, 'secret'],
}
/** The template of their children. */
const MIRRORED: Readonly<Record<string, string>> = { drbd: 'plain', 'drbd in user space': 'plain in user space' }
const META_MIB = 128
const PORT = 11000
const NAMED = ['file', 'sharedfile', 'plain', 'rbd', 'gluster', 'plain in user space']
/** Nobody makes or deletes these devices. */
const ADOPTED = ['blockdev']
/** Their providers do not tell a volume that is missing from one that they cannot remove. */
const UNSURE = ['ext']
const PARAMS: Readonly<Record<string, DiskDict['params']>> = {
  rbd: { access: 'kernelspace', pool: 'rbd', 'user-id': '' },
  ext: { access: 'kernelspace', provider: 'shelf' },
  gluster: { access: 'kernelspace', host: '127.0.0.1', port: 24007, volume: 'gv0' },
}
/** They count the physical volumes that a disk is on. */
const SPINDLES: Readonly<Record<string, number>> = { plain: 1 }
const FILE_PLACES = '/srv/ganeti/file-storage\n/srv/ganeti/shared-file-storage\n/var/run/ganeti/gluster\n'
const folders: string[] = []
const drivers: typeof DRIVERS = {
  ...DRIVERS,
  twin: twinDriver,
  'plain in user space': (context) => userVolumeDriver(userVolumes(context))(context),
  'drbd in user space': userMirrorDriver,
}
const userVolumes = ({ paths }: Pick<StorageContext, 'paths'>) => paths.local('/srv/ganeti/user-volumes')

function sampleDisk(template: string, number = 0): DiskDict {
  const uuid = `00000000-0000-4000-8000-00000000000${number}`
  const params = PARAMS[template] ?? {}
  const id = sample[template]?.(number) ?? []
  const own = { uuid, dev_type: template, logical_id: id, size: 2, iv_name: 'disk/0', params }
  const below = MIRRORED[template]
  if (below !== undefined) {
    const child = (name: string, size: number) => ({ uuid: name, dev_type: below, logical_id: ['xenvg', name], size })
    // The double of the real one's machine forgets what is written to the notes of DRBD.
    const meta = template === 'drbd' ? 'meta' : 'notes'
    const children = [child(`${number}.disk_data`, 2), child(`${number}.disk_${meta}`, META_MIB)]
    return {
      ...own,
      children,
      dynamic_params: { 'local-minor': number, 'local-ip': '192.0.2.1', 'remote-ip': '192.0.2.2' },
    }
  }
  if (template !== 'twin') return own
  return { ...own, children: [2 * number, 2 * number + 1].map((at) => sampleDisk('file', at)) }
}

/** The other copy can be reached there. Before it is made, nothing is there. */
function connected({ logical_id = [], ...disk }: DiskDict, port: number | null): DiskDict {
  const id = disk.dev_type === 'drbd in user space' ? logical_id.with(2, port) : logical_id
  return { ...disk, logical_id: id }
}

const idOf = ({ logical_id = [] }: DiskDict) => logical_id.flatMap((part) => part ?? [])

describe.each(Object.keys(drivers))('%s', (template) => {
  let node: TestNode
  let storage: Disks
  let local: (file: string) => string
  const spindles = SPINDLES[template] ?? null
  let mirrors: MirrorsOfNode
  const made = new Set<number>()
  const disk = (number = 0) => connected(sampleDisk(template, number), made.has(number) ? PORT + number : null)
  /** As the master does: each disk of a tree by a call of its own. */
  async function create(whole: DiskDict, size_mib: number): Promise<void> {
    const how = { onPrimary: true, info: '' }
    for (const child of whole.children ?? [])
      await storage.createAndUse(child, child.size === META_MIB ? META_MIB : size_mib, how)
    const number = Number(whole.uuid.at(-1))
    if (whole.dev_type !== 'drbd in user space') return void (await storage.createAndUse(whole, size_mib, how))
    const now = connected({ ...whole, size: size_mib }, PORT + number)
    await mirrors.forget(now)
    await storage.createAndUse(now, size_mib, how)
    made.add(number)
    await mirrors.mirror(now)
  }
  /** A program uses it. */
  async function used<T>(one: DiskDict, use: (file: string) => T): Promise<T> {
    await storage.open(one, true)
    return storage.lent(one, async (place) => use(local(place)))
  }
  beforeEach(async () => {
    const root = fs.mkdtempSync(path.join(roomyFolder(), 'gantry-storage-'))
    const machine = withDrbd(storageMachine(root))
    mirrors = new MirrorsOfNode()
    const { processes, mirrorProgram } = mirrors
    const own = { files: machine.files, run: machine.run, clock: clockAt(0), processes, mirrorProgram }
    node = testNode('node1.example.com', own)
    mirrors.of(node)
    made.clear()
    addPools(machine, node)
    node.put('/etc/ganeti/file-storage-paths', FILE_PLACES)
    await makeGroup(systemFiles, userVolumes(node.context), 'xenvg', 1024)
    storage = new Disks(node.context, drivers)
    local = machine.local
    folders.push(root)
  })
  afterEach(async () => {
    await mirrors.end()
    node.remove()
    for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true })
  })

  test('a disk that was not created is not found, has no dimensions, and may be shut down and removed', async () => {
    await expect(storage.find(disk())).resolves.toBeUndefined()
    await expect(storage.dimensions(disk())).resolves.toBeUndefined()
    await storage.shutdown(disk())
    const removed = storage.remove(disk())
    if (UNSURE.includes(template)) await expect(removed).rejects.toThrow('and it cannot be removed')
    else await removed
  })

  test('a disk that does not exist can be neither assembled nor grown', async () => {
    await expect(storage.assemble(disk())).rejects.toThrow()
    await expect(storage.grow(disk(), 1, {})).rejects.toThrow()
  })

  if (template === 'diskless') {
    test('there is nothing to create', async () => {
      await expect(storage.create(disk(), 2)).rejects.toThrow('no disks')
    })
    return
  }

  if (ADOPTED.includes(template)) return

  test('a created disk is found in its whole size, full of zeros', async () => {
    await create(disk(), 2)
    const device = await storage.assemble(disk())
    await expect(storage.dimensions(disk())).resolves.toEqual({ size_bytes: 2 * MIB, spindles })
    expect(await used(disk(), (file) => fs.readFileSync(file).equals(Buffer.alloc(2 * MIB)))).toBe(true)
    await expect(storage.find(disk())).resolves.toMatchObject(device)
  })

  test('a disk is not created over another', async () => {
    await create(disk(), 2)
    await storage.assemble(disk())
    await used(disk(), (file) => writeAt(file, 'data'))
    await expect(create(disk(), 2)).rejects.toThrow('exists')
    expect(await used(disk(), (file) => fs.readFileSync(file).toString('utf8', 0, 4))).toBe('data')
  })

  test('assembling, opening, closing and shutting down keep the data, and may be repeated', async () => {
    await create(disk(), 2)
    await storage.assemble(disk())
    await used(disk(), (file) => writeAt(file, 'data'))
    for (let round = 0; round < 2; round++) {
      await storage.open(disk(), true)
      await storage.opened(disk())
      await storage.close(disk())
      await storage.shutdown(disk())
      await storage.assemble(disk())
    }
    expect(await used(disk(), (file) => fs.readFileSync(file).toString('utf8', 0, 4))).toBe('data')
  })

  test('growing adds zeros at the end; a dry run changes nothing, and shrinking is refused', async () => {
    await create(disk(), 2)
    await storage.assemble(disk())
    await storage.grow(disk(), 3, { dryRun: true })
    await expect(storage.dimensions(disk())).resolves.toMatchObject({ size_bytes: 2 * MIB })
    await storage.grow(disk(), 3, {})
    await storage.grow(disk(), 3, { backing: false })
    await expect(storage.dimensions(disk())).resolves.toMatchObject({ size_bytes: 5 * MIB })
    await expect(storage.grow(disk(), -1, {})).rejects.toThrow('shrink')
  })

  test('wiping a range clears it and nothing else, and never beyond the end', async () => {
    await create(disk(), 3)
    await storage.assemble(disk())
    await used(disk(), (file) => fs.writeFileSync(file, Buffer.alloc(3 * MIB, 'x')))
    await storage.wipe(disk(), 1, 1)
    const data = await used(disk(), (file) => fs.readFileSync(file))
    expect([data[MIB - 1], data[MIB], data[2 * MIB - 1], data[2 * MIB]]).toEqual([0x78, 0, 0, 0x78])
    await expect(storage.wipe(disk(), 2, 2)).rejects.toThrow('beyond the end')
  })

  test('its data can be copied to a disk of another template, and back', async () => {
    const text = Buffer.alloc(2 * MIB, template)
    const file = sampleDisk('file', 9)
    await create(disk(), 2)
    await create(file, 2)
    for (const one of [disk(), file]) await storage.assemble(one)
    await used(disk(), (place) => fs.writeFileSync(place, text))
    const copy = (from: DiskDict, to: DiskDict) =>
      storage.lent(from, (source) => storage.lent(to, (target) => copyDevice(node.context.files, source, target)))
    await copy(disk(), file)
    await storage.wipe(disk(), 0, 2)
    await copy(file, disk())
    for (const one of [file, disk()]) expect(await used(one, (place) => fs.readFileSync(place).equals(text))).toBe(true)
  })

  test('removing deletes the data', async () => {
    await create(disk(), 2)
    const { path } = await storage.assemble(disk())
    await storage.remove(disk())
    expect(fs.existsSync(local(path))).toBe(false)
    await expect(storage.find(disk())).resolves.toBeUndefined()
  })

  test('removing deletes what the disk consists of, too', async () => {
    await create(disk(), 2)
    await storage.remove(disk())
    for (const child of disk().children ?? []) await expect(storage.find(child)).resolves.toBeUndefined()
    await create(disk(), 2)
    await storage.assemble(disk())
    await expect(storage.find(disk())).resolves.toBeDefined()
  })

  test('layers above the data grow after it, by a call of its own', async () => {
    await create(disk(), 2)
    await storage.assemble(disk())
    await storage.grow(disk(), 1, { backing: true })
    await storage.grow(disk(), 1, { backing: false })
    await expect(storage.dimensions(disk())).resolves.toMatchObject({ size_bytes: 3 * MIB })
  })

  if (!NAMED.includes(template)) return

  test('renaming moves the data, but not over another disk', async () => {
    await create(disk(0), 2)
    await create(disk(1), 2)
    await expect(storage.rename([[disk(0), idOf(disk(1))]])).rejects.toThrow('exists')
    await storage.rename([[disk(0), idOf(disk(2))]])
    await expect(storage.find(disk(0))).resolves.toBeUndefined()
    await expect(storage.find(disk(2))).resolves.toBeDefined()
  })

  test('of several disks all are renamed, or none', async () => {
    await create(disk(0), 2)
    await create(disk(1), 2)
    const renames = [0, 1].map((n) => [disk(n), idOf(disk(2))] as const)
    await expect(storage.rename(renames)).rejects.toThrow('exists')
    for (const number of [0, 1]) await expect(storage.find(disk(number))).resolves.toBeDefined()
    await expect(storage.find(disk(2))).resolves.toBeUndefined()
  })
})

function writeAt(file: string, text: string): void {
  const open = fs.openSync(file, 'r+')
  fs.writeSync(open, text)
  fs.closeSync(open)
}

test.each([
  ['outside the allowed directories', '/srv/other/disk0', 'not acceptable'],
  ['beside an allowed directory', '/srv/ganeti/file-storage-2/disk0', 'not acceptable'],
  ['climbing out', '/srv/ganeti/file-storage/../../../etc/passwd', 'not a plain path'],
  ['relative', 'srv/ganeti/file-storage/disk0', 'absolute'],
  ['with NUL', '/srv/ganeti/file-storage/a\0b', 'not a plain path'],
  ['in a system directory, even one that is listed', '/etc/disks/disk0', 'forbidden prefix'],
])('a file disk %s is refused and nothing is written', async (_what, file, text) => {
  const node = testNode()
  node.put('/etc/ganeti/file-storage-paths', '/srv/ganeti/file-storage\n/etc/disks\n')
  const storage = new Disks(node.context)
  const disk: DiskDict = { uuid: 'u', dev_type: 'file', logical_id: ['loop', file], size: 1 }
  await expect(storage.create(disk, 1)).rejects.toThrow(text)
  await expect(storage.remove(disk)).rejects.toThrow(text)
  node.remove()
})

test('a link below an allowed directory leads nowhere else, and an allowed directory may be a link itself', async () => {
  const node = testNode()
  const [allowed, linked] = ['/srv/ganeti/file-storage', '/srv/linked']
  node.put('/etc/ganeti/file-storage-paths', `${allowed}\n${linked}\n`)
  const victim = node.put('/srv/other/victim', 'x')
  const elsewhere = node.paths.local('/srv/other')
  fs.symlinkSync(elsewhere, node.paths.local(`${allowed}/out`))
  fs.symlinkSync(victim, node.paths.local(`${allowed}/file`))
  fs.symlinkSync(path.dirname(node.put('/srv/big/x', '')), node.paths.local(linked))
  const storage = new Disks(node.context)
  const disk = (file: string): DiskDict => ({ uuid: 'u', dev_type: 'file', logical_id: ['loop', file], size: 1 })
  const refusal = (place: string) =>
    `is not acceptable for file storage: a link leads to '${place}'; add its directory to /etc/ganeti/file-storage-paths`
  await expect(storage.create(disk(`${allowed}/out/new/disk0`), 1)).rejects.toThrow(refusal('/srv/other/new/disk0'))
  for (const file of ['out/victim', 'file'])
    for (const action of ['remove', 'find', 'assemble'] as const)
      await expect(storage[action](disk(`${allowed}/${file}`))).rejects.toThrow(refusal('/srv/other/victim'))
  expect(fs.readFileSync(victim, 'utf8')).toBe('x')
  await storage.create(disk(`${linked}/disk0`), 1)
  expect(fs.statSync(node.paths.local('/srv/big/disk0')).size).toBe(MIB)
  node.remove()
})
