// OP_INSTANCE_SET_PARAMS: parameters, state, disks and NICs of an existing instance.
import { change } from '../../config/changes'
import { fillBeParams, fillNdParams } from '../../config/filled'
import { diskTemplateOf } from '../../config/lookup'
import type { Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceSetParams } from '../../opcodes/instance'
import { logicalUnit, type HookEnv } from '../logical-unit'
import { checkMirrorsOnline, checkNodeOnline, isRunning } from './checks'
import { communicates, communicationChange, updateMetadata } from './communication'
import { deviceChanges } from './parameters/device-changes'
import { envOfView, instanceHookEnv } from './hook-env'
import { canHotplug } from './parameters/hotplug'
import { countedSpindles, policyViolations } from './placement/ipolicy'
import { convertDisks, planConversion, type Conversion } from './disks/convert'
import { applyDisks, groupPolicy, planDisks, type DiskStep } from './disks/changes'
import { noteDevices, noteDisks, noteGiven } from './parameters/noted'
import { newPrimary, notePrimary } from './parameters/primary'
import { checkNicChange } from './nics/changed-nic'
import { checkNotClusterOnly } from './parameters/params'
import { planNics, plugNics, type NicPlan } from './nics/changes'
import { balloon, checkBalloon } from './parameters/memory'
import type { Changed, SetOp } from './parameters/set-op'
import { conversionLocks } from './disks/mirror-conversion'
import { newValues, type Values } from './parameters/values'
import { hookNodes, locksOfInstance, movedTo, readInstance, reread, type InstanceView } from './view'
import { factsOf, DISK_TEMPLATES } from '../../model/templates'

interface SetPlan {
  readonly view: InstanceView
  /** Undefined if the primary node stays. */
  readonly primary: Node | undefined
  readonly values: Values
  readonly nics: NicPlan
  readonly disks: readonly DiskStep[]
  readonly conversion: Conversion | undefined
  /** Devices also change in the running instance. */
  readonly live: boolean
}

const ofInstance = locksOfInstance(['node', 'node-res'])

export const instanceSetParams = logicalUnit(OpInstanceSetParams, {
  async locks(op, ctx) {
    checkGiven(op)
    const nics = deviceChanges('NIC', op.nics)
    noteGiven(ctx, op, nics)
    for (const { action, params } of nics) checkNicChange(action, params)
    await notePrimary(ctx, op)
    return ofInstance.locks(op, ctx)
  },
  async declare(level, op, ctx) {
    // Only disks need nodes.
    if (op.disks.length === 0 && op.disk_template === undefined) return undefined
    if (level !== 'node' && level !== 'node-res') return undefined
    return (await conversionLocks(ctx, op)) ?? ofInstance.declare(level, op, ctx)
  },
  async check(ctx, op): Promise<SetPlan> {
    const view = await readInstance(ctx, op)
    const nics = [...deviceChanges('NIC', op.nics), ...communicationChange(view, op.instance_communication)]
    const disks = deviceChanges('disk', op.disks)
    noteDisks(ctx, view, disks)
    const primary = await newPrimary(ctx, op, view)
    if (disks.length > 0) checkNodeOnline(view.primary)
    if (disks.some(({ action }) => action === 'add')) checkMirrorsOnline(view)
    const live =
      nics.length + disks.length > 0 && op.hotplug && (await isRunning(ctx, view)) && (await canHotplug(ctx, view))
    if (!live) ctx.note({ hotplug: false })
    const conversion = op.disk_template && (await planConversion(ctx, view, op.disk_template, op))
    const diskSteps = await planDisks(ctx, view, disks, op, live)
    const values = await newValues(ctx, op, view)
    await checkBalloon(ctx, op, view, values.fields.beparams ?? view.instance.beparams)
    const nicPlan = await planNics(ctx, view, nics, { conflictsCheck: op.conflicts_check, force: op.force })
    noteDevices(ctx, op, view, { given: nics, plan: nicPlan }, { given: disks, steps: diskSteps })
    const plan = { view, primary, values, nics: nicPlan, disks: diskSteps, conversion, live }
    if (!op.ignore_ipolicy) checkPolicy(plan)
    return plan
  },
  hooks: {
    path: 'instance-modify',
    type: 'INSTANCE',
    env: (ctx, op, plan, phase) => {
      const more: HookEnv = op.runtime_mem === undefined ? {} : { RUNTIME_MEMORY: op.runtime_mem }
      return phase === 'post'
        ? instanceHookEnv(ctx, plan.view.instance.uuid, more)
        : {
            ...envOfView({
              ...plan.view,
              instance: { ...plan.view.instance, ...plan.values.fields, nics: plan.nics.nics },
            }),
            ...more,
          }
    },
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, op, { view, primary, values, nics, disks, conversion, live }): Promise<Changed[]> {
    if (primary !== undefined) await ctx.config.change(movedTo(view, primary))
    const changed: Changed[] = await balloon(ctx, op, view)
    changed.push(...(await applyDisks(ctx, view, disks, op, live)))
    if (conversion !== undefined) changed.push(...(await convertDisks(ctx, view, conversion, op)))
    const now = disks.length > 0 ? await reread(ctx, view) : view
    if (live) changed.push(...(await plugNics(ctx, now, nics.steps)))
    else changed.push(...nics.steps.flatMap((step) => step.changed))
    const fields = { ...values.fields, ...(nics.steps.length > 0 && { nics: nics.nics }) }
    if (Object.keys(fields).length > 0) await ctx.config.change([change('patchInstance', view.instance.uuid, fields)])
    const after = communicates(view) || op.instance_communication === true ? await reread(ctx, view) : undefined
    if (after !== undefined) await updateMetadata(ctx, after)
    return [...changed, ...values.changed]
  },
})

const OF_PROVIDERS = DISK_TEMPLATES.filter((template) => factsOf(template).ownParams === true)

function checkGiven(op: SetOp): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  const input = [op.nics, op.disks, Object.keys({ ...op.beparams, ...op.hvparams }), Object.keys(op.osparams)]
  const values = [op.runtime_mem, op.disk_template, op.os_name, op.offline, op.pnode, op.instance_communication]
  const hidden = Object.keys(op.osparams_private ?? {})
  if ([...input, hidden].every((list) => list.length === 0) && values.every((value) => value === undefined))
    throw refuse('No changes submitted')
  checkNotClusterOnly(op.hvparams, 'instance', 'cluster')
  if (op.disk_template !== undefined && op.disks.length > 0)
    throw refuse('Disk template conversion and other disk changes not supported at the same time')
  if (
    Object.keys(op.ext_params).length > 0 &&
    !(op.disk_template !== undefined && factsOf(op.disk_template).ownParams === true)
  )
    throw refuse(`'ext_params' are for a change to disks of template '${OF_PROVIDERS.join("' or '")}'; leave them out`)
}

function checkPolicy({ view, values, nics, disks, conversion }: SetPlan): void {
  const { config, instance, primary } = view
  const be = fillBeParams(config.cluster, values.fields.beparams ?? instance.beparams)
  const stepsOf = (...actions: DiskStep['action'][]) => disks.filter((step) => actions.includes(step.action))
  const removed = stepsOf('remove', 'detach').map((step) => step.disk.uuid)
  const added = stepsOf('add', 'attach').map((step) => step.disk)
  const all = [...view.disks.filter((disk) => !removed.includes(disk.uuid)), ...added]
  const violations = policyViolations(groupPolicy(view), {
    memory_mib: be.maxmem,
    vcpus: be.vcpus,
    diskSizes_mib: all.map((disk) => disk.size),
    nics: nics.nics.length,
    spindles: countedSpindles(all, be, fillNdParams(config, primary).exclusive_storage),
    // A policy knows no mixed template, and must not refuse the way out of one.
    template: conversion?.template ?? added[0]?.dev_type ?? all[0]?.dev_type ?? diskTemplateOf(config, instance),
  })
  if (violations.length > 0)
    throw new OpPrereqError(
      `Instance allocation to group ${primary.group} (${config.nodegroups[primary.group]?.name}) violates policy: ${violations.join(', ')}`,
      ECODE.INVAL,
    )
}
