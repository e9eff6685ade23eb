// A real Debian kernel under QEMU: kernel and initrd parameters, devices that come and go while it runs, the power button.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { deviceId } from '../../src/node/hypervisor/kvm/devices'
import { kvmHypervisor } from '../../src/node/hypervisor/kvm/kvm'
import { withQmp } from '../../src/node/hypervisor/kvm/qmp'
import { SerialConsole, contextIn, diskDict, eventually, instanceDict, kvmParams } from '../support/hypervisor'
import { linked, qemuProcessesBelow, qemuSkipped, removeRoot, temporaryRoot } from '../support/hypervisor'
import { qemuPresent } from '../support/needs'
import { LINUX_GUEST_READY, linuxGuestPresent, linuxGuestSkipped, linuxKernel, writeInitrd } from './linux-guest'

const when = qemuPresent && linuxGuestPresent ? test : test.skip
if (!qemuPresent) test.skip(qemuSkipped, () => undefined)
if (!linuxGuestPresent) test.skip(linuxGuestSkipped, () => undefined)

let root: string
beforeEach(() => (root = temporaryRoot()))
afterEach(() => {
  SerialConsole.closeAll()
  const left = qemuProcessesBelow(root)
  removeRoot(root)
  expect(left).toEqual([])
})

/** Boots one, with these hypervisor parameters beside those of every test. */
async function boot(params: Record<string, unknown> = {}) {
  const context = contextIn(root)
  const hypervisor = kvmHypervisor(context)
  const initrd = path.join(root, 'initrd')
  writeInitrd(initrd)
  const hvparams = {
    ...kvmParams,
    kernel_path: linuxKernel,
    initrd_path: initrd,
    root_path: '/dev/ram0',
    kernel_args: 'quiet panic=-1 nokaslr mitigations=off',
    serial_speed: 115200,
    ...params,
  }
  const beparams = { ...instanceDict().beparams, minmem: 128, maxmem: 128 }
  const instance = instanceDict({ hvparams, beparams })
  await hypervisor.start(instance, [], true)
  const console = await SerialConsole.open(context.paths.local('/var/run/ganeti/kvm-hypervisor/ctrl/vm1.test.serial'))
  await hypervisor.settle(instance)
  await console.expect(LINUX_GUEST_READY)
  return { context, hypervisor, instance, console }
}

when('a Linux guest boots, takes and gives back a disk and a NIC, and obeys its power button', async () => {
  const { context, hypervisor, instance, console } = await boot()
  await shell(console, 'cat /proc/cmdline', /root=\/dev\/ram0 quiet .*console=ttyS0,115200/)

  const file = path.join(root, 'disk')
  fs.writeFileSync(file, Buffer.alloc(2 << 20, 'hello from the node '))
  const [disk] = linked(context, { ...instance, disks_info: [diskDict(file)] })
  if (!disk) throw new Error('no disk')
  const { place } = await hypervisor.hotplug(instance, 'hotadd', { target: 'disk', disk }, 0)
  expect(place).toMatchObject({ driver: 'virtio-blk-pci', addr: '0xc' })
  await shell(console, 'head -c 19 /dev/vda', /hello from the node/)
  fs.truncateSync(file, 3 << 20)
  await hypervisor.resizeDisk(instance, disk.disk, 3 * 1024 * 1024)
  await shell(console, 'cat /sys/block/vda/size', /^6144/m)

  const nic = {
    uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
    mac: 'aa:00:00:bf:2f:16',
    nicparams: { mode: 'bridged', link: 'no-such-br0' },
  }
  await hypervisor.hotplug(instance, 'hotadd', { target: 'nic', nic }, 0)
  await shell(console, 'cat /sys/class/net/*/address', /aa:00:00:bf:2f:16/)
  const text = await hypervisor.migrationInfo(instance)
  expect(text).toContain('aa:00:00:bf:2f:16')

  await hypervisor.hotplug(instance, 'hotremove', { target: 'nic', nic }, 0)
  await hypervisor.hotplug(instance, 'hotremove', { target: 'disk', disk }, 0)
  await shell(console, 'ls /dev/vda 2>&1', /No such file/)
  expect(await hypervisor.migrationInfo(instance)).not.toContain('aa:00:00:bf:2f:16')

  // As Ganeti 3.0 plugs a disk: as a drive, which goes with its device.
  await withQmp(context.paths.local('/var/run/ganeti/kvm-hypervisor/ctrl/vm1.test.qmp'), context.clock, async (qmp) => {
    const id = deviceId('disk', disk.disk)
    const drive = `drive_add dummy file=${disk.link},if=none,id=${id},format=raw,auto-read-only=off`
    await qmp.run('human-monitor-command', { 'command-line': drive })
    await qmp.run('device_add', { driver: 'virtio-blk-pci', id, drive: id, addr: '0xd' })
  })
  await shell(console, 'ls /dev/vd*', /vda/)
  await hypervisor.hotplug(instance, 'hotremove', { target: 'disk', disk }, 0)
  await shell(console, 'ls /dev/vda 2>&1', /No such file/)
  await hypervisor.setMemory(instance, 112)
  await eventually(async () => ((await hypervisor.info(instance.name))?.memory === 112 ? true : undefined))

  await hypervisor.stop(instance)
  await console.expect(/POWEROFF/)
  await eventually(async () => ((await hypervisor.isRunning(instance.name)) ? undefined : true))
  await hypervisor.cleanup(instance.name)
})

when('one on a q35 machine, whose QEMU runs as another user, does, too', async () => {
  const { context, hypervisor, instance, console } = await boot({
    ...{ machine_version: 'q35', security_model: 'user', security_domain: 'nobody' },
  })
  // The user may enter the folder, and not read what is in it.
  fs.chmodSync(root, 0o711)
  const file = path.join(root, 'disk')
  fs.writeFileSync(file, Buffer.alloc(2 << 20, 'hello from the node '), { mode: 0o600 })
  const [disk] = linked(context, { ...instance, disks_info: [diskDict(file)] })
  if (!disk) throw new Error('no disk')
  const add = () => hypervisor.hotplug(instance, 'hotadd', { target: 'disk', disk }, 0)
  expect(await add()).toMatchObject({ place: { driver: 'virtio-blk-pci', bus: 'hot0', addr: '0x0' } })
  await shell(console, 'head -c 19 /dev/vda', /hello from the node/)
  expect(fs.statSync(file)).toMatchObject({ uid: 0, gid: 0 })
  await hypervisor.hotplug(instance, 'hotremove', { target: 'disk', disk }, 0)
  await shell(console, 'ls /dev/vda 2>&1', /No such file/)
  fs.chmodSync(root, 0o700)
  await expect(add()).rejects.toThrow(/^QEMU runs as nobody, who may not enter a folder .*Permission denied/)
  await hypervisor.stop(instance, { force: true })
  await eventually(async () => ((await hypervisor.isRunning(instance.name)) ? undefined : true))
  await hypervisor.cleanup(instance.name)
})

/** The device may need a moment to be seen by the guest. */
async function shell(console: SerialConsole, command: string, answer: RegExp): Promise<void> {
  await eventually(
    async () => {
      console.text = ''
      console.type(`${command}; echo DO''NE\n`)
      const [text] = await console.expect(/[\s\S]*DONE/)
      return answer.test(text) ? true : undefined
    },
    undefined,
    () => `${answer} in the answer to ${command}`,
  )
}
