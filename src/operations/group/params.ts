// Parameters that groups and nodes override: merged with the old ones, coerced, and checked.
import { instanceDisks } from '../../config/lookup'
import type { ConfigData, GroupDiskParams, Instance, NdParams, Params } from '../../model/config'
import { DISK_DRIVER_ACCESS } from '../../model/constants/disks'
import { HYPERVISORS } from '../../model/constants/hypervisors'
import { ND_NOT_ON_NODES, ND_TYPES } from '../../model/constants/params'
import { VALUE } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { enforceTypes, type ParamType } from '../../model/param-types'
import { isObject } from '../../lib/shapes/shape'
import { valueProblem } from '../../model/disk-parameters'
import { DISK_TEMPLATES, factsOf, isDiskTemplate } from '../../model/templates'
import { readsInUserSpace } from '../instance/parameters/access'

type Given = Readonly<Record<string, unknown>>
/** Static state: parameters by hypervisor, or by storage type and volume group. */
type State = Readonly<Record<string, unknown>>

/** Merges the given parameters into the old ones; the word `default` removes one. */
function updatedParams(old: Given, input: Given): Record<string, unknown> {
  const result: Record<string, unknown> = { ...old }
  for (const [name, value] of Object.entries(input)) {
    if (value === VALUE.default) delete result[name]
    else result[name] = value
  }
  return result
}

export const updatedNdParams = (old: Given, input: Given): Partial<NdParams> =>
  enforceTypes(updatedParams(old, input), ND_TYPES)

/** Some parameters are only for whole groups. */
export function checkNodeLevel(input: Given): void {
  const used = ND_NOT_ON_NODES.filter((name) => Object.hasOwn(input, name))
  if (used.length > 0)
    throw new OpPrereqError(
      `The following node parameters are global and cannot be customized at node level, please modify them at cluster or group level: ${used.join(', ')}`,
      ECODE.INVAL,
    )
}

const ALL_DISK_PARAM_TYPES: Readonly<Record<string, ParamType>> = Object.assign(
  {},
  ...DISK_TEMPLATES.map((template) =>
    Object.fromEntries(Object.entries(factsOf(template).params).map(([name, spec]) => [name, spec.type])),
  ),
)

/** Disk parameters of a group, or of the cluster; templates that are not given keep theirs. */
export function updatedDiskParams(old: GroupDiskParams, input: Readonly<Record<string, Given>>): GroupDiskParams {
  const problem = accessProblem(input)
  if (problem !== undefined) throw new OpPrereqError(problem)
  const merged: Record<string, Params> = { ...old }
  for (const [template, params] of Object.entries(input))
    merged[template] = enforceTypes(updatedParams(old[template] ?? {}, params), ALL_DISK_PARAM_TYPES)
  const known = (template: string, name: string) =>
    isDiskTemplate(template) && Object.hasOwn(factsOf(template).params, name)
  const foreign = Object.entries(merged).flatMap(([template, params]) =>
    Object.keys(params).flatMap((name) => (known(template, name) ? [] : [`${template}/${name}`])),
  )
  for (const [template, params] of Object.entries(input))
    for (const name of Object.keys(params)) {
      const wrong = name.endsWith('stripe-size') ? valueProblem(name, merged[template]?.[name] ?? 0) : undefined
      if (wrong !== undefined) throw new OpPrereqError(`Disk parameter ${template}:${wrong}`, ECODE.INVAL)
    }
  if (foreign.length > 0)
    throw new OpPrereqError(
      `While verify diskparams options: Provided option keys not supported: ${foreign.join(', ')}`,
      ECODE.INVAL,
    )
  return merged
}

export function accessProblem(input: Readonly<Record<string, Given>>): string | undefined {
  for (const [template, { access }] of Object.entries(input)) {
    if (access === undefined || DISK_DRIVER_ACCESS.some((mode) => mode === access)) continue
    return `Invalid value of '${template}:access': '${String(access)}' (expected one of ${DISK_DRIVER_ACCESS.join(', ')})`
  }
  return undefined
}

export function checkDiskAccess(config: ConfigData, instances: readonly Instance[], params: GroupDiskParams): void {
  for (const [template, { access }] of Object.entries(params)) {
    if (access !== 'userspace' || !(isDiskTemplate(template) && factsOf(template).access === true)) continue
    for (const instance of instances) {
      const uses = instanceDisks(config, instance).some((disk) => disk.dev_type === template)
      if (uses && !readsInUserSpace(instance.hypervisor))
        throw new OpPrereqError(
          `Instance ${instance.name}: cannot use '${access}' access setting with ${instance.hypervisor} hypervisor and ${template} disk type.`,
          ECODE.INVAL,
        )
    }
  }
}

const HV_STATE_TYPES: Readonly<Record<string, ParamType>> = {
  mem_total: 'int',
  mem_node: 'int',
  mem_hv: 'int',
  cpu_total: 'int',
  cpu_node: 'int',
}
const DISK_STATE_TYPES: Readonly<Record<string, ParamType>> = {
  disk_total: 'int',
  disk_reserved: 'int',
  disk_overhead: 'int',
}
const DISK_STATE_STORAGE: readonly string[] = ['plain']

export function updatedHvState(old: State = {}, input: State): State {
  const unknown = Object.keys(input).filter((name) => !HYPERVISORS.some((known) => known === name))
  if (unknown.length > 0)
    throw new OpPrereqError(`Invalid hypervisor(s) in hypervisor state: ${unknown.join(', ')}`, ECODE.INVAL)
  return updatedState(old, input, HV_STATE_TYPES)
}

export function updatedDiskState(old: State = {}, input: State): State {
  const unknown = Object.keys(input).filter((name) => !DISK_STATE_STORAGE.includes(name))
  if (unknown.length > 0)
    throw new OpPrereqError(`Invalid storage type(s) in disk state: ${unknown.join(', ')}`, ECODE.INVAL)
  return Object.fromEntries(
    Object.entries(input).map(([type, units]) => [
      type,
      updatedState(asObject(old[type]), asObject(units), DISK_STATE_TYPES),
    ]),
  )
}

function updatedState(old: State, input: State, types: Readonly<Record<string, ParamType>>): State {
  const changed: Record<string, unknown> = { ...old }
  for (const [name, params] of Object.entries(input))
    changed[name] = enforceTypes(updatedParams(asObject(old[name]), asObject(params)), types)
  return changed
}

/** Treats a value that is not an object as an empty object. The caller checks the types of the members. */
export const asObject = (value: unknown): Given => (isObject(value) ? value : {})
