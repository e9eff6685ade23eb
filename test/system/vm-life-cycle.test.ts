// The main job, as a user does it: a real virtual machine through every layer, with the command line tools.
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { qemuPresent, qemuTest } from '../support/needs'
import { eventually } from '../support/hypervisor'

let cluster: EmbeddedCluster
beforeAll(async () => {
  if (qemuPresent) cluster = await startCluster(['--hypervisor', 'kvm'])
})
afterAll(() => (qemuPresent ? cluster.remove() : undefined))

qemuTest('an instance is created without naming a node, boots, and is listed', async () => {
  const created = await ok('instance add -t sharedfile --disk 0:size=16m -o gantry-tiny -B memory=64m vm1')
  expect(created).toMatch(/Selected nodes for instance vm1 via iallocator hail: node\d\.gantry\.local/)
  expect(created).toMatch(/\* starting instance\.\.\./)
  expect(await ok('instance list --no-headers -o name,hypervisor,status,oper_ram vm1')).toMatch(
    /^vm1 kvm +running +64M$/m,
  )
  await waitForConsole(/READY/, { keep: true })
})

qemuTest('its console answers, and live migration does not lose its uptime', async () => {
  // Away from where the allocator put it, so that the next move is one in any case.
  await ok('instance failover -f -n node1 vm1').catch(() => 'it was there')
  await ok('instance migrate -f -n node2 vm1')
  const before = await ticks()
  const reported = await ok('instance migrate -f -n node3 vm1')
  expect(reported).toContain('memory transfer complete')
  expect(reported).not.toContain('without encryption')
  expect(await ok('instance list --no-headers -o pnode vm1')).toMatch(/^node3\.gantry\.local/)
  const after = await ticks()
  // A guest that had booted again would count from the beginning.
  expect(after).toBeGreaterThanOrEqual(before)
  expect(after - before).toBeLessThan(30)
})

qemuTest('info tells of nodes, disks and user-mode networking', async () => {
  const info = await ok('instance info vm1')
  expect(info).toMatch(/primary: node3\.gantry\.local/)
  expect(info).toMatch(/link: user-mode\n(.*\n)*?.*connection: QEMU's user-mode network/)
  expect(info).toMatch(/on primary: .*\/srv\/ganeti\/shared-file-storage\//)
})

qemuTest(
  'a NIC that is not joined to the bridge that it names is told of in the log, in info and in lists',
  async () => {
    await ok(
      'instance add -t sharedfile --disk 0:size=1m -o gantry-tiny --net 0:link=no-such-br0 -B memory=32m -n node2 --no-start bridged1',
    )
    const started = await ok('instance startup bridged1')
    expect(started).toMatch(/NIC 0 has QEMU's user-mode network/)
    expect(await ok('instance info bridged1')).toMatch(
      /link: no-such-br0\n(.*\n)*?.*connection: QEMU's user-mode network/,
    )
    expect(await ok('instance list --no-headers -o user_nics bridged1')).toMatch(/^\[?0\]?$/m)
    await ok('instance remove -f bridged1')
  },
)

qemuTest('failover, shutdown by the power button, startup and reboot', async () => {
  await ok('instance failover -f -n node1 vm1')
  expect(await status()).toEqual(['node1.gantry.local', 'running'])
  await ok('instance shutdown vm1')
  expect(await status()).toEqual(['node1.gantry.local', 'ADMIN_down'])
  await ok('instance startup vm1')
  await ok('instance reboot vm1')
  expect(await status()).toEqual(['node1.gantry.local', 'running'])
})

qemuTest('an instance on files of one node is refused for migration and failover', async () => {
  await ok('instance add -t file --disk 0:size=16m -o gantry-tiny -B memory=64m -n node1 --no-start local1')
  for (const [verb, noun] of [
    ['migrate', 'migrations'],
    ['failover', 'failovers'],
  ]) {
    const refused = await cluster.gnt('instance', verb ?? '', '-f', 'local1')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`Instance's disk layout 'file' does not allow ${noun}`)
  }
  await ok('instance remove -f local1')
})

qemuTest('hooks run before and after on the master and on the nodes of the instance', async () => {
  for (const [node, phase] of [
    ['node1', 'pre'],
    ['node1', 'post'],
    ['node2', 'post'],
  ]) {
    const directory = path.join(cluster.root, `${node}.gantry.local/etc/ganeti/hooks/instance-reboot-${phase}.d`)
    fs.mkdirSync(directory, { recursive: true })
    const script = '#!/bin/sh\necho "$GANETI_HOOKS_PHASE $GANETI_INSTANCE_NAME $GANETI_INSTANCE_PRIMARY" >> "$0.log"\n'
    fs.writeFileSync(path.join(directory, 'note'), script, { mode: 0o755 })
  }
  await ok('instance reboot vm1')
  const log = (node: string, phase: string) =>
    path.join(cluster.root, `${node}.gantry.local/etc/ganeti/hooks/instance-reboot-${phase}.d/note.log`)
  expect(fs.readFileSync(log('node1', 'pre'), 'utf8')).toBe('pre vm1 node1.gantry.local\n')
  expect(fs.readFileSync(log('node1', 'post'), 'utf8')).toBe('post vm1 node1.gantry.local\n')
  // Not a node of this instance.
  expect(fs.existsSync(log('node2', 'post'))).toBe(false)
})

qemuTest('a hook that fails before the work stops it, with what it said', async () => {
  const directory = path.join(cluster.root, 'node1.gantry.local/etc/ganeti/hooks/instance-stop-pre.d')
  fs.mkdirSync(directory, { recursive: true })
  fs.writeFileSync(path.join(directory, 'refuse'), '#!/bin/sh\necho not today\nexit 1\n', { mode: 0o755 })
  const refused = await cluster.gnt('instance', 'shutdown', 'vm1')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/not today/)
  expect(await status()).toEqual(['node1.gantry.local', 'running'])
  fs.rmSync(directory, { recursive: true })
})

qemuTest('secret parameters reach the script and no file', async () => {
  const secret = `s3cret-${randomBytes(8).toString('hex')}`
  const osDirectory = path.join(cluster.root, 'node1.gantry.local/srv/ganeti/os/secretive')
  fs.cpSync(path.join(__dirname, '../../os/gantry-tiny'), osDirectory, { recursive: true })
  fs.appendFileSync(path.join(osDirectory, 'parameters.list'), 'pass a password\n')
  fs.writeFileSync(path.join(osDirectory, 'create'), '#!/bin/sh\nprintf %s "$OSP_PASS" | sha1sum | cut -c1-40 >&2\n', {
    mode: 0o755,
  })
  const added = await cluster.run({
    OP_ID: 'OP_INSTANCE_CREATE',
    ...{ mode: 'create', instance_name: 'secret1', disk_template: 'file', disks: [{ size: 16 }], nics: [] },
    ...{ pnode: 'node1.gantry.local', os_type: 'secretive', beparams: { memory: 16 } },
    ...{ start: false, osparams_secret: { pass: secret } },
  })
  expect(added).toMatchObject({ status: 'success', result: ['node1.gantry.local'] })
  const digest = createHash('sha1').update(secret).digest('hex')
  expect(filesHolding(path.join(cluster.root, 'node1.gantry.local/var/log/ganeti/os'), digest)).toHaveLength(1)
  expect(filesHolding(cluster.root, secret)).toEqual([])
  await ok('instance remove -f secret1')
})

qemuTest(
  'who stops a guest that ignores the power button hears what is waited for, until it is switched off',
  async () => {
    const stopped = async (name: string, words: string) => {
      // Its disk is empty: the firmware finds nothing to start, and knows no power button.
      await ok(
        `instance add -t sharedfile --disk 0:size=1m -o gantry-tiny -B memory=32m -n node2 --no-name-check --no-install ${name}`,
      )
      await ok(`instance startup ${name}`)
      const command = cluster.follow(...words.split(' '), name)
      const reported = new RegExp(
        `Waiting for instance ${name} to shut down: \\d+ of 12 seconds, then it is switched off`,
      )
      await eventually(() => reported.test(command.output()) || undefined, undefined, command.output)
      expect(qemuOf(cluster.root, name)).toHaveLength(1)
      expect((await command.ended).code).toBe(0)
      expect(qemuOf(cluster.root, name)).toEqual([])
    }
    await Promise.all([
      stopped('deaf1', 'instance shutdown --timeout=12'),
      stopped('deaf2', 'instance remove -f --shutdown-timeout=12'),
    ])
    expect(await ok('instance list --no-headers --separator=, -o name,status')).toMatch(/^deaf1,ADMIN_down$/m)
    expect(await ok('instance list --no-headers -o name')).not.toContain('deaf2')
    await ok('instance remove -f deaf1')
  },
)

qemuTest(
  'a guest that its user shuts down is noted by its node at once, and started by those only who ask',
  async () => {
    const run = (file: string) => path.join(cluster.root, 'node2.gantry.local/var/run/ganeti', file)
    const daemon = () => fs.existsSync(run('ganeti-kvmd.pid'))
    const marked = () => fs.existsSync(run('kvm-hypervisor/ctrl/user1.shutdown'))
    const until = (is: () => boolean) => eventually(() => Promise.resolve(is() || undefined))
    expect(daemon()).toBe(false)
    await ok('cluster modify --user-shutdown yes')
    await until(daemon)
    await ok(
      'instance add -t sharedfile --disk 0:size=16m -o gantry-tiny -B memory=64m -n node2 -H kvm:user_shutdown=true user1',
    )
    await waitForConsole(/READY/, { keep: true, name: 'user1', then: 'q' })
    // QEMU says that its guest is going, and goes a moment later.
    await until(() => marked() && qemuOf(cluster.root, 'user1').length === 0)
    expect(await ok('instance list --no-headers -o status user1')).toBe('USER_down\n')
    await ok('instance startup user1')
    expect(await ok('instance list --no-headers -o status user1')).toBe('running\n')
    expect(marked()).toBe(false)
    await ok('instance remove -f user1')
    await ok('cluster modify --user-shutdown no')
    await until(() => !daemon())
  },
)

/** A helper machine in one boot sector: writes itself to the second sector of the other disk, and switches the machine off. */
const HELPER = Buffer.concat([
  Buffer.from([
    ...[0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0], // xor ax,ax; mov ds,ax; mov es,ax
    ...[0xbb, 0x00, 0x7c], // mov bx,0x7c00: from where the BIOS has put this sector
    ...[0xb8, 0x01, 0x03], // mov ax,0x0301: write one sector
    ...[0xb9, 0x02, 0x00], // mov cx,2: cylinder 0, sector 2
    ...[0xba, 0x81, 0x00], // mov dx,0x81: head 0, second drive
    ...[0xcd, 0x13], // int 0x13
    ...[0x72, 0x07], // jc halt: a machine that stays says that it went wrong
    ...[0xba, 0x04, 0x06], // mov dx,0x604: power management, where QEMU's firmware puts it
    ...[0xb8, 0x00, 0x20], // mov ax,0x2000: off
    ...[0xef], // out dx,ax
    ...[0xf4, 0xeb, 0xfd], // halt: hlt; jmp halt
  ]),
  Buffer.alloc(478),
  Buffer.from([0x55, 0xaa]),
])

qemuTest(
  'an image works on the disks of an instance before they are exported, and the instance runs again',
  async () => {
    const image = path.join(cluster.root, 'helper.img')
    fs.writeFileSync(image, HELPER)
    const [node = ''] = await status()
    await ok(`cluster modify --zeroing-image=${image}`)
    const log = await ok(`backup export --zero-free-space --long-sleep -n ${node} vm1`)
    expect(log).toMatch(/Starting helper VM(.*\n)*.*Helper VM has finished(.*\n)*.*Exporting disk\/0/)
    const folder = path.join(cluster.root, node, 'var/lib/ganeti/export/vm1')
    const [dump = ''] = fs.readdirSync(folder).filter((file) => file !== 'config.ini')
    expect(fs.readFileSync(path.join(folder, dump)).subarray(512, 1024)).toEqual(HELPER)
    await waitForConsole(/READY/, { keep: true })
    expect(await ok('instance list --no-headers --separator=, -o status,disk.count vm1')).toBe('running,1\n')
    expect(fs.readdirSync(path.join(cluster.root, 'shared/vm1'))).toHaveLength(1)
    await ok('backup remove vm1')
  },
)

qemuTest('a cluster that is stopped and started has its instances again', async () => {
  await cluster.stop()
  expect(qemuOf(cluster.root)).toEqual([])
  await cluster.restart()
  // The start or maintd has started it, whoever saw it first.
  expect(await status()).toEqual(['node1.gantry.local', 'running'])
})

qemuTest('nothing is left of a removed instance', async () => {
  await ok('instance remove -f vm1')
  expect(await ok('instance list --no-headers')).toBe('')
  expect(qemuOf(cluster.root)).toEqual([])
  expect(fs.readdirSync(path.join(cluster.root, 'shared'))).toEqual([])
})

async function ok(command: string): Promise<string> {
  const result = await cluster.gnt(...command.split(' '))
  if (result.code !== 0) throw new Error(`gnt ${command} ended with ${result.code}:\n${result.stdout}${result.stderr}`)
  return result.stdout + result.stderr
}

async function status(): Promise<string[]> {
  return (await ok('instance list --no-headers --separator=, -o pnode,status vm1')).trim().split(',')
}

/** The highest tick that the guest prints within two seconds or so. */
async function ticks(): Promise<number> {
  const text = await waitForConsole(/T(\d{4})/)
  return Number(/T(\d{4})/.exec(text)?.[1])
}

/** Reads the serial console until the pattern comes; the console is where the tools would find it. */
async function waitForConsole(
  pattern: RegExp,
  options: { keep?: boolean; name?: string; then?: string } = {},
): Promise<string> {
  const { data } = await cluster.master.query('instance', ['console'], ['==', 'name', options.name ?? 'vm1'])
  const { command } = data[0]?.[0]?.[1] as { command: string[] }
  const socket = net.connect(command.find((word) => word.endsWith('.serial')) ?? '')
  let text = ''
  try {
    await new Promise<void>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`the console said nothing of ${pattern}: ${text}`)), 60_000)
      // READY was printed before anybody listened: a guest that ticks has booted.
      const desired = options.keep ? new RegExp(`${pattern.source}|T\\d{4}`) : pattern
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        if (!desired.test(text)) return
        clearTimeout(limit)
        if (options.then === undefined) resolve()
        else socket.write(options.then, () => resolve())
      })
      socket.on('error', reject)
    })
  } finally {
    socket.destroy()
  }
  return text
}

function filesHolding(directory: string, text: string): string[] {
  try {
    return fs.readdirSync(directory, { withFileTypes: true, recursive: true }).flatMap((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      return entry.isFile() && fs.readFileSync(file).includes(text) ? [file] : []
    })
  } catch (error) {
    // Daemons rename and remove files: what one had may be in another now, so all are read anew.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return filesHolding(directory, text)
    throw error
  }
}

const qemuOf = (root: string, name = ''): string[] =>
  fs.readdirSync('/proc').filter((pid) => {
    try {
      const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return /kvm|qemu/.test(words.split('\0')[0] ?? '') && words.includes(root) && words.includes(name)
    } catch {
      return false
    }
  })
