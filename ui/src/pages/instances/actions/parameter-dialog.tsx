// Dialogs that change parameters of an instance: its resources, hypervisor parameters and OS parameters. A field shows the instance's own
// value. An empty field shows the inherited value.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { schema as change } from 'openapi:PATCH /3/instances/{name}'
import { useCluster, valuesOf } from '../../../api/cluster'
import { Fields } from '../../../forms/fields'
import { parameterField } from '../../../forms/parameter-fields'
import { type Field, fieldOf, type Values } from '../../../forms/schema'
import { useForm } from '../../../forms/use-form'
import { type Action, type DialogProps, nothingChanged } from '../../../parts/action'
import { RequestDialog } from '../../../parts/request-dialog'
import { texts } from '../../../texts'
import { osNamed, osParameter, osParametersOf, osQuery, useHypervisor } from '../cluster'
import type { Instance } from '../instance'
import { backendFields } from '../parameters'
import { isRunning, modify, seenOf } from './request'

const own = texts.instances.actions
const group = own.groups.change
type Props = DialogProps<Instance>

export const RESOURCES: Action<Instance> = {
  ...{ id: 'resources', label: own.resources.label, permission: 'instances.modify', group },
  dialog: ResourcesDialog,
}

export const HYPERVISOR: Action<Instance> = {
  ...{ id: 'hypervisor', label: own.hypervisor.label, permission: 'instances.modify', group },
  dialog: HypervisorDialog,
}

export const OS_PARAMETERS: Action<Instance> = {
  ...{ id: 'os-parameters', label: own.osParameters.label, permission: 'instances.modify', group },
  dialog: OsDialog,
}

function ResourcesDialog({ subject: instance, close }: Props) {
  const { data: cluster } = useCluster()
  const fields = backendFields(instance.custom_beparams ?? {}, valuesOf(cluster?.beparams, 'default'))
  return (
    <ParameterDialog
      {...{ instance, close }}
      label={own.resources.label}
      text={isRunning(instance) ? own.resources.running(instance.name) : own.resources.text(instance.name)}
      parameter="beparams"
      fields={fields.slice(0, 3)}
      rare={fields.slice(3)}
      manner={[
        ...(isRunning(instance) ? [fieldOf(change, 'runtime_mem', { ...own.resources.runtime_mem, size: true })] : []),
        fieldOf(change, 'ignore_ipolicy', own.fields.ignore_ipolicy),
        fieldOf(change, 'force', own.fields.force),
      ]}
    />
  )
}

function HypervisorDialog({ subject: instance, close }: Props) {
  const facts = useHypervisor(instance.hypervisor ?? '', instance.os ?? '')
  const inherited = { ...facts?.defaults, ...facts?.cluster, ...facts?.os }
  const mine = instance.custom_hvparams ?? {}
  const fields = Object.entries(facts?.schemas ?? {})
    .filter(([name]) => !texts.instances.clusterOnly.includes(name))
    .map(([name, schema]) => parameterField(name, schema, mine, inherited[name], texts.instances.hypervisorWords[name]))
  const isCommon = ({ name }: Field) => Object.hasOwn(mine, name) || texts.instances.commonHypervisor.includes(name)
  return (
    <ParameterDialog
      {...{ instance, close }}
      label={own.hypervisor.label}
      text={isRunning(instance) ? own.hypervisor.running(instance.name) : own.hypervisor.text(instance.name)}
      parameter="hvparams"
      fields={fields.filter(isCommon)}
      rare={fields.filter((field) => !isCommon(field))}
      manner={[fieldOf(change, 'force', own.fields.force)]}
    />
  )
}

function OsDialog({ subject: instance, close }: Props) {
  const { data: cluster } = useCluster()
  const { data: all } = useQuery(osQuery)
  const os = instance.os ?? ''
  const inherited = osParametersOf(cluster, os)
  const mine = instance.custom_osparams ?? {}
  const declared = osNamed(all, os)?.parameters ?? []
  const names = [...new Set([...declared.map(([name = '']) => name), ...Object.keys(mine)])]
  const fields = names.map((name) =>
    parameterField(name, osParameter(change, name), mine, inherited[name], {
      label: name,
      text: declared.find(([one]) => one === name)?.[1],
    }),
  )
  return (
    <ParameterDialog
      {...{ instance, close }}
      label={own.osParameters.label}
      text={own.osParameters.text(instance.name)}
      parameter="osparams"
      fields={fields}
      rare={[]}
      manner={[fieldOf(change, 'osparams_private', { ...own.fields.osparams_private, hidden: true })]}
      none={own.osParameters.none(os)}
    />
  )
}

interface ParameterDialogProps {
  readonly instance: Instance
  readonly label: string
  readonly text: string
  /** The parameter of the request that contains these parameters. */
  readonly parameter: 'beparams' | 'hvparams' | 'osparams'
  readonly fields: readonly Field[]
  readonly rare: readonly Field[]
  /** Fields for the request itself. */
  readonly manner: readonly Field[]
  /** The text for a dialog without fields. */
  readonly none?: string
  readonly typed?: Values
  readonly close: () => void
}

function ParameterDialog(props: ParameterDialogProps) {
  const { instance, label, text, parameter, manner, close } = props
  const within = (fields: readonly Field[]) => fields.map((field) => ({ ...field, at: [parameter, field.name] }))
  const [fields, rare] = [within(props.fields), within(props.rare)]
  const form = useForm([...fields, ...rare, ...manner], props.typed)
  const { body } = form
  return (
    <RequestDialog
      title={label}
      label={texts.action.change}
      text={text}
      request={modify(instance, body)}
      secret={form.isSecret}
      incomplete={!form.complete}
      complaint={nothingChanged(body, ['force', 'ignore_ipolicy'])}
      object={seenOf(instance)}
      refuse={form.refuse}
      reopened={props.typed !== undefined}
      again={(done) => <ParameterDialog {...props} typed={form.typed} close={done} />}
      close={close}
    >
      {fields.length + rare.length === 0 && props.none !== undefined && (
        <Text size="sm" c="dimmed">
          {props.none}
        </Text>
      )}
      <Fields
        fields={fields}
        others={[...rare, ...manner]}
        values={form.values}
        errors={form.errors}
        change={form.change}
      />
    </RequestDialog>
  )
}
