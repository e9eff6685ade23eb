// Parameters that one disk may have, over those of its group and of the cluster. They are in the disk's `params`, which Ganeti's programs
// read and fill in the same way.
import type { Params, ParamValue } from './common'
import { enforceTypes, type ParamSpecs, type ParamType } from './param-types'
import { DISK_TEMPLATES, type DiskTemplate, factsOf, isDiskTemplate } from './templates'

/** Those that a disk of this template may have. */
export function ownSpecs(template: DiskTemplate): ParamSpecs {
  const { params, perDisk = [] } = factsOf(template)
  return Object.fromEntries(Object.entries(params).filter(([name]) => perDisk.includes(name)))
}

/** Every template's. */
export const OWN_NAMES: readonly string[] = [
  ...new Set(DISK_TEMPLATES.flatMap((template) => factsOf(template).perDisk ?? [])),
]

/** They only say how a disk is made. A disk that exists cannot follow them. */
const FOR_MAKING: readonly string[] = [
  ...['stripes', 'stripe-size', 'data-stripes', 'data-stripe-size', 'meta-stripes', 'meta-stripe-size'],
]
export const onlyForMaking = (name: string): boolean => FOR_MAKING.includes(name)

/** The given ones of a disk of this template, in their types. Throws TypeEnforcementError. */
export function readOwn(template: DiskTemplate, input: Readonly<Record<string, unknown>>): Params {
  const specs = ownSpecs(template)
  const own = Object.entries(input).filter(([name]) => Object.hasOwn(specs, name))
  const types = Object.entries(specs).map(([name, { type }]): [string, ParamType] => [name, type])
  return enforceTypes(Object.fromEntries(own), Object.fromEntries(types), [WORD])
}

/** Takes the value of the group. */
const WORD = 'default'

export const withoutDefaults = (params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== WORD))

/** Why a value cannot be; undefined if it can. */
export function valueProblem(name: string, value: unknown): string | undefined {
  if (/(^|-)stripes$/.test(name))
    return isBetween(value, 1, STRIPES_MAX) ? undefined : `${name} is a number from 1 to ${STRIPES_MAX}`
  if (!/(^|-)stripe-size$/.test(name) || value === 0) return undefined
  const isPower = typeof value === 'number' && Number.isInteger(Math.log2(value))
  return isPower && isBetween(value, STRIPE_MIN_KIB, STRIPE_MAX_KIB)
    ? undefined
    : `${name} is a power of two from ${STRIPE_MIN_KIB} to ${STRIPE_MAX_KIB} KiB, or 0 for LVM's own size`
}

/** LVM's bounds. */
const STRIPES_MAX = 128
const STRIPE_MIN_KIB = 4
const STRIPE_MAX_KIB = 4096

const isBetween = (value: unknown, from: number, to: number): boolean =>
  typeof value === 'number' && value >= from && value <= to

/** The data volume of a mirror is striped as the disk without a mirror is. */
const SAME: readonly (readonly [plain: string, mirror: string])[] = [
  ['stripes', 'data-stripes'],
  ['stripe-size', 'data-stripe-size'],
]

/** What a disk keeps of its parameters when it becomes one of another template. */
export function carriedTo(params: Params | undefined, template: string): Params {
  if (!isDiskTemplate(template)) return {}
  const specs = ownSpecs(template)
  const renamed = (name: string): string => {
    const pair = SAME.find((one) => one.includes(name) && !Object.hasOwn(specs, name))
    return pair?.find((other) => other !== name) ?? name
  }
  const all = Object.entries(params ?? {}).map(([name, value]) => [renamed(name), value] as const)
  return Object.fromEntries(all.filter(([name]) => Object.hasOwn(specs, name)))
}

export interface ToldParameter {
  readonly name: string
  readonly value: ParamValue
  readonly source: 'disk' | 'group' | 'cluster'
}

type Level = { readonly diskparams: Readonly<Record<string, Params | undefined>> }

/** Each parameter that a level sets. The built-in values that every cluster has say nothing. */
export function toldParameters(
  { dev_type, params }: { readonly dev_type: DiskTemplate; readonly params?: Params },
  group: Level | undefined,
  cluster: Level,
): ToldParameter[] {
  const levels = { disk: params, group: group?.diskparams[dev_type], cluster: cluster.diskparams[dev_type] }
  return Object.entries(ownSpecs(dev_type)).flatMap(([name, { default: builtIn }]): ToldParameter[] => {
    const source = (['disk', 'group', 'cluster'] as const).find((level) => levels[level]?.[name] !== undefined)
    const value = source && levels[source]?.[name]
    return source === undefined || value === undefined || (source === 'cluster' && value === builtIn)
      ? []
      : [{ name, value, source }]
  })
}
