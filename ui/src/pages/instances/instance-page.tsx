// One instance, with all that is known of it and what can be done to it.
import { Badge, Button, Group, Table } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, got } from '../../api/client'
import { sizeText } from '../../format/size'
import { agoText, timeText } from '../../format/time'
import { Actions } from '../../parts/action'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'
import { INSTANCE_ACTIONS } from './actions'
import { type Instance, InstanceStatus } from './instance'

const own = texts.instances
const route = getRouteApi('/instances/$name')

const instanceQuery = (name: string) =>
  queryOptions({
    queryKey: ['instances', 'one', name],
    queryFn: async (): Promise<Instance> => ({
      ...(await got(api.GET('/3/instances/{name}', { params: { path: { name } } }))),
      name,
    }),
  })

export function InstancePage() {
  const { name } = route.useParams()
  const { data: instance, error, refetch } = useQuery(instanceQuery(name))
  return (
    <Page
      title={name}
      note={instance && <InstanceStatus status={instance.status} />}
      actions={instance && <Actions subject={instance} actions={INSTANCE_ACTIONS} shown={4} />}
    >
      <ProblemBox error={error} retry={() => void refetch()} />
      {instance && (
        <div className="columns">
          <General instance={instance} />
          <Disks instance={instance} />
          <Nics instance={instance} />
          <Parameters title={own.backend} all={instance.beparams} changed={instance.custom_beparams} />
          <Parameters title={own.hypervisor} all={instance.hvparams} changed={instance.custom_hvparams} />
          <Card title={own.recentJobs}>
            <RecentJobs about={name} />
          </Card>
        </div>
      )}
    </Page>
  )
}

function General({ instance }: { instance: Instance }) {
  const { pnode, snodes, os, hypervisor, disk_template: template, tags, ctime, status_seen: seen } = instance
  return (
    <Card title={own.general}>
      <Facts
        facts={[
          [own.columns.status, <InstanceStatus key="status" status={instance.status} />],
          ['Seen', agoText(seen)],
          [own.columns.pnode, pnode && <NodeLink name={pnode} />],
          [
            own.columns.snodes,
            snodes && snodes.length > 0 && snodes.map((name) => <NodeLink key={name} name={name} />),
          ],
          [own.columns.memory, sizeText(numberOf(instance.beparams, 'maxmem'))],
          [own.columns.vcpus, numberOf(instance.beparams, 'vcpus')],
          [own.columns.os, os],
          [own.hypervisor, hypervisor],
          [own.columns.disk, template],
          [
            own.tags,
            tags && tags.length > 0 ? (
              <Group gap={4}>
                {tags.map((tag) => (
                  <Badge key={tag} variant="default" tt="none" fw={500}>
                    {tag}
                  </Badge>
                ))}
              </Group>
            ) : (
              own.noTags
            ),
          ],
          ['Created', timeText(ctime)],
          [
            'UUID',
            <span key="uuid" className="mono">
              {instance.uuid}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}

function numberOf(values: Values, name: string): number | undefined {
  const value = values?.[name]
  return typeof value === 'number' ? value : undefined
}

const NodeLink = ({ name }: { name: string }) => (
  <Link to="/nodes/$name" params={{ name }} style={{ marginRight: 8 }}>
    {name}
  </Link>
)

function Disks({ instance }: { instance: Instance }) {
  const sizes = instance['disk.sizes'] ?? []
  const names = instance['disk.names'] ?? []
  if (sizes.length === 0)
    return (
      <Card title={own.disks}>
        <Nothing text={own.noDisks} />
      </Card>
    )
  return (
    <Card title={own.disks}>
      <Table.ScrollContainer minWidth={320}>
        <Table fz="sm" horizontalSpacing={14}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Disk</Table.Th>
              <Table.Th ta="right">Size</Table.Th>
              <Table.Th>Name</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sizes.map((size, index) => (
              <Table.Tr key={index}>
                <Table.Td>{index}</Table.Td>
                <Table.Td ta="right">{sizeText(Number(size))}</Table.Td>
                <Table.Td>{names[index] ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  )
}

function Nics({ instance }: { instance: Instance }) {
  const macs = instance['nic.macs'] ?? []
  const [ips, modes, links, networks] = [
    instance['nic.ips'] ?? [],
    instance['nic.modes'] ?? [],
    instance['nic.links'] ?? [],
    instance['nic.networks.names'] ?? [],
  ]
  if (macs.length === 0)
    return (
      <Card title={own.nics}>
        <Nothing text={own.noNics} />
      </Card>
    )
  return (
    <Card title={own.nics}>
      <Table.ScrollContainer minWidth={420}>
        <Table fz="sm" horizontalSpacing={14}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>MAC</Table.Th>
              <Table.Th>IP</Table.Th>
              <Table.Th>Connected to</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {macs.map((mac, index) => (
              <Table.Tr key={index}>
                <Table.Td className="mono">{mac}</Table.Td>
                <Table.Td>{ips[index] ?? '–'}</Table.Td>
                <Table.Td>{networks[index] ?? `${modes[index] ?? ''} ${links[index] ?? ''}`}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  )
}

type Values = Readonly<Record<string, unknown>> | null | undefined

interface ParametersProps {
  readonly title: string
  readonly all: Values
  readonly changed: Values
}

/** Effective values; those of the instance itself are told from those that it has from the cluster. */
function Parameters({ title, all, changed }: ParametersProps) {
  const [whole, setWhole] = useState(false)
  const names = Object.keys(all ?? {}).sort()
  const mine = names.filter((name) => Object.hasOwn(changed ?? {}, name))
  const shown = whole ? names : mine
  return (
    <Card
      title={title}
      aside={
        <Button variant="subtle" size="compact-xs" onClick={() => setWhole(!whole)}>
          {whole ? own.onlyOwn : own.allParameters}
        </Button>
      }
    >
      {shown.length === 0 ? (
        <Nothing text={own.noOwn} />
      ) : (
        <Facts
          facts={shown.map((name) => [
            name,
            <span key={name}>
              <span className="mono">{valueText(all?.[name])}</span>{' '}
              {whole && (
                <span style={{ color: 'var(--mantine-color-dimmed)', fontSize: '0.75rem' }}>
                  {mine.includes(name) ? own.own : own.inherited}
                </span>
              )}
            </span>,
          ])}
        />
      )}
    </Card>
  )
}

const valueText = (value: unknown): string =>
  value === '' ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
