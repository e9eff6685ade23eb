// The export of an instance on files while its guest runs, in a file system that lets files share their blocks.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { qemuPresent, testWith } from '../support/needs'

const present =
  process.getuid?.() === 0 && qemuPresent && fs.existsSync('/usr/sbin/mkfs.xfs') && fs.existsSync('/dev/loop-control')
const reflinkTest = testWith(present, 'qemu-system-x86 xfsprogs (as root, where the kernel has loop devices)')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gr-'))
const mounted = path.join(folder, 'x')
let cluster: EmbeddedCluster | undefined

beforeAll(async () => {
  if (!present) return
  fs.mkdirSync(mounted)
  fs.writeFileSync(`${mounted}.img`, '')
  fs.truncateSync(`${mounted}.img`, 512 << 20)
  execFileSync('/usr/sbin/mkfs.xfs', ['-q', '-m', 'reflink=1', `${mounted}.img`])
  execFileSync('mount', ['-o', 'loop', `${mounted}.img`, mounted])
  cluster = await startCluster(['--hypervisor', 'kvm', '--nodes', '2'], { root: path.join(mounted, 'r') })
})
afterAll(async () => {
  await cluster?.remove()
  if (present) execFileSync('umount', [mounted])
  fs.rmSync(folder, { recursive: true, force: true })
})

reflinkTest('a guest runs on while its disk is exported, and the export is of one moment', async () => {
  await ok('instance add -t file --disk 0:size=16m -o gantry-tiny -n node1 --no-start vm1')
  const local = (node: string, name: string) => path.join(cluster?.root ?? '', `${node}.gantry.local`, name)
  const disks = local('node1', 'srv/ganeti/file-storage/vm1')
  const [name = ''] = fs.readdirSync(disks)
  const disk = path.join(disks, name)
  const data = Buffer.concat([fs.readFileSync(disk).subarray(0, 1 << 20), randomBytes(15 << 20)])
  fs.writeFileSync(disk, data)
  await ok('instance startup vm1')
  const pidFile = local('node1', 'var/run/ganeti/kvm-hypervisor/pid/vm1')
  const pid = fs.readFileSync(pidFile, 'utf8')

  const log = await ok('backup export --noshutdown -n node2 vm1')
  expect(log).toMatch(/Exporting snapshot\/0 from node1\.gantry\.local to node2\.gantry\.local/)
  expect(fs.readFileSync(pidFile, 'utf8')).toBe(pid)
  expect(await ok('instance list --no-headers -o status vm1')).toBe('running')
  const exported = local('node2', 'var/lib/ganeti/export/vm1')
  const [dump = ''] = fs.readdirSync(exported).filter((file) => file !== 'config.ini')
  expect(data.equals(fs.readFileSync(path.join(exported, dump)))).toBe(true)
  expect(fs.readdirSync(disks)).toEqual([name])
})

async function ok(words: string): Promise<string> {
  const ended = await cluster?.gnt(...words.split(' '))
  if (ended?.code !== 0) throw new Error(`gnt ${words}: exit code ${ended?.code}\n${ended?.stdout}\n${ended?.stderr}`)
  return ended.stdout.trim()
}
