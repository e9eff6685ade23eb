// OP_INSTANCE_QUERY_DATA: everything about instances in one answer, as `gnt-instance info` shows it.
import { fillBeParams, fillHvParams, fillNicParams, fillOsParams } from '../../config/filled'
import { diskTemplateOf, drbdId, shownId } from '../../config/lookup'
import type { ConfigData, Disk, Instance, Network, Nic, Node } from '../../model/config'
import { type ToldParameter, toldParameters } from '../../model/disk-parameters'
import { mapBounded } from '../../lib/work/bounded'
import { OpExecError } from '../../model/errors'
import { isGuestElsewhere } from '../../model/guest-state'
import { DISKS_AT_ONCE } from '../../model/limits/storage'
import { type DiskSnapshot, type SnapshotStatus, snapshotStatus } from '../../model/snapshots'
import { OpInstanceQueryData } from '../../opcodes/instance'
import type { BlockDeviceStatus, InstanceRuntime } from '../../rpc/node/dicts'
import { instancesOrAll } from '../find'
import { all, logicalUnit, shared } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { hvParamsOf, runtimeOf, USER_DOWN } from './checks'
import { notedSnapshots } from './snapshots/notes'
import { statusOf } from './snapshots/state'
import { diskDictOf, viewOf, type InstanceView } from './view'

export const instanceQueryData = logicalUnit(OpInstanceQueryData, {
  question: true,
  async locks(op, ctx) {
    if (op.static && !op.use_locking) return {}
    if (!op.use_locking) ctx.log.warning('Non-static data requested, locks need to be acquired')
    ctx.note({ use_locking: true })
    if (op.instances.length === 0) return { instance: shared(all) }
    return { instance: shared((await instancesOrAll(ctx, op.instances)).map((instance) => instance.name)) }
  },
  check: (ctx, op) => instancesOrAll(ctx, op.instances),
  async run(ctx, op, instances) {
    const config = await ctx.config.read({ instances: instances.map((instance) => instance.uuid) })
    const answers = await Promise.all(
      instances.map(
        async (instance) => [instance.name, await describe(ctx, viewOf(config, instance), op.static)] as const,
      ),
    )
    return Object.fromEntries(answers)
  },
})

async function describe(ctx: UnitContext, view: InstanceView, fixed: boolean): Promise<Record<string, unknown>> {
  const { config, instance, primary, secondaries } = view
  // Nodes know nothing about an instance that does not exist yet.
  const requested = !fixed && !instance.forthcoming
  if (primary.offline && requested)
    ctx.log.warning(
      `Primary node ${primary.name} is marked offline, returning static information only for instance ${instance.name}`,
    )
  const live = requested && !primary.offline
  const runtime = live ? await runtimeOn(ctx, view) : null
  const groups = secondaries.map((node) => config.nodegroups[node.group])
  return {
    name: instance.name,
    config_state: instance.admin_state,
    run_state: runtime === null ? null : runState(instance, runtime),
    pnode: primary.name,
    pnode_group_uuid: primary.group,
    pnode_group_name: config.nodegroups[primary.group]?.name ?? null,
    snodes: secondaries.map((node) => node.name),
    snodes_group_uuids: groups.map((group) => group?.uuid ?? null),
    snodes_group_names: groups.map((group) => group?.name ?? null),
    os: instance.os,
    nics: instance.nics.map((nic) => nicTuple(config, nic)),
    // Only for guests with such NICs and for reserved instances, so that Ganeti's clients see only fields that they know.
    ...(runtime?.user_nics && { user_nics: runtime.user_nics }),
    ...(instance.forthcoming && { forthcoming: true, disks_active: instance.disks_active }),
    disk_template: diskTemplateOf(config, instance),
    disks: await Promise.all(view.disks.map((disk) => describeDisk(ctx, view, disk, live))),
    hypervisor: instance.hypervisor,
    network_port: instance.network_port ?? null,
    ...parameters(config, instance),
    serial_no: instance.serial_no,
    mtime: instance.mtime,
    ctime: instance.ctime,
    uuid: instance.uuid,
  }
}

const parameters = ({ cluster }: ConfigData, instance: Instance) => ({
  hv_instance: instance.hvparams,
  hv_actual: fillHvParams(cluster, instance, { skipClusterOnly: true }),
  be_instance: instance.beparams,
  be_actual: fillBeParams(cluster, instance.beparams),
  os_instance: instance.osparams,
  os_actual: fillOsParams(cluster, instance.os, instance.osparams),
})

async function runtimeOn(ctx: UnitContext, view: InstanceView): Promise<InstanceRuntime | undefined> {
  const { instance, primary } = view
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  return runtimeOf(await ctx.nodes.call(primary, `Error checking node ${primary.name}`, 'instance_info', [...args]))
}

function runState(instance: Instance, runtime: InstanceRuntime | undefined): string {
  if (runtime !== undefined && !isGuestElsewhere(runtime)) return runtime.state === USER_DOWN ? 'user down' : 'up'
  if (instance.admin_state === 'offline') return 'offline'
  return instance.admin_state === 'down' && instance.admin_state_source === 'user' ? 'user down' : 'down'
}

function nicTuple(config: ConfigData, nic: Nic): unknown[] {
  const { mode, link, vlan } = fillNicParams(config.cluster, nic)
  const network = nic.network === undefined ? undefined : config.networks[nic.network]
  const described = network === undefined ? null : networkDict(network)
  return [nic.name ?? null, nic.uuid, nic.ip ?? null, nic.mac, mode, link, vlan, nic.network ?? null, described]
}

/** The keys are in Ganeti's order. */
function networkDict({ name, serial_no, uuid, ctime, mtime, tags, ...rest }: Network): Record<string, unknown> {
  return { name, serial_no, ...rest, ctime, mtime, uuid, tags }
}

async function describeDisk(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  live: boolean,
  /** The other node of a mirror, which has its own parts. */
  secondary = drbdId(disk) && view.secondaries[0],
  isPart = false,
): Promise<Record<string, unknown>> {
  const id = drbdId(disk)
  return {
    iv_name: disk.iv_name,
    dev_type: disk.dev_type,
    logical_id: shownId(disk),
    drbd_info: id
      ? {
          primary_node: view.config.nodes[id.nodeA]?.name,
          primary_minor: id.minorA,
          secondary_node: view.config.nodes[id.nodeB]?.name,
          secondary_minor: id.minorB,
          port: id.port,
        }
      : null,
    pstatus: live ? await diskStatus(ctx, view, disk, view.primary) : null,
    sstatus: live && secondary && !secondary.offline ? await secondaryStatus(ctx, view, disk, secondary) : null,
    children: await Promise.all(disk.children.map((child) => describeDisk(ctx, view, child, live, secondary, true))),
    mode: disk.mode,
    size: disk.size,
    spindles: disk.spindles ?? null,
    ...(!isPart && withParameters(view, disk)),
    ...(!isPart && (await withSnapshots(ctx, view, disk, live))),
    name: disk.name ?? null,
    uuid: disk.uuid,
  }
}

/** Only those that somebody has set, so that Ganeti's clients see only fields that they know. */
function withParameters({ config, primary }: InstanceView, disk: Disk): { parameters?: readonly ToldParameter[] } {
  const parameters = toldParameters(disk, config.nodegroups[primary.group], config.cluster)
  return parameters.length === 0 ? {} : { parameters }
}

/** Only of disks that have some, so that Ganeti's clients see only fields that they know. */
async function withSnapshots(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  live: boolean,
): Promise<{ snapshots?: readonly { name: string; size: number; status: SnapshotStatus }[] }> {
  const noted = (await notedSnapshots(ctx, [disk])).get(disk.uuid) ?? []
  if (noted.length === 0) return {}
  const status = (one: DiskSnapshot) => (live ? statusOf(ctx, view, disk, one) : snapshotStatus(one, undefined))
  return {
    snapshots: await mapBounded(noted, DISKS_AT_ONCE, async (one) => ({
      ...{ name: one.name, size: one.size, status: await status(one) },
    })),
  }
}

/** The primary node tells of a mirror whose other side hangs, so that one need not answer. */
async function secondaryStatus(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  node: Node,
): Promise<unknown[] | null> {
  try {
    return await diskStatus(ctx, view, disk, node)
  } catch (error) {
    if (!(error instanceof OpExecError)) throw error
    ctx.log.warning(error.message)
    return null
  }
}

/** Ganeti's list: path, major, minor, percent, seconds left, degraded, local state. */
async function diskStatus(ctx: UnitContext, view: InstanceView, disk: Disk, node: Node): Promise<unknown[] | null> {
  const what = `Can't compute disk status for ${view.instance.name}`
  const status: BlockDeviceStatus | null = await ctx.nodes.call(node, what, 'blockdev_find', [diskDictOf(view, disk)])
  if (status === null) return null
  const { dev_path, major, minor, sync_percent, estimated_time, is_degraded, ldisk_status } = status
  return [
    dev_path,
    major ?? null,
    minor ?? null,
    sync_percent ?? null,
    estimated_time ?? null,
    is_degraded,
    ldisk_status,
  ]
}
