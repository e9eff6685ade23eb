// The whole QEMU command of typical instances, one word to a line, against test/golden/kvm. A missing file is written, and the
// test fails once so that somebody looks at it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemClock } from '../../../../../src/lib/clock'
import { thisMachine } from '../../../../../src/lib/machine'
import { pathsOf } from '../../../../../src/lib/paths'
import { lossRemarks, splitWords } from '../../../../../src/node/hypervisor/kvm/command'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { launchCommand } from '../../../../../src/node/hypervisor/kvm/launch'
import type { LaunchFacts } from '../../../../../src/node/hypervisor/kvm/launch'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { decodeRuntime, encodeRuntime } from '../../../../../src/node/hypervisor/kvm/runtime'
import type { InstanceDict } from '../../../../../src/rpc/node/dicts'
import { diskDict, instanceDict, kvmParams } from '../../../../support/hypervisor'
import { baseFacts, command, plain, tap, withParams } from './command-of'

const SOURCE = path.resolve(__dirname, '../../../../../src')
const GOLDEN = path.resolve(__dirname, '../../../../golden/kvm')
interface Case {
  readonly instance: InstanceDict
  readonly facts?: Partial<LaunchFacts>
  readonly root?: string
}

const bigMemory = { minmem: 1024, maxmem: 2048, vcpus: 4, auto_balance: true, always_failover: false, spindle_use: 1 }
const shared = diskDict('/srv/ganeti/shared-file-storage/vm1.test/x', { dev_type: 'sharedfile' })
const second = diskDict('/srv/b', { uuid: 'f13a78c1-8292-4023-b86b-140adb26d2cd' })
const cases: Readonly<Record<string, Case>> = {
  defaults: { instance: withParams({}, { beparams: bigMemory }) },
  'tcg-user-network': { instance: withParams({}), facts: { accelerator: 'tcg', backends: [{ kind: 'user' }] } },
  'communication-in-user-mode': {
    instance: withParams({}),
    facts: { backends: [{ kind: 'user', metadata: { ip: '169.254.0.5', socket: '/run/a,b c/169.254.0.5' } }] },
  },
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
  'cdrom-virtio': { instance: withParams({ cdrom_disk_type: 'paravirtual', cdrom_image_path: '/srv/iso/a.iso' }) },
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
  'vnc-unix-socket': {
    instance: withParams({ vnc_bind_address: '/var/run/vnc', vnc_tls: true, vnc_password_file: '/etc/vnc' }),
  },
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
  'no-direct-io': {
    instance: withParams({ disk_aio: 'native', disk_cache: 'none' }),
    facts: { backings: [{ directIo: false }] },
  },
}

test.each(Object.entries(cases))('the command of an instance: %s', (name, { instance, facts, root }) => {
  const here = command(instance, { ...baseFacts, ...facts }, root ?? '').join('\n') + '\n'
  const named = here.replaceAll(process.execPath, 'NODE').replaceAll(SOURCE, 'SOURCE')
  // The shell needs quotes where the project's folder has a blank in its name.
  const lines = named.replace(/'(SOURCE[^']*)'/g, '$1')
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

test.each([
  ['vnc_bind_address', '0.0.0.0', '127.0.1.2:5100'],
  ['vnc_bind_address', '::', '127.0.1.2:5100'],
  ['vnc_bind_address', '::1', '127.0.1.2:5100'],
  ['vnc_bind_address', '2001:db8::1', '[2001:db8::1]:5100'],
  ['spice_bind', '::', 'addr=127.0.1.2,port=11000'],
  ['spice_bind', '2001:db8::1', 'addr=2001:db8::1,port=11000'],
])('in a virtual cluster a screen with %s %s is served at %s', (name, address, place) => {
  const facts = { ...baseFacts, onlyAddress: '127.0.1.2' }
  const words = command(withParams({ [name]: address }, { network_port: 11000 }), facts, '/tmp/g/n')
  expect(words.some((word) => word.startsWith(place))).toBe(true)
})

test('SPICE with TLS gets the certificates of the virtual node that starts it', () => {
  const params = { spice_bind: '127.0.0.1', spice_use_tls: true }
  const facts = { ...baseFacts, onlyAddress: '127.0.1.2' }
  const words = command(withParams(params, { network_port: 11000 }), facts, '/tmp/g/n')
  const files = 'x509-cacert-file=/tmp/g/n/var/lib/ganeti/spice-ca.pem,x509-key-file=/tmp/g/n/var/lib/ganeti/spice.pem'
  expect(words[words.indexOf('-spice') + 1]).toContain(`${files},x509-cert-file=/tmp/g/n/var/lib/ganeti/spice.pem,`)
})

test('a value of a screen or of sound adds no options of its own', () => {
  const words = command(
    withParams({
      spice_bind: '::1',
      spice_use_tls: true,
      spice_tls_ciphers: 'HIGH,addr=::',
      soundhw: 'hda,driver=wav',
    }),
  )
  expect(words[words.indexOf('-spice') + 1]).toContain('tls-ciphers=HIGH,,addr=::,')
  expect(words[words.indexOf('-audio') + 1]).toBe('driver=spice,model=hda,,driver=wav,id=soundhw')
})

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
    new KvmLayout({ ...thisMachine, clock: systemClock, paths: pathsOf('', 'n') }),
  )
  expect(words).not.toContain('-accel')
  expect(words).not.toContain('-S')
})

const PAGES_TOGETHER_KIB = 64 * 4

test.each([
  ['tcg', [7, 2], true],
  ['tcg', [8, 2], true],
  ['tcg', [9, 0], false],
  ['tcg', [10, 0], false],
  ['kvm', [7, 2], false],
] as const)(
  'with %s of QEMU %j it is %s that migrations need pages looked at one by one',
  (accelerator, qemuVersion, uneven) => {
    const words = command(withParams({}), { ...baseFacts, accelerator, qemuVersion })
    const asked_mib = Number(words[words.indexOf('-m') + 1])
    const size = /^(\d+)K$/.exec(words[words.indexOf('--m') + 1] ?? '')?.[1] ?? String(asked_mib * 1024)
    expect(Number(size) % PAGES_TOGETHER_KIB !== 0).toBe(uneven)
    expect(Math.floor(Number(size) / 1024)).toBe(asked_mib)
    // Ganeti and this node read the first one.
    expect(words.filter((word) => word === '-m')).toHaveLength(1)
    expect(lossRemarks(words)).toEqual(uneven ? [] : [expect.stringMatching(/^The guest may lose writes .* reboot it/)])
  },
)

test.each(['scsi-block', 'scsi-generic'])(
  "a disk of type %s has the node's cache, and is not told about one",
  (disk_type) => {
    const words = command(withParams({ disk_type }))
    const device = words.find((word) => word.startsWith(`${disk_type},`))
    expect(device).toMatch(/drive=/)
    expect(device).not.toContain('write-cache')
  },
)

test("a value that cannot be honoured is refused with the parameter's own words", () => {
  const make = (params: Record<string, unknown>, overrides: Partial<InstanceDict> = {}) =>
    command(withParams(params, overrides), baseFacts, '')
  expect(() => make({ vnc_bind_address: 'eth9' })).toThrow('VNC: eth9 is neither an address nor an interface')
  expect(() => make({ vnc_bind_address: '0.0.0.0' }, { network_port: 80 })).toThrow(/network port \(80\)/)
  expect(() => make({ disk_type: 'mtd' })).toThrow("QEMU does not support disk driver 'mtd'")
  expect(() => make({ cdrom_disk_type: 'sd', cdrom_image_path: '/a' })).toThrow(
    "no CD-ROM drive of cdrom_disk_type 'sd'",
  )
  expect(() => make({}, { disks_info: [{ ...plain, mode: 'ro' }] })).toThrow(/read-only disks/)
  expect(() => make({ acpi: 'yes' })).toThrow("'acpi' must be true or false")
  expect(() => make({ kvm_extra: 'a "b' })).toThrow(/quote that is not closed/)
  expect(() => make({ kvm_extra: '-name a\\' })).toThrow(/'kvm_extra' ends with a backslash/)
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

test('a runtime of an earlier version gets the name by which Ganeti knows its guest, one of Ganeti loses its chroot', () => {
  const command = ['-name', 'vm1.test,debug-threads=on', '-m', '16', '-chroot', '/c', '-machine', 'pc,accel=tcg']
  const text = encodeRuntime({ program: 'kvm', command, hvparams: {}, nics: [], disks: [] })
  expect(decodeRuntime(text).command).toEqual(['-name', 'vm1.test', '-m', '16', '-machine', 'pc,accel=tcg'])
})

test('runtime data that are damaged are refused', () => {
  for (const text of ['', '{}', '[[], [], {}, []]', '[1,2,3,4]', 'null'])
    expect(() => decodeRuntime(text)).toThrow(/runtime data/)
})
