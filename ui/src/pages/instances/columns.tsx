// All columns of the list of instances, each with its fields.
import { sizeText } from '../../format/size'
import { instanceTo, nodeTo, RowLink } from '../../parts/row-link'
import type { Column } from '../../parts/virtual-table'
import { Time } from '../../parts/time'
import { texts } from '../../texts'
import { ConsoleIcon } from '../console/console-link'
import { type Instance, InstanceStatus } from './instance'

const own = texts.instances.columns

interface InstanceColumn extends Column<Instance> {
  readonly fields: readonly string[]
}

const listed = (values: readonly (string | null)[] | null | undefined): string =>
  (values ?? []).filter((value) => value !== null).join(', ')

const NodeLink = ({ name }: { name: string | null | undefined }) =>
  name ? <RowLink to={nodeTo(name)}>{name}</RowLink> : null

export const ALL_COLUMNS: readonly InstanceColumn[] = [
  {
    ...{ id: 'name', title: own.name, width: 160, share: 2, sort: 'name', fields: ['name'] },
    cell: ({ name }) => <RowLink to={instanceTo(name)}>{name}</RowLink>,
  },
  {
    ...{ id: 'status', title: own.status, width: 130, share: 1, sort: 'status' },
    fields: ['status', 'forthcoming', 'disks_active'],
    cell: (instance) => <InstanceStatus of={instance} />,
  },
  {
    ...{ id: 'pnode', title: own.pnode, width: 180, share: 1, sort: 'pnode', fields: ['pnode'] },
    cell: ({ pnode }) => <NodeLink name={pnode} />,
  },
  {
    ...{ id: 'memory', title: own.memory, width: 100, right: true, sort: 'be/maxmem', fields: ['be/maxmem'] },
    cell: (instance) => sizeText(instance['be/maxmem']),
  },
  {
    ...{ id: 'vcpus', title: own.vcpus, width: 80, right: true, sort: 'be/vcpus', fields: ['be/vcpus'] },
    cell: (instance) => instance['be/vcpus'],
  },
  {
    ...{ id: 'disk', title: own.disk, width: 100, right: true, fields: ['disk.sizes'] },
    cell: (instance) => sizeText((instance['disk.sizes'] ?? []).reduce((sum: number, size) => sum + Number(size), 0)),
  },
  {
    ...{ id: 'console', title: texts.console.open, width: 80, fields: [] },
    cell: ({ name }) => <ConsoleIcon name={name} />,
  },
  {
    ...{ id: 'snodes', title: own.snodes, width: 180, share: 1, fields: ['snodes'] },
    cell: ({ snodes }) => listed(snodes),
  },
  { ...{ id: 'os', title: own.os, width: 120, share: 1, sort: 'os', fields: ['os'] }, cell: ({ os }) => os },
  { ...{ id: 'tags', title: own.tags, width: 140, share: 1, fields: ['tags'] }, cell: ({ tags }) => listed(tags) },
  {
    ...{ id: 'group', title: own.group, width: 120, share: 1, sort: 'pnode.group', fields: ['pnode.group'] },
    cell: (instance) => instance['pnode.group'],
  },
  {
    ...{ id: 'template', title: own.template, width: 110, sort: 'disk_template', fields: ['disk_template'] },
    cell: ({ disk_template: template }) => template,
  },
  {
    ...{ id: 'hypervisor', title: own.hypervisor, width: 110, sort: 'hypervisor', fields: ['hypervisor'] },
    cell: ({ hypervisor }) => hypervisor,
  },
  {
    ...{ id: 'ips', title: own.ips, width: 140, share: 1, fields: ['nic.ips'] },
    cell: (instance) => listed(instance['nic.ips']),
  },
  {
    ...{ id: 'networks', title: own.networks, width: 120, share: 1, fields: ['nic.networks.names'] },
    cell: (instance) => listed(instance['nic.networks.names']),
  },
  {
    ...{ id: 'created', title: own.created, width: 200, sort: 'ctime', fields: ['ctime'] },
    cell: ({ ctime }) => <Time time={ctime} />,
  },
]

export const USUAL = ['name', 'status', 'pnode', 'memory', 'vcpus', 'disk', 'console', 'snodes', 'os', 'tags']

/** The columns with the listed ids, in the order of the table above. The name is always included. */
export function columnsOf(ids: string | undefined): readonly InstanceColumn[] {
  const desired = ids === undefined ? USUAL : ids.split('.')
  return ALL_COLUMNS.filter(({ id }) => id === 'name' || desired.includes(id))
}
