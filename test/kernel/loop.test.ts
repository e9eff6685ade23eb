// Disks of external storage and adopted block devices under real guests: a provider's scripts make loop devices, and so does an administrator.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { qemuPresent, testWith } from '../support/needs'
import { Sandbox } from './sandbox'
import { StorageCluster } from './storage-cluster'

const present = process.getuid?.() === 0 && qemuPresent && fs.existsSync('/dev/loop-control')
const loopTest = testWith(present, 'qemu-system-x86 (as root, where the kernel has loop devices)')

let nodes: StorageCluster
let shelf: string
beforeAll(async () => {
  if (!present) return
  const sandbox = new Sandbox(['/dev/disk'])
  shelf = sandbox.file('shelf')
  fs.mkdirSync(shelf)
  nodes = await StorageCluster.start('ext', sandbox, () => Promise.resolve(), 'kernelspace')
  for (const node of ['node1', 'node2']) provider(nodes.local(node, 'usr/share/ganeti/extstorage/shelf'))
})
afterAll(async () => {
  await nodes?.remove()
  for (const device of devices()) execFileSync('losetup', ['-d', device])
})

/** The loop devices of the shelf. */
const devices = (): string[] =>
  execFileSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => shelf !== undefined && line.includes(`${path.basename(path.dirname(shelf))}/`))
    .map((line) => line.split(' ')[0] ?? '')

/** As an administrator would write it: volumes are files of a folder that all nodes see. */
function provider(folder: string): void {
  fs.mkdirSync(folder, { recursive: true })
  const put = (name: string, text: string, mode = 0o755) => fs.writeFileSync(path.join(folder, name), text, { mode })
  const script = (name: string, body: string) =>
    put(
      name,
      `#!/bin/sh\nset -e\nv=${shelf}/$VOL_NAME\ndevice() { losetup -j "$v" -O NAME -n | head -n 1; }\n${body}\n`,
    )
  put('parameters.list', 'lie What attach is to say\n', 0o644)
  script('create', '[ ! -e "$v" ] || { echo "it exists"; exit 1; }; truncate -s "$VOL_SIZE"M "$v"')
  script(
    'attach',
    '[ -z "$EXTP_LIE" ] || { echo "$EXTP_LIE"; exit 0; }\n' +
      '[ -e "$v" ] || { echo "no such volume"; exit 1; }\n' +
      'd=$(device); [ -n "$d" ] || d=$(losetup -f --show "$v"); echo "$d"',
  )
  script('detach', 'd=$(device); [ -z "$d" ] || losetup -d "$d"')
  script('grow', 'truncate -s "$VOL_NEW_SIZE"M "$v"; d=$(device); [ -z "$d" ] || losetup -c "$d"')
  script('remove', 'rm -f "$v"')
  script('setinfo', 'echo "$VOL_METADATA" > "$v.info"')
  script('snapshot', `cp "$v" "${shelf}/$VOL_SNAPSHOT_NAME"`)
  script('verify', ':')
}

const ext = (name: string, ...more: string[]) => [
  ...['instance', 'add', '-t', 'ext', '--disk', ['0:size=8m,provider=shelf', ...more].join(','), '-o', 'gantry-tiny'],
  ...['-B', 'memory=16m', '-n', 'node1', name],
]

loopTest(
  'a guest on a provider’s volume writes, and finds it after its disk grew and it moved and crashed',
  async () => {
    await nodes.ok(...ext('vm1'))
    const written = await nodes.write('node1', 'vm1')
    await nodes.ok('instance', 'grow-disk', 'vm1', '0', '8m')
    expect(await nodes.sizeSeen('node1', 'vm1')).toEqual([16 << 20])
    await nodes.getsDiskAndMoves('vm1', 'provider=shelf')
    expect(await nodes.read('node2', 'vm1')).toBe(written)
    nodes.kill('node2', 'vm1')
    await nodes.ok('instance', 'failover', '-f', 'vm1')
    expect(await nodes.read('node1', 'vm1')).toBe(written)
    await nodes.ok('instance', 'remove', '-f', 'vm1')
    expect(fs.readdirSync(shelf).filter((name) => !name.endsWith('.info'))).toEqual([])
    expect(devices()).toEqual([])
  },
)

loopTest('a script that lies about its device is told of, with what it has said', async () => {
  expect(await nodes.refused(...ext('vm2', 'lie=/dev/no-such-device'))).toMatch(
    /The script attach of external storage provider 'shelf' for volume '.*' on node node1.gantry.local names the block device \/dev\/no-such-device, which does not exist/,
  )
  expect(await nodes.refused('instance', 'info', 'vm2')).toContain("Instance 'vm2' not known")
  expect(await nodes.refused(...ext('vm3', 'lies=1'))).toContain(
    "External storage provider 'shelf' has no parameter lies: it knows lie",
  )
})

loopTest('a block device is adopted with its data, moves, and stays when its instance goes', async () => {
  const file = path.join(shelf, 'lun')
  fs.writeFileSync(file, '')
  fs.truncateSync(file, 8 << 20)
  const device = execFileSync('losetup', ['-f', '--show', file], { encoding: 'utf8' }).trim()
  const name = '/dev/disk/by-id/lun0'
  await nodes.sandbox.order('mkdir', '-p', path.dirname(name))
  await nodes.sandbox.order('ln', '-s', device, name)
  await nodes.ok(
    'cluster',
    'modify',
    '--enabled-disk-templates=ext,blockdev,diskless',
    '--ipolicy-disk-templates=ext,blockdev,diskless',
  )
  const add = ['instance', 'add', '-t', 'blockdev', '--disk', `0:adopt=${name}`, '-B', 'memory=16m', '-n', 'node1']
  await nodes.ok(...add, '--no-install', '--no-start', '-o', 'gantry-tiny', 'vm4')
  await nodes.ok('instance', 'reinstall', '-f', 'vm4')
  await nodes.ok('instance', 'startup', 'vm4')
  const written = await nodes.write('node1', 'vm4')
  await nodes.ok('instance', 'migrate', '-f', 'vm4')
  expect(await nodes.read('node2', 'vm4')).toBe(written)
  expect(await nodes.refused('instance', 'grow-disk', 'vm4', '0', '8m')).toContain('does not support growing')
  await nodes.ok('instance', 'remove', '-f', 'vm4')
  expect(fs.readFileSync(file).subarray(0, 512).equals(Buffer.alloc(512))).toBe(false)
  const none = add.map((word) => word.replace('lun0', 'none'))
  expect(await nodes.refused(...none, '--no-install', '--no-start', '-o', 'gantry-tiny', 'vm5')).toContain(
    '/dev/disk/by-id/none',
  )
})
