// OP_CLUSTER_SET_PARAMS. The change is computed twice: when the parameters are checked, and again from the
// configuration at the moment of the change. So a concurrent change is not lost.
import { change } from '../../../config/changes'
import { recordValues } from '../../../config/records'
import { ALLOCATOR_KINDS, ALLOCATORS_SECTION } from '../../../model/allocators'
import type { ConfigData } from '../../../model/config'
import { MAINTENANCE, MAINTENANCE_PARAMETERS } from '../../../model/maintenance'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { isInterfaceName } from '../../../model/names'
import { OpClusterSetParams } from '../../../opcodes/cluster'
import { all, logicalUnit, ResultWithJobs, shared } from '../../logical-unit'
import { fillCandidatePool, settleKvmDaemon } from '../../node/candidates'
import type { Change, UnitContext } from '../../unit-context'
import { checkCommunicationNetwork, communicationNetworkJobs } from './communication-network'
import { checkAllocator, type Fields, listFields, plainFields, type SetParams } from './fields'
import { changeNetmask, restartMasterIp, stopMasterIp } from './master-network'
import { warnOfLostPlaces } from '../../group/disk-places'
import { checkParamsOnNodes, paramFields } from './params'
import { checkStorage, checkStorageOnNodes, sayWhatStays, storageFields } from './storage'

const EVERYTHING = { instances: 'all', nodes: 'all', groups: 'all', networks: 'all' } as const

export const clusterSetParams = logicalUnit(OpClusterSetParams, {
  locks: () => ({ instance: shared(all), nodegroup: shared(all), node: shared(all) }),
  hooks: {
    path: 'cluster-modify',
    type: 'CLUSTER',
    env: (_ctx, op, config: ConfigData) => ({
      OP_TARGET: config.cluster.cluster_name,
      NEW_VG_NAME: op.vg_name,
    }),
    nodes: (_ctx, _op, { cluster }: ConfigData) => ({ pre: [cluster.master_node], post: [cluster.master_node] }),
  },
  async check(ctx, op) {
    const config = await ctx.config.read(EVERYTHING)
    const netdev = op.master_netdev
    if (netdev && !isInterfaceName(netdev))
      throw new OpPrereqError(`master_netdev: ${JSON.stringify(netdev)} is no name of a network interface`, ECODE.INVAL)
    const fields = fieldsOf(config, op)
    checkStorage(ctx, config, op)
    const { diskparams } = fields
    if (diskparams) warnOfLostPlaces(ctx, config, { cluster: { ...config.cluster, diskparams } })
    checkCommunicationNetwork(ctx, config, op.instance_communication_network)
    await checkStorageOnNodes(ctx, config, op)
    await checkParamsOnNodes(ctx, config, op, fields)
    await checkAllocator(ctx.env, op.default_iallocator)
    for (const name of Object.values(op.default_iallocators ?? {}).flat()) await checkAllocator(ctx.env, String(name))
    return config
  },
  async run(ctx, op) {
    const netdev = op.master_netdev === '' ? undefined : op.master_netdev
    if (netdev !== undefined) await stopMasterIp(ctx, netdev, op.force)
    if (op.master_netmask !== undefined) await changeNetmask(ctx, op.master_netmask)
    const config = await ctx.config.read(EVERYTHING)
    sayWhatStays(ctx, config, op)
    listFields(config.cluster, op, (text) => ctx.log.say(text))
    try {
      await apply(ctx, op, [
        change('patchCluster', fieldsOf(config, op)),
        ...allocatorChanges(op),
        ...maintenanceChanges(op),
      ])
    } finally {
      // Also after a failed change: the master must not stay without its address.
      if (netdev !== undefined) await restartMasterIp(ctx)
    }
    if (op.enabled_hypervisors !== undefined || op.enabled_user_shutdown !== undefined)
      for (const node of recordValues(config.nodes)) await settleKvmDaemon(ctx, node, true)
    const jobs = communicationNetworkJobs(ctx, config, op.instance_communication_network)
    return jobs.length === 0 ? null : new ResultWithJobs([jobs])
  },
})

export const fieldsOf = (config: ConfigData, op: SetParams): Fields => ({
  ...plainFields(config.cluster, op),
  ...listFields(config.cluster, op),
  ...storageFields(config, op),
  ...paramFields(config, op),
})

const allocatorChanges = ({ default_iallocators = {} }: SetParams): Change[] =>
  ALLOCATOR_KINDS.flatMap((kind) => {
    const names = default_iallocators[kind]
    return names === undefined ? [] : [change('setGantry', ALLOCATORS_SECTION, kind, names.length > 0 ? names : null)]
  })

const maintenanceChanges = (op: SetParams): Change[] =>
  Object.entries(MAINTENANCE_PARAMETERS).flatMap(([key, parameter]) => {
    const value = op[parameter]
    return value === undefined ? [] : [change('setGantry', MAINTENANCE.settings, key, value)]
  })

async function apply(ctx: UnitContext, op: SetParams, changes: readonly Change[]): Promise<void> {
  if (op.candidate_pool_size === undefined) await ctx.config.change(changes)
  else await fillCandidatePool(ctx, [], changes)
}
