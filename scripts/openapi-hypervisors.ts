// What the document says of the parameters of hypervisors: their types, values and defaults, from their table.
import type { Schema } from '../src/lib/shapes/shape'
import { CLUSTER_ONLY_HVPARAMS, HV_PARAMS, HYPERVISORS, type HvParam } from '../src/model/constants/hypervisors'

export const HYPERVISOR_PARAMETERS: Schema = {
  type: 'object',
  description: 'By hypervisor, its parameters: those of the cluster are what instances have that do not set their own.',
  properties: Object.fromEntries(
    HYPERVISORS.map((hypervisor) => [
      hypervisor,
      {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(HV_PARAMS[hypervisor]).map(([name, param]) => [name, schemaOf(name, param)]),
        ),
        additionalProperties: true,
      },
    ]),
  ),
  additionalProperties: true,
}

function schemaOf(name: string, param: HvParam): Schema {
  const { type, allowed, emptyOk, default: fallback } = param
  const values = allowed && [...new Set([...allowed, ...(emptyOk ? [''] : []), fallback as string | number])]
  return {
    type: type === 'bool' ? 'boolean' : type === 'int' ? 'integer' : type === 'float' ? 'number' : 'string',
    ...(type === 'maybe-string' ? { nullable: true } : {}),
    ...(values === undefined ? {} : { enum: values }),
    ...(typeof param.check === 'object' ? { minimum: param.check.min } : {}),
    default: fallback,
    ...(CLUSTER_ONLY_HVPARAMS.includes(name) ? { description: 'Of the cluster only: no instance has its own.' } : {}),
  }
}
