// This node's data for its monitoring collectors.
import type { NodeSources } from '../collectors/report'
import { type MachineSources, machineSources } from '../collectors/sources'
import { systemClock as clock } from '../lib/clock'
import type { Log } from '../lib/log'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import type { Hypervisor } from '../node/hypervisor/hypervisor'

export function openNodeSources(paths: Paths, log: Log): MachineSources & Pick<NodeSources, 'backEnd'> {
  let opened: Promise<(name: string) => Hypervisor> | undefined
  // Much code, which is loaded with the first question. The back ends only answer questions, so they need no address.
  const open = async () => {
    const { hypervisorsOf } = await import('../node/hypervisor/index.js')
    return hypervisorsOf({ ...thisMachine, paths, clock, random, log, bindAddress: '127.0.0.1' })
  }
  const named = async (name: string) => (await (opened ??= open()))(name)
  return {
    ...machineSources(thisMachine, paths.local('/')),
    backEnd: (name) => ({
      allInfo: async () => (await named(name)).allInfo(),
      nodeInfo: async () => (await named(name)).nodeInfo(),
    }),
  }
}
