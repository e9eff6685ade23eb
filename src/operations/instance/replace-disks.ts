// OP_INSTANCE_REPLACE_DISKS: new disks on one side of a mirror, or another secondary node.
import { nodesOfGroup } from '../../config/lookup'
import { isReserved } from '../../model/instance'
import { OpInstanceReplaceDisks } from '../../opcodes/instance'
import { findNode } from '../find'
import { exclusive, logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { isRunning } from './checks'
import { shutdownDisks, startDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { checkArguments, planReplacement, type Replacement } from './replace/plan'
import { replaceSecondary, reserveOn } from './replace/new-secondary'
import { replaceOnNode } from './replace/same-node'
import { allNodes, locksOfInstance, readInstance, reread } from './view'

const instanceLocks = locksOfInstance(['node', 'node-res'])

export const instanceReplaceDisks = logicalUnit(OpInstanceReplaceDisks, {
  locks(op, ctx) {
    checkArguments(op)
    return instanceLocks.locks(op, ctx)
  },
  async declare(level, op, ctx) {
    if (op.mode !== 'replace_new_secondary' || (level !== 'node' && level !== 'node-res'))
      return instanceLocks.declare(level, op, ctx)
    const view = await readInstance(ctx, op, 'all')
    const own = allNodes(view).map(({ uuid }) => uuid)
    if (op.remote_node !== undefined) {
      const { object } = await findNode(ctx, op.remote_node, op.remote_node_uuid)
      return exclusive([...new Set([...own, object.uuid])])
    }
    // The allocator may choose any node of the group.
    const config = await ctx.config.read({ nodes: 'all' })
    const group = nodesOfGroup(config, view.primary.group).map(({ uuid }) => uuid)
    return exclusive([...new Set([...own, ...group])])
  },
  check: (ctx, op) => planReplacement(ctx, op),
  hooks: {
    path: 'mirrors-replace',
    type: 'INSTANCE',
    env: (ctx, op, replacement) =>
      instanceHookEnv(ctx, replacement.view.instance.uuid, {
        MODE: op.mode,
        NEW_SECONDARY: replacement.kind === 'new secondary' ? replacement.target.name : '',
        OLD_SECONDARY: replacement.secondary.name,
      }),
    nodes: (_ctx, _op, { view, ...replacement }) => {
      const target = replacement.kind === 'new secondary' ? [replacement.target.uuid] : []
      const nodes = [...new Set<string>([view.config.cluster.master_node, view.primary.uuid, ...target])]
      return { pre: nodes, post: nodes }
    },
  },
  async run(ctx, _op, replacement) {
    const { view, secondary, disks } = replacement
    const { instance, primary } = view
    if (replacement.kind === 'nothing') {
      ctx.log.say(`No disks need replacement for instance '${instance.name}'`)
      return null
    }
    ctx.log.say(`Replacing disk(s) ${disks.map(({ index }) => index).join(', ')} for instance '${instance.name}'`)
    ctx.log.say(`Current primary node: ${primary.name}`)
    ctx.log.say(`Current secondary node: ${secondary.name}`)
    if (isReserved(instance)) await replaceReserved(ctx, replacement)
    else await whileActive(ctx, replacement)
    return null
  },
})

/** For a reserved instance, whose disks are on no node yet. */
async function replaceReserved(
  ctx: UnitContext,
  replacement: Exclude<Replacement, { kind: 'nothing' }>,
): Promise<void> {
  if (replacement.kind === 'same node') {
    ctx.log.say('Instance forthcoming, not touching disks')
    return
  }
  ctx.log.say('Instance forthcoming, will only update the configuration')
  await reserveOn(ctx, replacement)
}

/** The disks of a stopped instance are activated for the replacement. */
async function whileActive(ctx: UnitContext, replacement: Exclude<Replacement, { kind: 'nothing' }>): Promise<void> {
  const { view } = replacement
  const activated = !view.instance.disks_active
  const active = activated ? await startDisks(ctx, view, { force: true }) : view
  try {
    if (replacement.kind === 'new secondary') await replaceSecondary(ctx, { ...replacement, view: active })
    else await replaceOnNode(ctx, { ...replacement, view: active })
  } finally {
    // A guest may run although its disks do not count as active.
    if (activated && !(await isRunning(ctx, view))) await shutdownDisks(ctx, await reread(ctx, view))
  }
}
