// Nested parameters: the given ones are merged into the present ones, coerced to their types, and checked as a whole.
import { recordValues } from '../../../config/records'
import type {
  BeParams,
  Cluster,
  ConfigData,
  Hypervisor,
  NdParams,
  NicParams,
  OsParams,
  Params,
} from '../../../model/config'
import {
  DISK_STATE_DEFAULTS,
  HV_PARAMS,
  HV_STATE_DEFAULTS,
  HYPERVISORS,
  hvDefaults,
} from '../../../model/constants/hypervisors'
import { BE_DEFAULTS, ND_DEFAULTS, NIC_MODES, NIC_TYPES } from '../../../model/constants/params'
import { VALUE } from '../../../model/constants/words'
import { ConfigurationError, ECODE, HypervisorError, OpPrereqError } from '../../../model/errors'
import { checkHvParams } from '../../../model/hv-check'
import { enforceTypes } from '../../../model/param-types'
import {
  accessProblem,
  checkDiskAccess,
  updatedDiskParams,
  updatedDiskState,
  updatedHvState,
  updatedNdParams,
} from '../../group/params'
import { beParams, checkHvParamsOnNodes, hvParamTypes } from '../../instance/parameters/params'
import type { UnitContext } from '../../unit-context'
import { type Fields, withoutUnset, invalid, type SetParams } from './fields'

type Given = Readonly<Record<string, unknown>>
type ByHypervisor = Readonly<Record<string, Params>>

export function paramFields(config: ConfigData, op: SetParams): Fields {
  const { cluster } = config
  const hvparams = newHvParams(config, op)
  const access = accessProblem(op.diskparams ?? {})
  if (access !== undefined) throw invalid(`While verify diskparams options: ${access}`)
  const diskparams = op.diskparams && updatedDiskParams(cluster.diskparams, op.diskparams)
  const changedDiskParams = Object.entries(diskparams ?? {}).filter(([template]) =>
    Object.hasOwn(op.diskparams ?? {}, template),
  )
  checkDiskAccess(config, recordValues(config.instances), Object.fromEntries(changedDiskParams))
  return withoutUnset({
    enabled_hypervisors: op.enabled_hypervisors,
    hvparams,
    os_hvp: op.os_hvp && newOsHvp(cluster, hvparams ?? cluster.hvparams, op.os_hvp),
    beparams: op.beparams && { default: newBeParams(cluster, op.beparams) },
    nicparams: op.nicparams && { default: newNicParams(config, op.nicparams) },
    ndparams: op.ndparams && newNdParams(cluster, op.ndparams),
    osparams: op.osparams && newOsParams(cluster.osparams, op.osparams),
    osparams_private_cluster:
      op.osparams_private_cluster && newOsParams(cluster.osparams_private_cluster, op.osparams_private_cluster),
    diskparams,
    hv_state_static:
      op.hv_state && filledStates(updatedHvState(cluster.hv_state_static, op.hv_state), HV_STATE_DEFAULTS),
    disk_state_static: op.disk_state && newDiskState(cluster, op.disk_state),
  })
}

/** Asks nodes for checks that only they can make: files that hypervisors need, and parameters of OS definitions. */
export async function checkParamsOnNodes(
  ctx: UnitContext,
  config: ConfigData,
  op: SetParams,
  fields: Fields,
): Promise<void> {
  const nodes = recordValues(config.nodes)
  const hvparams = fields.hvparams ?? config.cluster.hvparams
  const enabled = op.enabled_hypervisors ?? config.cluster.enabled_hypervisors
  for (const hypervisor of touchedHypervisors(op))
    if (enabled.includes(hypervisor)) await checkHvParamsOnNodes(ctx, nodes, hypervisor, hvparams[hypervisor] ?? {})
  for (const os of Object.keys(op.os_hvp ?? {}))
    for (const hypervisor of enabled) {
      const own = fields.os_hvp?.[os]?.[hypervisor]
      if (own !== undefined) await checkHvParamsOnNodes(ctx, nodes, hypervisor, { ...hvparams[hypervisor], ...own })
    }
  await checkAllOsParams(ctx, config, fields)
}

/** Checks all OSes with parameters each time. Skips an OS that the master does not have. */
async function checkAllOsParams(ctx: UnitContext, config: ConfigData, fields: Fields): Promise<void> {
  const displayed = fields.osparams ?? config.cluster.osparams
  const hidden = fields.osparams_private_cluster ?? config.cluster.osparams_private_cluster
  const master = config.nodes[config.cluster.master_node]
  if (master === undefined) return
  for (const os of new Set([...Object.keys(displayed), ...Object.keys(hidden)])) {
    const what = `OS Parameters validation failed on node ${master.name}`
    const params = { ...displayed[os], ...hidden[os] }
    if (!(await ctx.nodes.call(master, what, 'os_validate', [false, os, ['parameters'], params, false])))
      ctx.log.info(`OS ${os} not found on node ${master.name}, validation skipped`)
  }
}

const touchedHypervisors = (op: SetParams): Hypervisor[] =>
  HYPERVISORS.filter((name) => Object.hasOwn(op.hvparams ?? {}, name) || (op.enabled_hypervisors ?? []).includes(name))

function newHvParams(config: ConfigData, op: SetParams): Cluster['hvparams'] | undefined {
  if (op.enabled_hypervisors?.length === 0) throw invalid('Enabled hypervisors list must contain at least one member')
  if (op.enabled_hypervisors !== undefined) checkHypervisorsUnused(config, op.enabled_hypervisors)
  const unknown = Object.keys(op.hvparams ?? {}).filter((name) => !HYPERVISORS.some((known) => known === name))
  if (unknown.length > 0) throw new HypervisorError(`Unknown hypervisor type '${unknown.join(', ')}'`)
  const touched = touchedHypervisors(op)
  if (touched.length === 0) return undefined
  const result: Record<string, Params> = { ...config.cluster.hvparams }
  for (const hypervisor of touched) {
    const filled = {
      ...hvDefaults(hypervisor),
      ...supported(hypervisor, result[hypervisor]),
      ...enforceTypes(op.hvparams?.[hypervisor] ?? {}, hvParamTypes(hypervisor)),
    }
    checkHvParams(hypervisor, filled)
    result[hypervisor] = filled
  }
  return result
}

/** Configurations of older versions contain parameters that no longer exist. */
const supported = (hypervisor: Hypervisor, params: Params = {}): Params =>
  Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(HV_PARAMS[hypervisor], name)))

function checkHypervisorsUnused(config: ConfigData, enabled: readonly Hypervisor[]): void {
  const users = recordValues(config.instances).filter((instance) => !enabled.includes(instance.hypervisor))
  const [first] = users
  if (first === undefined) return
  const names = users.filter((one) => one.hypervisor === first.hypervisor).map((one) => one.name)
  throw new OpPrereqError(
    `Cannot disable hypervisor '${first.hypervisor}', because there is at least one instance using it:\n * ${names.join('\n * ')}`,
    ECODE.STATE,
  )
}

/** Null removes a parameter, or all of a hypervisor. */
function newOsHvp(
  cluster: Cluster,
  hvparams: ByHypervisor,
  changes: Readonly<Record<string, Given>>,
): Cluster['os_hvp'] {
  const result: Record<string, Record<string, Params>> = {}
  for (const [os, byHypervisor] of Object.entries(cluster.os_hvp)) result[os] = { ...byHypervisor }
  for (const [os, byHypervisor] of Object.entries(changes)) {
    const own = (result[os] ??= {})
    for (const [name, params] of Object.entries(byHypervisor)) {
      const hypervisor = HYPERVISORS.find((known) => known === name)
      if (hypervisor === undefined) throw new HypervisorError(`Unknown hypervisor type '${name}'`)
      if (params === null) {
        delete own[hypervisor]
        continue
      }
      if (!isDictionary(params)) throw invalid(`Hypervisor parameters of OS ${os} for ${name} are not a dictionary`)
      own[hypervisor] = withoutNulls({
        ...own[hypervisor],
        ...enforceTypes(params, hvParamTypes(hypervisor), [null]),
      })
      checkHvParams(hypervisor, {
        ...hvDefaults(hypervisor),
        ...supported(hypervisor, hvparams[hypervisor]),
        ...own[hypervisor],
      })
      if (Object.keys(own[hypervisor]).length === 0) delete own[hypervisor]
    }
    if (Object.keys(own).length === 0) delete result[os]
  }
  return result
}

const withoutNulls = (params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))

const newBeParams = (cluster: Cluster, changes: Given): BeParams => ({
  ...BE_DEFAULTS,
  ...beParams(cluster, changes, cluster.beparams.default),
})

const newNdParams = (cluster: Cluster, changes: Given): NdParams => ({
  ...ND_DEFAULTS,
  ...updatedNdParams({ ...cluster.ndparams }, changes),
})

function newNicParams(config: ConfigData, changes: Given): NicParams {
  const params = { ...config.cluster.nicparams.default, ...enforceTypes(changes, NIC_TYPES) }
  const problem = nicProblem(params)
  if (problem !== undefined) throw new ConfigurationError(problem)
  const problems = recordValues(config.instances).flatMap((instance) =>
    instance.nics.flatMap((nic, index) => {
      const filled = { ...params, ...nic.nicparams }
      const wrong =
        nicProblem(filled) ?? (filled.mode === 'routed' && !nic.ip ? 'routed NIC with no ip address' : undefined)
      return wrong === undefined ? [] : [`Instance ${instance.name}, nic/${index}: ${wrong}`]
    }),
  )
  if (problems.length > 0) throw invalid(`Cannot apply the change, errors:\n${problems.join('\n')}`)
  return params
}

function nicProblem({ mode, link }: NicParams): string | undefined {
  if (!NIC_MODES.some((known) => known === mode)) return `Invalid NIC mode '${mode}'`
  if ((mode === 'bridged' || mode === 'openvswitch') && link === '') return `Missing ${mode} NIC link`
  return undefined
}

/** Null or `default` removes a parameter. An OS without parameters is removed too. */
function newOsParams(old: Readonly<Record<string, OsParams>>, changes: Readonly<Record<string, Given>>) {
  const result: Record<string, OsParams> = { ...old }
  for (const [os, params] of Object.entries(changes)) {
    const own: Record<string, string> = { ...result[os] }
    for (const [name, value] of Object.entries(params)) {
      if (value === null || value === VALUE.default) delete own[name]
      else own[name] = String(value)
    }
    if (Object.keys(own).length > 0) result[os] = own
    else delete result[os]
  }
  return result
}

function newDiskState(cluster: Cluster, changes: Given): Cluster['disk_state_static'] {
  const states = updatedDiskState(cluster.disk_state_static, changes)
  return Object.fromEntries(
    Object.entries(states).map(([storage, units]) => [
      storage,
      filledStates(isDictionary(units) ? units : {}, DISK_STATE_DEFAULTS),
    ]),
  )
}

const filledStates = (states: Given, defaults: Given): Cluster['hv_state_static'] =>
  Object.fromEntries(
    Object.entries(states).map(([name, state]) => [name, { ...defaults, ...(isDictionary(state) ? state : {}) }]),
  )

const isDictionary = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
