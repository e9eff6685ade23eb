// A node's possible back ends, by Ganeti's names. A new one is a file that implements Hypervisor, and an entry here.
// Each is loaded on demand, since a node has only one or two.
import { HypervisorFailure } from './hypervisor'
import type { Hypervisor, HypervisorContext } from './hypervisor'

export const hypervisors: Readonly<Record<string, (context: HypervisorContext) => Hypervisor>> = {
  fake: (context) => {
    const { fakeHypervisor }: typeof import('./fake') = require('./fake')
    return fakeHypervisor(context)
  },
  kvm: (context) => {
    const { kvmHypervisor }: typeof import('./kvm/kvm') = require('./kvm/kvm')
    return kvmHypervisor(context)
  },
}

/** For `NodeContext.hypervisor`: each back end is made once, on demand. */
export function hypervisorsOf(context: HypervisorContext): (name: string) => Hypervisor {
  const made = new Map<string, Hypervisor>()
  return (name) => {
    const existing = made.get(name)
    if (existing) return existing
    const make = Object.hasOwn(hypervisors, name) ? hypervisors[name] : undefined
    if (make === undefined)
      throw new HypervisorFailure(`Unknown hypervisor '${name}' (this node has ${Object.keys(hypervisors).join(', ')})`)
    const hypervisor = make(context)
    made.set(name, hypervisor)
    return hypervisor
  }
}
