// Disks, snapshots and network cards of an instance, with their actions.
import { Group, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, got } from '../../api/client'
import { sizeText } from '../../format/size'
import { ActionAt } from '../../parts/action'
import { ObjectLink } from '../../parts/names'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Time } from '../../parts/time'
import { texts } from '../../texts'
import {
  ADD_DISK,
  CHANGE_DISK,
  disksOf,
  GROW_DISK,
  REMOVE_DISK,
  REMOVE_SNAPSHOT,
  ROLL_BACK_SNAPSHOT,
  SNAPSHOT,
} from './actions/disks'
import { ADD_NIC, CHANGE_NIC, type NicOf, REMOVE_NIC } from './actions/nics'
import type { Instance } from './instance'
import { TEMPLATES } from './templates'

const own = texts.instances
const words = own.page

interface RowsProps {
  readonly label: string
  readonly titles: readonly string[]
  readonly minWidth: number
  readonly children: ReactNode
}

const Rows = ({ label, titles, minWidth, children }: RowsProps) => (
  <Table.ScrollContainer minWidth={minWidth}>
    <Table fz="sm" horizontalSpacing={14} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {titles.map((title) => (
            <Table.Th key={title}>{title}</Table.Th>
          ))}
          <Table.Th>
            <span className="unseen">{words.actions}</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

const Buttons = ({ children }: { children: ReactNode }) => (
  <Table.Td>
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {children}
    </Group>
  </Table.Td>
)

export function Disks({ instance }: { instance: Instance }) {
  const disks = disksOf(instance)
  return (
    <Card title={own.disks} aside={<ActionAt subject={instance} action={ADD_DISK} />}>
      {disks.length === 0 ? (
        <Nothing text={own.noDisks} />
      ) : (
        <Rows label={own.disks} titles={[words.number, words.size, words.name, words.diskParameters]} minWidth={520}>
          {disks.map((disk) => (
            <Table.Tr key={instance['disk.uuids']?.[disk.index] ?? disk.index}>
              <Table.Td>{disk.index}</Table.Td>
              <Table.Td>{sizeText(disk.size)}</Table.Td>
              <Table.Td>{disk.name ?? '–'}</Table.Td>
              <Table.Td>{parametersText(instance['disk.parameters']?.[disk.index] ?? [])}</Table.Td>
              <Buttons>
                <ActionAt subject={disk} action={GROW_DISK} name={words.grow(disk.index)} />
                <ActionAt
                  subject={disk}
                  action={CHANGE_DISK}
                  label={words.change}
                  name={words.named(CHANGE_DISK.label, disk.index)}
                />
                <ActionAt
                  subject={disk}
                  action={REMOVE_DISK}
                  label={words.remove}
                  name={words.named(REMOVE_DISK.label, disk.index)}
                />
              </Buttons>
            </Table.Tr>
          ))}
        </Rows>
      )}
    </Card>
  )
}

type Parameters = NonNullable<Instance['disk.parameters']>[number]

const parametersText = (parameters: Parameters): string =>
  parameters.map(({ name, value, source }) => words.diskParameter(name, String(value), source)).join(', ') || '–'

export function Snapshots({ instance }: { instance: Instance }) {
  const can = TEMPLATES[instance.disk_template ?? '']?.snapshots !== undefined
  const { name } = instance
  const { data, error } = useQuery({
    queryKey: ['instances', 'one', name, 'snapshots'],
    queryFn: () => got(api.GET('/3/instances/{name}/snapshots', { params: { path: { name } } })),
    enabled: can,
  })
  if (!can) return null
  const items = data?.items ?? []
  return (
    <Card title={words.snapshots} aside={<ActionAt subject={instance} action={SNAPSHOT} />}>
      <ProblemBox error={error} />
      {items.length === 0 ? (
        <Nothing text={data === undefined ? texts.table.loading : words.noSnapshots} />
      ) : (
        <Rows
          label={words.snapshots}
          titles={[words.name, words.disk, words.size, words.created, words.state]}
          minWidth={480}
        >
          {items.map(({ disk, name: snapshot, size_mib: size, created, status }) => (
            <Table.Tr key={`${disk}/${snapshot}`}>
              <Table.Td>{snapshot}</Table.Td>
              <Table.Td>{disk}</Table.Td>
              <Table.Td>{sizeText(size)}</Table.Td>
              <Table.Td>
                <Time time={created} />
              </Table.Td>
              <Table.Td>{words.snapshotStates[status]}</Table.Td>
              <Buttons>
                <ActionAt subject={{ instance, disk, name: snapshot, status }} action={ROLL_BACK_SNAPSHOT} />
                <ActionAt
                  subject={{ instance, disk, name: snapshot, status }}
                  action={REMOVE_SNAPSHOT}
                  label={words.remove}
                />
              </Buttons>
            </Table.Tr>
          ))}
        </Rows>
      )}
    </Card>
  )
}

export function Nics({ instance }: { instance: Instance }) {
  const nics = nicsOf(instance)
  return (
    <Card title={own.nics} aside={<ActionAt subject={instance} action={ADD_NIC} />}>
      {nics.length === 0 ? (
        <Nothing text={own.noNics} />
      ) : (
        <Rows label={own.nics} titles={[words.number, words.mac, words.ip, words.connected]} minWidth={520}>
          {nics.map((nic) => (
            <Table.Tr key={instance['nic.uuids']?.[nic.index] ?? nic.index}>
              <Table.Td>{nic.index}</Table.Td>
              <Table.Td className="mono">{nic.mac}</Table.Td>
              <Table.Td>{nic.ip ?? '–'}</Table.Td>
              <Table.Td>
                {nic.network === null ? `${nic.mode} ${nic.link}` : <ObjectLink kind="network" name={nic.network} />}
                {instance.user_nics?.includes(nic.index) === true && (
                  <Text size="xs" c="dimmed">
                    {words.userMode}
                  </Text>
                )}
              </Table.Td>
              <Buttons>
                <ActionAt
                  subject={nic}
                  action={CHANGE_NIC}
                  label={words.change}
                  name={words.named(CHANGE_NIC.label, nic.index)}
                />
                <ActionAt
                  subject={nic}
                  action={REMOVE_NIC}
                  label={words.remove}
                  name={words.named(REMOVE_NIC.label, nic.index)}
                />
              </Buttons>
            </Table.Tr>
          ))}
        </Rows>
      )}
    </Card>
  )
}

function nicsOf(instance: Instance): NicOf[] {
  const [ips, modes, links, networks, names] = [
    instance['nic.ips'] ?? [],
    instance['nic.modes'] ?? [],
    instance['nic.links'] ?? [],
    instance['nic.networks.names'] ?? [],
    instance['nic.names'] ?? [],
  ]
  return (instance['nic.macs'] ?? []).map((mac, index) => ({
    ...{ instance, index, mac: mac ?? '', ip: ips[index] ?? null, name: names[index] ?? null },
    ...{ mode: modes[index] ?? '', link: links[index] ?? '', network: networks[index] ?? null },
  }))
}
