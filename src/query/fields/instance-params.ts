// Query fields of instances' parameters, by name.
import { CLUSTER_ONLY_HVPARAMS, HV_PARAMS, type HvParam } from '../../model/constants/hypervisors'
import type { BeParams } from '../../model/params'
import { type Field, type FieldKind, type FieldTable, cell, field, optional, PARAMETERS, PLAIN } from '../field'
import type { InstanceRow } from './instance-live'

const BE_COLUMNS: Readonly<Record<keyof BeParams, readonly [kind: FieldKind, title?: string]>> = {
  always_failover: ['bool'],
  auto_balance: ['bool', 'Auto_balance'],
  maxmem: ['unit', 'ConfigMaxMem'],
  minmem: ['unit', 'ConfigMinMem'],
  spindle_use: ['number'],
  vcpus: ['number', 'ConfigVCPUs'],
}

const beParams = ({ instance, index }: InstanceRow) => index.beParams(instance)
const hvParams = ({ instance, index }: InstanceRow) => index.hvParams(instance)

export const instanceParamFields: FieldTable<InstanceRow> = {
  ...backendColumns(),
  'be/memory': backend('maxmem', 'The "maxmem" backend parameter'),
  vcpus: backend('vcpus', 'The "vcpus" backend parameter'),
  ...Object.fromEntries(hypervisorColumns()),
  beparams: field('BackendParameters', 'other', 'Backend parameters (merged)', (row) => cell(beParams(row)), {
    shape: PARAMETERS,
  }),
  hvparams: field('HypervisorParameters', 'other', 'Hypervisor parameters (merged)', (row) => cell(hvParams(row)), {
    shape: PARAMETERS,
  }),
  osparams: field(
    'OpSysParameters',
    'other',
    'Operating system parameters (merged)',
    ({ instance, index }) => cell(index.osParams(instance)),
    { shape: PARAMETERS },
  ),
  custom_beparams: field(
    'CustomBackendParameters',
    'other',
    'Custom backend parameters',
    ({ instance }) => cell(instance.beparams),
    { shape: PARAMETERS },
  ),
  custom_hvparams: field(
    'CustomHypervisorParameters',
    'other',
    'Custom hypervisor parameters',
    ({ instance }) => cell(instance.hvparams),
    { shape: PARAMETERS },
  ),
  custom_nicparams: field(
    'CustomNicParameters',
    'other',
    'Custom network interface parameters',
    ({ instance }) => cell(instance.nics.map(({ nicparams }) => nicparams)),
    { shape: '{ [name: string]: unknown }[]' },
  ),
  custom_osparams: field(
    'CustomOpSysParameters',
    'other',
    'Custom operating system parameters',
    ({ instance }) => cell(instance.osparams),
    { shape: PARAMETERS },
  ),
}

function backendColumns(): FieldTable<InstanceRow> {
  return {
    'be/always_failover': backend('always_failover'),
    'be/auto_balance': backend('auto_balance'),
    'be/maxmem': backend('maxmem'),
    'be/minmem': backend('minmem'),
    'be/spindle_use': backend('spindle_use'),
    'be/vcpus': backend('vcpus'),
  }
}

function backend(name: keyof BeParams, doc = `The "${name}" backend parameter`): Field<InstanceRow> {
  const [kind, title = `be/${name}`] = BE_COLUMNS[name]
  return field(title, kind, doc, (row) => cell(beParams(row)[name]), { part: beParams })
}

/** `hv/NAME` for every parameter that any hypervisor lets an instance set. */
function hypervisorColumns(): [string, Field<InstanceRow>][] {
  const all = new Map<string, HvParam>()
  for (const params of Object.values(HV_PARAMS)) {
    for (const [name, param] of Object.entries(params)) all.set(name, all.get(name) ?? param)
  }
  return [...all]
    .filter(([name]) => !CLUSTER_ONLY_HVPARAMS.includes(name))
    .map(([name, { type, title = `hv/${name}` }]) => [
      `hv/${name}`,
      field(title, kindOf(type), `The "${name}" hypervisor parameter`, (row) => optional(hvParams(row)[name]), {
        ...{ part: hvParams, shape: PLAIN },
      }),
    ])
}

function kindOf(type: HvParam['type']): FieldKind {
  if (type === 'bool') return 'bool'
  return type === 'int' ? 'number' : 'other'
}
