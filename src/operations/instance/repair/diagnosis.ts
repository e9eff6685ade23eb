// Finds an instance's faults from its nodes' answers and marks, and the remedies.
import type { Disk, Node } from '../../../model/config'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { isMirrored, isMirroredInside } from '../../../model/templates'
import type { BlockDeviceStatus } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import { usesDisks } from '../checks'
import { allNodes, diskDicts, type InstanceView } from '../view'

export interface Diagnosis {
  readonly found: readonly string[]
  /** Faults that only an administrator can mend, with the way out. */
  readonly left: readonly string[]
  /** Disks must be assembled again because they are not, or are not connected. */
  readonly activate: boolean
  /** Another opcode that helps. */
  readonly todo: 'failover' | 'new secondary' | undefined
}

const WELL: Diagnosis = { found: [], left: [], activate: false, todo: undefined }

export async function diagnose(ctx: UnitContext, view: InstanceView, mayFailOver: boolean): Promise<Diagnosis> {
  if (view.primary.offline) return withoutPrimary(view, mayFailOver)
  const lost = view.secondaries.find(({ offline }) => offline)
  const found = lost === undefined ? [] : [`its secondary node ${lost.name} is offline`]
  const todo = lost === undefined ? undefined : ('new secondary' as const)
  // Unused disks are not assembled anywhere. After a failed start they should be.
  if (view.instance.admin_state !== 'up' && !(await usesDisks(ctx, view))) return { ...WELL, found, todo }
  const { faults, silent } = await looked(ctx, view)
  return {
    found: [...found, ...faults.map(({ text }) => text)],
    left: silent,
    activate: faults.some(({ helpless }) => helpless),
    todo,
  }
}

function withoutPrimary({ instance, primary, disks, secondaries }: InstanceView, mayFailOver: boolean): Diagnosis {
  const found = [`its primary node ${primary.name} is offline`]
  const back = `bring it back with "gnt-node modify --offline=no ${primary.name}"`
  const only = disks.find(({ dev_type }) => !isMirrored(dev_type))
  if (only !== undefined)
    return {
      ...{ ...WELL, found },
      left: [
        `its disks are on ${primary.name} alone: ${back}, or have empty ones made elsewhere with ` +
          `"gnt-instance recreate-disks -n NODE ${instance.name}" and fill them from a backup`,
      ],
    }
  const other = secondaries.find(({ offline }) => offline)
  if (other !== undefined)
    return { ...WELL, found, left: [`its secondary node ${other.name} is offline, too: ${back}`] }
  if (mayFailOver) return { ...WELL, found, todo: 'failover' }
  const way = `"gnt-instance repair --failover ${instance.name}" starts it on another node, once this one is surely off`
  return { ...WELL, found, left: [`${way}; or ${back}`] }
}

interface Fault {
  readonly text: string
  /** Whether it needs an administrator. */
  readonly helpless: boolean
}

async function looked(ctx: UnitContext, view: InstanceView): Promise<{ faults: Fault[]; silent: string[] }> {
  const [faults, silent]: [Fault[], string[]] = [[], []]
  for (const { node, states } of await diskStates(ctx, view)) {
    if (typeof states === 'string') silent.push(`node ${node.name} does not report the state of the disks: ${states}`)
    else faults.push(...states.flatMap((state, index) => faultOf(view.disks[index], state, index, node) ?? []))
  }
  return { faults, silent }
}

type DiskState = readonly [true, BlockDeviceStatus] | readonly [false, string]

/** For each node that is not offline: the states of the disks, or why it did not answer. */
export async function diskStates(
  ctx: UnitContext,
  view: InstanceView,
): Promise<{ node: Node; states: readonly DiskState[] | string }[]> {
  const nodes = allNodes(view).filter((node) => !node.offline)
  const results = await ctx.nodes.many(nodes, 'blockdev_getmirrorstatus_multi', [diskDicts(view)])
  return nodes.map((node) => {
    const result = results.get(node.uuid)
    return { node, states: result?.ok === true ? result.payload : (result?.error ?? 'no answer') }
  })
}

function faultOf(disk: Disk | undefined, state: DiskState, index: number, { name }: Node): Fault | undefined {
  if (disk === undefined) return undefined
  const [isThere, status] = state
  if (!isThere) return { text: `disk/${index} cannot be used on node ${name}: ${status}`, helpless: true }
  if (!status.is_degraded) return undefined
  const { sync_percent: percent } = status
  if (percent !== undefined)
    return { text: `disk/${index} is being filled on node ${name}: ${percent}%`, helpless: false }
  const what = status.ldisk_status === LOCAL_DISK_STATUS.faulty ? 'has lost its data' : 'is degraded'
  return { text: `disk/${index} ${what} on node ${name}`, helpless: true }
}

export const mirrorsOf = ({ disks }: InstanceView): Disk[] => disks.filter((disk) => isMirroredInside(disk.dev_type))
