// Disks on volumes and mirrors in user space, as somebody has them who tries the cluster on one machine: real guests that write to them,
// and nodes that are lost. What a guest has written is read again after each step.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { SerialConsole, diskSizes, eventually } from '../support/hypervisor'
import { qemuPresent, qemuTest } from '../support/needs'

const [WRITE, READ] = ['\x17', '\x12']
const PATIENCE_S = 60
const IN_SYNC = /on primary: .*in sync, status ok\n.*on secondary: .*in sync, status ok/

let cluster: EmbeddedCluster
beforeAll(async () => {
  if (!qemuPresent) return
  cluster = await startCluster(['--hypervisor', 'kvm'])
  // It would mend what is to be seen.
  await ok('cluster watcher pause 1h')
})
afterAll(() => (qemuPresent ? cluster.remove() : undefined))

qemuTest('a volume of one node keeps what its guest writes, and grows', async () => {
  await ok('instance add -t plain --disk 0:size=4m -o gantry-tiny -B memory=32m -n node1 plain1')
  const written = await write('node1', 'plain1')
  await ok('instance grow-disk plain1 0 4m')
  await ok('instance reboot plain1')
  expect(await read('node1', 'plain1')).toBe(written)
  expect(await ok('instance info plain1')).toMatch(
    /plain, size 8M\n(.*\n)*?.*on primary: \/srv\/ganeti\/user-volumes\/xenvg\/volumes\//,
  )
  await ok('instance remove -f plain1')
})

qemuTest('a mirrored disk is in sync on two nodes, and its guest moves between them while it runs', async () => {
  // Copying is paused while its system is written.
  await ok('instance add -t drbd --disk 0:size=4m -o gantry-tiny -B memory=32m -n node1:node2 --no-wait-for-sync m1')
  await inSync()
  const written = await write('node1')
  await ok('instance migrate -f m1')
  expect(await ok('instance list --no-headers -o pnode m1')).toMatch(/^node2/)
  expect(await read('node2')).toBe(written)
  // A guest that had booted again would count from the beginning.
  expect(await write('node2')).toBeGreaterThanOrEqual(written)
})

qemuTest('the node that it runs on is lost: it goes on at the other with all that was written', async () => {
  const written = await write('node2')
  await ok('node modify --offline yes --force node2')
  expect(kill('node2', '')).toBeGreaterThan(3)
  await ok('instance failover -f m1')
  expect(await read('node1')).toBe(written)
  expect(await ok('instance info m1')).toMatch(/on primary: .*status \*DEGRADED\*/)
  const later = await write('node1')
  await eventually(() => done('node modify --offline no --force node2'), PATIENCE_S)
  await ok('cluster verify-disks')
  await inSync()
  await ok('instance migrate -f m1')
  expect(await read('node2')).toBe(later)
})

qemuTest('a copy that was away gets what it lacks, and a guest does not notice', async () => {
  expect(kill('node1', 'mirrors')).toBe(1)
  await degraded()
  const written = await write('node2')
  await ok('instance activate-disks m1')
  await inSync()
  expect(await read('node2')).toBe(written)
})

qemuTest('both copies were written to without the other: they stay apart until somebody chooses', async () => {
  expect(kill('node1', 'mirrors')).toBe(1)
  await degraded()
  await write('node2')
  await ok('node modify --offline yes --force node2')
  kill('node2', '')
  await ok('instance failover -f m1')
  const chosen = await write('node1')
  await eventually(() => done('node modify --offline no --force node2'), PATIENCE_S)
  await ok('instance activate-disks m1')
  const log = path.join(cluster.root, 'node1.gantry.local/var/log/ganeti/mirrors.log')
  await eventually(() => /split brain/.test(fs.readFileSync(log, 'utf8')) || undefined, PATIENCE_S)
  await degraded()
  expect(await read('node1')).toBe(chosen)
  await ok('instance replace-disks -n node3 m1')
  await inSync()
  expect(await read('node1')).toBe(chosen)
})

qemuTest('its copies are made anew while it runs, one by one', async () => {
  const written = await write('node1')
  await ok('instance replace-disks -p m1')
  await ok('instance replace-disks -s m1')
  await inSync()
  await ok('instance migrate -f m1')
  expect(await read('node3')).toBe(written)
})

qemuTest('its primary node has lost the data: it starts with that of the other, and gets it back', async () => {
  const written = await write('node3')
  await ok('instance shutdown m1')
  const [data = ''] = fs.readdirSync(volumesOf('node3')).filter((name) => name.endsWith('_data'))
  fs.rmSync(path.join(volumesOf('node3'), data))
  await ok('instance startup m1')
  expect(await read('node3')).toBe(written)
  await ok('instance replace-disks -p m1')
  await inSync()
  await ok('instance reboot m1')
  expect(await read('node3')).toBe(written)
})

qemuTest('it becomes one of another template and a mirrored one again, and verify finds nothing wrong', async () => {
  const written = await write('node3')
  await ok('instance shutdown m1')
  await ok('instance modify -t file m1')
  await ok('instance modify -t drbd -n node2 m1')
  await ok('instance modify -t plain m1')
  await ok('instance modify -t drbd -n node2 m1')
  await ok('instance startup m1')
  expect(await read('node3')).toBe(written)
  // A guest that is told of it in vain is named by a warning.
  expect(await ok('instance grow-disk m1 0 4m')).not.toMatch(/WARNING/)
  await inSync()
  expect(await read('node3')).toBe(written)
  const later = await write('node3')
  expect(await read('node3')).toBe(later)
  expect(await ok('cluster verify')).not.toMatch(/ERROR/)
  expect(await ok('cluster info')).toMatch(/^Storage: volumes and mirrored disks in user space/m)
  expect(await ok('cluster verify-disks')).toMatch(/No disks need to be activated/)
})

qemuTest('its export becomes a mirrored instance again, with the same data on both nodes', async () => {
  await write('node3')
  await ok('backup export -n node1 --long-sleep m1')
  await ok('backup import -t drbd -n node1:node2 --src-node=node1 --src-dir=m1 --net 0:mac=auto m2')
  const exported = path.join(cluster.root, 'node1.gantry.local/var/lib/ganeti/export/m1')
  const [dump = ''] = fs.readdirSync(exported).filter((name) => name !== 'config.ini')
  const data = fs.readFileSync(path.join(exported, dump))
  expect(data.equals(Buffer.alloc(data.length))).toBe(false)
  // The other instance has nothing on the first node.
  const [volume = ''] = fs.readdirSync(volumesOf('node1')).filter((name) => name.endsWith('_data'))
  for (const node of ['node1', 'node2'])
    expect(data.equals(fs.readFileSync(path.join(volumesOf(node), volume)))).toBe(true)
  await ok('instance remove -f m2')
  await ok('backup remove m1')
})

qemuTest('a guest that runs gets another mirrored disk, and has it on the other node, too', async () => {
  await ok('instance add -t drbd --disk 0:size=4m -o gantry-tiny -B memory=32m -n node1:node2 m3')
  const sizesOn = (node: string) =>
    diskSizes(path.join(cluster.root, `${node}.gantry.local/var/run/ganeti/kvm-hypervisor/ctrl/m3.qmp`))
  await ok('instance modify --disk add:size=8m m3')
  expect(await sizesOn('node1')).toEqual([4 << 20, 8 << 20])
  await ok('instance migrate -f m3')
  expect(await sizesOn('node2')).toEqual([4 << 20, 8 << 20])
  await ok('instance remove -f m3')
})

qemuTest('nothing is left of it', async () => {
  await ok('instance remove -f m1')
  for (const node of ['node1', 'node2', 'node3']) {
    expect(fs.readdirSync(volumesOf(node))).toEqual([])
    await eventually(() => processesOf(node, 'mirrors').length === 0 || undefined, PATIENCE_S)
  }
})

const volumesOf = (node: string): string =>
  path.join(cluster.root, `${node}.gantry.local/srv/ganeti/user-volumes/xenvg/volumes`)

async function ok(command: string): Promise<string> {
  const result = await cluster.gnt(...command.split(' '))
  if (result.code !== 0) throw new Error(`gnt ${command} ended with ${result.code}:\n${result.stdout}${result.stderr}`)
  return result.stdout + result.stderr
}

const done = (command: string): Promise<true | undefined> =>
  ok(command).then(
    () => true,
    () => undefined,
  )

const degraded = () => eventually(async () => /DEGRADED/.test(await ok('instance info m1')) || undefined, PATIENCE_S)
const inSync = () => eventually(async () => IN_SYNC.test(await ok('instance info m1')) || undefined, PATIENCE_S)

/** The guest writes its count to its disk; it says which it was when it reads it again. */
const write = (node: string, instance = 'm1'): Promise<number> => ask(node, instance, WRITE + READ)
const read = (node: string, instance = 'm1'): Promise<number> => ask(node, instance, READ)

async function ask(node: string, instance: string, keys: string): Promise<number> {
  const ctrl = `${node}.gantry.local/var/run/ganeti/kvm-hypervisor/ctrl`
  const serial = await SerialConsole.open(path.join(cluster.root, ctrl, `${instance}.serial`))
  try {
    // One that has not booted yet hears nothing.
    await serial.expect(/T\d{4}/, PATIENCE_S)
    serial.type(keys)
    const [, number] = await serial.expect(/D(\d{4})/, PATIENCE_S)
    return Number(number)
  } finally {
    // Only one is heard at a time.
    SerialConsole.closeAll()
  }
}

/** Ends processes of a node at once; answers how many there were. */
function kill(node: string, words: string): number {
  const pids = processesOf(node, words)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  return pids.length
}

/** Its daemons, its guests, and the process that has its mirrored disks. */
function processesOf(node: string, words: string): number[] {
  const root = path.join(cluster.root, `${node}.gantry.local`)
  const text = (pid: string, file: string) => {
    try {
      return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8')
    } catch {
      return ''
    }
  }
  const isIts = (pid: string) => {
    const command = text(pid, 'cmdline')
    const runs = /mirrors|kvm|qemu/.test(command) && command.includes(`${root}/`.slice(0, -1))
    return command.includes(words) && (runs || text(pid, 'environ').includes(`GANETI_ROOTDIR=${root}\0`))
  }
  return fs
    .readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && isIts(pid))
    .map(Number)
}
