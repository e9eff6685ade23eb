// Prerequisites that units on instances share, with Ganeti's texts.
import { fillBeParams, fillHvParams, fillNicParams } from '../../config/filled'
import type { AdminState, ConfigData, Disk, DiskMode, Hypervisor, Instance, Node, Params } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { InstanceRuntime } from '../../rpc/node/dicts'
import { isFileBased } from '../../model/templates'
import type { UnitContext } from '../unit-context'
import type { InstanceView } from './view'

export const ONLINE: readonly AdminState[] = ['down', 'up']
export const DOWN: readonly AdminState[] = ['down']
export const NOT_RUNNING: readonly AdminState[] = ['down', 'offline']

export function checkNodeOnline(node: Node): void {
  if (node.offline) throw new OpPrereqError(`Can't use offline node: ${node.name}`, ECODE.STATE)
}

/** For changes that both sides of a mirror carry out. */
export function checkMirrorsOnline({ instance, secondaries }: Pick<InstanceView, 'instance' | 'secondaries'>): void {
  for (const { name, offline } of secondaries)
    if (offline)
      throw new OpPrereqError(
        `Can't use offline node: ${name}; its side of the mirrors must change, too: 'gnt-instance replace-disks -n NODE ` +
          `${instance.name}' gives them another one, or 'gnt-instance modify -t plain ${instance.name}' does without`,
        ECODE.STATE,
      )
}

export function checkNodeNotDrained(node: Node): void {
  if (node.drained) throw new OpPrereqError(`Can't use drained node ${node.name}`, ECODE.STATE)
}

export function checkNodeVmCapable(node: Node): void {
  if (!node.vm_capable) throw new OpPrereqError(`Can't use non-vm_capable node ${node.name}`, ECODE.STATE)
}

/** Checks that the instance's wanted state is one of these. Without `up` among them, it must not run either. */
export async function checkInstanceState(
  ctx: UnitContext,
  view: InstanceView,
  states: readonly AdminState[],
  why = `can't use instance from outside ${states.join(', ')} states`,
): Promise<void> {
  const { instance, primary } = view
  if (!states.includes(instance.admin_state))
    throw new OpPrereqError(`Instance '${instance.name}' is marked to be ${instance.admin_state}, ${why}`, ECODE.STATE)
  if (states.includes('up')) return
  if (primary.offline) {
    ctx.log.warning('Primary node offline, ignoring check that instance is down')
    return
  }
  const running = await ctx.nodes.require(
    primary,
    `Can't contact node ${primary.name} for instance information`,
    ECODE.ENVIRON,
    'instance_list',
    [[instance.hypervisor], view.config.cluster.hvparams],
  )
  if (running.includes(instance.name))
    throw new OpPrereqError(`Instance ${instance.name} is running, ${why}`, ECODE.STATE)
}

/** The state of an instance that its user has shut down. */
export const USER_DOWN = 1

/** Live data of the instance on a node; undefined if it does not run there. */
export function runtimeOf(answer: InstanceRuntime | Record<string, never>): InstanceRuntime | undefined {
  const { state, memory, vcpus, time, ...ours } = answer
  return state === undefined ? undefined : { state, memory: memory ?? 0, vcpus: vcpus ?? 0, time: time ?? 0, ...ours }
}

/** Checks that a node has enough free memory (MiB). Returns the free memory. */
export async function checkNodeFreeMemory(
  ctx: UnitContext,
  node: Node,
  reason: string,
  needed_mib: number,
  hypervisor: Hypervisor,
  hvparams: Params,
): Promise<number> {
  const [, , hypervisors] = await ctx.nodes.require(
    node,
    `Can't get data from node ${node.name}`,
    ECODE.ENVIRON,
    'node_info',
    [[], [[hypervisor, hvparams]]],
  )
  const free = hypervisors?.[0]?.memory_free
  if (typeof free !== 'number')
    throw new OpPrereqError(
      `Can't compute free memory on node ${node.name}, result was '${JSON.stringify(free)}'`,
      ECODE.ENVIRON,
    )
  if (needed_mib > free)
    throw new OpPrereqError(
      `Not enough memory on node ${node.name} for ${reason}: needed ${needed_mib} MiB, available ${free} MiB`,
      ECODE.NORES,
    )
  return free
}

export const minimumMemory = (config: ConfigData, instance: Instance): number =>
  fillBeParams(config.cluster, instance.beparams).minmem

/** Guests of KVM write to all of their disks. `modes`: by the index of the disk. */
export function refuseReadOnly(
  { name, hypervisor }: Pick<Instance, 'name' | 'hypervisor'>,
  modes: readonly (DiskMode | undefined)[],
): void {
  const index = hypervisor === 'kvm' ? modes.indexOf('ro') : -1
  if (index >= 0)
    throw new OpPrereqError(
      `Instance ${name} could not start: its disk ${index} would be read-only, which KVM does not support; "--disk ${index}:mode=rw" makes it writable`,
      ECODE.STATE,
    )
}

/** The parts of an instance that decide whether it can start. */
interface Starting {
  readonly name: string
  readonly hypervisor: Hypervisor
  readonly hvparams: Params
  readonly vcpus: number
  readonly disks: readonly Pick<Disk, 'dev_type' | 'mode'>[]
}

/** Types of disks whose device gets the guest's commands. */
const PASSING: readonly unknown[] = ['scsi-generic', 'scsi-block']

/**
 * Refuses what ends in a start that a node knows to fail. Ganeti's nodes, and older ones of ours, do not answer; they find
 * out at the start.
 */
export async function checkCanStartOn(
  ctx: UnitContext,
  nodes: readonly Node[],
  { name, hypervisor, hvparams, vcpus, disks }: Starting,
): Promise<void> {
  if (hypervisor !== 'kvm') return
  refuseReadOnly(
    { name, hypervisor },
    disks.map(({ mode }) => mode),
  )
  const file = disks.find(({ dev_type: template }) => isFileBased(template))?.dev_type
  const { disk_type: type } = hvparams
  if (file !== undefined && PASSING.includes(type))
    throw new OpPrereqError(
      `Instance ${name} could not start with disk_type=${String(type)}, which hands commands on to a SCSI device: its disks of template '${file}' are files`,
      ECODE.STATE,
    )
  const requested = nodes.filter((node) => node.vm_capable && !node.offline)
  const answers = await ctx.nodes.many(requested, 'gantry_start_problem', [hypervisor, hvparams, vcpus])
  for (const node of requested) {
    const answer = answers.get(node.uuid)
    if (answer?.ok && answer.payload !== null)
      throw new OpPrereqError(`Instance ${name} could not start on node ${node.name}: ${answer.payload}`, ECODE.STATE)
  }
}

/** The same for an instance as it is. */
export function checkStartsOn(ctx: UnitContext, view: InstanceView, node: Node): Promise<void> {
  const { name, hypervisor, beparams } = view.instance
  const { vcpus } = fillBeParams(view.config.cluster, beparams)
  return checkCanStartOn(ctx, [node], { name, hypervisor, hvparams: hvParamsOf(view), vcpus, disks: view.disks })
}

/** Whether the primary node says that it runs there. */
export async function isRunning(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const { instance, primary } = view
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  const answer = await ctx.nodes.attempt(primary, 'instance_info', [...args])
  return answer.ok && runtimeOf(answer.payload) !== undefined
}

/**
 * Whether its disks are in use: they count as active, or a guest runs with them although they do not, such as after a failover
 * that failed.
 */
export const usesDisks = async (ctx: UnitContext, view: InstanceView): Promise<boolean> =>
  view.instance.disks_active || (await isRunning(ctx, view))

/** The names of all instances that run on these nodes. A node that does not answer tells of none. */
export async function runningOn(
  ctx: UnitContext,
  { cluster }: ConfigData,
  nodes: readonly Node[],
): Promise<Set<string>> {
  const requested = nodes.filter((node) => node.vm_capable && !node.offline)
  const answers = await ctx.nodes.many(requested, 'instance_list', [cluster.enabled_hypervisors, cluster.hvparams])
  return new Set([...answers.values()].flatMap((answer) => (answer.ok ? answer.payload : [])))
}

export const hvParamsOf = (view: InstanceView): Params => fillHvParams(view.config.cluster, view.instance)

/** Checks that all bridges of the instance's NICs exist on the node. */
export async function checkBridges(
  ctx: UnitContext,
  config: ConfigData,
  instance: Pick<Instance, 'nics'>,
  node: Node,
): Promise<void> {
  const params = instance.nics.map((nic) => fillNicParams(config.cluster, nic))
  const bridges = [...new Set(params.filter((nic) => nic.mode === 'bridged').map((nic) => nic.link))]
  if (bridges.length === 0) return
  await ctx.nodes.require(
    node,
    `Error checking bridges on destination node '${node.name}'`,
    ECODE.ENVIRON,
    'bridges_exist',
    [bridges],
  )
}
