// A hypervisor that fails does not hide the others.
import { hypervisors } from '../../../../src/collectors/hypervisor/hypervisors'
import { mismatch } from '../../../../src/collectors/shapes'
import type { InstanceRuntime } from '../../../../src/rpc/node/dicts'
import { nodeSources } from '../../../support/node-sources'

const INFO = {
  ...{
    memory_total: 1000,
    memory_free: 400,
    memory_dom0: 100,
    cpu_total: 4,
    cpu_nodes: 1,
    cpu_sockets: 1,
    cpu_dom0: 4,
  },
  hv_version: '7.2',
}

test('each enabled hypervisor tells what it has, or why it tells nothing', async () => {
  const runtime = { memory: 64, vcpus: 2, time: 0 }
  const moved = { ...runtime, memory: 0, vcpus: 0, state: 0, machine_state: 'postmigrate' }
  const all = new Map<string, InstanceRuntime>([['a', { ...runtime, state: 0 }], ['b', { ...runtime, state: 1 }], ['c', moved]]) // prettier-ignore
  const kvm = { allInfo: () => Promise.resolve(all), nodeInfo: () => Promise.resolve(INFO) }
  const files = {
    '/var/lib/ganeti/ssconf_hypervisor_list': 'kvm\nlxc\nxen-pvm\n',
    '/sys/class/net/br0/bridge/bridge_id': '',
    '/sys/class/net/br0/brif/tap0': '',
    '/sys/class/net/eth0/mtu': '',
  }
  const xl =
    'nr_cpus : 8\ncores_per_socket : 2\nthreads_per_core : 2\nnr_nodes : 1\ntotal_memory : 900\nfree_memory : 100\nxen_version : 4.17.2\n'
  const sources = nodeSources({ files, backEnds: { kvm }, programs: { xl } })
  const data = await hypervisors.open(sources, {}).collect()
  expect(mismatch(hypervisors.shape, data)).toBeUndefined()
  expect(data).toMatchObject({
    hypervisors: [
      {
        ...{ name: 'kvm', error: null, instances: 1, instances_memory_mib: 64, instances_vcpus: 2 },
        resources: { memory_total_mib: 1000, memory_free_mib: 400, cpus: 4 },
        details: { hv_version: '7.2' },
      },
      { name: 'lxc', resources: null, error: "Unknown hypervisor 'lxc'" },
      {
        name: 'xen-pvm',
        resources: { memory_total_mib: 900, cpus: 8, cpu_sockets: 2 },
        details: { version: '4.17.2' },
      },
    ],
    interfaces: [{ name: 'br0', members: ['tap0'] }],
  })
})
