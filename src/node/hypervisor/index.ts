// The back ends that a node can have, by Ganeti's names. A new one is a file that implements Hypervisor, and a line here.
import { fakeHypervisor } from './fake'
import { HypervisorFailure } from './hypervisor'
import type { Hypervisor, HypervisorContext } from './hypervisor'
import { kvmHypervisor } from './kvm/kvm'

export const hypervisors: Readonly<Record<string, (context: HypervisorContext) => Hypervisor>> = {
  fake: fakeHypervisor,
  kvm: kvmHypervisor,
}

/** For `NodeContext.hypervisor`: each back end is made once, when it is first asked for. */
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
