// Changes of an instance policy: a group may override the cluster's values, but only the cluster has standard specs.
import { instanceDisks, diskTemplateOf, instanceNodes } from '../../config/lookup'
import { fillBeParams, fillIPolicy, fillNdParams } from '../../config/filled'
import type { Cluster, ConfigData, Instance, IPolicy, NodeGroup } from '../../model/config'
import type { PartialIPolicy } from '../../model/config'
import { IPOLICY_KEYS, ISPEC_KEYS } from '../../model/constants/params'
import { VALUE } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import { enforceTypes, type ParamType } from '../../model/param-types'
import { countedSpindles, policyViolations } from '../instance/placement/ipolicy'
import { asObject } from './params'
import { DISK_TEMPLATES, type DiskTemplate } from '../../model/templates'

type Given = Readonly<Record<string, unknown>>
type Level = 'cluster' | 'group'

const ISPEC_TYPES: Readonly<Record<string, ParamType>> = {
  'memory-size': 'int',
  'disk-size': 'int',
  'disk-count': 'int',
  'cpu-count': 'int',
  'nic-count': 'int',
  'spindle-use': 'int',
}

/** Merges the given parts into the policy. Empty values and the word `default` remove a part of a group's policy. */
export function updatedIPolicy(old: PartialIPolicy, input: Given, level: Level): PartialIPolicy {
  const result: Record<string, unknown> = { ...old }
  for (const [key, value] of Object.entries(input)) {
    if (!IPOLICY_KEYS.some((known) => known === key)) throw invalid(`Invalid key in new ipolicy: ${key}`)
    if (!isUnset(value)) result[key] = part(key, value, old, level)
    else if (level === 'group') delete result[key]
    else throw invalid(`Can't unset ipolicy attribute '${key}' on the cluster'`)
  }
  const policy: PartialIPolicy = result
  checkBounds(policy, level)
  return policy
}

/** Checks the policy of a new group. As in Ganeti, the errors differ from those for a change of a policy. */
export function newIPolicy(input: Given): PartialIPolicy {
  if (isEmpty(input['minmax'])) throw malformed('Empty minmax specifications')
  if (isEmpty(input['disk-templates'])) throw malformed('Instance policy must contain at least one disk template')
  for (const key of ['spindle-ratio', 'vcpu-ratio'])
    if (input[key] !== undefined && toRatio(input[key]) === undefined)
      throw malformed(`Invalid value for key '${key}': ${notANumber(input[key])}`)
  const unknown = Object.keys(input).filter((key) => !IPOLICY_KEYS.some((known) => known === key))
  if (unknown.length > 0) throw malformed(`Invalid keys in ipolicy: ${unknown.join(', ')}`)
  return updatedIPolicy({}, input, 'group')
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const invalid = (text: string): OpPrereqError => new OpPrereqError(text, ECODE.INVAL)
const malformed = (text: string): OpPrereqError => invalid(`Invalid instance policy: ${text}`)

function isUnset(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0 || (value.length === 1 && value[0] === VALUE.default)
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return !value || value === VALUE.default
}

function part(key: string, value: unknown, old: PartialIPolicy, level: Level): unknown {
  switch (key) {
    case 'minmax':
      if (!Array.isArray(value)) throw malformed(`${key} must be a list of pairs of bounds`)
      return value.map((bounds: unknown) => minMax(bounds))
    case 'std':
      if (level === 'group') throw invalid(`${key} cannot appear in group instance specs`)
      return { ...old.std, ...enforceTypes(asObject(value), ISPEC_TYPES) }
    case 'disk-templates':
      return templates(value)
    default:
      return ratio(key, value)
  }
}

function minMax(bounds: unknown): { min: Given; max: Given } {
  const { min, max } = asObject(bounds)
  const missing = Object.entries({ min, max }).flatMap(([key, spec]) => (spec === undefined ? [key] : []))
  if (missing.length > 0) throw malformed(`Missing instance specification: ${missing.join(', ')}`)
  return { min: wholeSpec('min', min), max: wholeSpec('max', max) }
}

function wholeSpec(name: string, input: unknown): Given {
  const spec = enforceTypes(asObject(input), ISPEC_TYPES)
  const missing = ISPEC_KEYS.filter((key) => spec[key] === undefined)
  if (missing.length > 0) throw malformed(`Missing instance specs parameters for ${name}: ${missing.join(', ')}`)
  return spec
}

function templates(value: unknown): DiskTemplate[] {
  const names = Array.isArray(value) ? value.map(String) : [String(value)]
  const wrong = names.filter((name) => !DISK_TEMPLATES.some((template) => template === name))
  if (wrong.length > 0) throw malformed(`Invalid disk template(s) ${wrong.join(', ')}`)
  return [...new Set(names)].flatMap((name) => DISK_TEMPLATES.filter((template) => template === name))
}

function ratio(key: string, value: unknown): number {
  const number = toRatio(value)
  if (number === undefined) throw invalid(`Invalid value for attribute '${key}': ${notANumber(value)}`)
  return number
}

function toRatio(value: unknown): number | undefined {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN
  return Number.isFinite(number) ? number : undefined
}

const notANumber = (value: unknown): string =>
  `'${String(value)}', error: could not convert string to float: '${String(value)}'`

function checkBounds(policy: PartialIPolicy, level: Level): void {
  const { minmax, std } = policy
  if (minmax === undefined) return
  for (const { min, max } of minmax)
    for (const key of ISPEC_KEYS)
      if (min[key] > max[key])
        throw malformed(`Invalid specification of min/max values for ${key}: ${min[key]}/${max[key]}`)
  if (level === 'group') return
  const missing = ISPEC_KEYS.filter((key) => std?.[key] === undefined)
  if (missing.length > 0) throw malformed(`Missing instance specs parameters for std: ${missing.join(', ')}`)
  const within = minmax.some(({ min, max }) =>
    ISPEC_KEYS.every((key) => {
      const value = std?.[key] ?? min[key]
      return value >= min[key] && value <= max[key]
    }),
  )
  if (!within) throw malformed('Invalid std specifications')
}

export function checkTemplatesEnabled(policy: IPolicy, enabled: readonly DiskTemplate[]): void {
  const disabled = policy['disk-templates'].filter((template) => !enabled.includes(template))
  if (disabled.length > 0)
    throw invalid(
      `The following disk templates are allowed by the ipolicy, but not enabled on the cluster: ${disabled.join(', ')}`,
    )
}

/** The group's full policy with these overrides. */
export const policyWith = (cluster: Cluster, group: NodeGroup, ipolicy: PartialIPolicy): IPolicy =>
  fillIPolicy(cluster, { ...group, ipolicy })

/** Names of instances that fit the old policy and violate the new one. */
export function newlyViolating(
  config: ConfigData,
  instances: readonly Instance[],
  before: IPolicy,
  after: IPolicy,
): string[] {
  const violates = (policy: IPolicy, instance: Instance) => instanceViolations(config, instance, policy).length > 0
  return niceSort(
    instances.filter((instance) => violates(after, instance) && !violates(before, instance)).map(({ name }) => name),
  )
}

/** Why a configured instance violates a policy. */
export function instanceViolations(config: ConfigData, instance: Instance, policy: IPolicy): string[] {
  const be = fillBeParams(config.cluster, instance.beparams)
  const disks = instanceDisks(config, instance)
  const exclusive = instanceNodes(config, instance).some((uuid) => {
    const node = config.nodes[uuid]
    return node !== undefined && fillNdParams(config, node).exclusive_storage
  })
  return policyViolations(policy, {
    memory_mib: be.maxmem,
    vcpus: be.vcpus,
    diskSizes_mib: disks.map((disk) => disk.size),
    nics: instance.nics.length,
    spindles: countedSpindles(disks, be, exclusive),
    template: diskTemplateOf(config, instance),
  })
}
