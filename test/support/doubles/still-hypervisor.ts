// The smallest possible hypervisor: the fake one under another name.
import { fakeHypervisor } from '../../../src/node/hypervisor/fake'
import type { Hypervisor, HypervisorContext } from '../../../src/node/hypervisor/hypervisor'

export const stillHypervisor = (context: HypervisorContext): Hypervisor => ({
  ...fakeHypervisor(context),
  name: 'still',
})
