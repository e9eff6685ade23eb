// Starts kvmd with all that it needs.
import { systemClock as clock } from '../lib/clock'
import { thisMachine as machine } from '../lib/machine'
import { systemRandom as random } from '../lib/random'
import { GuestWatch } from '../node/hypervisor/kvm/guest-watch'
import { listenAddress } from './own-address'
import type { Start } from './start'

export const start: Start = async ({ paths, log }) => {
  const bindAddress = await listenAddress(paths)
  const watch = new GuestWatch({ paths, log, clock, random, bindAddress, ...machine })
  await watch.start()
  return {
    close() {
      watch.close()
      return Promise.resolve()
    },
  }
}
