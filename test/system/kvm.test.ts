// Real QEMU processes that run the tiny guest, driven by the handlers of node calls as a job would drive them.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PassThrough } from 'node:stream'
import type { NodeContext } from '../../src/node/context'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import { instanceHotplugHandlers as hotplug } from '../../src/node/handlers/instance-hotplug'
import { bridge } from '../../src/node/hypervisor/kvm/console-bridge'
import { GuestWatch } from '../../src/node/hypervisor/kvm/guest-watch'
import { qemuFacts } from '../../src/node/hypervisor/kvm/host'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import { verifyNode } from '../../src/node/verify'
import type { InstanceDict, NicDict, ReasonTrail } from '../../src/rpc/node/dicts'
import { qemuTest } from '../support/needs'
import { NO_REASON, TinyNodes, secondsOf as seconds, socketOf as socket } from '../support/tiny-nodes'
import { diskDict, eventually, freePort, qemuProcessesBelow } from '../support/hypervisor'

const CONTROL_BRACKET = '\x1d'
let nodes: TinyNodes
let root: string
let node: NodeContext
let instance: InstanceDict

beforeEach(async () => {
  nodes = new TinyNodes()
  ;({ root, first: node } = nodes)
  instance = await nodes.instance({})
})
afterEach(() => nodes.remove())

const boot = () => nodes.boot(instance)
const info = (where = node) => calls.instance_info(where, instance.name, 'kvm')
const shutdown = (timeout_s: number, where = node) => calls.instance_shutdown(where, instance, timeout_s, NO_REASON)

qemuTest('the guest boots, ticks, echoes what is typed, and powers off when it is asked to', async () => {
  const console = await boot()
  const first = seconds(await console.expect(/T(\d{4})/))
  expect(seconds(await console.expect(/T(\d{4})/))).toBe(first + 1)
  console.type('hello')
  await console.expect(/hello/)
  console.type('\x17\x12')
  await console.expect(/D\d{4}/)
  expect(await info()).toEqual({ memory: 16, vcpus: 1, state: 0, time: 0 })
  await shutdown(20)
  await console.expect(/POWEROFF/)
  expect(await info()).toEqual({})
  expect(fs.existsSync(node.paths.local('/var/run/ganeti/instance-disks/vm1.test:0'))).toBe(false)
})

qemuTest('calls that find their work done succeed, and say who did it', async () => {
  const trail: ReasonTrail = [['gnt:client', 'test', 1]]
  await calls.instance_start(node, instance, false, trail)
  const pids = qemuProcessesBelow(root)
  await calls.instance_start(node, instance, false, trail)
  expect(qemuProcessesBelow(root)).toEqual(pids)
  const noted: unknown = JSON.parse(fs.readFileSync(`${node.paths.instanceReasonDir}/vm1.test`, 'utf8'))
  expect(noted).toEqual([
    ['gnt:client', 'test', 1],
    ['gnt:daemon:noded:start', '', expect.any(Number)],
  ])
  await shutdown(0)
  await shutdown(0)
  expect(await info()).toEqual({})
})

qemuTest('a guest that ignores its power button is forced off when the time is over', async () => {
  const console = await boot()
  // The boot sector goes on in memory, so a guest that does not answer is one that is halted.
  await withQmp(socket(node, 'qmp'), node.clock, (qmp) =>
    qmp.run('human-monitor-command', { 'command-line': 'o /2 0x602 0' }),
  )
  const started = node.clock.monotonic_ms()
  await shutdown(0.5)
  expect(node.clock.monotonic_ms() - started).toBeGreaterThan(400)
  expect(console.text).not.toContain('POWEROFF')
  expect(await info()).toEqual({})
})

qemuTest('verify of the node names a guest whose type of machine this QEMU calls deprecated', async () => {
  const old = async () => {
    const checks = { 'gantry-old-machines': ['fake', 'kvm'] }
    return (await verifyNode(node, { checks, clusterName: 'cluster', hvparams: {} }))['gantry-old-machines']
  }
  await boot()
  expect(await old()).toEqual([])
  await shutdown(0)
  const { deprecated, version } = await qemuFacts(node, '')
  const [machine = ''] = deprecated
  expect(machine).not.toBe('')
  instance = await nodes.instance({ machine_version: machine })
  await boot()
  expect(await old()).toEqual([{ instance: 'vm1.test', machine, version: version.join('.'), gone: false }])
  await shutdown(0)
})

qemuTest('a soft reboot keeps the process, a hard one makes a new one; the guest starts over in both', async () => {
  const console = await boot()
  await console.expect(/T0002/)
  const before = qemuProcessesBelow(root)
  await calls.instance_reboot(node, instance, 'soft', 10, NO_REASON)
  await console.expect(/READY/)
  await console.expect(/T0001/)
  expect(qemuProcessesBelow(root)).toEqual(before)
  await calls.instance_reboot(node, instance, 'hard', 10, NO_REASON)
  const after = qemuProcessesBelow(root)
  expect(after).toHaveLength(1)
  expect(after).not.toEqual(before)
  await shutdown(0)
  await expect(calls.instance_reboot(node, instance, 'soft', 10, NO_REASON)).rejects.toThrow(
    "Cannot reboot instance 'vm1.test' that is not running",
  )
})

qemuTest('the end of a killed QEMU is noticed, and the instance starts again', async () => {
  await boot()
  for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGKILL')
  await eventually(async () => (Object.keys(await info()).length === 0 ? true : undefined))
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
  expect(await calls.all_instances_info(node, ['kvm'])).toEqual({})
  await boot()
  await shutdown(20)
})

qemuTest('a QEMU that hangs is still told of, and is ended by force when asking is of no use', async () => {
  await boot()
  for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGSTOP')
  expect(await info()).toMatchObject({ state: 0, memory: expect.any(Number) })
  await calls.instance_shutdown(node, instance, 1, NO_REASON)
  expect(qemuProcessesBelow(root)).toEqual([])
  expect(await info()).toEqual({})
})

qemuTest('a QEMU whose monitor is gone, as at its end, is waited for, and ended by force when it stays', async () => {
  await boot()
  fs.rmSync(socket(node, 'qmp'))
  await calls.instance_shutdown(node, instance, 1, NO_REASON)
  expect(qemuProcessesBelow(root)).toEqual([])
  expect(await info()).toEqual({})
})

qemuTest('a guest that stands still runs for Ganeti, and its state is told beside that', async () => {
  await boot()
  const run = (command: string) => withQmp(socket(node, 'qmp'), node.clock, (qmp) => qmp.run(command))
  await run('stop')
  expect(await info()).toEqual({ memory: 16, vcpus: 1, state: 0, time: 0, machine_state: 'paused' })
  await run('cont')
  expect(await info()).toEqual({ memory: 16, vcpus: 1, state: 0, time: 0 })
  await shutdown(0)
})

qemuTest('a QEMU whose PID file was lost is found again', async () => {
  await boot()
  fs.rmSync(node.paths.local('/var/run/ganeti/kvm-hypervisor/pid/vm1.test'))
  expect(await calls.instance_list(node, ['kvm'])).toEqual(['vm1.test'])
  await shutdown(20)
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
})

qemuTest('a start that fails leaves no process, no link and no runtime data', async () => {
  instance = { ...instance, hvparams: { ...instance.hvparams, kvm_extra: '-device no-such-device' } }
  await expect(calls.instance_start(node, instance, false, NO_REASON)).rejects.toThrow(
    /^Hypervisor error: QEMU did not start: .*no-such-device/s,
  )
  expect(qemuProcessesBelow(root)).toEqual([])
  expect(await calls.instance_list(node, ['kvm'])).toEqual([])
  const left = ['ctrl/vm1.test.qmp', 'conf/vm1.test.runtime', 'pid/vm1.test']
  for (const file of left) expect(fs.existsSync(node.paths.local(`/var/run/ganeti/kvm-hypervisor/${file}`))).toBe(false)
  expect(fs.existsSync(node.paths.local('/var/run/ganeti/instance-disks/vm1.test:0'))).toBe(false)
})

qemuTest("every attempt to start says in QEMU's own words why it failed", async () => {
  // An address of the documentation's, which no machine has.
  const kvm_extra = '-qmp tcp:203.0.113.9:4444,server=on,wait=off'
  instance = { ...instance, hvparams: { ...instance.hvparams, kvm_extra } }
  for (const _attempt of [1, 2, 3])
    await expect(calls.instance_start(node, instance, false, NO_REASON)).rejects.toThrow(
      /Failed to bind socket: Cannot assign requested address/,
    )
})

qemuTest('a guest that its user shuts down is reported so until it is started or stopped', async () => {
  instance = await nodes.instance({ user_shutdown: true })
  const console = await boot()
  console.type('q')
  await console.expect(/POWEROFF/)
  await eventually(async () =>
    'state' in (await info()) ? ((await info()) as { state: number }).state === 1 || undefined : undefined,
  )
  expect(await info()).toEqual({ memory: 0, vcpus: 0, state: 1, time: 0 })
  expect(await calls.instance_list(node, ['kvm'])).toEqual(['vm1.test'])
  expect(qemuProcessesBelow(root)).toEqual([])
  await boot()
  await shutdown(20)
  expect(await info()).toEqual({})
})

describe('with a daemon that listens to the guests', () => {
  let watch: GuestWatch
  const note = () => fs.existsSync(node.paths.local('/var/run/ganeti/kvm-hypervisor/ctrl/vm1.test.shutdown'))
  const noted = () => eventually(() => Promise.resolve((note() && qemuProcessesBelow(root).length === 0) || undefined))
  const listen = () => {
    watch = new GuestWatch(node)
    return watch.start()
  }
  beforeEach(async () => {
    instance = await nodes.instance({ user_shutdown: true })
  })
  afterEach(() => watch.close())

  qemuTest('a guest that its user shuts down is noted before anybody asks', async () => {
    await listen()
    const console = await boot()
    console.type('q')
    await noted()
    expect(await info()).toEqual({ memory: 0, vcpus: 0, state: 1, time: 0 })
    // The next start makes another machine, which is listened to as well.
    const again = await boot()
    expect(note()).toBe(false)
    again.type('q')
    await noted()
  })

  qemuTest('one that was shut down while nobody listened is noted afterwards', async () => {
    const console = await boot()
    console.type('q')
    await console.expect(/POWEROFF/)
    expect(note()).toBe(false)
    await listen()
    await noted()
  })

  qemuTest('the end that an administrator wants is none of the user', async () => {
    await boot()
    await listen()
    await shutdown(20)
    expect([note(), qemuProcessesBelow(root)]).toEqual([false, []])
    expect(await info()).toEqual({})
  })
})

qemuTest('a guest whose user may not shut it down is just gone', async () => {
  const console = await boot()
  console.type('q')
  await eventually(async () => ((await calls.instance_list(node, ['kvm'])).length === 0 ? true : undefined))
  expect(await info()).toEqual({})
})

qemuTest('NICs get user-mode networking where their bridge is missing, and the runtime files say so', async () => {
  const nics: NicDict[] = [
    {
      uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
      mac: 'aa:00:00:bf:2f:16',
      nicparams: { mode: 'bridged', link: 'no-such-br0' },
    },
  ]
  instance = { ...instance, nics }
  const reported =
    /^NIC 0 has QEMU's user-mode network, .*nobody reaches in: (there is no bridge no-such-br0|this process may not)/
  expect(await calls.instance_start(node, instance, false, NO_REASON)).toEqual([expect.stringMatching(reported)])
  // A NIC that needs no other link gets what it asked for.
  await shutdown(0)
  instance = { ...instance, nics: nics.map((nic) => ({ ...nic, nicparams: { mode: 'bridged', link: 'user-mode' } })) }
  expect(await calls.instance_start(node, instance, false, NO_REASON)).toBeNull()
  expect(fs.readFileSync(node.paths.local('/var/run/ganeti/kvm-hypervisor/nic/vm1.test/0'), 'utf8')).toBe('user')
  expect(await info()).toMatchObject({ state: 0, user_nics: [0] })
  await shutdown(20)
})

qemuTest(
  'a device that was added for the next start only is not there to be unplugged, and that is no failure',
  async () => {
    await boot()
    const disk = diskDict('/srv/other', { uuid: 'f13a78c1-8292-4023-b86b-140adb26d2cd' })
    const nicparams = { mode: 'bridged', link: 'no-such-br0' }
    const nic: NicDict = { uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396', mac: 'aa:00:00:bf:2f:16', nicparams }
    const link = '/var/run/ganeti/instance-disks/vm1.test:1'
    await hotplug.hotplug_device(node, instance, 'hotremove', 'disk', disk, [link, null], 1)
    await hotplug.hotplug_device(node, instance, 'hotremove', 'nic', nic, null, 1)
    // Changing such a NIC brings it into the guest.
    expect(await hotplug.hotplug_device(node, instance, 'hotmod', 'nic', nic, null, 1)).toEqual([
      expect.stringMatching(/^NIC 0 has QEMU's user-mode network, /),
    ])
    expect(await info()).toMatchObject({ state: 0, user_nics: [0] })
    await shutdown(20)
  },
)

qemuTest('less than the most memory, pinning and a VNC password are set before the guest runs', async () => {
  fs.writeFileSync(path.join(root, 'password'), 'secret\n')
  const params = { cpu_mask: '0', vnc_bind_address: '0.0.0.0', vnc_password_file: path.join(root, 'password') }
  const beparams = { ...instance.beparams, minmem: 16, maxmem: 32 }
  const network_port = await freePort('127.0.0.1')
  instance = await nodes.instance(params, { beparams, network_port })
  await boot()
  const [pid] = qemuProcessesBelow(root)
  expect(fs.readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/Cpus_allowed_list:\s+0\n/)
  const vnc: unknown = await withQmp(socket(node, 'qmp'), node.clock, (qmp) => qmp.run('query-vnc'))
  expect(vnc).toMatchObject({ enabled: true, host: '127.0.0.1', service: String(network_port) })
  await shutdown(20)
})

qemuTest('the console command joins a terminal to the guest until ctrl-] is typed', async () => {
  await calls.instance_start(node, instance, true, NO_REASON)
  const request = { instance, node: { name: 'node1.test' }, group: {}, hvParams: instance.hvparams, beParams: {} }
  const consoles = await calls.instance_console_info(node, { 'vm1.test': request })
  expect(consoles['vm1.test']).toMatchObject({ kind: 'ssh', host: 'node1.test', port: 22, user: 'root' })
  const [, , serial = '', qmp = ''] = consoles['vm1.test']?.command ?? []
  const input = new PassThrough()
  const output = new PassThrough()
  let text = ''
  output.on('data', (data: Buffer) => (text += data.toString('latin1')))
  const done = bridge(serial, { input, output }, () => void withQmp(qmp, node.clock, (monitor) => monitor.run('cont')))
  await eventually(() => /READY gantry-tiny/.exec(text) ?? undefined)
  input.write('typed')
  await eventually(() => /typed/.exec(text) ?? undefined)
  input.write(CONTROL_BRACKET)
  expect(await done).toBe(0)
  await shutdown(20)
  await expect(bridge(serial, { input, output })).rejects.toThrow(/ENOENT/)
})
