import { diskTemplateOf } from '../../config/lookup'
import { DRBD_META_SIZE_MIB } from '../../model/constants/disks'
import { type FieldTable, cell, field, optional, stampFields, tagsField } from '../field'
import type { InstanceRow } from './instance-live'

export const instanceConfigFields: FieldTable<InstanceRow> = {
  ...stampFields(({ instance }) => instance),
  ...tagsField(({ instance }) => instance.tags),
  admin_state: field('InstanceState', 'text', 'wanted state: up, down or offline', ({ instance }) =>
    cell(instance.admin_state),
  ),
  admin_state_source: field('InstanceStateSource', 'text', 'admin or user', ({ instance }) =>
    cell(instance.admin_state_source),
  ),
  admin_up: field('Autostart', 'bool', 'true when admin_state is up', ({ instance }) =>
    cell(instance.admin_state === 'up'),
  ),
  disk_template: field(
    'Disk_template',
    'text',
    'template computed from the disks (diskless, mixed possible)',
    ({ instance, index }) => cell(diskTemplateOf(index.config, instance)),
  ),
  disk_usage: field(
    'DiskUsage',
    'unit',
    `MiB used on each node, DRBD counts ${DRBD_META_SIZE_MIB} extra per disk`,
    (row) => cell(diskUsage(row)),
  ),
  disks_active: field('DisksActive', 'bool', 'disks should be assembled', ({ instance }) =>
    cell(instance.disks_active),
  ),
  forthcoming: field('Forthcoming', 'bool', 'only reserved, not created', ({ instance }) =>
    cell(instance.forthcoming === true),
  ),
  hypervisor: field('Hypervisor', 'text', 'hypervisor', ({ instance }) => cell(instance.hypervisor)),
  name: field('Instance', 'text', 'name', ({ instance }) => cell(instance.name), { compare: 'host' }),
  network_port: field('Network_port', 'other', 'port for VNC/SPICE; unavailable if unset', ({ instance }) =>
    optional(instance.network_port),
  ),
  os: field('OS', 'text', 'OS name', ({ instance }) => cell(instance.os)),
  pnode: field(
    'Primary_node',
    'text',
    'primary node name',
    ({ instance, index }) => cell(index.nodeName(instance.primary_node)),
    { compare: 'host' },
  ),
  'pnode.group': field('PrimaryNodeGroup', 'text', 'group of the primary', ({ instance, index }) =>
    optional(index.groupOfNode(instance.primary_node)?.name),
  ),
  'pnode.group.uuid': field('PrimaryNodeGroupUUID', 'text', 'group UUID of the primary', ({ instance, index }) =>
    optional(index.groupOfNode(instance.primary_node)?.uuid),
  ),
  snodes: field('Secondary_Nodes', 'other', 'secondary node names', ({ instance, index }) =>
    cell(index.secondaries(instance).map((uuid) => index.nodeName(uuid))),
  ),
  'snodes.group': field('SecondaryNodesGroups', 'other', 'groups of the secondaries', (row) =>
    cell(secondaryGroups(row).map(({ name }) => name)),
  ),
  'snodes.group.uuid': field('SecondaryNodesGroupsUUID', 'other', 'group UUIDs of the secondaries', (row) =>
    cell(secondaryGroups(row).map(({ uuid }) => uuid)),
  ),
}

const secondaryGroups = ({ instance, index }: InstanceRow) =>
  index.secondaries(instance).flatMap((uuid) => index.groupOfNode(uuid) ?? [])

function diskUsage({ instance, index }: InstanceRow): number {
  const extra = diskTemplateOf(index.config, instance) === 'drbd' ? DRBD_META_SIZE_MIB : 0
  return index.disks(instance).reduce((sum, disk) => sum + disk.size + extra, 0)
}
