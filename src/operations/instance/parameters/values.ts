// New parameters of an existing instance (hypervisor, backend, OS and state), each with the list of changes.
import { pythonRepr } from '../../../lib/text/python-text'
import { fillBeParams, fillHvParams, fillOsParams, fillPrivateOsParams } from '../../../config/filled'
import type { AdminState, Instance, Params } from '../../../model/config'
import { checkHvParams } from '../../../model/hv-check'
import type { UnitContext } from '../../unit-context'
import { checkCanStartOn, checkInstanceState, NOT_RUNNING } from '../checks'
import { texts } from '../create/plan'
import { checkCpuMask } from './cpu-mask'
import { withParamsOf } from './os-change'
import { beParams, checkHvParamsOnNodes, checkOsParams, hvParamTypes } from './params'
import { enforceTypes } from '../../../model/param-types'
import type { Changed, SetOp } from './set-op'
import { checkMoreMemory } from './memory'
import { allNodes, type InstanceView } from '../view'

export interface Values {
  readonly fields: Partial<Instance>
  readonly changed: readonly Changed[]
}

export async function newValues(ctx: UnitContext, op: SetOp, view: InstanceView): Promise<Values> {
  const os = op.os_name ?? view.instance.os
  const state = await newState(ctx, op, view)
  const steps = [
    await newHvParams(ctx, op, view, os),
    await newBeParams(ctx, op, view),
    await newOs(ctx, op, view, os),
    state,
  ]
  const fields = Object.assign({}, ...steps.map((step) => step.fields)) as Partial<Instance>
  await checkStillStarts(ctx, op, view, fields)
  return { fields, changed: steps.flatMap((step) => step.changed) }
}

/** The parameters of the hypervisor and the number of virtual CPUs must fit together, whichever of them changes. */
async function checkStillStarts(
  ctx: UnitContext,
  op: SetOp,
  view: InstanceView,
  fields: Partial<Instance>,
): Promise<void> {
  const isTouched = Object.keys(op.hvparams).length > 0 || Object.hasOwn(op.beparams, 'vcpus')
  // Another OS may bring other parameters.
  if (!isTouched && op.os_name === undefined) return
  const { cluster } = view.config
  const instance = { ...view.instance, ...fields }
  const { name, hypervisor } = instance
  const { vcpus } = fillBeParams(cluster, instance.beparams)
  // A disk that is read-only does not keep others from being changed.
  const disks = view.disks.map(({ dev_type }) => ({ dev_type, mode: 'rw' as const }))
  const starting = { name, hypervisor, hvparams: fillHvParams(cluster, instance), vcpus, disks }
  const nodes = allNodes(view)
  await checkCpuMask(ctx, Object.hasOwn(op.hvparams, 'cpu_mask') ? nodes : [], starting)
  await checkCanStartOn(ctx, nodes, starting)
}

const NOTHING: Values = { fields: {}, changed: [] }

async function newHvParams(ctx: UnitContext, op: SetOp, view: InstanceView, os: string): Promise<Values> {
  if (Object.keys(op.hvparams).length === 0) return NOTHING
  const { config, instance } = view
  const { hypervisor } = instance
  const input = enforceTypes(op.hvparams, hvParamTypes(hypervisor), ['default'])
  const hvparams = merged(instance.hvparams, input)
  const filled = fillHvParams(config.cluster, { hypervisor, os, hvparams })
  checkHvParams(hypervisor, filled)
  await checkHvParamsOnNodes(ctx, allNodes(view), hypervisor, filled)
  return { fields: { hvparams }, changed: named('hv', op.hvparams) }
}

/** Changes are reported with the given values. */
const named = (prefix: string, values: object): Changed[] =>
  Object.entries(values).map(([name, value]): Changed => [`${prefix}/${name}`, value])

/** Merges the given values into the old ones; `default` removes a value. */
function merged(old: Params, input: Params): Params {
  const result: Record<string, Params[string]> = { ...old }
  for (const [name, value] of Object.entries(input)) {
    if (value === 'default') delete result[name]
    else result[name] = value
  }
  return result
}

async function newBeParams(ctx: UnitContext, op: SetOp, view: InstanceView): Promise<Values> {
  if (Object.keys(op.beparams).length === 0) return NOTHING
  const { config, instance } = view
  const beparams = beParams(config.cluster, op.beparams, instance.beparams)
  if (!op.force) await checkMoreMemory(ctx, view, fillBeParams(config.cluster, beparams))
  return { fields: { beparams }, changed: named('be', op.beparams) }
}

async function newOs(ctx: UnitContext, op: SetOp, view: InstanceView, os: string): Promise<Values> {
  const displayed = texts(op.osparams)
  const hidden = texts(op.osparams_private ?? {})
  if (op.os_name === undefined && Object.keys({ ...displayed, ...hidden }).length === 0) return NOTHING
  const { config } = view
  const instance = await withParamsOf(ctx, view, os)
  const osparams = withoutDefaults(instance.osparams, displayed)
  const osparams_private = withoutDefaults(instance.osparams_private, hidden)
  const filled = {
    ...texts(fillOsParams(config.cluster, os, osparams)),
    ...texts(fillPrivateOsParams(config.cluster, os, osparams_private)),
  }
  if (!op.force) await checkOsParams(ctx, [view.primary], { os }, filled, op.force_variant)
  const hiddenChanged = Object.keys(hidden).map((name): Changed => [
    `os_private/${name}`,
    `Private(?, descr=${pythonRepr(name)})`,
  ])
  return { fields: { os, osparams, osparams_private }, changed: [...named('os', op.osparams), ...hiddenChanged] }
}

export const withoutDefaults = (old: object, input: Record<string, string>): Record<string, string> =>
  texts(Object.fromEntries(Object.entries({ ...old, ...input }).filter(([, value]) => value !== 'default')))

async function newState(ctx: UnitContext, op: SetOp, view: InstanceView): Promise<Values> {
  if (op.offline === undefined) return NOTHING
  const state: AdminState = op.offline ? 'offline' : 'down'
  const refused = op.offline
    ? "can't change to offline without being down first"
    : "can't change to online (down) without being offline first"
  await checkInstanceState(ctx, view, NOT_RUNNING, refused)
  return { fields: { admin_state: state, admin_state_source: 'admin' }, changed: [['admin_state', state]] }
}
