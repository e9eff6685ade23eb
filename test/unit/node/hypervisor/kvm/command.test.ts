// The whole QEMU command of typical instances, one word to a line, against test/golden/kvm. A missing file is written, and the
// test fails once so that somebody looks at it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { pathsOf } from '../../../../../src/lib/paths'
import { fixedCommand, machineOf, splitWords } from '../../../../../src/node/hypervisor/kvm/command'
import { PlaceAllocator, asRuntimeDisk } from '../../../../../src/node/hypervisor/kvm/devices'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { launchCommand } from '../../../../../src/node/hypervisor/kvm/launch'
import type { LaunchFacts } from '../../../../../src/node/hypervisor/kvm/launch'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { decodeRuntime, encodeRuntime } from '../../../../../src/node/hypervisor/kvm/runtime'
import type { InstanceDict, NicDict } from '../../../../../src/rpc/node/dicts'
import { diskDict, instanceDict, kvmParams } from '../support'

const GOLDEN = path.resolve(__dirname, '../../../../golden/kvm')
const qemu = { defaultMachine: 'pc-i440fx-7.2' }
const tap = { kind: 'tap', interface: 'tap01020304', vhost: true, queues: 1 } as const
const baseFacts: LaunchFacts = {
  accelerator: 'kvm',
  qemuVersion: [7, 2],
  backends: [tap],
  directIo: [],
  startPaused: false,
}

interface Case {
  readonly instance: InstanceDict
  readonly facts?: Partial<LaunchFacts>
  readonly root?: string
}

const nic = (overrides: Partial<NicDict> = {}): NicDict => ({
  uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
  mac: 'aa:00:00:bf:2f:16',
  nicparams: { mode: 'bridged', link: 'br0', vlan: '' },
  ...overrides,
})
const bigMemory = { minmem: 1024, maxmem: 2048, vcpus: 4, auto_balance: true, always_failover: false, spindle_use: 1 }
const plain = diskDict('', { dev_type: 'plain', logical_id: ['xenvg', 'abc.disk0'], size: 1024 })
const shared = diskDict('/srv/ganeti/shared-file-storage/vm1.test/x', { dev_type: 'sharedfile' })
const second = diskDict('/srv/b', { uuid: 'f13a78c1-8292-4023-b86b-140adb26d2cd' })
const withParams = (params: Record<string, unknown>, overrides: Partial<InstanceDict> = {}): InstanceDict =>
  instanceDict({ hvparams: { ...kvmParams, ...params }, disks_info: [plain], nics: [nic()], ...overrides })

const cases: Readonly<Record<string, Case>> = {
  defaults: { instance: withParams({}, { beparams: bigMemory }) },
  'tcg-user-network': { instance: withParams({}), facts: { accelerator: 'tcg', backends: [{ kind: 'user' }] } },
  'no-nics-no-disks': { instance: instanceDict() },
  'virtual-root': {
    instance: withParams({ vnc_bind_address: '0.0.0.0' }, { disks_info: [shared] }),
    root: '/tmp/g/node2.gantry.local',
    facts: { accelerator: 'tcg', onlyAddress: '127.0.1.2', backends: [{ kind: 'user' }] },
  },
  'long-virtual-root': {
    instance: withParams({}, { name: 'a-rather-long-instance-name.test' }),
    root: '/tmp/a-root-directory-that-is-long-enough/n1.test',
  },
  'incoming-migration': { instance: withParams({}), facts: { incoming: { address: '198.51.100.12', port: 8102 } } },
  'incoming-ipv6': { instance: withParams({}), facts: { incoming: { address: '2001:db8::2', port: 8102 } } },
  'kernel-and-initrd': {
    instance: withParams({ kernel_path: '/boot/vmlinuz', initrd_path: '/boot/initrd', kernel_args: 'ro quiet' }),
  },
  'ide-writethrough': { instance: withParams({ disk_type: 'ide', disk_cache: 'writethrough', nic_type: 'e1000' }) },
  'scsi-two-disks-native': {
    instance: withParams(
      {
        disk_type: 'scsi-hd',
        scsi_controller_type: 'virtio-scsi-pci',
        disk_aio: 'native',
        disk_cache: 'none',
        disk_discard: 'unmap',
      },
      { disks_info: [plain, second] },
    ),
  },
  'network-boot': { instance: withParams({ boot_order: 'network' }) },
  'cdrom-boot': {
    instance: withParams({
      boot_order: 'cdrom',
      cdrom_image_path: '/srv/iso/a,b.iso',
      cdrom2_image_path: '/srv/iso/c.iso',
    }),
  },
  'floppy-boot': { instance: withParams({ boot_order: 'floppy', floppy_image_path: '/srv/floppy.img' }) },
  'vnc-with-tls-and-password': {
    instance: withParams({
      vnc_bind_address: '198.51.100.11',
      vnc_tls: true,
      vnc_x509_path: '/etc/x509',
      vnc_x509_verify: true,
      vnc_password_file: '/etc/vnc',
      keymap: 'de',
    }),
    facts: { startPaused: true },
  },
  'vnc-unix-socket': { instance: withParams({ vnc_bind_address: '/var/run/vnc' }) },
  'vnc-interface': { instance: withParams({ vnc_bind_address: 'eth0' }) },
  spice: {
    instance: withParams({
      spice_bind: '198.51.100.11',
      spice_use_vdagent: true,
      spice_image_compression: 'glz',
      spice_ip_version: 4,
      soundhw: 'hda',
    }),
  },
  'q35-multiqueue': {
    instance: withParams({ machine_version: 'pc-q35-7.2', virtio_net_queues: 4 }),
    facts: { backends: [{ ...tap, queues: 4 }] },
  },
  confined: {
    instance: withParams({ security_model: 'user', security_domain: 'kvmuser', use_chroot: true }),
    facts: { runAs: 'kvmuser' },
  },
  'confined-qemu-9.1': {
    instance: withParams({ security_model: 'user', security_domain: 'kvmuser', use_chroot: true }),
    facts: { runAs: 'kvmuser', qemuVersion: [9, 1] },
  },
  'everything-else': {
    instance: withParams({
      acpi: false,
      cpu_cores: 2,
      cpu_threads: 1,
      cpu_sockets: 2,
      cpu_type: 'host',
      kvm_extra: '-device "virtio-rng-pci" -fw_cfg name=opt/a,string=\'b c\'',
      mem_path: '/dev/hugepages',
      reboot_behavior: 'exit',
      serial_console: false,
      usb_devices: 'braille,tablet',
      usb_mouse: 'mouse',
      use_guest_agent: true,
      use_localtime: true,
      user_shutdown: true,
      vga: 'cirrus',
    }),
  },
  'no-direct-io': { instance: withParams({ disk_aio: 'native', disk_cache: 'none' }), facts: { directIo: [false] } },
}

test.each(Object.entries(cases))('the command of an instance: %s', (name, { instance, facts, root }) => {
  const lines = command(instance, { ...baseFacts, ...facts }, root ?? '').join('\n') + '\n'
  const file = path.join(GOLDEN, `${name}.txt`)
  if (!fs.existsSync(file)) {
    fs.writeFileSync(file, lines)
    throw new Error(`${file} was missing and has been written: look at it, then run the test again`)
  }
  expect(lines).toBe(fs.readFileSync(file, 'utf8'))
})

test('every golden command belongs to a case', () => {
  expect(fs.readdirSync(GOLDEN).sort()).toEqual(
    Object.keys(cases)
      .map((name) => `${name}.txt`)
      .sort(),
  )
})

function command(instance: InstanceDict, facts: LaunchFacts, root: string): string[] {
  const params = new KvmParams(instance.hvparams)
  const places = new PlaceAllocator(params, machineOf(params, qemu))
  const runtime = {
    program: '/usr/bin/kvm',
    command: fixedCommand(instance, {
      ...qemu,
      interfaceAddress: (name) => (name === 'eth0' ? '192.0.2.7' : undefined),
    }),
    hvparams: instance.hvparams,
    disks: instance.disks_info.map((disk, index) => {
      const link = `/var/run/ganeti/instance-disks/${instance.name}:${index}`
      return asRuntimeDisk({ disk, link }, places.disk(disk), link)
    }),
    nics: instance.nics.map((entry) => ({ ...entry, hvinfo: places.nic(entry) })),
  }
  // What is launched has been through the runtime file, as after a reboot or on the target of a migration.
  const kept = decodeRuntime(encodeRuntime(runtime))
  expect(kept).toEqual(runtime)
  return launchCommand(instance.name, kept, params, facts, new KvmLayout(pathsOf(root, path.basename(root))))
}

test('a runtime that names its accelerator itself is not given another one', () => {
  const instance = instanceDict()
  const runtime = {
    program: 'kvm',
    command: ['-S', '-m', '64', '-machine', 'pc,accel=kvm'],
    hvparams: kvmParams,
    disks: [],
    nics: [],
  }
  const words = launchCommand(
    instance.name,
    runtime,
    new KvmParams(kvmParams),
    baseFacts,
    new KvmLayout(pathsOf('', 'n')),
  )
  expect(words).not.toContain('-accel')
  expect(words).not.toContain('-S')
})

test("what cannot be honoured is refused with the parameter's own words", () => {
  const make = (params: Record<string, unknown>, overrides: Partial<InstanceDict> = {}) =>
    command(withParams(params, overrides), baseFacts, '')
  expect(() => make({ vnc_bind_address: 'eth9' })).toThrow('VNC: eth9 is neither an address nor an interface')
  expect(() => make({ vnc_bind_address: '0.0.0.0' }, { network_port: 80 })).toThrow(/network port \(80\)/)
  expect(() => make({ disk_type: 'mtd' })).toThrow("QEMU does not support disk driver 'mtd'")
  expect(() => make({}, { disks_info: [{ ...plain, mode: 'ro' }] })).toThrow(/read-only disks/)
  expect(() => make({ acpi: 'yes' })).toThrow("'acpi' must be true or false")
  expect(() => make({ kvm_extra: 'a "b' })).toThrow(/quote that is not closed/)
  expect(() => make({ kvm_pci_reservations: 31 })).toThrow('All PCI slots of the instance are in use')
})

test('extra words are split like a shell splits them', () => {
  expect(splitWords(`a 'b c' "d \\"e" f\\ g h''`)).toEqual(['a', 'b c', 'd "e', 'f g', 'h'])
  expect(splitWords('  ')).toEqual([])
})

test("Ganeti's own runtime file is understood", () => {
  const text = fs.readFileSync(path.resolve(__dirname, '../../../../data/kvm-runtime.json'), 'utf8')
  const runtime = decodeRuntime(text)
  expect(runtime.program).toBe('/usr/bin/kvm')
  expect(runtime.nics.map((entry) => entry.hvinfo?.['addr'])).toEqual(['0x8'])
  expect(runtime.disks.map((entry) => entry.disk.hvinfo?.['id'])).toEqual([
    'disk-7c079136-2573-4112',
    'disk-9f5c5bd4-6f60-480b',
  ])
  expect(decodeRuntime(encodeRuntime(runtime))).toEqual(runtime)
})

test('runtime data that are damaged are refused', () => {
  for (const text of ['', '{}', '[[], [], {}, []]', '[1,2,3,4]', 'null'])
    expect(() => decodeRuntime(text)).toThrow(/runtime data/)
})
