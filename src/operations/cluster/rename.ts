// OP_CLUSTER_RENAME: another name, and the address that it resolves to.
import { change } from '../../config/changes'
import { recordValues } from '../../config/records'
import { resolveHost } from '../../lib/net/resolve'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpClusterRename } from '../../opcodes/cluster'
import { PeerError } from '../../rpc/json-protocol'
import { checkNameIsFree } from '../free-name'
import { logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { renameInKnownHosts, sendAncillaryFiles } from './ancillary-files'
import { activateMasterIp, deactivateMasterIp, readMaster, type Master } from './master-ip'

export const clusterRename = logicalUnit(OpClusterRename, {
  bigLock: true,
  async check(ctx, op) {
    const found = await resolveHost(op.name)
    if ('error' in found)
      throw new OpPrereqError(`The given name (${op.name}) does not resolve: ${found.error}`, ECODE.RESOLVER)
    const { cluster, nodes } = await ctx.config.read({ nodes: 'all' })
    if (op.name === cluster.cluster_name && found.ip === cluster.master_ip)
      throw new OpPrereqError('Neither the name nor the IP address of the cluster has changed', ECODE.INVAL)
    await checkNameIsFree(ctx, op.name, cluster.uuid)
    if (found.ip !== cluster.master_ip) await checkUnused(ctx, await readMaster(ctx), found.ip)
    return { cluster, nodes: recordValues(nodes), ip: found.ip }
  },
  hooks: {
    path: 'cluster-rename',
    type: 'CLUSTER',
    env: (_ctx, op, { cluster }) => ({ OP_TARGET: cluster.cluster_name, NEW_NAME: op.name }),
    nodes: (_ctx, _op, { cluster, nodes }) => ({ pre: [cluster.master_node], post: nodes.map((node) => node.uuid) }),
  },
  async run(ctx, op, { cluster, nodes, ip }) {
    try {
      await deactivateMasterIp(ctx, await readMaster(ctx))
      await ctx.config.change([change('patchCluster', { cluster_name: op.name, master_ip: ip })])
      await renameInKnownHosts(ctx, cluster, op.name)
      await sendAncillaryFiles(ctx, nodes)
    } finally {
      await reactivate(ctx)
    }
    return op.name
  },
})

/** Asks the master's node daemon whether somebody answers at the address. */
async function checkUnused(ctx: UnitContext, { node }: Master, ip: string): Promise<void> {
  const { cluster } = await ctx.config.read({})
  const checks = { 'master-ip': [node.name, ip, [node.name]] }
  const what = `Can't check whether the address ${ip} is in use`
  const args: [Record<string, unknown>, string, typeof cluster.hvparams] = [checks, cluster.cluster_name, {}]
  const answer = await ctx.nodes.require(node, what, ECODE.ENVIRON, 'node_verify', args)
  if (answer['master-ip'] === true)
    throw new OpPrereqError(`The given cluster IP address (${ip}) is reachable on the network`, ECODE.NOTUNIQUE)
}

async function reactivate(ctx: UnitContext): Promise<void> {
  try {
    await activateMasterIp(ctx, await readMaster(ctx))
  } catch (error) {
    if (!(error instanceof OpExecError || error instanceof PeerError)) throw error
    const text = 'Could not re-enable the master role on the master, please restart manually'
    ctx.log.warning(`${text} with 'gnt-cluster activate-master-ip': ${error.message}`)
  }
}
