// Node calls about the node itself: its state, its checks, its tests.
import { protocolOf } from '../../model/constants/versions'
import { isLoopback } from '../../model/ip'
import type { HypervisorInfo } from '../../rpc/node/dicts'
import { messageOf } from '../../rpc/node/protocol'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../failure'
import { runHooks } from '../hooks'
import { hasAddress, isVirtualNode, missingBridges } from '../network/addresses'
import { configureOpenvSwitch } from '../network/open-vswitch'
import { powercycle } from '../powercycle'
import { runIallocator, runOob } from '../programs'
import { runRepair, runRestricted } from '../restricted'
import { verifyNode } from '../verify'
import { storageInfo } from './file-storage'

export const nodeHandlers = {
  version: ({ ssconf }) => protocolOf(ssconf.value('release_version')),

  async node_info(context, storageUnits, hypervisors) {
    const bootId = context.files.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
    const [storage, live] = await Promise.all([
      storageUnits && Promise.all(storageUnits.map((unit) => storageInfo(context, unit))),
      hypervisors && Promise.all(hypervisors.map(([name]) => hypervisorInfo(context, name))),
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
    const missing = missingBridges(context, bridges)
    if (missing.length > 0) fail(`Missing bridges ${missing.join(', ')}`)
    return null
  },

  // Every loopback address belongs to this machine, so it counts as an address of the virtual node that listens on it.
  node_has_ip_address: (context, address) =>
    isVirtualNode(context.paths) && isLoopback(address)
      ? address === context.bindAddress
      : hasAddress(context, address),

  hooks_runner: (context, name, phase, env) => runHooks(context, name, phase, env),

  repair_command: (context, command, input) => runRepair(context, command, input ?? ''),
  restricted_command: (context, command) => runRestricted(context, command),

  run_oob: (context, program, command, node, timeout_s) => runOob(context, program, command, node, timeout_s),
  iallocator_runner: (context, name, input, options) => runIallocator(context, name, input, options),
  node_powercycle: (context, hypervisor) => powercycle(context, hypervisor),

  async node_configure_ovs({ run }, name, link) {
    await configureOpenvSwitch(run, name, link)
    return null
  },
} satisfies Partial<Handlers>

/** If a hypervisor cannot answer, its entry stays empty. The answers of the others are kept. */
async function hypervisorInfo(context: NodeContext, name: string): Promise<HypervisorInfo | null> {
  try {
    return await context.hypervisor(name).nodeInfo()
  } catch (error) {
    context.log.warn({ hypervisor: name, error: messageOf(error) }, 'a hypervisor gives no information')
    return null
  }
}
