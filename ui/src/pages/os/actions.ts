// The cluster's settings of an operating system.
import { schema } from 'openapi:PATCH /3/os/{name}'
import { type Cluster, valuesOf } from '../../api/cluster'
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { parameterFields, type Values } from '../../forms/parameter-fields'
import { type Field, fieldOf, type Schema } from '../../forms/schema'
import { type Action, nothingChanged } from '../../parts/action'
import { gntText, yesNo } from '../../parts/gnt'
import { texts } from '../../texts'

export type Os = Named<components['schemas']['OsView']>

/** An OS, and what its form needs to know. */
export interface OsFacts {
  readonly os: Os
  readonly cluster: Cluster
  /** By hypervisor, the known facts about its parameters. */
  readonly hypervisors: Readonly<Record<string, Schema>>
}

const own = texts.os

export const CHANGE_OS: Action<OsFacts> = {
  ...{ id: 'change', label: own.change, permission: 'cluster.modify' },
  text: ({ os }) => own.changeText(os.name),
  fields: (facts) => [
    fieldOf(schema, 'hidden', { label: own.hiddenField, text: '', initial: facts.os.hidden }),
    fieldOf(schema, 'blacklisted', { label: own.blacklistedField, text: '', initial: facts.os.blacklisted }),
    ...osFields(facts.os),
    ...hypervisorFields(facts, true),
  ],
  others: (facts) => hypervisorFields(facts, false),
  seen: ({ os, cluster: { uuid, serial_no: serial } }) => ({
    etag: `"cluster/${uuid}/${serial}"`,
    facts: { hidden: os.hidden, blacklisted: os.blacklisted, osparams: os.osparams, hvparams: os.os_hvp },
  }),
  complaint: (_facts, body) => nothingChanged(body),
  request: ({ os: { name } }, body) => ({
    ...{ method: 'PATCH', path: `/3/os/${encodeURIComponent(name)}`, body },
    gnt: gntText('os modify', yesNo(body), [name], {
      ...{ osparams: 'os-parameters', hvparams: 'hypervisor-parameters' },
    }),
  }),
}

const takenAway = () => null

/** Declared parameters, and undeclared ones that are set. */
function osFields({ osparams, parameters }: Os): Field[] {
  const declared = (parameters ?? []).map(([name = '', text = '']) => [name, { type: 'string', description: text }])
  return parameterFields({
    ...{ at: ['osparams'], schema: { properties: Object.fromEntries(declared) as Record<string, Schema> } },
    ...{ own: osparams ?? {}, inherited: {}, cleared: takenAway, section: own.osparams },
  })
}

/** `first`: parameters that many people need, and those that are set. */
const hypervisorFields = ({ os, cluster, hypervisors }: OsFacts, first: boolean): Field[] =>
  cluster.enabled_hypervisors.flatMap((hypervisor) => {
    const values: Values = valuesOf(os.os_hvp, hypervisor)
    const isFirst = (name = '') => texts.instances.commonHypervisor.includes(name) || Object.hasOwn(values, name)
    return parameterFields({
      ...{ at: ['hvparams', hypervisor], schema: hypervisors[hypervisor], own: values },
      ...{ inherited: valuesOf(cluster.hvparams, hypervisor), cleared: takenAway },
      ...{ section: own.hvparamsOf(hypervisor), words: texts.instances.hypervisorWords },
    }).filter(({ at }) => isFirst(at?.at(-1)) === first)
  })
