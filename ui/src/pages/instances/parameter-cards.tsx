// Parameters of an instance with their values and origins.
import { Group, Table, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useCluster, valuesOf } from '../../api/cluster'
import { type Action, ActionAt } from '../../parts/action'
import { Card, Nothing } from '../../parts/page'
import { parameterText } from '../../format/differences'
import { texts } from '../../texts'
import { HYPERVISOR, OS_PARAMETERS, RESOURCES } from './actions/parameter-dialog'
import { osParametersOf, useHypervisor } from './cluster'
import type { Instance } from './instance'
import { foundParameters, type Levels, originsOf, type Parameter } from './parameters'

const own = texts.instances
const words = own.page

export function ParameterCards({ instance }: { instance: Instance }) {
  const { data: cluster } = useCluster()
  const os = instance.os ?? ''
  const facts = useHypervisor(instance.hypervisor ?? '', os)
  const cards = [
    {
      ...{ title: own.backend, action: RESOURCES, effective: instance.beparams },
      levels: { instance: instance.custom_beparams ?? {}, cluster: valuesOf(cluster?.beparams, 'default') },
    },
    {
      ...{ title: own.hypervisor, action: HYPERVISOR, effective: instance.hvparams },
      levels: { instance: instance.custom_hvparams ?? {}, ...facts },
    },
    {
      ...{ title: own.osParameters, action: OS_PARAMETERS, effective: instance.osparams },
      levels: { instance: instance.custom_osparams ?? {}, os: osParametersOf(cluster, os) },
    },
  ] satisfies readonly { title: string; action: Action<Instance>; effective: unknown; levels: Levels }[]
  return (
    <div className="columns">
      {cards.map(({ title, action, effective, levels }) => (
        <ParameterCard
          key={title}
          title={title}
          parameters={originsOf(effective ?? {}, levels)}
          aside={<ActionAt subject={instance} action={action} label={words.change} />}
        />
      ))}
    </div>
  )
}

interface CardProps {
  readonly title: string
  readonly parameters: readonly Parameter[]
  readonly aside: React.ReactNode
}

const MANY = 12

function ParameterCard({ title, parameters, aside }: CardProps) {
  const [sought, setSought] = useState('')
  const displayed = foundParameters(parameters, sought)
  // Values that the instance itself sets come first, because users look for these.
  const rank = ({ origin }: Parameter) => ['instance', 'os', 'cluster', 'default'].indexOf(origin)
  const sorted = displayed.toSorted((one, other) => rank(one) - rank(other))
  return (
    <Card title={title} aside={aside}>
      {parameters.length > MANY && (
        <Group px={14} pt={10}>
          <TextInput
            type="search"
            aria-label={words.find(title)}
            placeholder={words.findShort}
            value={sought}
            onChange={(event) => setSought(event.currentTarget.value)}
          />
        </Group>
      )}
      {parameters.length === 0 ? (
        <Nothing text={words.noParameters} />
      ) : (
        <Table fz="sm" horizontalSpacing={14} verticalSpacing={4} aria-label={title} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="42%">{words.parameter}</Table.Th>
              <Table.Th>{texts.forms.value}</Table.Th>
              <Table.Th>{words.from}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.map(({ name, value, origin, inherited }) => (
              <Table.Tr key={name}>
                <Table.Td style={WRAP}>{name}</Table.Td>
                <Table.Td style={WRAP} className="mono">
                  {shownText(name, value)}
                </Table.Td>
                <Table.Td fw={origin === 'instance' ? 600 : undefined}>
                  {words.origin[origin]}
                  {origin === 'instance' && (
                    <div className="dim small">{words.otherwise(shownText(name, inherited))}</div>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Card>
  )
}

const WRAP = { overflowWrap: 'anywhere' } as const

const shownText = (name: string, value: unknown): string => parameterText(name, value) || '–'
