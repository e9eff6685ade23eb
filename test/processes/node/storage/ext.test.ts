// A provider of external storage whose scripts are real, and keep volumes as sparse files; what they attach is a device by word of the test.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { findProvider } from '../../../../src/node/storage/ext/providers'
import { runScript } from '../../../../src/node/storage/ext/scripts'
import { Disks } from '../../../../src/node/storage/disks'
import { nodeCalls } from '../../../../src/rpc/node/calls'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { clockAt } from '../../../support/instant-clock'
import { type TestNode, testNode } from '../../../support/node-context'

const FOLDER = '/usr/share/ganeti/extstorage/shelf'
const NAME = 'a.ext.disk0'
const MIB = 1 << 20
const disk: DiskDict = {
  ...{
    uuid: '00000000-0000-4000-8000-000000000001',
    name: 'root',
    dev_type: 'ext',
    logical_id: ['shelf', NAME],
    size: 8,
  },
  ...{ iv_name: 'disk/0', params: { access: 'kernelspace', provider: 'shelf', from_snap: 'gold' } },
}

let node: TestNode
let shelf: string
let context: TestNode['context']
let disks: Disks
beforeEach(() => {
  node = testNode()
  shelf = path.dirname(node.put('/srv/shelf/notes', ''))
  context = { ...node.context, files: withDevices(node.context.files), run: withSizes(node.context.run) }
  disks = new Disks(context)
  node.put(`${FOLDER}/parameters.list`, 'from_snap  Snapshot to begin with\n')
  const note = `env | grep -E "^(VOL|EXTP)_" | sort | tr "\\n" " " | sed "s|^|$(basename $0) |; s|$|\\n|" >> ${shelf}/notes`
  const volume = `v=${shelf}/$VOL_NAME; ${note}`
  script('create', `${volume}; [ ! -e $v ] || { echo it exists; exit 3; }; truncate -s \${VOL_SIZE}M $v`)
  script('attach', `${volume}; [ -e $v ] || { echo no such volume; exit 1; }; echo $v; echo kvm:shelf://$VOL_NAME`)
  script('grow', `${volume}; truncate -s \${VOL_NEW_SIZE}M $v`)
  script('remove', `${volume}; rm $v`)
  for (const name of ['detach', 'setinfo', 'verify', 'open', 'close']) script(name, volume)
})
afterEach(() => node.remove())

const script = (name: string, body: string) => node.put(`${FOLDER}/${name}`, `#!/bin/sh\n${body}\n`, 0o755)
const notes = () =>
  fs
    .readFileSync(`${shelf}/notes`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.trim())
const COMMON = 'EXTP_ACCESS=kernelspace EXTP_FROM_SNAP=gold EXTP_PROVIDER=shelf VOL_CNAME=root'
const VOLUME = `VOL_NAME=${NAME}`
const UUID = 'VOL_UUID=00000000-0000-4000-8000-000000000001'

function withDevices(files: TestNode['context']['files']) {
  const stat = async (file: string) => {
    const info = await files.stat(file)
    return file.startsWith(`${shelf}/`) ? Object.assign(info, { isBlockDevice: () => true }) : info
  }
  return { ...files, stat: stat as typeof files.stat }
}

const withSizes =
  (run: TestNode['context']['run']): typeof run =>
  (argv, options) =>
    run(argv[0] === 'blockdev' ? ['stat', '-c', '%s', argv[2] ?? ''] : argv, options)

test('a disk is made, opened, grown, noted, closed and deleted by the scripts, which get what they need in their environment', async () => {
  const { device } = await disks.createAndUse(disk, 8, { onPrimary: true, info: 'originstname+inst1.example.com' })
  expect(device).toMatchObject({ path: `${shelf}/${NAME}`, block: true, uri: `shelf://${NAME}` })
  await disks.grow(disk, 4, {})
  await expect(disks.dimensions(disk)).resolves.toEqual({ size_bytes: 12 * MIB, spindles: null })
  await disks.open(disk, false)
  await disks.close(disk)
  await disks.remove(disk)
  expect(notes().filter((line) => !line.startsWith('attach '))).toEqual([
    `create ${COMMON} ${VOLUME} VOL_SIZE=8 ${UUID}`,
    `open ${COMMON} ${VOLUME} VOL_OPEN_EXCLUSIVE=True ${UUID}`,
    `setinfo ${COMMON} VOL_METADATA=originstname+inst1.example.com ${VOLUME} ${UUID}`,
    `grow ${COMMON} ${VOLUME} VOL_NEW_SIZE=12 VOL_SIZE=8 ${UUID}`,
    `open ${COMMON} ${VOLUME} VOL_OPEN_EXCLUSIVE=False ${UUID}`,
    `close ${COMMON} ${VOLUME} ${UUID}`,
    `detach ${COMMON} ${VOLUME} ${UUID}`,
    `remove ${COMMON} ${VOLUME} ${UUID}`,
  ])
  await expect(disks.find(disk)).resolves.toBeUndefined()
})

test('snapshots need a script, which gets name and size', async () => {
  await disks.create(disk, 8)
  await expect(disks.snapshot(disk, null, null)).rejects.toThrow(
    "External storage provider 'shelf' on node node1.example.com has no script snapshot",
  )
  script('snapshot', `cp ${shelf}/$VOL_NAME ${shelf}/$VOL_SNAPSHOT_NAME; echo $VOL_SNAPSHOT_SIZE > ${shelf}/size`)
  await expect(disks.snapshot(disk, null, null)).resolves.toEqual(['shelf', `${NAME}.snap`])
  expect(fs.readFileSync(`${shelf}/size`, 'utf8').trim()).toBe('8')
  expect(fs.existsSync(`${shelf}/${NAME}.snap`)).toBe(true)
})

test('a provider without scripts open and close does without them', async () => {
  for (const name of ['open', 'close']) fs.rmSync(node.paths.local(`${FOLDER}/${name}`))
  await disks.create(disk, 8)
  await disks.opened(disk)
  await disks.close(disk)
})

test('a failure names provider, script, volume and log, with the last lines of what the script said', async () => {
  script('create', 'echo looking for room; echo the shelf is full >&2; exit 7')
  const failure = await disks.create(disk, 8).catch((error: unknown) => String(error))
  expect(failure).toMatch(
    /The script create of external storage provider 'shelf' for volume 'a\.ext\.disk0' failed on node node1\.example\.com: exit code 7/,
  )
  expect(failure).toContain('last lines of output:\nlooking for room\nthe shelf is full')
  const [log = ''] =
    /\/var\/log\/ganeti\/extstorage\/create-shelf-a\.ext\.disk0-[^ )]+\.log/.exec(failure as string) ?? []
  expect(fs.readFileSync(node.paths.local(log), 'utf8')).toContain('the shelf is full')
})

test.each([
  ['no device at all', 'echo', 'names no block device'],
  [
    'one that is missing',
    'echo /dev/no-such-device',
    'names the block device /dev/no-such-device, which does not exist',
  ],
  ['a plain file', `echo /etc/passwd`, 'names /etc/passwd, which is not a block device'],
  [
    'something else than a path',
    'echo device is ready',
    "names 'device is ready' as the block device, which is no absolute path",
  ],
])('a provider that names %s is caught', async (_, body, text) => {
  script('attach', body)
  await expect(disks.find(disk)).rejects.toThrow(
    `The script attach of external storage provider 'shelf' for volume '${NAME}' on node node1.example.com ${text}; correct the script`,
  )
})

test('a volume that is smaller than asked for is taken back', async () => {
  script('create', `truncate -s 3M ${shelf}/$VOL_NAME`)
  await expect(disks.createAndUse(disk, 8, { onPrimary: true, info: '' })).rejects.toThrow(
    'has 3 MiB of the 8 that were made',
  )
  expect(fs.existsSync(`${shelf}/${NAME}`)).toBe(false)
})

test('where only QEMU reaches a volume, userspace access does without a device, and nothing else does', async () => {
  script('attach', 'echo; echo kvm:shelf://$VOL_NAME')
  const reached = { ...disk, params: { ...disk.params, access: 'userspace' } }
  await expect(disks.assemble(reached)).resolves.toMatchObject({ path: '', uri: `shelf://${NAME}` })
  await expect(disks.wipe(reached, 0, 1)).rejects.toThrow('has no device on node node1.example.com')
  await expect(disks.assemble(disk)).rejects.toThrow('access=userspace may do')
  script('attach', `echo ${shelf}/notes`)
  await expect(disks.assemble(reached)).rejects.toThrow('names no kvm:URI')
})

test('a volume that cannot be attached is deleted all the same', async () => {
  await disks.create(disk, 8)
  script('attach', 'exit 1')
  await disks.remove(disk)
  expect(fs.existsSync(`${shelf}/${NAME}`)).toBe(false)
})

test('a volume that can neither be attached nor removed does not count as gone', async () => {
  await disks.create(disk, 8)
  for (const name of ['attach', 'remove']) script(name, `echo cannot ${name}; exit 1`)
  await expect(disks.remove(disk)).rejects.toThrow(
    /cannot attach; and it cannot be removed: [^]*cannot remove; see whether provider 'shelf' still has volume 'a\.ext\.disk0', and remove it there/,
  )
})

test('a volume whose attach lies about its device is detached and deleted; what its provider keeps is told', async () => {
  script('attach', 'echo /dev/no-such-device')
  await expect(disks.createAndUse(disk, 8, { onPrimary: true, info: '' })).rejects.toThrow('which does not exist')
  expect(fs.existsSync(`${shelf}/${NAME}`)).toBe(false)
  script('remove', 'exit 1')
  await expect(disks.remove(disk)).rejects.toThrow(
    /which does not exist; correct the script, then try again; and it cannot be removed: The script remove/,
  )
})

test('a provider that hangs is told within the time for which the caller waits', async () => {
  await disks.create(disk, 8)
  const clock = clockAt(0)
  const hanging = new Disks({
    ...context,
    clock,
    run: async (argv, options) => {
      if (argv[0]?.startsWith(path.join(node.paths.local(FOLDER))) !== true) return context.run(argv, options)
      await clock.sleep((options?.timeout_s ?? Infinity) * 1000)
      return { code: null, signal: 'SIGKILL', stdout: '', stderr: '', output: '', timedOut: true }
    },
  })
  await expect(hanging.remove(disk)).rejects.toThrow(
    /script attach .* ran longer than 840 seconds; see on that node what it waits for, then try again; and it cannot be removed: The script detach .* was not started on node node1\.example\.com: the scripts before it took 840 seconds/,
  )
  expect(clock.monotonic_ms() / 1000).toBeLessThan(Number(nodeCalls.blockdev_remove.timeout_s))
})

test('a script that hangs is ended with what it started, and so is one that prints for ever', async () => {
  const provider = await findProvider(context, 'shelf')
  const run = (bounds: { seconds: number; bytes: number }) =>
    runScript(context, provider, 'detach', { provider: 'shelf', name: NAME }, {}, bounds)
  script('detach', 'sleep 1000 & sleep 1000')
  await expect(run({ seconds: 1, bytes: 1000 })).rejects.toThrow(
    /it was ended, because it ran longer than 1 seconds \(log: \S+\); see on that node what it waits for, then try again/,
  )
  script('detach', 'yes')
  await expect(run({ seconds: 60, bytes: 1000 })).rejects.toThrow(
    /it was ended, because it printed more than 1000 bytes \(log: \S+\); correct the script, then try again/,
  )
})

test('scripts that others may change are not started, and providers that are missing or broken are told', async () => {
  fs.chmodSync(node.paths.local(`${FOLDER}/grow`), 0o777)
  await expect(disks.create(disk, 8)).rejects.toThrow(
    `External storage provider 'shelf' in ${FOLDER} on node node1.example.com cannot be used: ${FOLDER}/grow can be written by others`,
  )
  fs.rmSync(node.paths.local(`${FOLDER}/grow`))
  await expect(disks.create(disk, 8)).rejects.toThrow('there is no executable script grow')
  await expect(disks.create({ ...disk, logical_id: ['rack', NAME] }, 8)).rejects.toThrow(
    "External storage provider 'rack' is not on node node1.example.com: install it below one of /srv/ganeti/extstorage",
  )
  await expect(disks.create({ ...disk, logical_id: ['../shelf', NAME] }, 8)).rejects.toThrow(
    'is not a valid name of an external storage',
  )
  expect(notes()).toEqual([''])
})
