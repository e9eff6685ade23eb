// Hard-resets this machine, as a last resort: no disk is synced and no daemon is stopped.
import { fail } from './failure'
import type { NodeContext } from './context'
import { isVirtualNode } from './network/addresses'
import { POWERCYCLE_S } from '../model/limits/node'

/** Answers first, because nobody is left to answer afterwards. */
export function powercycle(context: NodeContext, hypervisor: string): string {
  if (isVirtualNode(context.paths))
    return fail('This is a virtual node: it shares its machine with others, which would be reset too')
  // The fake hypervisor has no machine of its own.
  if (hypervisor !== 'fake') context.clock.after(POWERCYCLE_S * 1000, () => void reset(context))
  return `Reboot scheduled in ${POWERCYCLE_S} seconds`
}

async function reset(context: NodeContext): Promise<void> {
  context.log.warn('the master has this machine reset')
  await context.files.writeFile('/proc/sysrq-trigger', 'b').catch((error: unknown) => {
    context.log.error({ err: error }, 'this machine could not be reset')
  })
}
