// The processor time and memory of KVM instances.
import { KVM_SILENT_S } from '../../model/limits/collectors'
import { kvmProcesses } from '../kvm-processes'
import type { Collector } from '../report'
import { about, dict, int } from '../shapes'
import { InstanceLoads, LOADS } from './instance-loads'

export const kvmCpuAvgLoad: Collector = {
  ...{ name: 'kvm-cpu-avg-load', category: null, kind: 'performance' },
  help: 'how busy the instances of KVM keep processors',
  ...{ shape: LOADS, interval_s: 5, cost_ms: 5, stateful: true },
  open(sources) {
    const loads = new InstanceLoads({ span_s: 0, silent_s: KVM_SILENT_S })
    return {
      async collect() {
        const processes = [...(await kvmProcesses(sources))]
        const times = new Map(processes.map(([name, { cpu_s }]) => [name, cpu_s]))
        return loads.look(sources.clock.monotonic_ms(), times)
      },
    }
  },
}

export const kvmInstRss: Collector = {
  ...{ name: 'kvm-inst-rss', category: null, kind: 'performance' },
  help: 'the memory that the instances of KVM have',
  ...{ interval_s: 10, cost_ms: 5 },
  shape: about('pages of memory that each instance has', dict(int)),
  open: (sources) => ({
    async collect() {
      const processes = [...(await kvmProcesses(sources))]
      return Object.fromEntries(processes.map(([name, { rss_pages }]) => [name, rss_pages]))
    },
  }),
}
