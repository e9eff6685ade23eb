// The disk with the seed of cloud-init gets in the way of no other device.
import { PlaceAllocator } from '../../../../../src/node/hypervisor/kvm/devices'
import { PciBus } from '../../../../../src/node/hypervisor/kvm/pci'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { fixedCommand } from '../../../../../src/node/hypervisor/kvm/command'
import { decodeRuntime, encodeRuntime } from '../../../../../src/node/hypervisor/kvm/runtime'
import { seedPlace } from '../../../../../src/node/hypervisor/kvm/cloud-init-seed'
import { diskDict, instanceDict, kvmParams } from '../../../../support/hypervisor'
import { command } from './command-of'

const FILE = '/var/run/ganeti/kvm-hypervisor/seed/vm1.test.iso'
const drive = `file=${FILE},format=raw,if=none,id=seed,readonly=on`
const words = (params: object, seed = true) =>
  fixedCommand(instanceDict({ hvparams: { ...kvmParams, ...params } }), {
    defaultMachine: 'pc-i440fx-7.2',
    interfaceAddress: () => undefined,
    seed,
  })

test('the seed is a read-only disk behind all others, and a CD-ROM where disks are ide', () => {
  expect(words({})).toEqual(expect.arrayContaining([drive, 'virtio-blk-pci,drive=seed,bus=pci.0,addr=0x1e']))
  expect(words({ machine_version: 'q35' })).toContain('virtio-blk-pci,drive=seed,bus=pcie.0,addr=0x1e')
  expect(words({ disk_type: 'ide' })).toEqual(expect.arrayContaining([drive, 'ide-cd,drive=seed']))
  expect(words({}, false).join(' ')).not.toContain('seed')
  expect(command(instanceDict()).join(' ')).not.toContain('seed')
})

test('no disk or NIC gets the place of the seed', () => {
  const params = new KvmParams({ ...kvmParams, kvm_pci_reservations: 29 })
  const addresses = (taken: ReturnType<typeof seedPlace>) => {
    const pci = new PciBus('pc', [], [taken])
    const places = new PlaceAllocator(params, (first) => pci.place(first))
    return [places.disk(diskDict('/a')), places.disk(diskDict('/b'))].map((place) => place['addr'])
  }
  expect(addresses(seedPlace({ command: words({}) }))).toEqual(['0x1d', '0x1f'])
  expect(addresses(seedPlace({ command: words({}, false) }))).toEqual(['0x1d', '0x1e'])
})

test('what travels with a migration may carry a seed', () => {
  const runtime = { program: '/usr/bin/kvm', command: words({}), nics: [], hvparams: {}, disks: [], seed: 'H4sI' }
  expect(decodeRuntime(encodeRuntime(runtime))).toEqual(runtime)
  const both = { ...runtime, cpuFlags: ['fpu', 'vme'] }
  expect(decodeRuntime(encodeRuntime(both))).toEqual(both)
})
