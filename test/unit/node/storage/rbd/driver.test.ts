// Disks on Ceph, with recorded answers of `rbd`.
import { Disks } from '../../../../../src/node/storage/disks'
import type { DiskDict } from '../../../../../src/rpc/node/dicts'
import { clockAt } from '../../../../support/instant-clock'
import { type TestNode, testNode } from '../../../../support/node-context'
import {
  notInstalled,
  type RecordedProgram,
  type RecordedPrograms,
  recordedPrograms,
} from '../../../../support/recorded-programs'

const NAME = 'a.rbd.disk0'
const disk: DiskDict = {
  ...{ uuid: 'u', dev_type: 'rbd', logical_id: ['rbd', NAME], size: 1024, iv_name: 'disk/0' },
  params: { access: 'kernelspace', pool: 'ganeti-vms', 'user-id': 'gnt' },
}
const row = { id: '0', pool: 'ganeti-vms', namespace: '', name: NAME, snap: '-', device: '/dev/null' }
const list = (...rows: object[]): RecordedProgram => ({
  argv: 'rbd showmapped --format json',
  stdout: JSON.stringify(rows),
})
const asUser = (command: string, answer: Omit<RecordedProgram, 'argv'> = {}): RecordedProgram => ({
  argv: `rbd ${command} --id gnt`,
  ...answer,
})
const info = asUser(`info -p ganeti-vms ${NAME} --format json`)
const status = (...addresses: string[]) =>
  asUser(`status -p ganeti-vms ${NAME} --format json`, {
    stdout: JSON.stringify({
      watchers: addresses.map((address) => ({ address: `${address}:0/3`, client: 1, cookie: 1 })),
    }),
  })

const nodes: TestNode[] = []
afterEach(() => {
  for (const node of nodes.splice(0)) node.remove()
})

/** /dev/null is a character device: whatever stands for a block device on this machine is one by word of the test. */
function storage(...recordings: RecordedProgram[]) {
  const programs = recordedPrograms(recordings)
  const node = testNode('node1.example.com', { run: programs.run, clock: clockAt(0) })
  nodes.push(node)
  const files = {
    ...node.context.files,
    stat: (async (file: string) =>
      Object.assign(await node.context.files.stat(file), {
        isBlockDevice: () => true,
        rdev: 0xfb_10,
      })) as typeof node.context.files.stat,
  }
  return { disks: new Disks({ ...node.context, files }), left: programs.left }
}

test('an image is made in its pool, as the user that the cluster names', async () => {
  const { disks, left } = storage(asUser(`create -p ganeti-vms ${NAME} --size 1024`))
  await expect(disks.create(disk, 1024)).resolves.toEqual(['rbd', NAME])
  expect(left()).toEqual([])
})

test('an image that nobody uses is mapped, and QEMU hears its URI', async () => {
  const { disks } = storage(list(), info, status(), asUser(`map -p ganeti-vms ${NAME}`), list(row))
  await expect(disks.assemble(disk)).resolves.toEqual({
    ...{ path: '/dev/null', block: true, major: 251, minor: 16 },
    uri: `rbd:ganeti-vms/${NAME}:id=gnt`,
  })
})

test('an image that is mapped already is not mapped again', async () => {
  const { disks, left } = storage(list(row), status('10.0.0.1'))
  await disks.assemble(disk)
  expect(left()).toEqual([])
})

test('an image whose user has just died is mapped as soon as Ceph has forgotten that', async () => {
  const mapped = [asUser(`map -p ganeti-vms ${NAME}`), list(row)]
  const { disks, left } = storage(list(), info, status('10.0.0.7'), status('10.0.0.7'), status(), ...mapped)
  await disks.assemble(disk)
  expect(left()).toEqual([])
})

test('an image in use elsewhere is not taken, and the error says where that is', async () => {
  const { disks } = storage(list(), info, ...Array.from({ length: 1000 }, () => status('10.0.0.7', '10.0.0.8')))
  await expect(disks.assemble(disk)).rejects.toThrow(
    `The image 'ganeti-vms/${NAME}' is in use at 10.0.0.7, 10.0.0.8, so node node1.example.com does not map it: stop the programs that use it there`,
  )
})

test.each([disk, { ...disk, params: { ...disk.params, access: 'userspace' } }])(
  'an image is not taken if nobody can tell who uses it: %j',
  async (one) => {
    const unread = asUser(`status -p ganeti-vms ${NAME} --format json`, { stdout: 'Watchers: none' })
    const requested = one === disk ? [list(), info, info, unread] : [info, unread]
    await expect(storage(...requested).disks.forGuest(one)).rejects.toThrow(
      `rbd status on node node1.example.com prints what cannot be read, so nobody knows who uses the image 'ganeti-vms/${NAME}'`,
    )
  },
)

test('old versions of rbd list what is mapped in a table', async () => {
  const table = `id pool image snap device\n0 ganeti-vms ${NAME} - /dev/null\n`
  const { disks } = storage(
    { argv: 'rbd showmapped --format json', code: 1, stderr: 'rbd: unrecognised option' },
    { argv: 'rbd showmapped', stdout: table },
  )
  await expect(disks.find(disk)).resolves.toMatchObject({ path: '/dev/null' })
})

test('the images of a call are looked for in one list, until something was mapped or unmapped', async () => {
  const others = Array.from({ length: 100 }, (_, at) => `other${at}`)
  const { disks, left } = storage(
    list(row, ...others.map((name) => ({ ...row, name }))),
    ...[asUser('unmap /dev/null'), list()],
    asUser(`info -p ganeti-vms other0 --format json`, { code: 2, stderr: 'rbd: error opening image other0' }),
  )
  const named = (name: string): DiskDict => ({ ...disk, logical_id: ['rbd', name] })
  for (const found of await Promise.all([NAME, ...others].map((name) => disks.find(named(name)))))
    expect(found).toMatchObject({ path: '/dev/null' })
  await disks.shutdown(disk)
  await expect(disks.find(named('other0'))).resolves.toBeUndefined()
  expect(left()).toEqual([])
})

test('an image that is mapped twice is not guessed about', async () => {
  const { disks } = storage(list(row, { ...row, id: '1', device: '/dev/zero' }))
  await expect(disks.find(disk)).rejects.toThrow('mapped twice on node node1.example.com, to /dev/null and /dev/zero')
})

test('removing waits for who still has it open, and names who asked when Ceph cannot be reached', async () => {
  const busy = { code: 16, stderr: 'rbd: sysfs write failed\nrbd: unmap failed: (16) Device or resource busy' }
  const { disks, left } = storage(
    ...[list(row), asUser('unmap /dev/null', busy), asUser('unmap /dev/null')],
    asUser(`rm -p ganeti-vms ${NAME} --no-progress`, { code: 16, stderr: 'rbd: error: image still has watchers' }),
    asUser(`rm -p ganeti-vms ${NAME} --no-progress`),
  )
  await disks.remove(disk)
  expect(left()).toEqual([])
  const gone = storage(list(), { ...info, code: 110, stderr: "rbd: couldn't connect to the cluster!" })
  await expect(gone.disks.find(disk)).rejects.toThrow(
    `Cannot look for the image 'ganeti-vms/${NAME}' on node node1.example.com: Ceph cannot be reached; see there with 'ceph -s' whether the monitors that /etc/ceph/ceph.conf names run: rbd: couldn't connect to the cluster!`,
  )
})

test('who only looks for an image does not map it, and is told its size nevertheless', async () => {
  const { disks, left } = storage(list(), info, info, { ...info, stdout: '{"size":1073741824}' })
  await expect(disks.find(disk)).resolves.toMatchObject({ path: '', idle: true })
  await expect(disks.dimensions(disk)).resolves.toEqual({ size_bytes: 2 ** 30, spindles: null })
  expect(left()).toEqual([])
})

test('an image that nobody has mapped is shut down, renamed and removed without being mapped', async () => {
  const missing = { code: 2, stderr: 'rbd: error opening image' }
  const { disks, left } = storage(
    ...[list(), info, info],
    asUser('info -p ganeti-vms new --format json', missing),
    asUser(`mv ganeti-vms/${NAME} ganeti-vms/new`),
    asUser('info -p ganeti-vms new --format json'),
    asUser('rm -p ganeti-vms new --no-progress'),
  )
  await disks.shutdown(disk)
  await disks.rename([[disk, ['rbd', 'new']]])
  await disks.remove({ ...disk, logical_id: ['rbd', 'new'] })
  expect(left()).toEqual([])
})

const infoOfSnapshot = asUser(`info -p ganeti-vms ${NAME}@snap --format json`)

test('a snapshot is an image that can be mapped, read and removed', async () => {
  const { disks, left } = storage(
    ...[list(row), asUser(`info -p ganeti-vms ${NAME}@snap --format json`, { code: 2 })],
    asUser(`snap create ganeti-vms/${NAME}@snap --no-progress`),
    ...[infoOfSnapshot, infoOfSnapshot, asUser(`map -p ganeti-vms ${NAME}@snap --read-only`)],
    ...[
      list({ ...row, snap: 'snap' }),
      asUser('unmap /dev/null'),
      asUser(`snap rm ganeti-vms/${NAME}@snap --no-progress`),
    ],
  )
  const id = await disks.snapshot(disk, null, null)
  expect(id).toEqual(['rbd', `${NAME}@snap`])
  await expect(disks.opened({ ...disk, logical_id: ['rbd', `${NAME}@snap`] })).resolves.toMatchObject({
    path: '/dev/null',
  })
  await disks.remove({ ...disk, logical_id: ['rbd', `${NAME}@snap`] })
  expect(left()).toEqual([])
})

test('a snapshot that an export has left is made anew; one that somebody asked for by name is not deleted', async () => {
  const snap = `ganeti-vms/${NAME}@snap`
  const there = [list(row), asUser(`info -p ganeti-vms ${NAME}@snap --format json`)]
  const { disks, left } = storage(
    ...there,
    asUser(`snap rm ${snap} --no-progress`),
    asUser(`snap create ${snap} --no-progress`),
  )
  await disks.snapshot(disk, null, null)
  expect(left()).toEqual([])
  const other = storage(
    list(row),
    asUser(`snap create ${snap} --no-progress`, { code: 17, stderr: '(17) File exists' }),
  )
  await expect(other.disks.snapshot(disk, 'snap', null)).rejects.toThrow(
    `ganeti-vms/${NAME}@snap' on node node1.example.com: it exists already; give the snapshot another name: (17) File exists`,
  )
})

test('an image that exists already is not taken for a new disk, and a kernel without rbd is told', async () => {
  const exists = { code: 17, stderr: 'rbd: create error: (17) File exists\n' }
  const { disks } = storage(asUser(`create -p ganeti-vms ${NAME} --size 1`, exists))
  await expect(disks.create(disk, 1)).rejects.toThrow(
    `Cannot create the image 'ganeti-vms/${NAME}' on node node1.example.com: it exists already; 'gnt-instance info --static --all' names ` +
      `the disks of all instances, and 'rbd status ganeti-vms/${NAME}' tells who uses it: only if no disk has this name, and nobody of another ` +
      `cluster needs it, 'rbd rm ganeti-vms/${NAME}' removes it: rbd: create error: (17) File exists`,
  )
  const stderr = 'modprobe: FATAL: Module rbd not found in directory /lib/modules/6.1\n'
  const mapping = asUser(`map -p ganeti-vms ${NAME}`, { code: 1, stderr })
  await expect(storage(list(), info, status(), mapping).disks.assemble(disk)).rejects.toThrow(
    `Cannot map the image 'ganeti-vms/${NAME}' on node node1.example.com: the kernel's module rbd is missing there; install it, or give`,
  )
})

const own: DiskDict = { ...disk, params: { ...disk.params, access: 'userspace' } }
const SIZE = asUser(`info -p ganeti-vms ${NAME} --format json`, { stdout: '{"name":"a","size":1073741824}' })

test('an image that only QEMU reaches is never mapped', async () => {
  const { disks, left } = storage(SIZE, SIZE, SIZE, SIZE, asUser(`rm -p ganeti-vms ${NAME} --no-progress`))
  const device = { path: '', block: true, uri: `rbd:ganeti-vms/${NAME}:id=gnt` }
  await expect(disks.assemble(own)).resolves.toEqual(device)
  await expect(disks.dimensions(own)).resolves.toEqual({ size_bytes: 1 << 30, spindles: null })
  await disks.remove(own)
  expect(left()).toEqual([])
})

test('its guest begins only when nobody has it open any more', async () => {
  const { disks, left } = storage(SIZE, status('10.0.0.7'), status())
  await disks.forGuest(own)
  expect(left()).toEqual([])
  const taken = storage(SIZE, ...Array.from({ length: 1000 }, () => status('10.0.0.7')))
  await expect(taken.disks.forGuest(own)).rejects.toThrow(
    'is in use at 10.0.0.7, so no instance begins with it on node node1.example.com: stop the programs that use it there',
  )
})

test.each([
  [2, "rbd: error opening pool 'ganeti-vms': (2) No such file or directory", "Ceph has no pool 'ganeti-vms'"],
  [1, 'auth: unable to find a keyring on /etc/ceph/...', 'put /etc/ceph/ceph.client.gnt.keyring there'],
  [110, "rbd: couldn't connect to the cluster!", "see there with 'ceph -s' whether the monitors"],
])('why Ceph does not give an image: %i, %s', async (code, stderr, text) => {
  const { disks } = storage({ ...SIZE, code, stderr })
  await expect(disks.assemble(own)).rejects.toThrow(text)
})

test('Ceph is not waited for without end', async () => {
  const run: RecordedPrograms['run'] = (_argv, { timeout_s }) =>
    Promise.resolve({
      ...{ code: null, signal: 'SIGKILL' as const, stdout: '', stderr: '', output: '' },
      timedOut: timeout_s !== undefined,
    })
  const node = testNode('node1.example.com', { run, clock: clockAt(0) })
  nodes.push(node)
  for (const work of [new Disks(node.context).find(own), new Disks(node.context).create(own, 1)])
    await expect(work).rejects.toThrow("Ceph did not answer in time; see there with 'ceph -s'")
})

// As Ceph 16 says it, without the times.
const UNREACHED = "rbd: couldn't connect to the cluster!\n"
test.each([
  [
    {
      code: 2,
      stderr: `auth: unable to find a keyring on /etc/ceph/ceph.client.gnt.keyring: (2) No such file\n${UNREACHED}`,
    },
    'there is no keyring of client.gnt; put /etc/ceph/ceph.client.gnt.keyring there, from a machine of the Ceph cluster',
  ],
  [
    { code: 13, stderr: UNREACHED },
    "Ceph does not take the key of client.gnt; run 'ceph auth get client.gnt' on a machine of the Ceph cluster",
  ],
  [{ code: 1, stderr: UNREACHED }, 'Ceph does not take the key of client.gnt'],
  [{ code: 5, stderr: `monclient: keyring not found\n${UNREACHED}` }, 'Ceph does not take the key of client.gnt'],
  [
    { code: 1, stderr: 'rbd: error opening image a: (1) Operation not permitted' },
    "client.gnt may not do that in pool 'ganeti-vms'; it may after 'ceph auth caps client.gnt mon",
  ],
])('a node that Ceph does not let ask knows of no image, and says what helps: %j', async (answer, text) => {
  const { disks } = storage(...Array.from({ length: 2 }, () => [list(), { ...info, ...answer }]).flat())
  await expect(disks.find(disk)).rejects.toThrow(text)
  // What nobody could look at is not gone.
  await expect(disks.remove(disk)).rejects.toThrow(text)
})

test('where rbd is missing, the error says what to install', async () => {
  const { disks } = storage(notInstalled(asUser(`create -p ganeti-vms ${NAME} --size 1`).argv))
  await expect(disks.create(disk, 1)).rejects.toThrow(
    'The program rbd cannot be started on node node1.example.com: install the Debian package ceph-common there',
  )
})

test.each([
  [{ logical_id: ['rbd', '-p'] }, '"-p" is not a valid name'],
  [{ logical_id: ['rbd', 'a b'] }, '"a b" is not a valid name'],
  [{ logical_id: ['rbd', 'a@b@c'] }, "'a@b@c' is not a valid name of an image"],
  [{ params: { pool: '--help' } }, '"--help" is not a valid name'],
  [{ logical_id: ['rbd'] }, `An image's id is ['rbd', name], not ["rbd"]`],
])('names that rbd would take for something else are refused: %j', async (change, text) => {
  const { disks } = storage()
  await expect(disks.find({ ...disk, ...change })).rejects.toThrow(text)
})
