// Moves the master's address to another interface, or changes its netmask.
import { OpExecError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { activateMasterIp, deactivateMasterIp, readMaster } from '../master-ip'

export async function stopMasterIp(ctx: UnitContext, netdev: string, force: boolean): Promise<void> {
  const master = await readMaster(ctx)
  ctx.log.say(`Shutting down master ip on the current netdev (${master.params.netdev})`)
  try {
    await deactivateMasterIp(ctx, master)
  } catch (error) {
    if (!force || !(error instanceof OpExecError)) throw error
    ctx.log.say(`Could not disable the master ip (continuing anyway): ${error.message}`)
  }
  ctx.log.say(`Changing master_netdev from ${master.params.netdev} to ${netdev}`)
}

export async function restartMasterIp(ctx: UnitContext): Promise<void> {
  const master = await readMaster(ctx)
  ctx.log.say(`Starting the master ip on the new master netdev (${master.params.netdev})`)
  try {
    await activateMasterIp(ctx, master)
  } catch (error) {
    if (!(error instanceof OpExecError)) throw error
    const text = 'Could not re-enable the master ip on the master, please restart manually'
    ctx.log.warning(`${text} with 'gnt-cluster activate-master-ip': ${error.message}`)
  }
}

export async function changeNetmask(ctx: UnitContext, netmask: number): Promise<void> {
  const { node, params } = await readMaster(ctx)
  ctx.log.say(`Changing master IP netmask to ${netmask}`)
  const { netmask: old, ip, netdev } = params
  const result = await ctx.nodes.attempt(node, 'node_change_master_netmask', [old, netmask, ip, netdev])
  if (!result.ok) ctx.log.say(`Could not change the master IP netmask: ${result.error}`)
}
