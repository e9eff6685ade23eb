// This node, as collectors of monitoring data see it.
import type { NodeSources } from '../collectors/report'
import { type MachineSources, machineSources } from '../collectors/sources'
import { systemClock as clock } from '../lib/clock'
import type { Log } from '../lib/log'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { hypervisors, hypervisorsOf } from '../node/hypervisor/index'

export function openNodeSources(paths: Paths, log: Log): MachineSources & Pick<NodeSources, 'backEnd'> {
  // They are only asked: nothing is started that would need an address.
  const backEnd = hypervisorsOf({ ...thisMachine, paths, clock, random, log, bindAddress: '127.0.0.1' })
  return {
    ...machineSources(thisMachine),
    backEnd: (name) => (Object.hasOwn(hypervisors, name) ? backEnd(name) : undefined),
  }
}
