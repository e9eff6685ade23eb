// The state of the form for a new instance: fields that depend on choices, and the resulting request.
import { useQuery } from '@tanstack/react-query'
import { schema } from 'openapi:POST /3/instances'
import { useState } from 'react'
import { sessionStore } from '../../api/session-store'
import { type Cluster, useCluster, valuesOf } from '../../api/cluster'
import { ofSession } from '../../forms/session-fields'
import { parameterField } from '../../forms/parameter-fields'
import { type Field, fieldOf, otherFields, type Values } from '../../forms/schema'
import { type Form, useForm } from '../../forms/use-form'
import { complaintsOf } from '../../forms/values'
import type { Request } from '../../parts/request'
import { texts } from '../../texts'
import { DISK_SIZE, DISK, rareDiskFields } from './actions/disks'
import { nicFields, rareNicFields } from './actions/nics'
import { osNamed, osParameter, osParametersOf, osQuery, useHypervisor } from './cluster'
import { bodyOfDraft, gntOfDraft, partOf, plainOf, type Row, rowBody, type Source, within } from './draft'
import { backendFields } from './parameters'
import { outsideScope, typedInScope } from './scope'
import { TEMPLATES } from './templates'

const own = texts.instances.create
const words = texts.instances.actions

export interface Sections {
  readonly general: readonly Field[]
  readonly os: readonly Field[]
  readonly backend: readonly Field[]
  readonly rareBackend: readonly Field[]
  readonly template: readonly Field[]
  readonly disk: readonly Field[]
  readonly rareDisk: readonly Field[]
  readonly nic: readonly Field[]
  readonly rareNic: readonly Field[]
  readonly place: readonly Field[]
  readonly hypervisor: readonly Field[]
  readonly rareHypervisor: readonly Field[]
  readonly options: readonly Field[]
  readonly others: readonly Field[]
}

export interface Draft {
  readonly form: Form
  readonly sections: Sections
  readonly disks: readonly Row[]
  readonly nics: readonly Row[]
  readonly template: string
  readonly chosen: boolean
  readonly request: Request
  readonly complete: boolean
  /** Why the instance would be outside the scope of the user's token. */
  readonly outside: string | undefined
  /** Keeps the input under a key, for a form that is opened again. */
  keep(this: void, key: string): void
  /** Drops the input with which this form started. */
  forget(this: void): void
  setDisks(this: void, rows: readonly Row[]): void
  setNics(this: void, rows: readonly Row[]): void
  setChosen(this: void, chosen: boolean): void
}

/** Parameters that the page shows elsewhere, or that only programs need. */
const PLACED = [
  ...['instance_name', 'os_type', 'osparams', 'beparams', 'hvparams', 'disks', 'nics', 'disk_template', 'group_name'],
  ...['iallocator', 'pnode', 'snode', 'hypervisor', 'start', 'wait_for_sync', 'tags', 'mode', 'no_install'],
  ...['source_handshake', 'source_instance_name', 'source_shutdown_timeout', 'source_x509_ca', 'src_node', 'src_path'],
  ...['compress', 'forthcoming', 'commit', 'helper_startup_timeout', 'helper_shutdown_timeout'],
]

interface Kept extends Pick<Draft, 'disks' | 'nics' | 'chosen'> {
  readonly typed: Values
  readonly choice: Choice
}

const kept = new Map<string, Kept>()

/** `again`: the key of the input with which the form starts. */
export function useDraft(source: Source, again = ''): Draft {
  const [before] = useState(() => kept.get(again))
  const first: readonly Row[] = source.kind === 'new' ? [{ key: 0, values: {} }] : []
  const [disks, setDisks] = useState(before?.disks ?? first)
  const [nics, setNics] = useState(before?.nics ?? first)
  const [chosen, setChosen] = useState(before?.chosen ?? false)
  // Choices decide which other fields exist, so they are read first.
  const [choice, setChoice] = useState(before?.choice ?? { os: '', hypervisor: '', template: '' })
  const hypervisor = useHypervisorName(choice)
  const sections = useSections(source, { ...choice, hypervisor }, chosen)
  const { disk, rareDisk, nic, rareNic, ...single } = sections
  const scope = sessionStore.scope()
  const form = useForm(Object.values(single).flat(), before?.typed ?? typedInScope(scope))
  const typed = form.body
  const hvparams = partOf('hv', typed)
  const now = {
    os: String(typed['os_type'] ?? ''),
    hypervisor: String(typed['hypervisor'] ?? ''),
    template: String(form.values['disk_template'] ?? ''),
  }
  if (now.os !== choice.os || now.hypervisor !== choice.hypervisor || now.template !== choice.template) setChoice(now)
  const [diskFields, nicsFields] = [
    [...disk, ...rareDisk],
    [...nic, ...rareNic],
  ]
  const empty = TEMPLATES[now.template]?.empty === true
  const body = bodyOfDraft(
    {
      // Sent even if the cluster would choose the same, so that the request equals what the form shows.
      plain: {
        ...(Object.keys(hvparams).length > 0 && { hypervisor }),
        ...plainOf(typed),
        ...(now.template === '' ? {} : { disk_template: now.template }),
      },
      ...{ beparams: partOf('be', typed), hvparams, osparams: partOf('os', typed) },
      disks: disks.map((row) => rowBody(diskFields, row)),
      nics: nics.map((row) => rowBody(nicsFields, row)),
    },
    source,
  )
  const wrong = (fields: readonly Field[], rows: readonly Row[]) =>
    rows.some(({ values }) => Object.keys(complaintsOf(fields, values)).length > 0)
  return {
    ...{ form, sections, disks, nics, setDisks, setNics, chosen, setChosen, template: now.template },
    request: { method: 'POST', path: '/3/instances', body, gnt: gntOfDraft(body, source) },
    keep: (key) => void kept.set(key, { typed: form.typed, disks, nics, chosen, choice }),
    forget: () => void kept.delete(again),
    outside: outsideScope(scope, body),
    complete: form.complete && (empty || !wrong(diskFields, disks)) && !wrong(nicsFields, nics),
  }
}

interface Choice {
  readonly os: string
  readonly hypervisor: string
  readonly template: string
}

/** The chosen hypervisor, or the cluster's default. */
function useHypervisorName({ hypervisor }: Choice): string {
  const { data: cluster } = useCluster()
  return hypervisor || (cluster?.default_hypervisor ?? cluster?.enabled_hypervisors[0] ?? '')
}

function useSections(source: Source, choice: Choice, chosen: boolean): Sections {
  const { data: cluster } = useCluster()
  const { data: systems } = useQuery(osQuery)
  const hypervisors = cluster?.enabled_hypervisors ?? []
  const { hypervisor } = choice
  const facts = useHypervisor(hypervisor, choice.os)
  const inheritedHv = { ...facts?.defaults, ...facts?.cluster, ...facts?.os }
  const hv = Object.entries(facts?.schemas ?? {})
    .filter(([name]) => !texts.instances.clusterOnly.includes(name))
    .map(([name, one]) => parameterField(name, one, {}, inheritedHv[name], texts.instances.hypervisorWords[name]))
  const common = texts.instances.commonHypervisor.slice(0, 4)
  const isCommon = ({ name }: Field) => common.includes(name)
  const be = backendFields({}, valuesOf(cluster?.beparams, 'default'))
  const templates = cluster?.enabled_disk_templates ?? []
  return {
    general: [
      fieldOf(schema, 'instance_name', own.instance_name),
      ...(source.kind === 'new' ? [osField(systems)] : []),
      fieldOf(schema, 'tags', words.tags.tags),
    ],
    os: within('os', osFields(systems, choice.os, cluster)),
    backend: within('be', be.slice(0, 2)),
    rareBackend: within('be', be.slice(2)),
    template: [
      fieldOf(schema, 'disk_template', {
        ...own.disk_template,
        required: true,
        initial: templates[0] ?? '',
        choices: templates.map((value) => ({ value, label: `${value}: ${texts.instances.templates[value] ?? ''}` })),
      }),
    ],
    disk: ofSession([DISK_SIZE, fieldOf(DISK, 'name', words.disk.name), fieldOf(DISK, 'mode', words.disk.mode)]),
    rareDisk: ofSession(rareDiskFields(choice.template)),
    ...{ nic: ofSession(nicFields()), rareNic: ofSession(rareNicFields()) },
    place: chosen
      ? [
          fieldOf(schema, 'pnode', { ...own.pnode, source: 'nodes', required: true, usedToo: true }),
          ...(TEMPLATES[choice.template]?.mirror === 'inside'
            ? [fieldOf(schema, 'snode', { ...own.snode, source: 'nodes', required: true, usedToo: true })]
            : []),
        ]
      : [
          fieldOf(schema, 'group_name', { ...own.group_name, source: 'groups', usedToo: true }),
          fieldOf(schema, 'iallocator', {
            ...own.iallocator,
            initial: '',
            placeholder: cluster?.default_iallocator || texts.forms.empty,
          }),
        ],
    hypervisor: [
      ...(hypervisors.length > 1
        ? [fieldOf(schema, 'hypervisor', { ...own.hypervisor, choices: hypervisors, placeholder: hypervisor })]
        : []),
      ...within('hv', hv.filter(isCommon)),
    ],
    rareHypervisor: within(
      'hv',
      hv.filter((field) => !isCommon(field)),
    ),
    options: [fieldOf(schema, 'start', own.start), fieldOf(schema, 'wait_for_sync', words.fields['wait_for_sync'])],
    others: [
      ...(source.kind === 'new'
        ? [fieldOf(schema, 'no_install', own.no_install), fieldOf(schema, 'forthcoming', own.forthcoming)]
        : []),
      ...otherFields(schema, PLACED, {
        ...words.fields,
        osparams_private: { ...words.fields['osparams_private'], hidden: true },
        osparams_secret: { ...words.fields['osparams_secret'], hidden: true },
      }),
    ],
  }
}

type Systems = Parameters<typeof osNamed>[0]

function osField(systems: Systems): Field {
  const usable = (systems ?? []).filter(({ hidden, blacklisted, valid }) => !hidden && !blacklisted && valid !== false)
  const choices = usable.flatMap(({ name = '', variants }) =>
    variants && variants.length > 0 ? variants.map((variant) => `${name}+${variant}`) : [name],
  )
  return fieldOf(schema, 'os_type', { ...own.os_type, choices, required: true })
}

function osFields(systems: Systems, os: string, cluster: Cluster | undefined): Field[] {
  const inherited = osParametersOf(cluster, os)
  return (osNamed(systems, os)?.parameters ?? []).map(([name = '', text]) =>
    parameterField(name, osParameter(schema, name), {}, inherited[name], { label: name, text }),
  )
}
