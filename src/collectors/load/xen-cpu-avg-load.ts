// The average processor load of Xen instances over some minutes.
import { XEN_LOAD_SPAN_S } from '../../model/limits/collectors'
import { type Collector, type NodeSources, NotInstalled } from '../report'
import { InstanceLoads, LOADS } from './instance-loads'

export const xenCpuAvgLoad: Collector = {
  ...{ name: 'xen-cpu-avg-load', category: null, kind: 'performance' },
  help: 'how busy the instances of Xen keep processors',
  ...{ shape: LOADS, interval_s: 5, cost_ms: 200, stateful: true },
  open(sources) {
    const loads = new InstanceLoads({ span_s: XEN_LOAD_SPAN_S, silent_s: XEN_LOAD_SPAN_S })
    return { collect: async () => loads.look(sources.clock.monotonic_ms(), await domainTimes(sources)) }
  },
}

/** Seconds of processor time by domain; empty without Xen. */
async function domainTimes(sources: NodeSources): Promise<ReadonlyMap<string, number>> {
  try {
    const lines = (await sources.run(['xentop', '-f', '-b', '-i', '1'])).split('\n').slice(1)
    const rows = lines.flatMap((line) => {
      const [name, , seconds] = line.trim().split(/\s+/)
      return name === undefined || seconds === undefined || name === 'Domain-0'
        ? []
        : [[name, Number(seconds)] as const]
    })
    return new Map(rows.filter(([, seconds]) => Number.isFinite(seconds)))
  } catch (error) {
    if (error instanceof NotInstalled) return new Map()
    throw error
  }
}
