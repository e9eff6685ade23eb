// What else users and administrators ask for: an opcode for an instance, the cluster or a node, whether it can be carried out now or not.
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import type { Simulator } from './simulator'
import { FAR, NODES, SPARE } from './sim-cluster'

const common = { priority: 0, depends: null, reason: [['gnt:user', 'simulation', 1]] }

export const op = (OP_ID: string, params: Readonly<Record<string, unknown>>): WireOpCode => ({
  OP_ID,
  ...common,
  ...params,
})

export function instanceErrand(simulator: Simulator, instance_name: string): WireOpCode {
  const target_node = simulator.pick([...NODES, SPARE])
  const on = (OP_ID: string, params: Readonly<Record<string, unknown>> = {}) => op(OP_ID, { instance_name, ...params })
  const modify = (params: Readonly<Record<string, unknown>>) =>
    on('OP_INSTANCE_SET_PARAMS', { ...params, wait_for_sync: true, conflicts_check: false })
  const replace = (mode: string, params = {}) => on('OP_INSTANCE_REPLACE_DISKS', { mode, disks: [], ...params })
  return simulator.pick([
    on('OP_INSTANCE_STARTUP'),
    on('OP_INSTANCE_SHUTDOWN'),
    on('OP_INSTANCE_SHUTDOWN'),
    on('OP_INSTANCE_REBOOT', { reboot_type: simulator.pick(['hard', 'full']) }),
    on('OP_INSTANCE_MIGRATE', { target_node }),
    on('OP_INSTANCE_FAILOVER', { target_node }),
    on('OP_INSTANCE_MIGRATE'),
    on('OP_INSTANCE_FAILOVER'),
    ...['replace_on_secondary', 'replace_on_primary', 'replace_auto'].map((mode) => replace(mode)),
    replace('replace_new_secondary', { remote_node: target_node }),
    on('OP_INSTANCE_GROW_DISK', { disk: 0, amount: 4, wait_for_sync: true }),
    on('OP_INSTANCE_REPAIR'),
    on('OP_INSTANCE_RECREATE_DISKS'),
    on('OP_INSTANCE_ACTIVATE_DISKS'),
    on('OP_INSTANCE_DEACTIVATE_DISKS'),
    modify({ disk_template: 'plain' }),
    modify({ disk_template: 'drbd', remote_node: target_node }),
    modify({ disks: [['add', -1, { size: 8 }]] }),
    modify({ disks: [['remove', 1, {}]] }),
    modify({ nics: [simulator.pick([['add', -1, {}], ['remove', -1, {}]])] }), // prettier-ignore
    op('OP_TAGS_SET', { kind: 'instance', name: instance_name, tags: [`t${simulator.random.below(10)}`] }),
    op('OP_TAGS_DEL', { kind: 'instance', name: instance_name, tags: [`t${simulator.random.below(10)}`] }),
  ])
}

export function clusterErrand(simulator: Simulator): WireOpCode {
  const node_name = simulator.pick(NODES)
  const remote_node = simulator.pick(NODES)
  const tags = [`t${simulator.random.below(10)}`]
  return simulator.pick([
    op('OP_CLUSTER_VERIFY_CONFIG', {}),
    op('OP_CLUSTER_VERIFY', { skip_checks: [], verbose: false }),
    op('OP_CLUSTER_VERIFY_DISKS', { is_strict: false }),
    op('OP_CLUSTER_REDIST_CONF', {}),
    op('OP_CLUSTER_REPAIR_DISK_SIZES', { instances: [] }),
    op('OP_CLUSTER_RENEW_CRYPTO', { node_certificates: true }),
    op('OP_CLUSTER_SET_PARAMS', { max_tracked_jobs: simulator.pick([20, 25, 30]) }),
    op('OP_CLUSTER_SET_PARAMS', { candidate_pool_size: simulator.pick([2, 3, 10]) }),
    op('OP_GROUP_SET_PARAMS', { group_name: 'default', alloc_policy: simulator.pick(['preferred', 'last_resort']) }),
    op('OP_TAGS_SET', { kind: 'node', name: node_name, tags }),
    op('OP_TAGS_SET', { kind: 'nodegroup', name: 'default', tags }),
    op('OP_NODE_EVACUATE', { node_name, mode: 'secondary-only', remote_node }),
    op('OP_NODE_EVACUATE', { node_name, mode: 'primary-only' }),
    op('OP_NODE_MIGRATE', { node_name }),
    op('OP_NODE_QUERYVOLS', { output_fields: ['name', 'size'], nodes: [] }),
  ])
}

/** For the nodes themselves; the spare one comes and goes. */
export function nodeErrand(simulator: Simulator): WireOpCode {
  const node_name = simulator.pick([...NODES.slice(1), SPARE])
  const ndparams = { oob_program: '', spindle_count: 1 + simulator.random.below(3) }
  const group = simulator.pick(['default', FAR])
  const spare = { node_name: SPARE, primary_ip: '192.0.2.4' }
  return simulator.pick([
    op('OP_NODE_ADD', { ...spare, group }),
    op('OP_NODE_ADD', { ...spare, group }),
    op('OP_NODE_ADD', { ...spare, readd: true }),
    op('OP_GROUP_ASSIGN_NODES', { group_name: group, nodes: [SPARE], force: false }),
    op('OP_NODE_REMOVE', { node_name: SPARE }),
    op('OP_NODE_SET_PARAMS', { node_name, master_candidate: false, force: true }),
    op('OP_NODE_SET_PARAMS', { node_name, master_candidate: true }),
    op('OP_NODE_SET_PARAMS', { node_name, ndparams }),
  ])
}
