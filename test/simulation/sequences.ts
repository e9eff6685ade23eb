// What users ask for in several steps: with a stopped instance, with snapshots and backups, and with several instances at once.
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { op } from './errands'
import { FAR, NODES, SPARE } from './sim-cluster'
import type { Simulator } from './simulator'

export interface Requester {
  readonly simulator: Simulator
  /** One of the user's instances, if there is one; nobody can be sure of its state until the answer is there. */
  one(state: 'there' | 'gone', but?: string): string | undefined
  /** The result of the opcode's job if it succeeded. */
  done(op: WireOpCode): Promise<Done | undefined>
  /** Makes an instance, and remembers what is known of it then. */
  make(instance_name: string, op: WireOpCode): Promise<void>
  /** Follows a job that another one has submitted. */
  follow(id: number): Promise<void>
}

export interface Done {
  readonly id: number
  readonly result: unknown
}

/** For all new instances. */
export const NEW = {
  ...{ os_type: 'noop', hypervisor: 'fake', beparams: { memory: 32 }, nics: [{}] },
  ...{ name_check: false, ip_check: false, conflicts_check: false, wait_for_sync: true },
}

/** Much is possible only with an instance that does not run. */
export async function whileStopped(user: Requester): Promise<void> {
  const { simulator } = user
  const instance_name = user.one('there')
  if (instance_name === undefined) return
  const on = (OP_ID: string, params: Readonly<Record<string, unknown>> = {}) => op(OP_ID, { instance_name, ...params })
  if ((await user.done(on('OP_INSTANCE_SHUTDOWN'))) === undefined) return
  const target_node = simulator.pick([...NODES, SPARE])
  const nodes = simulator.chance(0.5) ? [target_node] : [target_node, simulator.pick(NODES)]
  const errand = simulator.pick([
    on('OP_INSTANCE_REINSTALL'),
    on('OP_INSTANCE_MOVE', { target_node }),
    on('OP_INSTANCE_MOVE', { target_node }),
    on('OP_INSTANCE_RECREATE_DISKS', { nodes }),
    on('OP_INSTANCE_RECREATE_DISKS', { nodes }),
    on('OP_INSTANCE_ACTIVATE_DISKS'),
    on('OP_INSTANCE_ACTIVATE_DISKS'),
  ])
  const done = await user.done(errand)
  const isActive = done !== undefined && errand.OP_ID === 'OP_INSTANCE_ACTIVATE_DISKS'
  if (isActive && simulator.chance(0.7)) await user.done(on('OP_INSTANCE_DEACTIVATE_DISKS'))
  if (simulator.chance(0.7)) await user.done(on('OP_INSTANCE_STARTUP'))
}

export async function snapshots(user: Requester, snapshot_name: string): Promise<void> {
  const instance_name = user.one('there')
  if (instance_name === undefined) return
  const disks = [[0, { snapshot_name }]]
  const made = await user.done(op('OP_INSTANCE_SNAPSHOT', { instance_name, disks }))
  if (made === undefined || user.simulator.chance(0.3)) return
  await user.done(op('OP_INSTANCE_REMOVE_SNAPSHOT', { instance_name, disks }))
}

/** An export, perhaps another instance made from it, and perhaps its removal. */
export async function backUp(user: Requester): Promise<void> {
  const { simulator } = user
  const instance_name = user.one('there')
  if (instance_name === undefined) return
  const src_node = simulator.pick(NODES)
  const how = { mode: 'local', target_node: src_node, shutdown: simulator.chance(0.7) }
  if ((await user.done(op('OP_BACKUP_EXPORT', { instance_name, ...how }))) === undefined) return
  const copy = user.one('gone', instance_name)
  const place = { disk_template: 'plain', disks: [], pnode: simulator.pick(NODES), start: simulator.chance(0.8) }
  const from = { mode: 'import', src_node, src_path: instance_name }
  if (copy !== undefined && simulator.chance(0.7))
    await user.make(copy, op('OP_INSTANCE_CREATE', { instance_name: copy, ...NEW, ...place, ...from }))
  if (simulator.chance(0.5)) await user.done(op('OP_BACKUP_REMOVE', { instance_name }))
}

/** Two at once, where the allocator finds room. */
export async function several(user: Requester): Promise<void> {
  const { simulator } = user
  const first = user.one('gone')
  const second = user.one('gone', first)
  if (first === undefined || second === undefined) return
  const instances = [first, second].map((instance_name) => ({
    ...{ instance_name, mode: 'create', ...NEW, start: simulator.chance(0.8) },
    ...simulator.pick([
      { disk_template: 'plain', disks: [{ size: 8 }] },
      { disk_template: 'drbd', disks: [{ size: 8 }] },
    ]),
  }))
  const opportunistic_locking = simulator.chance(0.3)
  await followAll(user, await user.done(op('OP_INSTANCE_MULTI_ALLOC', { instances, opportunistic_locking })))
}

async function followAll(user: Requester, done: Done | undefined): Promise<void> {
  const { jobs } = (done?.result ?? { jobs: [] }) as { jobs: readonly [accepted: boolean, id: number][] }
  for (const [accepted, id] of jobs) if (accepted) await user.follow(id)
}

/** To the group that has only the spare machine, or back. A single machine has place only for disks that all nodes reach. */
export async function betweenGroups(user: Requester): Promise<void> {
  const { simulator } = user
  const group_name = simulator.pick(['default', FAR])
  const target_groups = [group_name === FAR ? 'default' : FAR]
  if (simulator.chance(0.2)) {
    await followAll(user, await user.done(op('OP_GROUP_EVACUATE', { group_name, target_groups })))
    return
  }
  const fresh = simulator.chance(0.5) ? user.one('gone') : undefined
  if (fresh !== undefined) {
    const place = { disk_template: 'sharedfile', disks: [{ size: 8 }], pnode: simulator.pick([...NODES, SPARE]) }
    const create = { instance_name: fresh, mode: 'create', ...NEW, ...place, start: simulator.chance(0.8) }
    await user.make(fresh, op('OP_INSTANCE_CREATE', create))
  }
  const instance_name = fresh ?? user.one('there')
  if (instance_name === undefined) return
  const where = simulator.chance(0.3) ? { target_groups } : {}
  await followAll(user, await user.done(op('OP_INSTANCE_CHANGE_GROUP', { instance_name, ...where })))
}
