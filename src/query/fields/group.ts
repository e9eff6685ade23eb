// Query fields of node groups.
import { ECODE, OpPrereqError } from '../../model/errors'
import type { NodeGroup } from '../../model/node-group'
import { ConfigIndex } from '../config-index'
import { type FieldTable, cell, field, stampFields, tagsField, TEXTS, PARAMETERS, PARAMETERS_BY_NAME } from '../field'
import type { Resource } from '../resource'
import type { Unseen } from '../source'
import { nodeParamFields } from './node-params'

interface GroupRow {
  readonly group: NodeGroup
  readonly unseen: Unseen | undefined
  readonly index: ConfigIndex
}

const fields: FieldTable<GroupRow> = {
  ...stampFields('Group', ({ group }) => group),
  ...tagsField(({ group }) => group.tags),
  ...nodeParamFields(({ group, index }) => index.groupNdParams(group)),
  alloc_policy: field('AllocPolicy', 'text', 'Allocation policy for group', ({ group }) => cell(group.alloc_policy)),
  custom_diskparams: field(
    'CustomDiskParameters',
    'other',
    'Custom disk parameters',
    ({ group }) => cell(group.diskparams),
    { shape: PARAMETERS_BY_NAME },
  ),
  custom_ipolicy: field(
    'CustomInstancePolicy',
    'other',
    'Custom instance policy limitations',
    ({ group }) => cell(group.ipolicy),
    { shape: PARAMETERS },
  ),
  custom_ndparams: field('CustomNDParams', 'other', 'Custom node parameters', ({ group }) => cell(group.ndparams), {
    shape: PARAMETERS,
  }),
  diskparams: field(
    'DiskParameters',
    'other',
    'Disk parameters (merged)',
    ({ group, index }) => cell(index.groupDiskParams(group)),
    { shape: PARAMETERS_BY_NAME },
  ),
  ipolicy: field(
    'InstancePolicy',
    'other',
    'Instance policy limitations (merged)',
    ({ group, index }) => cell(index.groupIPolicy(group)),
    { shape: PARAMETERS },
  ),
  name: field('Group', 'text', 'Group name', ({ group }) => cell(group.name)),
  ndparams: field('NDParams', 'other', 'Node parameters', ({ group, index }) => cell(index.groupNdParams(group)), {
    shape: PARAMETERS,
  }),
  node_cnt: field('Nodes', 'number', 'Number of nodes', ({ group, index }) =>
    cell(index.nodesOfGroup(group.uuid).length),
  ),
  node_list: field(
    'NodeList',
    'other',
    'List of nodes',
    ({ group, index }) => cell(index.nodesOfGroup(group.uuid).map(({ name }) => name)),
    { shape: TEXTS },
  ),
  pinst_cnt: field('Instances', 'number', 'Number of primary instances', ({ group, index }) =>
    cell(index.instancesOfGroup(group.uuid).length),
  ),
  pinst_list: field(
    'InstanceList',
    'other',
    'List of primary instances',
    ({ group, index }) => cell(index.instancesOfGroup(group.uuid).map(({ name }) => name)),
    { shape: TEXTS },
  ),
}

export const groupResource: Resource<GroupRow> = {
  nameField: 'name',
  fields: {
    ...fields,
    inst_hidden: field(
      'Hidden',
      'bool',
      'Whether its nodes have instances outside of the scope of the token',
      ({ group, unseen }) => cell(unseen?.group(group.uuid) ?? false),
      { ours: true },
    ),
  },
  all({ config, unseen }) {
    const index = ConfigIndex.of(config)
    return index.groups().map((group) => ({ group, index, unseen }))
  },
  find({ config, unseen }, name) {
    const index = ConfigIndex.of(config)
    const group = index.groups().find((candidate) => candidate.name === name || candidate.uuid === name)
    return group && { group, index, unseen }
  },
  notFound: (name) => new OpPrereqError(`NodeGroup name ${name} not found`, ECODE.NOENT),
}
