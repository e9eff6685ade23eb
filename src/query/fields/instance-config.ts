// Query fields of instances that the configuration answers.
import { diskTemplateOf } from '../../config/lookup'
import { type FieldTable, cell, field, optional, stampFields, tagsField, TEXTS } from '../field'
import type { InstanceRow } from './instance-live'
import { DRBD_META_SIZE_MIB, isMirroredInside } from '../../model/templates'

export const instanceConfigFields: FieldTable<InstanceRow> = {
  ...stampFields('Instance', ({ instance }) => instance),
  ...tagsField(({ instance }) => instance.tags),
  admin_state: field('InstanceState', 'text', 'Desired state of instance', ({ instance }) =>
    cell(instance.admin_state),
  ),
  admin_state_source: field(
    'InstanceStateSource',
    'text',
    'Who last changed the desired state of the instance',
    ({ instance }) => cell(instance.admin_state_source),
  ),
  admin_up: field('Autostart', 'bool', 'Desired state of instance', ({ instance }) =>
    cell(instance.admin_state === 'up'),
  ),
  disk_template: field('Disk_template', 'text', 'Instance disk template', ({ instance, index }) =>
    cell(diskTemplateOf(index.config, instance)),
  ),
  disk_usage: field(
    'DiskUsage',
    'unit',
    'Total disk space used by instance on each of its nodes; this is not the disk size visible to the instance, but the usage on the node',
    (row) => cell(diskUsage(row)),
  ),
  disks_active: field('DisksActive', 'bool', 'Desired state of instance disks', ({ instance }) =>
    cell(instance.disks_active),
  ),
  forthcoming: field('Forthcoming', 'bool', 'whether the Instance is forthcoming', ({ instance }) =>
    cell(instance.forthcoming === true),
  ),
  hypervisor: field('Hypervisor', 'text', 'Hypervisor name', ({ instance }) => cell(instance.hypervisor)),
  name: field('Instance', 'text', 'Instance name', ({ instance }) => cell(instance.name), { compare: 'host' }),
  network_port: field(
    'Network_port',
    'other',
    'Instance network port if available (e.g. for VNC console)',
    ({ instance }) => optional(instance.network_port),
    { shape: 'number' },
  ),
  os: field('OS', 'text', 'Operating system', ({ instance }) => cell(instance.os)),
  pnode: field(
    'Primary_node',
    'text',
    'Primary node',
    ({ instance, index }) => cell(index.nodeName(instance.primary_node)),
    { compare: 'host' },
  ),
  'pnode.group': field('PrimaryNodeGroup', 'text', "Primary node's group", ({ instance, index }) =>
    optional(index.groupOfNode(instance.primary_node)?.name),
  ),
  'pnode.group.uuid': field('PrimaryNodeGroupUUID', 'text', "Primary node's group UUID", ({ instance, index }) =>
    optional(index.groupOfNode(instance.primary_node)?.uuid),
  ),
  snodes: field(
    'Secondary_Nodes',
    'other',
    'Secondary nodes; usually this will just be one node',
    ({ instance, index }) => cell(index.secondaries(instance).map((uuid) => index.nodeName(uuid))),
    { shape: TEXTS },
  ),
  'snodes.group': field(
    'SecondaryNodesGroups',
    'other',
    'Node groups of secondary nodes',
    (row) => cell(secondaryGroups(row).map(({ name }) => name)),
    { shape: TEXTS },
  ),
  'snodes.group.uuid': field(
    'SecondaryNodesGroupsUUID',
    'other',
    'Node group UUIDs of secondary nodes',
    (row) => cell(secondaryGroups(row).map(({ uuid }) => uuid)),
    { shape: TEXTS },
  ),
}

const secondaryGroups = ({ instance, index }: InstanceRow) =>
  index.secondaries(instance).flatMap((uuid) => index.groupOfNode(uuid) ?? [])

function diskUsage({ instance, index }: InstanceRow): number {
  const extra = isMirroredInside(diskTemplateOf(index.config, instance)) ? DRBD_META_SIZE_MIB : 0
  return index.disks(instance).reduce((sum, disk) => sum + disk.size + extra, 0)
}
