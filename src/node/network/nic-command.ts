// One program that sets up a NIC on this node.
import type { Run } from '../../lib/programs/run-command'
import { NETWORK_PROGRAM_S } from '../../model/limits/node'
import { HypervisorFailure } from '../hypervisor/hypervisor'

/** Returns what it printed. */
export async function nicCommand(run: Run, argv: readonly string[], env?: Record<string, string>): Promise<string> {
  const result = await run(argv, { timeout_s: NETWORK_PROGRAM_S, ...(env ? { env } : {}) })
  if (result.code !== 0)
    throw new HypervisorFailure(`Failed to configure a NIC: ${argv.join(' ')}: ${result.output.trim()}`)
  return result.output.trim()
}
