// A machine that is not as it should be: no room on the disk, operating systems without their scripts. One clear line says so, and
// the cluster goes on when it is put right.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { PORT } from '../../src/model/constants/daemons'
import { CONFD } from '../../src/rpc/confd/protocol'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { confdClient, NODES, daemonPids, eventually, withWconfd } from '../support/faults'
import { testWith } from '../support/needs'

const ENTRY = path.join(__dirname, '../../bin/gantryd.js')
const DELAY = { OP_ID: 'OP_TEST_DELAY', duration: 0.01, on_master: true, on_nodes: [] }
const CREATE = {
  ...{ OP_ID: 'OP_INSTANCE_CREATE', mode: 'create', disk_template: 'sharedfile', os_type: 'gantry-tiny' },
  ...{ disks: [{ size: 4 }], nics: [{}], instance_name: 'vm.gantry.local', beparams: { memory: 16 } },
}

/** A small file system of its own; undefined where this user may not mount one. */
function smallDisk(mib: number): string | undefined {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', root]).status === 0) return root
  fs.rmSync(root, { recursive: true })
  return undefined
}

const mayMount = (() => {
  const root = smallDisk(1)
  if (root !== undefined) unmount(root)
  return root !== undefined
})()

function unmount(root: string): void {
  spawnSync('umount', ['-l', root])
  fs.rmSync(root, { recursive: true, force: true })
}

/** Writes until nothing fits any more. */
function fill(file: string): void {
  const fd = fs.openSync(file, 'w')
  try {
    for (const size of [1 << 20, 1 << 12, 1])
      for (;;)
        try {
          fs.writeSync(fd, Buffer.alloc(size))
        } catch {
          break
        }
  } finally {
    fs.closeSync(fd)
  }
}

const onSmallDisk = mayMount ? test : test.skip
if (!mayMount) test.skip('(needs: root, to mount a small file system)', () => undefined)

onSmallDisk('a start on a full disk says so in one line', () => {
  const root = smallDisk(1) ?? ''
  fill(path.join(root, 'filler'))
  const started = spawnSync(process.execPath, [ENTRY, 'embedded', '--root', root, '--base-address', '127.251.9.0'], {
    ...{ encoding: 'utf8', timeout: 60_000 },
    env: { ...process.env, GANTRY_HOME: root },
  })
  unmount(root)
  expect(started.status).toBe(1)
  expect(started.stderr.trim().split('\n')).toHaveLength(1)
  expect(started.stderr).toMatch(
    /^npm start: The disk is full: .* cannot be written; free some room .*, or name another --root/,
  )
})

onSmallDisk('a disk that fills up refuses what would have to be written, and harms nothing', async () => {
  const root = smallDisk(32) ?? ''
  let cluster: EmbeddedCluster | undefined
  try {
    cluster = await startCluster(['--hypervisor', 'fake'], { root })
    expect(await cluster.run(CREATE)).toMatchObject({ status: 'success' })
    const before = daemonPids(root)
    const config = () => withWconfd(cluster as EmbeddedCluster, (wconfd) => wconfd.readConfig())
    const serial = (await config()).serial_no
    fill(path.join(root, 'filler'))
    await expect(cluster.run({ ...CREATE, instance_name: 'vm2.gantry.local' })).rejects.toThrow(/disk is full|ENOSPC/)
    expect((await cluster.rapi('GET', '/2/instances')).status).toBe(200)
    expect(await confdClient(cluster, [cluster.address]).ask(CONFD.clusterMaster, null)).toBe(NODES[0])
    const reports = await fetch(`http://${cluster.address}:${PORT.mond}/1/report/all`)
    expect(await reports.json()).toContainEqual(expect.objectContaining({ name: 'system', data: expect.anything() }))
    expect((await config()).serial_no).toBe(serial)
    fs.rmSync(path.join(root, 'filler'))
    const again = cluster
    await eventually('jobs run again', async () => ((await again.run(DELAY)).status === 'success' ? true : undefined))
    expect(await cluster.run({ ...CREATE, instance_name: 'vm2.gantry.local' })).toMatchObject({ status: 'success' })
    expect(daemonPids(root)).toEqual(before)
    await withWconfd(cluster, (wconfd) => wconfd.verifyConfig())
  } finally {
    await cluster?.stop()
    unmount(root)
  }
})

test('operating systems without their scripts are named, with what they lack', async () => {
  const cluster = await startCluster(['--hypervisor', 'fake'])
  try {
    const lacking = await cluster.run({ ...CREATE, os_type: 'nothing' })
    expect(lacking.status).toBe('error')
    expect(JSON.stringify(lacking.result)).toMatch(/nothing/)
    for (const node of NODES) {
      const folder = path.join(cluster.root, node, 'srv/ganeti/os/broken')
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(path.join(folder, 'ganeti_api_version'), '20\n')
      fs.writeFileSync(path.join(folder, 'variants.list'), 'default\n')
      for (const script of ['export', 'import', 'rename', 'verify'])
        fs.writeFileSync(path.join(folder, script), '#!/bin/sh\n', { mode: 0o755 })
    }
    const broken = await cluster.run({ ...CREATE, os_type: 'broken+default' })
    expect(broken.status).toBe('error')
    expect(JSON.stringify(broken.result)).toMatch(/broken.*create/)
    expect((await cluster.master.query('instance', ['name'], null)).data).toEqual([])
    expect(fs.readdirSync(path.join(cluster.root, 'shared'))).toEqual([])
  } finally {
    await cluster.remove()
  }
})

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const DAY_S = 86_400

testWith(fs.existsSync(FAKETIME), 'libfaketime')(
  'a clock that jumps hurts no job, and is named when it breaks TLS',
  async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
    const offset = path.join(root, 'offset')
    const jump = (by_s: number) => {
      fs.writeFileSync(`${offset}.new`, `${by_s < 0 ? '' : '+'}${by_s}\n`)
      fs.renameSync(`${offset}.new`, offset)
    }
    const env = {
      ...{ LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: offset, FAKETIME_NO_CACHE: '1' },
      // As the kernel has it: a step of the wall clock leaves the monotonic one alone.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    jump(0)
    const cluster = await startCluster(['--hypervisor', 'fake'], { root, env })
    try {
      const before = daemonPids(root)
      for (const days of [1, -3, 400, -2000, 0]) {
        const waits = cluster.run({ ...DELAY, duration: 0.5 })
        jump(days * DAY_S)
        expect(await waits).toMatchObject({ status: 'success' })
        expect(await cluster.run({ ...CREATE, instance_name: `vm${days}.gantry.local` })).toMatchObject({
          status: 'success',
        })
        expect(await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY_CONFIG' })).toMatchObject({ status: 'success' })
      }
      expect(daemonPids(root)).toEqual(before)
      await cluster.stop()
      jump(-2 * DAY_S)
      await expect(cluster.restart()).rejects.toThrow(
        /^.*npm start: .*clock of this machine says .*: set the clock right[^\n]*$/ms,
      )
      jump(0)
      await cluster.restart()
      expect((await cluster.master.query('instance', ['name'], null)).data).toHaveLength(5)
    } finally {
      await cluster.remove()
    }
  },
)
