// OP_INSTANCE_REINSTALL: runs the OS scripts again on a stopped instance's disks, possibly those of another OS.
import { change } from '../../config/changes'
import { fillOsParams, fillPrivateOsParams } from '../../config/filled'
import { INSTANCE_ID, wantsCloudInit } from '../../model/cloud-init/parameters'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceReinstall } from '../../opcodes/instance'
import { logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkInstanceState, checkNodeOnline, DOWN } from './checks'
import { communicates, updateMetadata } from './communication'
import { texts } from './create/plan'
import { shutdownDisks, startDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { imageDisks, osImage } from './create/os-image'
import { checkOsParams, givenOsParams } from './parameters/params'
import { parametersOf, withParamsOf } from './parameters/os-change'
import { withoutDefaults } from './parameters/values'
import { dictOf, hookNodes, locksOfInstance, readInstance, reread, type InstanceView } from './view'

export const instanceReinstall = logicalUnit(OpInstanceReinstall, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    const old = await readInstance(ctx, op)
    checkNodeOnline(old.primary)
    const view = { ...old, instance: await withParamsOf(ctx, old, op.os_type ?? old.instance.os) }
    if (view.disks.length === 0) throw new OpPrereqError(`Instance '${view.instance.name}' has no disks`, ECODE.INVAL)
    await checkInstanceState(ctx, view, DOWN, 'cannot reinstall')
    ctx.note(givenOsParams(op))
    imageOf(op, view)
    await checkOs(ctx, op, view)
    return view
  },
  hooks: {
    path: 'instance-reinstall',
    type: 'INSTANCE',
    env: (ctx, _op, view) => instanceHookEnv(ctx, view.instance.uuid),
    nodes: (_ctx, _op, view) => hookNodes(view),
  },
  async run(ctx, op, view) {
    const { instance } = view
    const image = imageOf(op, view)
    if (image !== undefined) ctx.log.say(`Using OS image '${image}'`)
    if (op.os_type !== undefined) ctx.log.say(`Changing OS scripts to '${op.os_type}'...`)
    const fields = {
      ...(op.os_type !== undefined && { os: op.os_type }),
      ...keptParams(op, view),
      ...(await newIdentity(ctx, op, view)),
    }
    if (Object.keys(fields).length > 0) await ctx.config.change([change('patchInstance', instance.uuid, fields)])
    const active = await startDisks(ctx, await reread(ctx, view))
    try {
      await reinstall(ctx, op, active)
    } finally {
      await shutdownDisks(ctx, await reread(ctx, view))
    }
    return null
  },
})

/** The image in the instance's future parameters: the present image counts, unless the opcode removes it. */
const imageOf = (op: Op<typeof OpInstanceReinstall>, view: InstanceView): string | undefined =>
  osImage({ ...view.instance, ...keptParams(op, view) }.osparams)

async function reinstall(ctx: UnitContext, op: Op<typeof OpInstanceReinstall>, view: InstanceView): Promise<void> {
  const { instance, primary } = view
  const image = osImage(instance.osparams)
  if (image === undefined && instance.os === '')
    ctx.log.info("No OS scripts or OS image specified or found in the instance's configuration, nothing to install")
  if (image !== undefined) await imageDisks(ctx, view, image)
  const secret = texts(op.osparams_secret ?? {})
  if (instance.os !== '') {
    ctx.log.info('Running instance OS create scripts...')
    const dict = dictOf(view, { osparams_secret: secret })
    const what = `Could not install OS for instance '${instance.name}' on node '${primary.name}'`
    await ctx.nodes.call(primary, what, 'instance_os_add', [dict, true, op.debug_level ?? 0])
  }
  if (communicates(view)) await updateMetadata(ctx, view, secret)
}

/** Adds new parameters to the instance's old ones. Ganeti forgets the old ones. */
function keptParams(op: Op<typeof OpInstanceReinstall>, { instance }: InstanceView) {
  return {
    ...((op.osparams ?? op.os_type) !== undefined && {
      osparams: withoutDefaults(instance.osparams, texts(op.osparams ?? {})),
    }),
    ...((op.osparams_private ?? op.os_type) !== undefined && {
      osparams_private: withoutDefaults(instance.osparams_private, texts(op.osparams_private ?? {})),
    }),
  }
}

/** For cloud-init this is a new installation, so it gets a new id; the caller may choose it. */
async function newIdentity(ctx: UnitContext, op: Op<typeof OpInstanceReinstall>, view: InstanceView) {
  const { config, instance, primary } = view
  const { osparams } = { ...instance, ...keptParams(op, view) }
  const os = op.os_type ?? instance.os
  if (op.osparams?.[INSTANCE_ID] !== undefined) return {}
  // If the node does not say so, the check has already reported more.
  const listed = os !== '' && (await parametersOf(ctx, primary, os))?.includes(INSTANCE_ID) === true
  if (!wantsCloudInit(texts(fillOsParams(config.cluster, os, osparams)), listed)) return {}
  return { osparams: { ...osparams, [INSTANCE_ID]: ctx.env.random.uuid() } }
}

async function checkOs(ctx: UnitContext, op: Op<typeof OpInstanceReinstall>, view: InstanceView): Promise<void> {
  const { config, instance, primary } = view
  const os = op.os_type ?? instance.os
  const { osparams, osparams_private } = { ...instance, ...keptParams(op, view) }
  const params = {
    ...texts(fillOsParams(config.cluster, os, osparams)),
    ...texts(fillPrivateOsParams(config.cluster, os, osparams_private)),
    ...texts(op.osparams_secret ?? {}),
  }
  await checkOsParams(ctx, [primary], { os }, params, op.force_variant)
}
