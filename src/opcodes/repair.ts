// The opcode that repairs an instance. Ganeti has none: its users must find the fault, and the commands for it.
import { bool } from '../lib/shapes/leaves'
import { pIallocator, pIgnoreIpolicy, pInstanceName, pInstanceUuid } from './common'
import { opcode, opt } from './opcode'
import { jobList } from './types'

export const OpInstanceRepair = opcode('OP_INSTANCE_REPAIR', {
  doc: "Finds what is wrong with an instance's disks and nodes, and mends it.",
  permission: 'instances.repair',
  forOthers: true,
  summary: 'instance_name',
  // With `found` and `left` (faults that remain, with the way out).
  result: jobList,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    failover: opt(bool, false, 'Start it on its other node when its primary node is offline'),
    iallocator: pIallocator,
    ignore_ipolicy: pIgnoreIpolicy,
  },
})
