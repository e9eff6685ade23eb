// Checks instances: where they run, their disks, their nodes, their policy.
import { fillIPolicy, fillNdParams } from '../../../config/filled'
import { findInstance, instanceDisks, instanceNodes, secondaryNodes } from '../../../config/lookup'
import type { Disk, Instance, Node } from '../../../model/config'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { instanceViolations } from '../../group/ipolicy'
import { missingFiles } from './file-storage'
import { type DiskState, type GroupState, type NodeImage, runsSomewhere } from './group-state'
import type { VerifyReport } from './report'
import { verifySnapshots } from './snapshots'
import { verifyVolumes } from './volumes'
import { factsOf, isMirroredInside } from '../../../model/templates'

/** Reports instances that should not run on a node, except those that a job is moving or creating now. */
export function verifyRunning(report: VerifyReport, state: GroupState, { node, running = [] }: NodeImage): void {
  const { config, busy } = state
  for (const name of running.filter((one) => !busy.has(one))) {
    const instance = findInstance(config, name)
    if (instance?.name !== name) {
      const text = `node is running unknown instance ${name}; stop it there, nothing in the configuration owns it`
      report.error('ENODEORPHANINSTANCE', node.name, text)
    } else if (instance.primary_node !== node.uuid) {
      const home = config.nodes[instance.primary_node]?.name ?? instance.primary_node
      const text = `instance should not run on node ${node.name}; its primary node is ${home}; ${decides(name)}`
      report.error('EINSTANCEWRONGNODE', name, text)
    }
  }
}

const decides = (name: string): string =>
  `'gnt-instance migrate --cleanup ${name}' makes the node where it runs its primary node`

export function verifyInstance(report: VerifyReport, state: GroupState, instance: Instance): void {
  verifyPolicy(report, state, instance)
  verifyState(report, state, instance)
  const missing = missingFiles(state, instance)
  for (const { path, node, way } of missing.values())
    report.error('EINSTANCEMISSINGDISK', instance.name, `file ${path} missing on node ${node.name}${way}`)
  verifyVolumes(report, state, instance)
  verifySnapshots(report, state, instance)
  // A guest may run although its disks do not count as active, such as after a failover that failed.
  const isUsed = instance.disks_active || runsSomewhere(state, instance.name)
  for (const disk of isUsed ? (state.disks.get(instance.uuid) ?? []) : [])
    if (!missing.has(disk.disk.uuid)) verifyDisk(report, instance, disk)
  verifyNodes(report, state, instance)
}

function verifyPolicy(report: VerifyReport, { config, group }: GroupState, instance: Instance): void {
  const violations = instanceViolations(config, instance, fillIPolicy(config.cluster, group))
  report.when(violations.length > 0, 'EINSTANCEPOLICY', instance.name, violations.join(', '), 'WARNING')
}

function verifyState(report: VerifyReport, state: GroupState, instance: Instance): void {
  const { images, config } = state
  const image = images.find(({ node }) => node.uuid === instance.primary_node)
  if (image === undefined) return
  const { node, running, result } = image
  if (instance.admin_state === 'up') {
    const known = running !== undefined && node.vm_capable
    const down = `instance not running on its primary node ${node.name}`
    const todo = `start it with 'gnt-instance startup ${instance.name}'`
    // One that runs elsewhere is named there. It cannot be started here.
    const isDown = known && !runsSomewhere(state, instance.name)
    report.when(isDown, 'EINSTANCEDOWN', instance.name, `${down}; ${todo}`)
    const text = `instance is marked as running and lives on offline node ${node.name}`
    report.when(node.offline, 'EINSTANCEBADNODE', instance.name, text)
  } else if (node.vm_capable && running?.includes(instance.name)) {
    const text = `instance runs on its primary node ${node.name}, and is marked as ${instance.admin_state}`
    const todo = `stop it with 'gnt-instance shutdown ${instance.name}', or start it to keep it running`
    report.error('EINSTANCEWRONGNODE', instance.name, `${text}; ${todo}`, 'WARNING')
  }
  const unreachable = !result.ok && !node.offline
  report.when(unreachable, 'ENODERPC', node.name, `instance ${instance.name}, connection to primary node failed`)
  const group = config.nodegroups[node.group]
  report.when(group === undefined, 'EINSTANCEBADNODE', instance.name, `its primary node ${node.name} is in no group`)
}

function verifyDisk(report: VerifyReport, instance: Instance, one: DiskState): void {
  const { node, disk, index, status, standsAlone } = one
  const [found, state] = status
  if (!found) {
    const text = `couldn't retrieve status for disk/${index} on ${node.name}: ${state}`
    report.when(!node.offline, 'EINSTANCEFAULTYDISK', instance.name, text)
  } else if (state.is_degraded) {
    const { faulty, ok, syncing } = LOCAL_DISK_STATUS
    const harmless = state.ldisk_status === ok || state.ldisk_status === syncing
    const name = Object.entries(LOCAL_DISK_STATUS).find(([, value]) => value === state.ldisk_status)?.[0] ?? 'unknown'
    const way =
      standsAlone === true ? alone(instance) : state.ldisk_status === faulty ? wayOfFaulty(instance, disk) : ''
    const text = `disk/${index} on ${node.name} is degraded; local disk state is '${name}'${way}`
    report.error('EINSTANCEFAULTYDISK', instance.name, text, harmless ? 'WARNING' : 'ERROR')
  }
}

/** A disk without a copy on another node cannot be filled again from there. */
const wayOfFaulty = ({ name }: Instance, { dev_type }: Disk): string =>
  isMirroredInside(dev_type)
    ? `; 'gnt-instance replace-disks -a ${name}' makes new volumes for it, which its other node fills`
    : `; bring its storage back, or 'gnt-instance recreate-disks ${name}' makes it again, empty`

const alone = ({ name }: Instance): string =>
  `; it is stand-alone: 'gnt-instance activate-disks ${name}' connects it with its other node. If it is stand-alone again after that, both ` +
  `were written to (a split brain): 'gnt-instance replace-disks -n NODE ${name}' keeps the data of the primary node`

function verifyNodes(report: VerifyReport, state: GroupState, instance: Instance): void {
  const { config, images } = state
  const nodes = instanceNodes(config, instance)
  const secondaries = secondaryNodes(config, instance).flatMap((uuid) => config.nodes[uuid] ?? [])
  const names = (list: readonly Node[]) => list.map((node) => node.name).join(', ')
  const many = `instance has multiple secondary nodes: ${names(secondaries)}`
  report.when(secondaries.length > 1, 'EINSTANCELAYOUT', instance.name, many, 'WARNING')
  const offline = secondaries.filter((node) => node.offline)
  const text = `instance has offline secondary node(s) ${names(offline)}`
  report.when(offline.length > 0, 'EINSTANCEBADNODE', instance.name, text)
  for (const uuid of nodes) {
    const node = config.nodes[uuid]
    report.when(node === undefined, 'EINSTANCEBADNODE', instance.name, `instance lives on ghost node ${uuid}`)
    const incapable = `instance lives on non-vm_capable node ${node?.name ?? uuid}`
    report.when(node?.vm_capable === false, 'EINSTANCEBADNODE', instance.name, incapable)
  }
  for (const { node, result } of images)
    if (secondaries.includes(node) && !result.ok && !result.offline)
      report.error('ENODERPC', node.name, `instance ${instance.name}, connection to secondary node failed`)
  verifyExclusiveStorage(report, state, instance)
  verifyOneGroup(report, state, instance)
}

function verifyExclusiveStorage(report: VerifyReport, { config }: GroupState, instance: Instance): void {
  const nodes = instanceNodes(config, instance).flatMap((uuid) => config.nodes[uuid] ?? [])
  const exclusive = nodes.filter((node) => fillNdParams(config, node).exclusive_storage).map(({ name }) => name)
  const disks = instanceDisks(config, instance)
  const types = disks.map((disk) => disk.dev_type)
  const unfit = types.filter((type) => factsOf(type).exclusive !== true)
  const text = `instance uses disk types ${unfit.join(', ')}, which are not supported on nodes that have exclusive storage set: ${exclusive.join(', ')}`
  report.when(exclusive.length > 0 && unfit.length > 0, 'EINSTANCEUNSUITABLENODE', instance.name, text)
  if (exclusive.length === 0) return
  for (const [index, { spindles }] of disks.entries()) {
    const unset = `number of spindles not configured for disk ${index} while exclusive storage is enabled, try running gnt-cluster repair-disk-sizes`
    report.when(spindles === undefined, 'EINSTANCEMISSINGCFGPARAMETER', instance.name, unset)
  }
}

function verifyOneGroup(report: VerifyReport, { config }: GroupState, instance: Instance): void {
  if (!instanceDisks(config, instance).some((disk) => isMirroredInside(disk.dev_type))) return
  const groups = new Map<string, string[]>()
  for (const uuid of instanceNodes(config, instance)) {
    const node = config.nodes[uuid]
    if (node !== undefined) groups.set(node.group, [...(groups.get(node.group) ?? []), node.name])
  }
  const displayed = [...groups].map(([group, names]) => `${names.join(', ')} (group ${config.nodegroups[group]?.name})`)
  const text = `instance has primary and secondary nodes in different groups: ${displayed.join(', ')}`
  report.when(groups.size > 1, 'EINSTANCESPLITGROUPS', instance.name, text, 'WARNING')
}
