// Collects data from the nodes of one group, which verify judges afterwards.
import { recordValues } from '../../../config/records'
import { instanceDisks, instanceNodes } from '../../../config/lookup'
import { diskDict } from '../../../config/rpc-dicts'
import type { Disk, Node } from '../../../model/config'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { MAINTENANCE } from '../../../model/maintenance'
import { SNAPSHOTS_SECTION } from '../../../model/snapshots'
import { isMirroredInside } from '../../../model/templates'
import type { UnitContext } from '../../unit-context'
import { askNodes } from './ask-nodes'
import { filesToCompare, pathsOf } from './files'
import { askFileStorage } from './file-storage'
import { type DiskState, type GroupState, type Holder, runsSomewhere, type Scope } from './group-state'
import { wantedVolumes } from './only-copies'
import type { VerifyReport } from './report'
import { RELEASE_CHECK, requestOf, type Wanted } from './request'
import { askSnapshots } from './snapshots'
import { unknownVolumes } from './volumes'

export async function gather(
  ctx: UnitContext,
  report: VerifyReport,
  scope: Scope,
  desired: Wanted,
): Promise<GroupState> {
  const { config, nodes } = scope
  const { clock } = ctx.env
  report.say(`* Gathering data (${nodes.length} nodes)`)
  const compared = await filesToCompare(ctx, config, (text) => report.error('ECLUSTERFILECHECK', null, text))
  const filelist = pathsOf(compared)
  const checks = requestOf(scope, desired, filelist)
  report.say(`* Gathering information about nodes (${nodes.length} nodes)`)
  const busyBefore = await lockedInstances(ctx)
  const from = clock.now_ms()
  const images = await askNodes(ctx, config, nodes, checks)
  const to = clock.now_ms()
  const outside = referenceNodes(scope)
  if (outside.length > 0) report.say('* Gathering information about the master node')
  const others = await askNodes(ctx, config, outside, { filelist, ...RELEASE_CHECK })
  report.say(`* Gathering disk information (${nodes.length} nodes)`)
  const disks = await withStandAlone(ctx, scope, await askDisks(ctx, report, scope), (one) =>
    runsSomewhere({ images, others }, one),
  )
  const listings = await askFileStorage(ctx, report, scope)
  // Read after the lists, so it contains everything made before them.
  const snapshots = await ctx.config.section(SNAPSHOTS_SECTION)
  const invalidSnapshots = await askSnapshots(ctx, scope, snapshots)
  const maintenance = await ctx.config.section(MAINTENANCE.rounds)
  const busy = new Set([...busyBefore, ...(await lockedInstances(ctx))])
  const holders = unknownVolumes({ config, images, snapshots }).length > 0 ? await holdersOutside(ctx, scope) : []
  const found = { compared, images, others, holders, disks, listings, busy, snapshots, invalidSnapshots, maintenance }
  return { ...scope, ...found, asked_ms: [from, to] }
}

/** A volume that nobody knows may be the only copy of one that is missing in another group. */
async function holdersOutside(ctx: UnitContext, { config, group }: Scope): Promise<Holder[]> {
  const named = new Set(wantedVolumes(config).flatMap(({ nodes }) => [...nodes]))
  const outside = recordValues(config.nodes).filter(({ uuid, group: own }) => own !== group.uuid && named.has(uuid))
  const results = await ctx.nodes.many(outside, 'lv_list', [[]])
  return outside.map((node) => {
    const result = results.get(node.uuid)
    const names = result?.ok === true ? Object.keys(result.payload) : undefined
    return { node, volumes: names && new Map(names.map((name) => [name, undefined])) }
  })
}

/** When only one group is verified: the master, and one more node that hosts instances. */
function referenceNodes({ config, group, nodes }: Scope): Node[] {
  const outside = recordValues(config.nodes).filter((node) => node.group !== group.uuid && !node.offline)
  const masterUuid = config.cluster.master_node
  const master = outside.filter((node) => node.uuid === masterUuid)
  const another = nodes.length === 0 ? undefined : outside.find((node) => node.vm_capable && node.uuid !== masterUuid)
  return another === undefined ? master : [...master, another]
}

async function askDisks(
  ctx: UnitContext,
  report: VerifyReport,
  { config, group, nodes, instances }: Scope,
): Promise<Map<string, DiskState[]>> {
  const requested = new Map(nodes.map((node): [string, Asked] => [node.uuid, { node, rows: [] }]))
  for (const instance of instances)
    for (const node of instanceNodes(config, instance))
      instanceDisks(config, instance).forEach((disk, index) =>
        requested.get(node)?.rows.push({ instance: instance.uuid, index, disk }),
      )
  const busy = [...requested.values()].filter(({ rows }) => rows.length > 0)
  const targets = busy.map(({ node }) => node)
  const results = await ctx.nodes.many(targets, 'blockdev_getmirrorstatus_multi', ({ uuid }) => [
    (requested.get(uuid)?.rows ?? []).map(({ disk }) => diskDict(config, disk, group)),
  ])
  const found = new Map<string, DiskState[]>(instances.map(({ uuid }) => [uuid, []]))
  for (const { node, rows } of busy) {
    const result = results.get(node.uuid) ?? { ok: false, error: 'no answer', offline: false }
    if (!result.ok && !result.offline)
      report.error('ENODERPC', node.name, `while getting disk information: ${result.error}`)
    rows.forEach(({ instance, index, disk }, position) => {
      const status: DiskState['status'] = result.ok
        ? (result.payload[position] ?? [false, 'Invalid result from the remote node'])
        : [false, result.offline ? 'node offline' : result.error]
      found.get(instance)?.push({ node, index, disk, status })
    })
  }
  return found
}

/** A status does not tell why a mirror is degraded. The nodes of those that are get a second question. */
async function withStandAlone(
  ctx: UnitContext,
  { config, group, nodes, instances }: Scope,
  found: ReadonlyMap<string, readonly DiskState[]>,
  runs: (name: string) => boolean,
): Promise<Map<string, readonly DiskState[]>> {
  const active = new Set<string>(instances.filter((one) => one.disks_active || runs(one.name)).map(({ uuid }) => uuid))
  const degraded = [...found].flatMap(([uuid, states]) => (active.has(uuid) ? states.filter(isDegradedMirror) : []))
  const on = ({ uuid }: { readonly uuid: string }) => degraded.filter(({ node }) => node.uuid === uuid)
  const requested = nodes.filter((node) => on(node).length > 0)
  const results = await ctx.nodes.many(requested, 'drbd_needs_activation', (node) => [
    on(node).map(({ disk }) => diskDict(config, disk, group)),
  ])
  const alone = (state: DiskState): boolean => {
    const result = results.get(state.node.uuid)
    return isDegradedMirror(state) && result?.ok === true && result.payload.includes(state.disk.uuid)
  }
  const reported = (state: DiskState): DiskState => (alone(state) ? { ...state, standsAlone: true } : state)
  return new Map([...found].map(([uuid, states]) => [uuid, states.map(reported)]))
}

/** One without data is told as faulty. */
const isDegradedMirror = ({ disk, status: [ok, state] }: DiskState): boolean =>
  ok && isMirroredInside(disk.dev_type) && state.is_degraded && state.ldisk_status === LOCAL_DISK_STATUS.ok

async function lockedInstances(ctx: UnitContext): Promise<Set<string>> {
  const owners = await ctx.env.wconfd.listAllLocksOwners()
  const held = owners.filter(([, holders]) => holders.some(([, mode]) => mode === 'exclusive')).map(([lock]) => lock)
  return new Set(held.filter((lock) => lock.startsWith('instance/')).map((lock) => lock.slice('instance/'.length)))
}

interface Asked {
  readonly node: Node
  readonly rows: { instance: string; index: number; disk: Disk }[]
}
