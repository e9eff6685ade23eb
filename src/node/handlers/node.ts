// Node calls about the node itself: its state, its checks, its tests.
import { readFileSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { isMissing } from '../../lib/disk'
import { PATH } from '../../model/constants/paths'
import { PROTOCOL_VERSION } from '../../model/constants/versions'
import type { HypervisorInfo } from '../../rpc/node/dicts'
import { messageOf } from '../../rpc/node/protocol'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../context'
import { runHooks } from '../hooks'
import { hasAddress, isVirtualNode, missingBridges } from '../network'
import { runRestricted } from '../restricted'
import { verifyNode } from '../verify'
import { storageInfo } from './file-storage'

export const nodeHandlers = {
  version: () => PROTOCOL_VERSION,

  async node_info(context, storageUnits, hypervisors) {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
    const [storage, live] = await Promise.all([
      Promise.all(storageUnits.map((unit) => storageInfo(context, unit))),
      Promise.all(hypervisors.map(([name]) => hypervisorInfo(context, name))),
    ])
    return [bootId.trim(), storage, live]
  },

  node_verify: (context, checks, clusterName, hvparams) => verifyNode(context, { checks, clusterName, hvparams }),
  node_verify_light: (context, checks, clusterName, hvparams) => verifyNode(context, { checks, clusterName, hvparams }),

  async test_delay(context, duration_s) {
    if (duration_s < 0) fail('The duration must not be negative')
    await context.clock.sleep(duration_s * 1000)
    return null
  },

  bridges_exist(context, bridges) {
    const missing = missingBridges(context.paths, bridges)
    if (missing.length > 0) fail(`Missing bridges ${missing.join(', ')}`)
    return null
  },

  node_has_ip_address: (context, address) =>
    isVirtualNode(context.paths) ? address === context.bindAddress : hasAddress(address),

  hooks_runner: (context, name, phase, env) => runHooks(context, name, phase, env),

  restricted_command: (context, command) => runRestricted(context, command),

  async export_list(context) {
    try {
      return (await fs.readdir(context.paths.local(PATH.EXPORT_DIR))).sort()
    } catch (error) {
      if (isMissing(error)) fail('No exports directory')
      throw error
    }
  },
} satisfies Partial<Handlers>

/** A hypervisor that cannot tell leaves its place empty, and the others' answers stand. */
async function hypervisorInfo(context: NodeContext, name: string): Promise<HypervisorInfo | null> {
  try {
    return await context.hypervisor(name).nodeInfo()
  } catch (error) {
    context.log.warn({ hypervisor: name, error: messageOf(error) }, 'a hypervisor gives no information')
    return null
  }
}
