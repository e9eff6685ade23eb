// The small parts of the KVM back end: masks, places, paths, processes, parameters.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as path from 'node:path'
import * as os from 'node:os'
import { systemClock } from '../../../../../src/lib/clock'
import { thisMachine } from '../../../../../src/lib/machine'
import { systemFiles } from '../../../../../src/lib/files'
import { pathsOf } from '../../../../../src/lib/paths'
import { PlaceAllocator, optionString } from '../../../../../src/node/hypervisor/kvm/devices'
import { PciBus, portArguments } from '../../../../../src/node/hypervisor/kvm/pci'
import { hasVirtualization, kvmUsable, qemuFacts } from '../../../../../src/node/hypervisor/kvm/host'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { acceleratorOption } from '../../../../../src/node/hypervisor/kvm/launch'
import { KvmNics } from '../../../../../src/node/hypervisor/kvm/nics'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { parseCpuMask } from '../../../../../src/node/hypervisor/kvm/pinning'
import { findProcess, mendPidFile } from '../../../../../src/node/hypervisor/kvm/process'
import { decodeRuntime, encodeRuntime } from '../../../../../src/node/hypervisor/kvm/runtime'
import { asItRuns, checkSameMachine } from '../../../../../src/node/hypervisor/kvm/same-machine'
import { expandPool, runAsUser } from '../../../../../src/node/hypervisor/kvm/security'
import { checkStart, validateParameters } from '../../../../../src/node/hypervisor/kvm/validate'
import { parseMemory, startupMemory } from '../../../../../src/node/hypervisor/linux-node'
import { eventually } from '../../../../support/faults'
import { qemuPresent, qemuTest } from '../../../../support/needs'
import {
  contextIn,
  diskDict,
  instanceDict,
  kvmParams,
  qemuSkipped,
  removeRoot,
  temporaryRoot,
} from '../../../../support/hypervisor'

test('CPU masks name processors, ranges, exclusions, and one mask for each virtual CPU', () => {
  expect(parseCpuMask('')).toEqual(['all'])
  expect(parseCpuMask('all')).toEqual(['all'])
  expect(parseCpuMask('0-3,^2,7')).toEqual([[0, 1, 3, 7]])
  expect(parseCpuMask('1:all:2-3')).toEqual([[1], 'all', [2, 3]])
  for (const bad of ['x', '1-', ':', '1,^1', '1;2']) expect(() => parseCpuMask(bad)).toThrow(/Invalid CPU mask/)
  for (const huge of ['0-9999999', '0-99999999999', `5-${'9'.repeat(400)}`, Array(200).fill('0-999').join(':')])
    expect(() => parseCpuMask(huge)).toThrow(/names more than \d+ CPUs/)
})

test('devices get places that are free, counting those that are plugged in already', () => {
  const taken = [{ driver: 'virtio-blk-pci', id: 'a', bus: 'pci.0', addr: '0xc' }]
  const pci = new PciBus('pc-i440fx-7.2', [], taken)
  const places = new PlaceAllocator(new KvmParams(kvmParams), (first) => pci.hotPlace(first))
  expect(places.disk(diskDict('/d'))).toMatchObject({ addr: '0xd', bus: 'pci.0' })
  expect(places.disk(diskDict('/d'))).toMatchObject({ addr: '0xe' })
  const scsi = new PlaceAllocator(new KvmParams({ ...kvmParams, disk_type: 'scsi' }), () => undefined, [
    { 'scsi-id': 0 },
  ])
  expect(scsi.disk(diskDict('/d'))).toMatchObject({ driver: 'scsi-hd', bus: 'scsi.0', 'scsi-id': 1 })
})

test('on q35 a guest that runs gets its devices at ports that were there from the start', () => {
  const command = portArguments('pc-q35-7.2')
  expect(command).toHaveLength(32)
  expect(command[1]).toBe('pcie-root-port,id=hot0,bus=pcie.0,addr=0x1b.0,multifunction=on,chassis=1')
  expect(new Set(command.flatMap((word) => /addr=([^,]+)/.exec(word)?.[1] ?? [])).size).toBe(16)
  const first = { bus: 'hot0', addr: '0x0' }
  const running = new PciBus('q35', command, [first, { bus: 'pcie.0', addr: '0xc' }])
  expect(running.hotPlace(12)).toEqual({ bus: 'hot1', addr: '0x0' })
  expect(new PciBus('q35', command, [{ addr: '0xc' }]).place(12)).toEqual({ bus: 'pcie.0', addr: '0xd' })
  expect(new PciBus('q35', command, []).place(0x1b)).toEqual(first)
  expect(new PciBus('q35', [], []).takesMore).toBe(false)
  expect(portArguments('pc')).toEqual([])
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

test('the data of a migration names machine and accelerator, and the features of the processor where the guest was given it', async () => {
  const runtime = { program: 'kvm', hvparams: kvmParams, nics: [], disks: [] }
  const command = ['-m', '64', '-machine', 'pc,acpi=off']
  const tcg = await asItRuns(systemFiles, { ...runtime, command }, { accelerator: 'tcg', machine: 'pc-i440fx-7.2' })
  expect(tcg.command).toEqual(['-m', '64', '-machine', 'pc-i440fx-7.2,acpi=off', '-accel', 'tcg,tb-size=16'])
  expect(decodeRuntime(encodeRuntime(tcg))).toEqual(tcg)
  const named = ['-machine', 'pc,accel=kvm', '-cpu', 'host,+x']
  const kvm = await asItRuns(
    systemFiles,
    { ...runtime, command: named },
    { accelerator: 'kvm', machine: 'pc-i440fx-7.2' },
  )
  expect(kvm.command).toEqual(['-machine', 'pc-i440fx-7.2,accel=kvm', '-cpu', 'host,+x'])
  expect(kvm.cpuFlags).not.toEqual([])
  expect(decodeRuntime(encodeRuntime(kvm))).toEqual(kvm)
})

qemuTest('a guest is not taken by a node whose machine or processor is another', async () => {
  const runtime = { program: 'kvm', hvparams: kvmParams, nics: [], disks: [] }
  const check = (command: string[], more = {}) =>
    checkSameMachine(thisMachine, instanceDict(), { ...runtime, command, ...more })
  await expect(check(['-machine', 'pc', '-accel', 'tcg'])).resolves.toBeUndefined()
  await expect(check(['-machine', 'pc-i440fx-99.0'])).rejects.toThrow(
    /^Instance vm1.test cannot go on here: its machine type pc-i440fx-99.0 is unknown to this node's QEMU \d.*; a failover/,
  )
  await expect(check(['-machine', 'pc'], { cpuFlags: ['no-such-flag'] })).rejects.toThrow(/lacks no-such-flag/)
  if (!(await kvmUsable(systemFiles)))
    await expect(check(['-machine', 'pc,accel=kvm'])).rejects.toThrow('it runs under KVM, and this node has no usable')
})

test('notes of NICs move up for one that is plugged in before them, and down when it is gone', async () => {
  const root = temporaryRoot()
  const context = contextIn(root)
  const layout = new KvmLayout(context)
  const nics = new KvmNics(context, layout)
  fs.mkdirSync(layout.nicDir('vm'), { recursive: true })
  const notes = async () => [...(await nics.notes('vm'))].sort().map(([index, note]) => `${index} ${note}`)
  for (const index of [0, 1, 2]) fs.writeFileSync(layout.nicFile('vm', index), `user${index}`)
  await nics.makeRoom('vm', 1)
  expect(await notes()).toEqual(['0 user0', '2 user1', '3 user2'])
  fs.writeFileSync(layout.nicFile('vm', 1), 'user')
  await nics.forget('vm', 1)
  expect(await notes()).toEqual(['0 user0', '1 user1', '2 user2'])
  removeRoot(root)
})

test('paths of a command become local ones, and only those', () => {
  const layout = new KvmLayout({ ...thisMachine, clock: systemClock, paths: pathsOf('/r,1/n1', 'n1') })
  const local = '/r,1/n1/var/run/ganeti/kvm-hypervisor'
  expect(layout.localize('/var/run/ganeti/kvm-hypervisor/pid/vm')).toBe(`${local}/pid/vm`)
  expect(layout.localize('unix:/var/run/ganeti/kvm-hypervisor/ctrl/vm.qmp,server=on')).toBe(
    `unix:${local.replace(',', ',,')}/ctrl/vm.qmp,server=on`,
  )
  expect(layout.localize('/boot/vmlinuz')).toBe('/boot/vmlinuz')
  expect(
    new KvmLayout({ ...thisMachine, clock: systemClock, paths: pathsOf('', 'n1') }).localize(
      '/var/run/ganeti/kvm-hypervisor/pid/vm',
    ),
  ).toBe('/var/run/ganeti/kvm-hypervisor/pid/vm')
})

test('a root so long that no socket fits is refused with advice', () => {
  const layout = new KvmLayout({ ...thisMachine, clock: systemClock, paths: pathsOf(`/${'x'.repeat(80)}/n1`, 'n1') })
  expect(() => layout.socket('vm', 'qmp')).toThrow(/use a shorter root directory/)
})

test('a PID file of a process that is not the instance counts for nothing', async () => {
  const root = temporaryRoot()
  const layout = new KvmLayout(contextIn(root))
  await layout.createDirectories()
  for (const text of [String(process.pid), '999999999', '-1', 'x', '']) {
    fs.writeFileSync(layout.pidFile('vm'), text)
    expect(await findProcess(layout, 'vm')).toBeUndefined()
  }
  removeRoot(root)
})

test('a PID file that was lost is written again, but not for a process that has ended, over that of its successor', async () => {
  const root = temporaryRoot()
  const layout = new KvmLayout(contextIn(root))
  await layout.createDirectories()
  const file = layout.pidFile('vm')
  const like = () =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 9999)', '--', '-pidfile', file, '-name', 'vm'])
  const former = like()
  const observed = { pid: former.pid ?? 0, name: 'vm', uuid: '', command: [] }
  for (const lost of [undefined, '999999999\n']) {
    if (lost !== undefined) fs.writeFileSync(file, lost)
    await eventually('the file', async () => {
      await mendPidFile(layout, observed)
      return fs.existsSync(file) && fs.readFileSync(file, 'utf8') === `${observed.pid}\n` ? true : undefined
    })
  }
  const successor = like()
  fs.writeFileSync(file, `${successor.pid}\n`)
  await eventually('the file', async () => (await findProcess(layout, 'vm')) !== undefined)
  await mendPidFile(layout, observed)
  expect(fs.readFileSync(file, 'utf8')).toBe(`${successor.pid}\n`)
  former.kill('SIGKILL')
  successor.kill('SIGKILL')
  await Promise.all([once(former, 'exit'), once(successor, 'exit')])
  fs.rmSync(file)
  await mendPidFile(layout, observed)
  expect(fs.existsSync(file)).toBe(false)
  removeRoot(root)
})

test('an instance of a user pool gets an id of its own', async () => {
  const root = temporaryRoot()
  const context = contextIn(root)
  const layout = new KvmLayout(context)
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

test('memory is counted in MiB, and an instance starts with what the node has between its bounds', () => {
  const text = 'MemTotal: 4096000 kB\nMemFree: 1024000 kB\nBuffers: 1024 kB\nCached: 2048 kB\nActive: 512000 kB\n'
  expect(parseMemory(text)).toEqual({ memory_total: 4000, memory_free: 1003, memory_dom0: 500 })
  const beparams = { ...instanceDict().beparams, minmem: 64, maxmem: 256 }
  expect([1000, 100, 10].map((free) => startupMemory(instanceDict({ beparams }), free))).toEqual([256, 100, 64])
})

test('QEMU is no program that others than root and the node may have written, and such a one is not asked either', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-qemu-'))
  const qemu = path.join(folder, 'qemu')
  const machines = 'pc   Standard PC (default)'
  fs.writeFileSync(qemu, `#!/bin/sh\ntouch ${folder}/ran\necho version 7.2.0\necho '${machines}'\n`, { mode: 0o755 })
  const ran = () => fs.existsSync(path.join(folder, 'ran'))
  const refusal = (place: string) => `(kvm_path '${qemu}') is not started: ${place} can be written by others`
  try {
    fs.chmodSync(qemu, 0o777)
    await expect(qemuFacts(thisMachine, qemu)).rejects.toThrow(refusal(qemu))
    fs.chmodSync(qemu, 0o755)
    fs.chmodSync(folder, 0o777)
    await expect(qemuFacts(thisMachine, qemu)).rejects.toThrow(refusal(folder))
    expect(ran()).toBe(false)
    fs.chmodSync(folder, 0o700)
    await expect(qemuFacts(thisMachine, qemu)).resolves.toMatchObject({ program: qemu, version: [7, 2, 0] })
    expect(ran()).toBe(true)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

describe('validation of parameters', () => {
  const when = qemuPresent ? test : test.skip
  if (!qemuPresent) test.skip(qemuSkipped, () => undefined)
  const host = { ...thisMachine, paths: pathsOf('/nonexistent', 'n1') }
  const refusals: [text: RegExp, params: Record<string, unknown>][] = [
    [/'kernel_path' fails validation: not found or not a file/, { kernel_path: '/no/kernel' }],
    [/'kernel_path' fails validation: must be an absolute/, { kernel_path: 'boot/../x' }],
    [/'mem_path' fails validation: not found or not a directory/, { mem_path: '/etc/passwd' }],
    [/'kvm_path' fails validation/, { kvm_path: '/no/qemu' }],
    [/Both SPICE and VNC/, { vnc_bind_address: '127.0.0.1', spice_bind: '127.0.0.1' }],
    [/VNC: The vnc_bind_address/, { vnc_bind_address: 'nosuchinterface' }],
    [/SPICE: The spice_bind/, { spice_bind: 'nosuchinterface' }],
    [
      /SPICE: spice_use_tls needs \/var\/lib\/ganeti\/spice.pem, which is not on this node: .*renew-crypto/,
      { spice_bind: '127.0.0.1', spice_use_tls: true },
    ],
    [/Unknown security domain user/, { security_model: 'user', security_domain: 'no-such-user' }],
    [/Unsupported machine version: pc-9000/, { machine_version: 'pc-9000' }],
    [/Invalid CPU mask/, { cpu_mask: 'x' }],
    [/'cpu_mask': this node has none of the CPUs 4095/, { cpu_mask: '4095' }],
    [/quote that is not closed/, { kvm_extra: '"' }],
    [/does not start with kvm_extra=-bogus: -bogus: invalid option/, { kvm_extra: '-bogus' }],
    [/Device 'nope' not found/, { kvm_extra: '-device nope' }],
    [/does not start with kvm_pci_reservations=0: .*slot 0/, { kvm_pci_reservations: 0 }],
    [/this node does not have the address/, { vnc_bind_address: '192.0.2.77' }],
    [/this node does not have the address/, { spice_bind: '2001:db8::77' }],
    [/'vnc_bind_address' fails validation: not found or not a directory/, { vnc_bind_address: '/nonexistent/dir' }],
    [
      /'vnc_x509_path' fails validation: there is no file ca-cert.pem in it/,
      { vnc_bind_address: '127.0.0.1', vnc_tls: true, vnc_x509_path: '/etc' },
    ],
    [
      /does not start with machine_version=microvm: .*no PCI bus.*another machine_version/,
      { machine_version: 'microvm' },
    ],
    [/does not start with machine_version=none: /, { machine_version: 'none' }],
    [/does not start with soundhw=pcspk: .*pcspk/, { soundhw: 'pcspk' }],
    [/does not start with cpu_type=8080: .*8080/, { cpu_type: '8080' }],
    [/does not start with keymap=nope: .*nope/, { keymap: 'nope', vnc_bind_address: '127.0.0.1' }],
    [/does not start with usb_devices=nope: .*nope/, { usb_devices: 'nope' }],
    [/does not start with vga=hercules: /, { vga: 'hercules' }],
    [
      /'migration_caps' fails .* says: .*zero-pages.* \(current value: 'xbzrle:zero-pages'\)/,
      { migration_caps: 'xbzrle:zero-pages' },
    ],
  ]
  when.each(refusals)('%s', async (text, params) => {
    await expect(validateParameters(host, { ...kvmParams, ...params })).rejects.toThrow(text)
  })
  when('what this node has is accepted', async () => {
    await validateParameters(host, {
      ...kvmParams,
      ...{ machine_version: 'pc', cpu_type: 'Nehalem,+popcnt', soundhw: 'hda', vga: 'std', usb_mouse: 'tablet' },
      ...{ migration_caps: 'xbzrle:auto-converge:postcopy-ram', disk_type: 'scsi-hd', scsi_controller_type: 'megasas' },
      cdrom_image_path: 'https://x.test/a.iso',
      ...{ keymap: 'de', vnc_bind_address: '127.0.0.1', usb_devices: 'tablet,keyboard' },
    })
  })
  when('virtual CPUs that do not fit their places are refused before a start', async () => {
    const check = (vcpus: number) => checkStart(host, { ...kvmParams, cpu_cores: 2 }, vcpus)
    await check(4)
    await expect(check(3)).rejects.toThrow(/does not start with cpu_cores=2, vcpus=3: .*topology/)
  })
})
