// The small parts of the KVM back end: masks, places, paths, processes, parameters.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { pathsOf } from '../../../../../src/lib/paths'
import { PlaceAllocator, optionString } from '../../../../../src/node/hypervisor/kvm/devices'
import { hasVirtualization } from '../../../../../src/node/hypervisor/kvm/host'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { acceleratorOption } from '../../../../../src/node/hypervisor/kvm/launch'
import { vlanOptions } from '../../../../../src/node/hypervisor/kvm/network'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { parseCpuMask } from '../../../../../src/node/hypervisor/kvm/pinning'
import { findProcess } from '../../../../../src/node/hypervisor/kvm/process'
import { expandPool, runAsUser } from '../../../../../src/node/hypervisor/kvm/security'
import { validateParameters } from '../../../../../src/node/hypervisor/kvm/validate'
import { parseMemory, startupMemory } from '../../../../../src/node/hypervisor/linux-node'
import {
  contextIn,
  diskDict,
  instanceDict,
  kvmParams,
  qemuPresent,
  qemuSkipped,
  removeRoot,
  temporaryRoot,
} from '../support'

test('CPU masks name processors, ranges, exclusions, and one mask for each virtual CPU', () => {
  expect(parseCpuMask('')).toBe('all')
  expect(parseCpuMask('all')).toBe('all')
  expect(parseCpuMask('0-3,^2,7')).toEqual(['0,1,3,7'])
  expect(parseCpuMask('1:all:2-3')).toEqual(['1', 'all', '2,3'])
  for (const bad of ['x', '1-', ':', '1,^1', '1;2']) expect(() => parseCpuMask(bad)).toThrow(/Invalid CPU mask/)
})

test('devices get places that are free, counting those that are plugged in already', () => {
  const taken = [{ driver: 'virtio-blk-pci', id: 'a', bus: 'pci.0', addr: '0xc' }]
  const places = new PlaceAllocator(new KvmParams(kvmParams), 'pc-i440fx-7.2', taken)
  expect(places.disk(diskDict('/d'))).toMatchObject({ addr: '0xd', bus: 'pci.0' })
  expect(places.disk(diskDict('/d'))).toMatchObject({ addr: '0xe' })
  const scsi = new PlaceAllocator(new KvmParams({ ...kvmParams, disk_type: 'scsi' }), 'pc', [{ 'scsi-id': 0 }])
  expect(scsi.disk(diskDict('/d'))).toMatchObject({ driver: 'scsi-hd', bus: 'scsi.0', 'scsi-id': 1 })
})

test('options are written flat, with commas doubled', () => {
  expect(optionString({ a: 'x,y', b: { c: true, d: [{ e: 1 }, { e: 2 }] } })).toBe('a=x,,y,b.c=on,b.d.0.e=1,b.d.1.e=2')
})

test('translated code is capped, and KVM is never named where the processor lacks it', () => {
  expect(acceleratorOption('tcg', 16)).toBe('tcg,tb-size=8')
  expect(acceleratorOption('tcg', 128)).toBe('tcg,tb-size=32')
  expect(acceleratorOption('tcg', 65536)).toBe('tcg,tb-size=64')
  expect(acceleratorOption('kvm', 16)).toBe('kvm')
  expect(hasVirtualization('flags\t\t: fpu vmx sse\n')).toBe(true)
  expect(hasVirtualization('flags\t\t: fpu svm\n')).toBe(true)
  expect(hasVirtualization('flags\t\t: fpu sse svm_lock\nmodel name: vmx\n')).toBe(false)
})

test('paths of a command become local ones, and only those', () => {
  const layout = new KvmLayout(pathsOf('/r,1/n1', 'n1'))
  const local = '/r,1/n1/var/run/ganeti/kvm-hypervisor'
  expect(layout.localize('/var/run/ganeti/kvm-hypervisor/pid/vm')).toBe(`${local}/pid/vm`)
  expect(layout.localize('unix:/var/run/ganeti/kvm-hypervisor/ctrl/vm.qmp,server=on')).toBe(
    `unix:${local.replace(',', ',,')}/ctrl/vm.qmp,server=on`,
  )
  expect(layout.localize('/boot/vmlinuz')).toBe('/boot/vmlinuz')
  expect(new KvmLayout(pathsOf('', 'n1')).localize('/var/run/ganeti/kvm-hypervisor/pid/vm')).toBe(
    '/var/run/ganeti/kvm-hypervisor/pid/vm',
  )
})

test('a root so long that no socket fits is refused with advice', () => {
  const layout = new KvmLayout(pathsOf(`/${'x'.repeat(80)}/n1`, 'n1'))
  expect(() => layout.socket('vm', 'qmp')).toThrow(/use a shorter root directory/)
})

test('a PID file of a process that is not the instance counts for nothing', async () => {
  const root = temporaryRoot()
  const layout = new KvmLayout(contextIn(root).paths)
  await layout.createDirectories()
  for (const text of [String(process.pid), '999999999', '-1', 'x', '']) {
    fs.writeFileSync(layout.pidFile('vm'), text)
    expect(await findProcess(layout, 'vm')).toBeUndefined()
  }
  removeRoot(root)
})

test('an instance of a user pool gets an id of its own', async () => {
  const root = temporaryRoot()
  const context = contextIn(root)
  const layout = new KvmLayout(context.paths)
  await layout.createDirectories()
  const params = new KvmParams({ ...kvmParams, security_model: 'pool' })
  await expect(runAsUser(context, layout, 'vm', params)).rejects.toThrow(/uid-pool is empty/)
  fs.mkdirSync(path.dirname(context.paths.ssconf('uid_pool')), { recursive: true })
  fs.writeFileSync(context.paths.ssconf('uid_pool'), '4000\n5000-5002')
  expect(await runAsUser(context, layout, 'vm', params)).toBe('4000:4000')
  expect(fs.readFileSync(layout.uidFile('vm'), 'utf8')).toBe('4000')
  expect([...expandPool('4000\n5000-5002')]).toEqual([4000, 5000, 5001, 5002])
  removeRoot(root)
})

test("a NIC's VLAN is told to the switch in its own words", () => {
  expect(vlanOptions('')).toEqual([])
  expect(vlanOptions('.10')).toEqual(['tag=10'])
  expect(vlanOptions(':20:30')).toEqual(['trunks=20,30'])
  expect(vlanOptions('.10:20')).toEqual(['tag=10', 'trunks=20', 'vlan_mode=native-untagged'])
})

test('memory is counted in MiB, and an instance starts with what the node has between its bounds', () => {
  const text = 'MemTotal: 4096000 kB\nMemFree: 1024000 kB\nBuffers: 1024 kB\nCached: 2048 kB\nActive: 512000 kB\n'
  expect(parseMemory(text)).toEqual({ memory_total: 4000, memory_free: 1003, memory_dom0: 500 })
  const beparams = { ...instanceDict().beparams, minmem: 64, maxmem: 256 }
  expect([1000, 100, 10].map((free) => startupMemory(instanceDict({ beparams }), free))).toEqual([256, 100, 64])
})

describe('validation of parameters', () => {
  const when = qemuPresent ? test : test.skip
  if (!qemuPresent) test.skip(qemuSkipped, () => undefined)
  const refusals: [text: RegExp, params: Record<string, unknown>][] = [
    [/'kernel_path' fails validation: not found or not a file/, { kernel_path: '/no/kernel' }],
    [/'kernel_path' fails validation: must be an absolute/, { kernel_path: 'boot/../x' }],
    [/'mem_path' fails validation: not found or not a directory/, { mem_path: '/etc/passwd' }],
    [/'kvm_path' fails validation/, { kvm_path: '/no/qemu' }],
    [/Both SPICE and VNC/, { vnc_bind_address: '127.0.0.1', spice_bind: '127.0.0.1' }],
    [/VNC: The vnc_bind_address/, { vnc_bind_address: 'nosuchinterface' }],
    [/SPICE: The spice_bind/, { spice_bind: 'nosuchinterface' }],
    [/Unknown security domain user/, { security_model: 'user', security_domain: 'no-such-user' }],
    [/Unsupported machine version: pc-9000/, { machine_version: 'pc-9000' }],
    [/Invalid CPU mask/, { cpu_mask: 'x' }],
    [/quote that is not closed/, { kvm_extra: '"' }],
  ]
  when.each(refusals)('%s', async (text, params) => {
    await expect(validateParameters({ ...kvmParams, ...params })).rejects.toThrow(text)
  })
  when('what this node has is accepted', async () => {
    await validateParameters({ ...kvmParams, machine_version: 'pc', cdrom_image_path: 'https://x.test/a.iso' })
  })
})
