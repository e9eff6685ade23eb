import { ECODE, OpPrereqError } from '../../model/errors'
import type { NodeGroup } from '../../model/node-group'
import { ConfigIndex } from '../config-index'
import { type FieldTable, cell, field, stampFields, tagsField } from '../field'
import type { Resource } from '../resource'
import { nodeParamFields } from './node-params'

interface GroupRow {
  readonly group: NodeGroup
  readonly index: ConfigIndex
}

const fields: FieldTable<GroupRow> = {
  ...stampFields(({ group }) => group),
  ...tagsField(({ group }) => group.tags),
  ...nodeParamFields(({ group, index }) => index.groupNdParams(group)),
  alloc_policy: field('AllocPolicy', 'text', 'allocation policy', ({ group }) => cell(group.alloc_policy)),
  custom_diskparams: field('CustomDiskParameters', 'other', 'disk parameters set on the group', ({ group }) =>
    cell(group.diskparams),
  ),
  custom_ipolicy: field('CustomInstancePolicy', 'other', 'policy keys set on the group', ({ group }) =>
    cell(group.ipolicy),
  ),
  custom_ndparams: field('CustomNDParams', 'other', 'node parameters set on the group', ({ group }) =>
    cell(group.ndparams),
  ),
  diskparams: field('DiskParameters', 'other', 'effective disk parameters per template', ({ group, index }) =>
    cell(index.groupDiskParams(group)),
  ),
  ipolicy: field('InstancePolicy', 'other', 'effective instance policy', ({ group, index }) =>
    cell(index.groupIPolicy(group)),
  ),
  name: field('Group', 'text', 'name', ({ group }) => cell(group.name)),
  ndparams: field('NDParams', 'other', 'effective node parameters', ({ group, index }) =>
    cell(index.groupNdParams(group)),
  ),
  node_cnt: field('Nodes', 'number', 'count of nodes', ({ group, index }) =>
    cell(index.nodesOfGroup(group.uuid).length),
  ),
  node_list: field('NodeList', 'other', 'node names', ({ group, index }) =>
    cell(index.nodesOfGroup(group.uuid).map(({ name }) => name)),
  ),
  pinst_cnt: field('Instances', 'number', 'count of primary instances', ({ group, index }) =>
    cell(index.instancesOfGroup(group.uuid).length),
  ),
  pinst_list: field('InstanceList', 'other', 'primary instance names', ({ group, index }) =>
    cell(index.instancesOfGroup(group.uuid).map(({ name }) => name)),
  ),
}

export const groupResource: Resource<GroupRow> = {
  nameField: 'name',
  fields,
  all({ config }) {
    const index = ConfigIndex.of(config)
    return index.groups().map((group) => ({ group, index }))
  },
  find({ config }, name) {
    const index = ConfigIndex.of(config)
    const group = index.groups().find((candidate) => candidate.name === name || candidate.uuid === name)
    return group && { group, index }
  },
  notFound: (name) => new OpPrereqError(`Node group ${name} not found`, ECODE.NOENT),
}
