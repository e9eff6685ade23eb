// OP_CLUSTER_RENEW_CRYPTO: after the nodes got new client certificates, the cluster's list follows; SSH keys are made anew.
import { change } from '../../config/changes'
import { masterNode } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type { ConfigData, Node } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpClusterRenewCrypto } from '../../opcodes/cluster'
import { all, exclusive, logicalUnit, type Op } from '../logical-unit'
import { certificateDigest } from '../node/candidates'
import type { UnitContext } from '../unit-context'

export const clusterRenewCrypto = logicalUnit(OpClusterRenewCrypto, {
  locks: () => ({ node: exclusive(all) }),
  async check(ctx) {
    const config = await ctx.config.read({ nodes: 'all' })
    const master = masterNode(config)
    if (master === undefined) throw new OpPrereqError('The cluster has no master node', ECODE.STATE)
    return { config, master }
  },
  async run(ctx, op, { config, master }) {
    if (op.node_certificates) {
      ctx.log.say('Renewing Node SSL certificates')
      await renewCertificates(ctx, config)
    }
    if (op.renew_ssh_keys && config.cluster.modify_ssh_setup) {
      ctx.log.say('Renewing SSH keys')
      await renewSshKeys(ctx, config, master, op)
    } else if (op.renew_ssh_keys) {
      ctx.log.say('Cannot renew SSH keys if the cluster is configured to not modify the SSH setup.')
    }
    return null
  },
})

/** A candidate that cannot be asked keeps its old entry: without any, no node would obey it again. */
async function renewCertificates(ctx: UnitContext, config: ConfigData): Promise<void> {
  const certs: Record<string, string> = {}
  const failed: string[] = []
  for (const node of recordValues(config.nodes)) {
    const old = config.cluster.candidate_certs[node.uuid]
    if (!node.master_candidate && node.uuid !== config.cluster.master_node) continue
    if (old !== undefined) certs[node.uuid] = old
    if (node.offline) continue
    try {
      certs[node.uuid] = await certificateDigest(ctx, node)
    } catch (error) {
      if (!(error instanceof OpExecError)) throw error
      failed.push(`Node ${node.name}: ${error.message}`)
    }
  }
  if (failed.length > 0)
    ctx.log.warning(
      `Some nodes' SSL client certificates could not be fetched; see that they are reachable and repeat this:\n${failed.join('\n')}`,
    )
  await ctx.config.change([change('patchCluster', { candidate_certs: certs })])
}

async function renewSshKeys(
  ctx: UnitContext,
  config: ConfigData,
  master: Node,
  op: Op<typeof OpClusterRenewCrypto>,
): Promise<void> {
  const { ssh_key_type: old, ssh_key_bits } = config.cluster
  const type = op.ssh_key_type ?? old
  const bits = op.ssh_key_bits ?? (type === old ? ssh_key_bits : KEY_BITS[type])
  const nodes = recordValues(config.nodes)
  const online = nodes.filter((node) => !node.offline)
  const failures = await ctx.nodes.call(master, 'Could not renew the SSH keys of all nodes', 'node_ssh_keys_renew', [
    online.map((node) => node.uuid),
    online.map((node) => node.name),
    nodes.filter((node) => node.master_candidate).map((node) => node.uuid),
    nodes.filter((node) => node.master_capable).map((node) => node.name),
    ...([old, type, bits] as const),
  ])
  for (const [node, message] of failures) ctx.log.warning(`SSH keys of node ${node}: ${message}`)
  await ctx.config.change([change('patchCluster', { ssh_key_type: type, ssh_key_bits: bits })])
}

const KEY_BITS = { rsa: 2048, dsa: 1024, ecdsa: 384 } as const
