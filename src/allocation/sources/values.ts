// Values that all sources of a cluster share.
import { type AllocPolicy, BadClusterData, type Policy, type Spec } from '../model/cluster-data'
import type { JsonFields } from './json-fields'
import { type DiskTemplate, isDiskTemplate } from '../../model/templates'

export function templateOf(text: string): DiskTemplate {
  if (!isDiskTemplate(text)) throw new BadClusterData(`Invalid value ${text} for disk template`)
  return text
}

export function allocPolicyOf(text: string): AllocPolicy {
  if (text === 'preferred' || text === 'last_resort' || text === 'unallocable') return text
  throw new BadClusterData(`Invalid alloc policy value '${text}'`)
}

/** A filled instance policy. */
export const policyOf = (fields: JsonFields): Policy => ({
  minMax: fields.objects('minmax').map((pair) => ({
    min: specOf(pair.object('min', 'minmax')),
    max: specOf(pair.object('max', 'minmax')),
  })),
  standard: specOf(fields.object('std', 'std')),
  templates: fields.strings('disk-templates').map(templateOf),
  vcpuRatio: fields.number('vcpu-ratio'),
  spindleRatio: fields.number('spindle-ratio'),
})

const specOf = (fields: JsonFields): Spec => ({
  memory: fields.number('memory-size'),
  cpus: fields.number('cpu-count'),
  disk: fields.number('disk-size'),
  disks: fields.number('disk-count'),
  nics: fields.number('nic-count'),
  spindles: fields.number('spindle-use'),
})

const STATUSES = [
  'ADMIN_down',
  'ADMIN_offline',
  'ERROR_down',
  'ERROR_nodedown',
  'ERROR_nodeoffline',
  'ERROR_up',
  'ERROR_wrongnode',
  'USER_down',
  'running',
]

export function statusOf(text: string): string {
  if (!STATUSES.includes(text)) throw new BadClusterData(`Invalid value ${text} for instance status`)
  return text
}
