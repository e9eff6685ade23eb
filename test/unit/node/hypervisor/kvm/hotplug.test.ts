// Changing a NIC of a running guest, with a QEMU and a network that are pretended.
import { hotplug } from '../../../../../src/node/hypervisor/kvm/hotplug'
import type { KvmMachines } from '../../../../../src/node/hypervisor/kvm/machines'
import { instanceDict, kvmParams } from '../../../../support/hypervisor'

const nic = (mac: string) => ({ uuid: 'n', mac, nicparams: { mode: 'bridged', link: 'br0', vlan: '' } })

/** Refuses NICs of these addresses, in these words. */
function machinesRefusing(refusals: Readonly<Record<string, string>>) {
  let runtime = { program: 'qemu', command: [], nics: [nic('aa:00:00:00:00:01')], hvparams: kvmParams, disks: [] }
  const given: string[] = []
  const qmp = { run: async () => ({}), eventAfter: async (...args: unknown[]) => (args[3] as () => Promise<unknown>)() }
  const machines = {
    running: async () => ({ command: [] }),
    runtime: async () => runtime,
    save: async (_: string, next: typeof runtime) => void (runtime = next),
    qmp: async (_: string, task: (line: typeof qmp) => Promise<unknown>) => task(qmp),
    nics: {
      makeRoom: async () => undefined,
      forget: async () => undefined,
      connect: async () => undefined,
      async prepare(_: unknown, { mac }: { mac: string }) {
        given.push(mac)
        if (refusals[mac] !== undefined) throw new Error(refusals[mac])
        return { kind: 'user' }
      },
    },
  }
  return { machines: machines as unknown as KvmMachines, given }
}

const change = (machines: KvmMachines) =>
  hotplug(machines, instanceDict(), 'hotmod', { target: 'nic', nic: nic('aa:00:00:00:00:02') }, 0)

test('a NIC that cannot be changed is the former one again', async () => {
  const { machines, given } = machinesRefusing({ 'aa:00:00:00:00:02': 'no such bridge' })
  await expect(change(machines)).rejects.toThrow(/^no such bridge$/)
  expect(given).toEqual(['aa:00:00:00:00:02', 'aa:00:00:00:00:01'])
})

test('where that fails too, both reasons are told', async () => {
  const { machines } = machinesRefusing({ 'aa:00:00:00:00:02': 'no such bridge', 'aa:00:00:00:00:01': 'no tap device' })
  await expect(change(machines)).rejects.toThrow(
    'no such bridge; the former NIC could not be given back, so the guest has none: no tap device',
  )
})
