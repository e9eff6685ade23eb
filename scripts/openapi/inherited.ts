// The document's description of parameters that objects inherit: their types, values and defaults, from the tables of the model.
import type { Schema } from '../../src/lib/shapes/shape'
import type { ParamValue } from '../../src/model/common'
import { DISK_DRIVER_ACCESS } from '../../src/model/constants/disks'
import { CLUSTER_ONLY_HVPARAMS, HV_PARAMS, HYPERVISORS, type HvParam } from '../../src/model/constants/hypervisors'
import * as params from '../../src/model/constants/params'
import type { ParamSpecs, ParamType } from '../../src/model/param-types'
import { DISK_TEMPLATES, factsOf } from '../../src/model/templates'
import { markInside } from './scope'

/** A size is a number like others, so the document states its unit. */
type Described = Schema & { 'x-unit'?: 'MiB' | 'KiB'; $ref?: string }

/** By name, the schemas to which views refer. */
export const INHERITED: Readonly<Record<string, Schema>> = {
  HypervisorParameters: {
    type: 'object',
    description: 'By hypervisor, its parameters. An instance that does not set its own has those of the cluster.',
    properties: Object.fromEntries(
      HYPERVISORS.map((name) => [name, ofParameter('hvparams', mapped(HV_PARAMS[name], hypervisorParameter))]),
    ),
    additionalProperties: true,
  },
  BackendParameters: ofParameter(
    'beparams',
    typed(params.BE_TYPES, params.BE_DEFAULTS),
    'Resources. An instance that does not set its own has those of the cluster.',
  ),
  NicParameters: ofParameter(
    'nics',
    typed(params.NIC_TYPES, params.NIC_DEFAULTS, { mode: params.NIC_MODES }),
    'How network cards are attached that do not set it themselves.',
  ),
  NodeParameters: ofParameter(
    'ndparams',
    typed(params.ND_TYPES, params.ND_DEFAULTS),
    'Parameters of nodes. A node has those that it sets itself, then those of its group, then those of the cluster.',
  ),
  DiskParameters: ofParameter(
    'diskparams',
    Object.fromEntries(
      DISK_TEMPLATES.filter((name) => Object.keys(factsOf(name).params).length > 0).map((name) => [
        name,
        dictionary(diskParameters(factsOf(name).params)),
      ]),
    ),
    'By disk template, its parameters. A group has those that it sets itself. The others are those of the cluster.',
  ),
  InstancePolicy: instancePolicy(),
}

/** Properties of the cluster's view about which these schemas say more than its types. */
export const OF_CLUSTER: Readonly<Record<string, Described>> = {
  hvparams: reference('HypervisorParameters'),
  beparams: dictionary({ default: reference('BackendParameters') }),
  nicparams: dictionary({ default: reference('NicParameters') }),
  ndparams: reference('NodeParameters'),
  diskparams: reference('DiskParameters'),
  ipolicy: reference('InstancePolicy'),
}

function reference(name: string): Described {
  return { $ref: `#/components/schemas/${name}` }
}

/** A cluster that was taken over from Ganeti may have others. */
function dictionary(properties: Record<string, Described>, description?: string): Schema {
  return { type: 'object', ...(description && { description }), properties, additionalProperties: true }
}

/** What a parameter of requests has within it. */
function ofParameter(parameter: string, properties: Record<string, Described>, description?: string): Schema {
  return markInside(parameter, dictionary(properties, description))
}

function mapped<V>(record: Readonly<Record<string, V>>, schemaOf: (name: string, value: V) => Schema) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, schemaOf(name, value)]))
}

function typed(
  types: Readonly<Record<string, ParamType>>,
  defaults: object,
  values: Readonly<Record<string, readonly string[]>> = {},
): Record<string, Schema> {
  const known: Readonly<Record<string, ParamValue>> = { ...defaults }
  return mapped(types, (name, type) => ({
    ...ofType(type),
    ...(values[name] && { enum: values[name] }),
    default: known[name],
  }))
}

function diskParameters(specs: ParamSpecs): Record<string, Schema> {
  return mapped(specs, (name, { type, default: fallback, ours }) => ({
    ...ofType(type),
    ...(name === 'access' && { enum: DISK_DRIVER_ACCESS }),
    // Missing unless somebody has set it.
    ...(!ours && { default: fallback }),
  }))
}

function ofType(type: ParamType): Described {
  switch (type) {
    case 'bool':
      return { type: 'boolean' }
    case 'int':
      return { type: 'integer' }
    case 'float':
      return { type: 'number' }
    case 'size':
      return { type: 'integer', 'x-unit': 'MiB' }
    case 'kib':
      return { type: 'integer', 'x-unit': 'KiB' }
    case 'string':
      return { type: 'string' }
    case 'maybe-string':
      return { type: 'string', nullable: true }
  }
}

function hypervisorParameter(name: string, param: HvParam): Schema {
  const { type, allowed, emptyOk, default: fallback } = param
  const values = allowed && [...new Set([...allowed, ...(emptyOk ? [''] : []), fallback as string | number])]
  return {
    ...ofType(type),
    ...(values === undefined ? {} : { enum: values }),
    ...(typeof param.check === 'object' ? { minimum: param.check.min } : {}),
    default: fallback,
    ...(CLUSTER_ONLY_HVPARAMS.includes(name)
      ? { description: 'Only the cluster has it, no instance has its own.' }
      : {}),
  }
}

function instancePolicy(): Schema {
  const { std } = params.IPOLICY_DEFAULTS
  const counted = (name: keyof typeof std): Described => ({
    ...{ type: 'integer', minimum: 0 },
    ...(name.endsWith('-size') && { 'x-unit': 'MiB' }),
  })
  const sizes = dictionary(Object.fromEntries(params.ISPEC_KEYS.map((name) => [name, counted(name)])))
  const ratio = (name: 'vcpu-ratio' | 'spindle-ratio', description: string): Schema => ({
    ...{ type: 'number', description, default: params.IPOLICY_DEFAULTS[name] },
  })
  return ofParameter(
    'ipolicy',
    {
      minmax: {
        ...{ type: 'array', description: 'Ranges of sizes. An instance must fit into one of them.' },
        items: { type: 'object', properties: { min: sizes, max: sizes }, required: ['min', 'max'] },
      },
      std: { ...sizes, description: 'The standard size, in which capacity is counted. Only the cluster has it.' },
      'disk-templates': {
        ...{ type: 'array', description: 'The disk templates that instances may have.' },
        items: { type: 'string', enum: DISK_TEMPLATES },
      },
      'vcpu-ratio': ratio('vcpu-ratio', 'How many virtual processors there may be for each processor of a node.'),
      'spindle-ratio': ratio('spindle-ratio', 'How many spindles instances may use for each spindle of a node.'),
    },
    'The limits of instances. A group has the parts that it sets itself. The others are those of the cluster.',
  )
}
