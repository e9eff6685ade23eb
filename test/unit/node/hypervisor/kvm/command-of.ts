// The whole QEMU command of an instance, as it is launched on a node of which only facts are given.
import * as path from 'node:path'
import { systemClock } from '../../../../../src/lib/clock'
import { thisMachine } from '../../../../../src/lib/machine'
import { pathsOf } from '../../../../../src/lib/paths'
import { fixedCommand, machineOf } from '../../../../../src/node/hypervisor/kvm/command'
import { PlaceAllocator, asRuntimeDisk } from '../../../../../src/node/hypervisor/kvm/devices'
import { PciBus } from '../../../../../src/node/hypervisor/kvm/pci'
import { missesWrites } from '../../../../../src/node/hypervisor/kvm/host'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { launchCommand } from '../../../../../src/node/hypervisor/kvm/launch'
import type { LaunchFacts } from '../../../../../src/node/hypervisor/kvm/launch'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { decodeRuntime, encodeRuntime } from '../../../../../src/node/hypervisor/kvm/runtime'
import type { InstanceDict, NicDict } from '../../../../../src/rpc/node/dicts'
import { diskDict, instanceDict, kvmParams } from '../../../../support/hypervisor'

const qemu = { defaultMachine: 'pc-i440fx-7.2' }
export const tap = { kind: 'tap', interface: 'tap01020304', vhost: true, queues: 1, remarks: [] } as const
export const baseFacts: LaunchFacts = {
  accelerator: 'kvm',
  qemuVersion: [7, 2],
  backends: [tap],
  backings: [],
  startPaused: false,
}

const nic = (overrides: Partial<NicDict> = {}): NicDict => ({
  uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
  mac: 'aa:00:00:bf:2f:16',
  nicparams: { mode: 'bridged', link: 'br0', vlan: '' },
  ...overrides,
})
export const plain = diskDict('', { dev_type: 'plain', logical_id: ['xenvg', 'abc.disk0'], size: 1024 })
export const withParams = (params: Record<string, unknown>, overrides: Partial<InstanceDict> = {}): InstanceDict =>
  instanceDict({ hvparams: { ...kvmParams, ...params }, disks_info: [plain], nics: [nic()], ...overrides })

export function command(instance: InstanceDict, facts: LaunchFacts = baseFacts, root = ''): string[] {
  const params = new KvmParams(instance.hvparams)
  const pci = new PciBus(machineOf(params, qemu), [], [])
  const places = new PlaceAllocator(params, (first) => pci.place(first))
  const runtime = {
    program: '/usr/bin/kvm',
    command: fixedCommand(instance, {
      ...qemu,
      interfaceAddress: (name) => (name === 'eth0' ? '192.0.2.7' : undefined),
      missesWrites: missesWrites(facts.accelerator, { version: [...facts.qemuVersion, 0] }),
    }),
    hvparams: instance.hvparams,
    disks: instance.disks_info.map((disk, index) => {
      const link = `/var/run/ganeti/instance-disks/${instance.name}:${index}`
      return asRuntimeDisk({ disk, link }, places.disk(disk), link)
    }),
    nics: instance.nics.map((entry) => ({ ...entry, hvinfo: places.nic(entry) })),
  }
  // A launch reads the runtime file, as after a reboot or on the target of a migration.
  const kept = decodeRuntime(encodeRuntime(runtime))
  expect(kept).toEqual(runtime)
  return launchCommand(
    instance.name,
    kept,
    params,
    facts,
    new KvmLayout({ ...thisMachine, clock: systemClock, paths: pathsOf(root, path.basename(root)) }),
  )
}
