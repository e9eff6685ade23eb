// OP_NODE_ADD: adds a node to the cluster, or takes a former one back. `gnt-node add` has already installed the
// cluster's certificate and started the node's daemon.
import { change } from '../../config/changes'
import { fillNdParams } from '../../config/filled'
import type { ConfigData, Node } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpNodeAdd } from '../../opcodes/node'
import { sendAncillaryFiles } from '../cluster/ancillary-files'
import { pick } from '../find'
import { asObject } from '../group/params'
import { logicalUnit, type Op } from '../logical-unit'
import type { Change, UnitContext } from '../unit-context'
import { addSshKey, certificateDigest, READDED, removeSshKey, settleKvmDaemon } from './candidates'
import { checkNewNode, newNodeName } from './new-node'
import { checkNodeSoftware } from './new-node-software'
import { expectIp, isSingleHomed } from './secondary-ip'

type NodeAdd = Op<typeof OpNodeAdd>

export const nodeAdd = logicalUnit(OpNodeAdd, {
  bigLock: true,
  async locks(op, ctx) {
    const config = await ctx.config.read({})
    const name = await newNodeName(ctx, op, config)
    ctx.note({ node_name: name })
    const { cluster, nodes } = await ctx.config.read({ nodes: [name] })
    if (op.readd && pick(nodes, name)?.uuid === cluster.master_node)
      throw new OpPrereqError('Cannot readd the master node', ECODE.STATE)
    if (op.readd && op.group !== undefined)
      throw new OpPrereqError('Cannot pass a node group when a node is being readded', ECODE.INVAL)
    return {}
  },
  async check(ctx, op) {
    const config = await ctx.config.read({ nodes: 'all', groups: 'all', instances: 'all' })
    const node = await checkNewNode(ctx, op, config)
    await checkNodeSoftware(ctx, config, node)
    return { config, node }
  },
  hooks: {
    path: 'node-add',
    type: 'NODE',
    env: (_ctx, _op, { node }) => ({
      OP_TARGET: node.name,
      NODE_NAME: node.name,
      NODE_PIP: node.primary_ip,
      NODE_SIP: node.secondary_ip,
      MASTER_CAPABLE: node.master_capable,
      VM_CAPABLE: node.vm_capable,
    }),
    nodes: (_ctx, _op, { config, node }) => {
      const others = Object.keys(config.nodes).filter((uuid) => uuid !== node.uuid)
      return { pre: others, post: [...others, node.uuid] }
    },
  },
  run: (ctx, op, { config, node }) => add(ctx, op, config, node),
})

async function add(ctx: UnitContext, op: NodeAdd, config: ConfigData, node: Node): Promise<null> {
  if (op.readd) ctx.log.info('Readding a node, the offline/drained flags were reset')
  if (node.master_candidate) ctx.log.info('Node will be a master candidate')
  const digest = await introduce(ctx, config, node)
  await record(ctx, config, node, [
    ...(op.readd ? readded(node) : [change('addNode', node)]),
    node.master_candidate ? change('addCandidateCert', node.uuid, digest) : change('removeCandidateCert', node.uuid),
  ])
  await bringUpToDate(ctx, op, node)
  return null
}

/** If the cluster certainly does not get the node, the hosts file does not name it either. */
async function record(ctx: UnitContext, config: ConfigData, node: Node, changes: readonly Change[]): Promise<void> {
  try {
    await ctx.config.change(changes)
  } catch (error) {
    const { cluster, nodes } = config
    const master = nodes[cluster.master_node]
    const isNew = nodes[node.uuid] === undefined
    if (isNew && master !== undefined && cluster.modify_etc_hosts && (await ctx.config.isSettled())) {
      const now = await ctx.config.read({ nodes: 'all' })
      if (now.nodes[node.uuid] === undefined) await forgetHost(ctx, master, node)
    }
    throw error
  }
}

function readded(node: Node): Change[] {
  const { uuid, serial_no: _serial, ctime: _made, mtime: _changed, ...fields } = node
  return [change('patchNode', uuid, fields)]
}

/** Introduces master and node to each other. The cluster has not changed yet, and a failure leaves nothing behind. */
async function introduce(ctx: UnitContext, config: ConfigData, node: Node): Promise<string> {
  const { cluster, nodes } = config
  const master = nodes[cluster.master_node]
  if (master === undefined) throw new OpExecError('The configuration has no master node')
  try {
    if (cluster.modify_etc_hosts) {
      const what = "Can't update hosts file with new host data"
      await ctx.nodes.call(master, what, 'etc_hosts_modify', ['add', node.name, node.primary_ip])
    }
    if (!isSingleHomed(node)) await expectIp(ctx, node, node.secondary_ip)
    await checkNames(ctx, config, master, node)
    await configureSwitch(ctx, config, node)
    return await certificateDigest(ctx, node)
  } catch (error) {
    if (cluster.modify_etc_hosts && nodes[node.uuid] === undefined) await forgetHost(ctx, master, node)
    throw error
  }
}

async function forgetHost(ctx: UnitContext, master: Node, node: Node): Promise<void> {
  const result = await ctx.nodes.persist(master, 'etc_hosts_modify', ['remove', node.name, null])
  if (!result.ok) ctx.log.warning(`Could not take ${node.name} out of the hosts file again: ${result.error}`)
}

async function checkNames(ctx: UnitContext, { cluster }: ConfigData, master: Node, node: Node): Promise<void> {
  const args = [{ nodelist: [[node.name], {}, []] }, cluster.cluster_name, cluster.hvparams] as const
  const what = `Cannot communicate with node ${master.name}`
  const answers = await ctx.nodes.call(master, what, 'node_verify', [...args])
  const failures = Object.values(asObject(answers['nodelist']))
  for (const text of failures)
    ctx.log.say(`ssh/hostname verification failed (checking from ${master.name}): ${String(text)}`)
  if (failures.length > 0) throw new OpExecError('ssh/hostname verification failed')
}

async function configureSwitch(ctx: UnitContext, config: ConfigData, node: Node): Promise<void> {
  const { ovs, ovs_name, ovs_link } = fillNdParams(config, node)
  if (!ovs) return
  if (ovs_link === '')
    ctx.log.info(
      'No physical interface for OpenvSwitch was given. OpenvSwitch will not have an outside connection. This might not be what you want.',
    )
  const what = `Failed to initialize OpenVSwitch on new node ${node.name}`
  await ctx.nodes.call(node, what, 'node_configure_ovs', [ovs_name, ovs_link])
}

/** The node is a member now: sends the files of members, and removes those that it must not have. */
async function bringUpToDate(ctx: UnitContext, op: NodeAdd, node: Node): Promise<void> {
  // wconfd assumes that a former member still has its files.
  await ctx.env.wconfd.flushConfig()
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  await sendAncillaryFiles(ctx, Object.values(nodes))
  if (op.readd && !node.master_candidate) {
    const result = await ctx.nodes.attempt(node, 'node_demote_from_mc', [])
    if (!result.ok) ctx.log.warning(`Node failed to demote itself from master candidate status: ${result.error}`)
  }
  await settleKvmDaemon(ctx, node, true)
  if (!op.node_setup) return
  if (op.readd) await removeSshKey(ctx, node, READDED)
  await addSshKey(ctx, node, { isNew: true })
}
