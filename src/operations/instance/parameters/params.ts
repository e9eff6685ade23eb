// A user's hypervisor, backend and OS parameters: checks types and syntax, and asks nodes.
import { fillBeParams, fillHvParams } from '../../../config/filled'
import type { BeParams, Cluster, Hypervisor, Instance, Node, Params } from '../../../model/config'
import { CLOUD_INIT, cloudInitProblems } from '../../../model/cloud-init/parameters'
import { CLUSTER_ONLY_HVPARAMS, HV_PARAMS } from '../../../model/constants/hypervisors'
import { BE_TYPES } from '../../../model/constants/params'
import { ECODE, OpExecError, OpPrereqError } from '../../../model/errors'
import { checkHvParams } from '../../../model/hv-check'
import { enforceTypes, type ParamType } from '../../../model/param-types'
import type { UnitContext } from '../../unit-context'
import type { InstanceView } from '../view'

export interface StartOverrides {
  hvparams?: Params
  beparams?: Partial<BeParams>
}

/** Parameters for one start only. */
export async function startOverrides(
  ctx: UnitContext,
  view: InstanceView,
  op: { hvparams: Readonly<Record<string, unknown>>; beparams: Readonly<Record<string, unknown>> },
): Promise<StartOverrides> {
  const { cluster } = view.config
  const overrides: StartOverrides = {}
  if (Object.keys(op.beparams).length > 0) overrides.beparams = beParams(cluster, op.beparams, view.instance.beparams)
  if (Object.keys(op.hvparams).length === 0) return overrides
  const { hypervisor } = view.instance
  const input = enforceTypes(op.hvparams, hvParamTypes(hypervisor))
  checkNotClusterOnly(input, 'instance', 'cluster')
  const filled = { ...fillHvParams(cluster, view.instance), ...input }
  checkHvParams(hypervisor, filled)
  if (!view.primary.offline) await checkHvParamsOnNodes(ctx, [view.primary], hypervisor, filled)
  return { ...overrides, hvparams: input }
}

/** Merges backend parameters with the instance's: typed, with the old name `memory`, and consistent. */
export function beParams(
  cluster: Cluster,
  input: Readonly<Record<string, unknown>>,
  old: Partial<BeParams> = {},
): Partial<BeParams> {
  const result: Record<string, unknown> = { ...old }
  for (const [name, value] of Object.entries(withoutMemory(input))) {
    if (value === 'default') delete result[name]
    else result[name] = enforceTypes({ [name]: value }, BE_TYPES)[name]
  }
  const filled = fillBeParams(cluster, result)
  if (filled.minmem > filled.maxmem)
    throw new OpPrereqError(
      `Value for parameter minmem must be smaller than or equal to maxmem (${filled.minmem} > ${filled.maxmem})`,
      ECODE.INVAL,
    )
  return result
}

/** `memory` sets both bounds, unless they are given themselves. */
function withoutMemory(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { memory, ...rest } = input
  return memory === undefined ? rest : { maxmem: memory, minmem: memory, ...rest }
}

export function checkNotClusterOnly(input: Readonly<Record<string, unknown>>, kind: string, level: string): void {
  const used = Object.keys(input).filter((name) => CLUSTER_ONLY_HVPARAMS.includes(name))
  if (used.length === 0) return
  throw new OpPrereqError(
    `The following hypervisor parameters are global and cannot be customized at ${kind} level, please modify them at ${level} level: ${used.join(', ')}`,
    ECODE.INVAL,
  )
}

/** Asks the nodes for checks that only they can make, such as whether a kernel file exists. */
export async function checkHvParamsOnNodes(
  ctx: UnitContext,
  nodes: readonly Node[],
  hypervisor: Hypervisor,
  filled: Params,
): Promise<void> {
  const requested = nodes.filter((node) => node.vm_capable && !node.offline)
  const results = await ctx.nodes.many(requested, 'hypervisor_validate_params', [hypervisor, filled])
  for (const node of requested)
    ctx.nodes.raise(results, node, `Hypervisor parameter validation failed on node ${node.name}`)
}

/** All kinds of OS parameters for the job, empty if none were given. Hidden ones stay hidden in the job's file. */
export function givenOsParams(op: {
  readonly osparams?: Readonly<Record<string, unknown>> | undefined
  readonly osparams_private?: Readonly<Record<string, unknown>> | undefined
  readonly osparams_secret?: Readonly<Record<string, unknown>> | undefined
}): Record<string, unknown> {
  return {
    osparams: op.osparams ?? {},
    ...(op.osparams_private === undefined && { osparams_private: {} }),
    ...(op.osparams_secret === undefined && { osparams_secret: {} }),
  }
}

/** Checks that the nodes know the OS, its variant and these parameters. */
export async function checkOsParams(
  ctx: UnitContext,
  nodes: readonly Node[],
  instance: Pick<Instance, 'os'>,
  params: Readonly<Record<string, string>>,
  forceVariant: boolean,
): Promise<void> {
  // Without an OS definition no node checks them.
  const problems = instance.os === '' && params[CLOUD_INIT] !== undefined ? cloudInitProblems(params) : []
  if (problems.length > 0) throw new OpPrereqError(problems.join('; '), ECODE.INVAL)
  if (instance.os === '') return
  const requested = nodes.filter((node) => node.vm_capable && !node.offline)
  const results = await ctx.nodes.many(requested, 'os_validate', [
    true,
    instance.os,
    ['parameters'],
    params,
    forceVariant,
  ])
  for (const node of requested) {
    const known = ctx.nodes.raise(results, node, `OS Parameters validation failed on node ${node.name}`)
    if (!known) throw new OpExecError(`OS ${instance.os} not found on node ${node.name}`)
  }
}

export const hvParamTypes = (hypervisor: Hypervisor): Readonly<Record<string, ParamType>> =>
  Object.fromEntries(
    // Includes other hypervisors' parameters, so that their values are parsed before they are refused as unsupported.
    [...Object.values(HV_PARAMS), HV_PARAMS[hypervisor]].flatMap((specs) =>
      Object.entries(specs).map(([name, spec]): [string, ParamType] => [name, spec.type]),
    ),
  )
