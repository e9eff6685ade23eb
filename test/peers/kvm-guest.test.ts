// A guest that we started, seen by Ganeti 3.0's own KVM code: a cluster that goes back to Ganeti must find, stop and move it.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { kvmHypervisor } from '../../src/node/hypervisor/kvm/kvm'
import { GANETI_PROGRAMS, ganetiTest, PYTHON } from '../support/ganeti-programs'
import { qemuPresent, testWith } from '../support/needs'
import { HOSTNAME, contextIn, diskDict, instanceDict, linked } from '../support/hypervisor'
import { removeRoot, temporaryRoot, tinyDisk } from '../support/hypervisor'

const peerTest = qemuPresent && fs.existsSync('/usr/bin/socat') ? ganetiTest : testWith(false, 'qemu-system-x86 socat')

const NIC_UUID = '003fc157-66a8-4e6d-8b7e-ec4f69751396'
const SECOND_DISK = 'f13a78c1-8292-4023-b86b-140adb26d2cd'

let root: string
beforeEach(() => (root = temporaryRoot()))
afterEach(() => removeRoot(root))

function asGaneti(...words: string[]): Record<string, unknown> {
  const env = { ...process.env, GANETI_ROOTDIR: path.join(root, HOSTNAME), GANETI_HOSTNAME: HOSTNAME }
  const script = path.join(__dirname, 'kvm_guest.py')
  const ended = spawnSync(PYTHON, [script, GANETI_PROGRAMS, ...words], { env, encoding: 'utf8' })
  expect({ code: ended.status, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(ended.stdout) as Record<string, unknown>
}

peerTest('finds it, reads all that is kept of it, and stops it', async () => {
  const context = contextIn(root)
  const hypervisor = kvmHypervisor(context)
  const second = path.join(root, 'second')
  fs.writeFileSync(second, Buffer.alloc(1 << 20))
  const instance = instanceDict({
    disks_info: [tinyDisk(path.join(root, 'disk')), diskDict(second, { uuid: SECOND_DISK, iv_name: 'disk/1' })],
    nics: [{ uuid: NIC_UUID, mac: 'aa:00:00:bf:2f:16', nicparams: { mode: 'bridged', link: 'no-such-br0', vlan: '' } }],
  })
  await hypervisor.start(instance, linked(context, instance), false)

  const observed = asGaneti('look', instance.name)
  expect(observed).toMatchObject({
    alive: true,
    list: [instance.name],
    info: [instance.name, observed['pid'], 16, 1, 0, 0],
    all: [[instance.name, observed['pid'], 16, 1, 0, 0]],
    program: expect.stringMatching(/kvm|qemu/),
    params: instance.hvparams,
    nics: [{ uuid: NIC_UUID, hvinfo: { driver: 'virtio-net-pci', bus: 'pci.0', addr: '0xe' } }],
    disks: [
      [{ hvinfo: { driver: 'virtio-blk-pci', bus: 'pci.0', addr: '0xc' } }, linkOf(0), null],
      [{ uuid: SECOND_DISK, hvinfo: { addr: '0xd' } }, linkOf(1), null],
    ],
    monitor: expect.stringContaining(instance.name),
    // Where Ganeti would plug the next device.
    slots: { 'pci.0': '1'.repeat(15).padEnd(32, '0') },
  })
  expect(asGaneti('stop', instance.name)).toEqual({ alive: false, list: [], left: [] })
  expect(await hypervisor.info(instance.name)).toBeUndefined()
})

const linkOf = (index: number): string => `/var/run/ganeti/instance-disks/vm1.test:${index}`
