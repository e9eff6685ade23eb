// Which models QEMU has is asked of QEMU itself, once for each set, and never where nothing is named that it may lack.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { checkExtra, checkModels } from '../../../../../src/node/hypervisor/kvm/dry-start'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { systemFiles } from '../../../../../src/lib/files'
import type { CommandResult, Run } from '../../../../../src/lib/programs/run-command'
import { kvmParams, removeRoot, temporaryRoot } from '../../../../support/hypervisor'

let folder: string
let qemu: string
beforeEach(() => {
  folder = temporaryRoot()
  qemu = path.join(folder, 'qemu')
  fs.writeFileSync(qemu, '', { mode: 0o755 })
})
afterEach(() => removeRoot(folder))

/** A QEMU 11.1.3, which answers a dry start with this. */
function machine(answer: Partial<CommandResult>) {
  const dry: { argv: readonly string[]; input: string }[] = []
  const said = (stdout: string): CommandResult => ({
    ...{ code: 0, signal: null, stdout, stderr: '', output: stdout, timedOut: false },
  })
  const run: Run = async (argv, { input = '' }) => {
    if (argv[1] === '-version' && argv.length === 2) return said('QEMU emulator version 11.1.3\n')
    if (argv[1] === '-machine') return said('pc-i440fx-11.1   Standard PC (default)\n')
    dry.push({ argv, input: String(input) })
    return { ...said(''), ...answer }
  }
  const check = (params: Record<string, unknown>, vcpus?: number) =>
    checkModels({ files: systemFiles, run }, new KvmParams({ ...kvmParams, kvm_path: qemu, ...params }), vcpus)
  const extra = (kvm_extra: string) =>
    checkExtra({ files: systemFiles, run }, new KvmParams({ ...kvmParams, kvm_path: qemu, kvm_extra }))
  return { dry, check, extra }
}

test('a capability that QEMU lacks is refused with its words, and the parameter', async () => {
  const desc = "Parameter 'capability' does not accept value 'zero-blocks'"
  const { dry, check } = machine({
    stdout: `{"QMP": {}}\n{"return": {}}\n{"error": {"class": "GenericError", "desc": "${desc}"}}\n{"return": {}}\n`,
  })
  await expect(check({ migration_caps: 'zero-blocks' })).rejects.toThrow(
    `Parameter 'migration_caps' fails validation: QEMU 11.1.3 of this node says: ${desc} (current value: 'zero-blocks')`,
  )
  expect(dry[0]?.input.split('\n').map((line) => (JSON.parse(line) as { execute: string }).execute)).toEqual([
    'qmp_capabilities',
    'migrate-set-capabilities',
    'quit',
  ])
})

test('a QEMU that does not start tells why, and the parameters that were asked for; its warnings are left out', async () => {
  const stderr = `${qemu}: warning: nic e1000.0 has no peer\n${qemu}: unable to find CPU model 'z80'\n`
  const { check } = machine({ code: 1, stderr })
  await expect(check({ cpu_type: 'z80', nic_type: 'e1000' })).rejects.toThrow(
    "QEMU 11.1.3 of this node does not start with cpu_type=z80, nic_type=e1000: unable to find CPU model 'z80'",
  )
})

test('what has started once is not started again, until there is another QEMU', async () => {
  const { dry, check } = machine({})
  for (const machine_version of ['q35', 'q35', 'pc']) await check({ machine_version })
  expect(dry.length).toBe(2)
  fs.utimesSync(qemu, 1, 1)
  await check({ machine_version: 'q35' })
  expect(dry.length).toBe(3)
})

test('what each QEMU has, and a controller without disks, needs no start; a node too busy for one refuses nothing', async () => {
  const { dry, check } = machine({ code: null, timedOut: true })
  await check({ scsi_controller_type: 'megasas' })
  expect(dry).toEqual([])
  await check({ scsi_controller_type: 'megasas', disk_type: 'scsi-block' })
  expect(dry.map(({ argv }) => argv.join(' '))).toEqual([expect.stringContaining('-device megasas,id=scsi')])
})

test('a keymap is asked for with VNC, which alone reads it, and no port is opened for that', async () => {
  const { dry, check } = machine({})
  await check({ keymap: 'nope' })
  expect(dry).toEqual([])
  await check({ keymap: 'nope', vnc_bind_address: '0.0.0.0' })
  expect(dry.map(({ argv }) => argv.join(' '))).toEqual([expect.stringContaining('-vnc none -k nope')])
})

test('USB devices are asked for one by one', async () => {
  const { dry, check } = machine({ code: 1, stderr: "could not add USB device 'nope'" })
  await expect(check({ usb_devices: 'ccid,nope' })).rejects.toThrow(
    "does not start with usb_devices=ccid,nope: could not add USB device 'nope'",
  )
  expect(dry[0]?.argv.join(' ')).toContain('-usb -usbdevice ccid -usbdevice nope')
})

test('virtual CPUs are asked for with their places, if places are named, and if not every machine has so many', async () => {
  const { dry, check } = machine({ code: 1, stderr: 'Invalid CPU topology' })
  await check({}, 4)
  await check({ cpu_cores: 2 })
  expect(dry).toEqual([])
  await expect(check({ cpu_cores: 2 }, 3)).rejects.toThrow('does not start with cpu_cores=2, vcpus=3: Invalid CPU topo')
  await expect(check({}, 256)).rejects.toThrow('does not start with vcpus=256: ')
  expect(dry.map(({ argv }) => argv[argv.indexOf('-smp') + 1])).toEqual(['3,cores=2', '256'])
})

test('the images of CD-ROM drives are asked of their servers before a start, each time', async () => {
  const { dry, check } = machine({})
  const cdrom_image_path = 'https://images.example/a,b.iso'
  await check({ cdrom_image_path })
  expect(dry).toEqual([])
  for (const cdrom2_image_path of ['', '/srv/b.iso']) await check({ cdrom_image_path, cdrom2_image_path }, 1)
  expect(dry.map(({ argv }) => argv.slice(-2))).toEqual(
    Array(2).fill([
      '-drive',
      'file=https://images.example/a,,b.iso,format=raw,media=cdrom,if=none,id=cdrom_image_path',
    ]),
  )
  const { check: refuse } = machine({ code: 1, stderr: 'kvm: -drive file=x: CURL: Error opening file\n' })
  await expect(refuse({ cdrom_image_path }, 1)).rejects.toThrow(
    'does not start with cdrom_image_path=https://images.example/a,b.iso: -drive file=x: CURL: Error opening file',
  )
})

test('a device is put into the first slot that is not reserved', async () => {
  const { dry, check } = machine({})
  await check({ kvm_pci_reservations: 3 })
  expect(dry[0]?.argv.join(' ')).toContain('-device virtio-net-pci,romfile=,bus=pci.0,addr=0x3')
  await expect(check({ kvm_pci_reservations: 32 })).rejects.toThrow('leaves no PCI slot')
})

test('QEMU is asked for the names in kvm_extra, and opens nothing of it', async () => {
  const { dry, extra } = machine({})
  await extra('')
  await extra(
    '-chardev socket,path=/run/x,server=on -device virtio-rng-pci,id=a --device driver=nope -device {"driver":"x"}',
  )
  expect(dry.map(({ argv }) => argv.slice(1, 4))).toEqual([
    ['-version', '-chardev', 'socket,path=/run/x,server=on'],
    ['-device', 'virtio-rng-pci,help'],
    ['-device', 'nope,help'],
  ])
  for (const [stderr, why] of [
    [`${qemu}: -bogus: invalid option\n`, '-bogus: invalid option'],
    [`${qemu}: -m: requires an argument\n`, '-m: requires an argument'],
  ] as const)
    await expect(machine({ code: 1, stderr }).extra('-bogus')).rejects.toThrow(
      `does not start with kvm_extra=-bogus: ${why}`,
    )
  const unknown = machine({ stderr: `${qemu}: -device nope,help: Device 'nope' not found\n` })
  await expect(unknown.extra('-device nope')).rejects.toThrow("Device 'nope' not found")
  await machine({ code: null, timedOut: true, stderr: ': invalid option' }).extra('-bogus')
})
