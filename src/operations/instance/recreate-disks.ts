// OP_INSTANCE_RECREATE_DISKS: makes disks again whose data is lost, empty, in their old places.
import { change } from '../../config/changes'
import type { Disk } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceRecreateDisks } from '../../opcodes/instance'
import { logicalUnit, type Op } from '../logical-unit'
import { checkInstanceState, checkNodeOnline, NOT_RUNNING } from './checks'
import { createDisks, wipeDisks } from './disk-files'
import { instanceHookEnv } from './hook-env'
import { allNodes, hookNodes, locksOfInstance, readInstance, type InstanceView } from './view'

interface Wanted {
  readonly disk: Disk
  /** The disk with other parameters than before, where some were given. */
  readonly changed: Disk
}

export const instanceRecreateDisks = logicalUnit(OpInstanceRecreateDisks, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    if (op.nodes.length > 0 || op.iallocator !== undefined)
      throw new OpPrereqError('Disks cannot be recreated on other nodes by this version yet', ECODE.INVAL)
    const view = await readInstance(ctx, op)
    ctx.note({ disks: op.disks.map((entry) => (typeof entry === 'number' ? [entry, {}] : entry)) })
    for (const node of allNodes(view)) checkNodeOnline(node)
    await checkInstanceState(ctx, view, NOT_RUNNING, 'cannot recreate disks')
    if (view.disks.length === 0) throw new OpPrereqError(`Instance '${view.instance.name}' has no disks`, ECODE.INVAL)
    return { view, wanted: wantedDisks(view, op) }
  },
  hooks: {
    path: 'instance-recreate-disks',
    type: 'INSTANCE',
    env: (ctx, _op, { view }) => instanceHookEnv(ctx, view.instance.uuid),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, _op, { view, wanted }) {
    const disks = wanted.map((one) => one.changed)
    await createDisks(ctx, view, disks, { unique: false })
    await ctx.config.change(
      wanted
        .filter(({ disk, changed }) => disk !== changed)
        .map(({ changed }) => change('patchDisk', changed.uuid, { size: changed.size, mode: changed.mode })),
    )
    if (view.config.cluster.prealloc_wipe_disks) await wipeDisks(ctx, view, disks)
    return null
  },
})

/** No list means all disks. */
function wantedDisks(view: InstanceView, { disks }: Op<typeof OpInstanceRecreateDisks>): Wanted[] {
  if (disks.length === 0) return view.disks.map((disk) => ({ disk, changed: disk }))
  const seen = new Set<number>()
  return disks.map((entry) => {
    const [index, params] = typeof entry === 'number' ? [entry, {}] : entry
    const disk = view.disks[index]
    if (disk === undefined) throw new OpPrereqError(`Invalid disk index '${index}'`, ECODE.INVAL)
    if (seen.has(index)) throw new OpPrereqError('Some disks have been specified more than once', ECODE.INVAL)
    seen.add(index)
    const unknown = Object.keys(params).filter((key) => key !== 'size' && key !== 'mode')
    if (unknown.length > 0)
      throw new OpPrereqError(`Disks can be recreated with other size and mode, not ${unknown.join(', ')}`, ECODE.INVAL)
    const { size = disk.size, mode = disk.mode } = params
    return { disk, changed: Object.keys(params).length === 0 ? disk : { ...disk, size, mode } }
  })
}
