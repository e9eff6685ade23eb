// NICs that are joined to a real bridge, which takes the right to make network devices.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { kvmHypervisor } from '../../src/node/hypervisor/kvm/kvm'
import type { Hypervisor } from '../../src/node/hypervisor/hypervisor'
import { systemRandom } from '../../src/lib/random'
import { contextIn, eventually, instanceDict, kvmParams, linked, qemuProcessesBelow } from '../support/hypervisor'
import { qemuPresent } from '../support/needs'
import { qemuSkipped, removeRoot, temporaryRoot, tinyDisk } from '../support/hypervisor'

const ip = (...args: string[]): boolean => spawnSync('ip', args).status === 0
const bridge = `gnt${systemRandom.hex(4)}`
const permitted =
  process.geteuid?.() === 0 &&
  fs.existsSync('/dev/net/tun') &&
  ip('link', 'add', bridge, 'mtu', '1400', 'type', 'bridge')
const when = qemuPresent && permitted ? test : test.skip
if (!qemuPresent) test.skip(qemuSkipped, () => undefined)
if (!permitted) test.skip('skipped, no right to make bridges; run the tests as root', () => undefined)
afterAll(() => void (permitted && ip('link', 'delete', bridge)))

const attribute = (device: string, name: string): string =>
  fs.readFileSync(`/sys/class/net/${device}/${name}`, 'utf8').trim()
const ports = (): string[] => fs.readdirSync(`/sys/class/net/${bridge}/brif`)

when('a NIC is a port of its bridge while the instance runs, and no device is left behind', async () => {
  const root = temporaryRoot()
  const context = contextIn(root)
  const hypervisor: Hypervisor = kvmHypervisor(context)
  const nicparams = { mode: 'bridged', link: bridge, vlan: '' }
  const instance = instanceDict({
    disks_info: [tinyDisk(path.join(root, 'disk'))],
    nics: [
      { uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396', mac: 'aa:00:00:bf:2f:16', nicparams },
      { uuid: 'c4d41bde-5b74-4f13-9aba-9d63c05eafcb', mac: 'aa:00:00:bf:2f:17', nicparams },
    ],
  })
  const start = () => hypervisor.start(instance, linked(context, instance), false)
  try {
    await start()
    expect(ports()).toHaveLength(2)
    // Joining changed neither the bridge's address nor its MTU.
    expect(attribute(bridge, 'mtu')).toBe('1400')
    for (const port of ports()) expect(attribute(port, 'address')).toMatch(/^fe:/)
    expect((await hypervisor.info(instance.name))?.user_nics).toBeUndefined()
    for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGKILL')
    await eventually(async () => ((await hypervisor.isRunning(instance.name)) ? undefined : true))
    await start()
    expect(ports()).toHaveLength(2)
    await hypervisor.stop(instance, { force: true })
    await hypervisor.cleanup(instance.name)
    expect(ports()).toEqual([])

    const inVlan = {
      ...instance,
      nics: instance.nics.map((nic) => ({ ...nic, nicparams: { ...nicparams, vlan: '.10' } })),
    }
    await expect(hypervisor.start(inVlan, linked(context, inVlan), false)).rejects.toThrow(
      `bridge ${bridge} does not tell them apart`,
    )
    expect(ports()).toEqual([])

    const broken = { ...instance, hvparams: { ...instance.hvparams, kvm_extra: '-device no-such-device' } }
    await expect(hypervisor.start(broken, linked(context, broken), false)).rejects.toThrow(/no-such-device/)
    expect(ports()).toEqual([])
  } finally {
    removeRoot(root)
  }
})

/** QEMU's end of the tap device is open. */
const hasCarrier = (port: string) => attribute(port, 'carrier') === '1'
const NOBODY = 65534

describe.each(['pc', 'q35'])('a machine of type %s', (machine_version) => {
  when.each([
    ['none', {}, 0],
    ['user', { security_domain: 'nobody' }, NOBODY],
    ['pool', {}, 61_234],
  ] as const)('takes a NIC on a bridge while it runs with security_model=%s', async (security_model, more, uid) => {
    const root = temporaryRoot()
    const context = contextIn(root)
    const hypervisor = kvmHypervisor(context)
    const hvparams = { ...kvmParams, machine_version, security_model, ...more }
    const instance = instanceDict({ hvparams, disks_info: [tinyDisk(path.join(root, 'disk'))] })
    const devices = ['/dev/net/tun', '/dev/vhost-net'].filter((file) => fs.existsSync(file))
    const owners = () => devices.map((file) => [fs.statSync(file).uid, fs.statSync(file).gid, fs.statSync(file).mode])
    const before = owners()
    fs.mkdirSync(path.dirname(context.paths.ssconf('uid_pool')), { recursive: true })
    fs.writeFileSync(context.paths.ssconf('uid_pool'), '61234\n')
    const nic = {
      uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
      mac: 'aa:00:00:bf:2f:16',
      nicparams: { mode: 'bridged', link: bridge, vlan: '' },
    }
    try {
      await hypervisor.start(instance, linked(context, instance), false)
      const [pid = 0] = qemuProcessesBelow(root)
      expect(fs.statSync(`/proc/${pid}`).uid).toBe(uid)
      await hypervisor.hotplug(instance, 'hotadd', { target: 'nic', nic }, 0)
      expect(ports().map(hasCarrier)).toEqual([true])
      expect(owners()).toEqual(before)
      await hypervisor.stop(instance, { force: true })
      await hypervisor.cleanup(instance.name)
      expect(ports()).toEqual([])
    } finally {
      removeRoot(root)
    }
  })
})
