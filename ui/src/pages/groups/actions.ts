// Actions on a node group.
import { schema as diskParameters } from 'openapi:#DiskParameters'
import { schema as nodeParameters } from 'openapi:#NodeParameters'
import { schema as add } from 'openapi:POST /3/groups'
import { schema as assign } from 'openapi:POST /3/groups/{name}/assign-nodes'
import { schema as evacuate } from 'openapi:POST /3/groups/{name}/evacuate'
import { schema as modify } from 'openapi:PATCH /3/groups/{name}'
import { schema as rename } from 'openapi:POST /3/groups/{name}/rename'
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { valuesOf } from '../../api/cluster'
import { belowOthers, parameterFields, type Values } from '../../forms/parameter-fields'
import { policyFieldsOfGroup } from '../../forms/policy-fields'
import { type Field, fieldOf, otherFields } from '../../forms/schema'
import { type Action, nothingChanged } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { policyFlags } from '../../parts/ipolicy'
import type { Seen } from '../../parts/request-dialog'
import { texts } from '../../texts'

export type NodeGroup = Named<components['schemas']['GroupView']>

const own = texts.groups.actions

export const groupPath = ({ name }: Pick<NodeGroup, 'name'>, verb = ''): string =>
  `/3/groups/${encodeURIComponent(name)}${verb}`

/** Shown if somebody else has changed the group meanwhile. */
const seenOf = ({ uuid, serial_no: serial, ...group }: NodeGroup): Seen => ({
  etag: `"group/${uuid ?? ''}/${serial ?? 0}"`,
  facts: {
    ...{ alloc_policy: group.alloc_policy, ipolicy: group.custom_ipolicy, ndparams: group.custom_ndparams },
    diskparams: group.custom_diskparams,
  },
})

const POLICIES = Object.entries(texts.groups.policy).map(([value, label]) => ({
  ...{ value, label: `${label}: ${texts.groups.policyText[value] ?? ''}` },
}))

const FLAGS = { ndparams: 'node-parameters', diskparams: 'disk-parameters' }

/** `own`: the group's own values; `all`: its effective values. */
interface Parameters {
  readonly own: Record<'ipolicy' | 'ndparams' | 'diskparams', Values>
  readonly all: Record<'ipolicy' | 'ndparams' | 'diskparams', Values>
}

const parametersOf = ({ all, own }: Parameters): Field[] => [
  ...policyFieldsOfGroup(all.ipolicy, own.ipolicy),
  ...parameterFields({
    ...belowOthers(['ndparams'], nodeParameters, all.ndparams, own.ndparams),
    section: texts.groups.ndparams,
  }),
  ...Object.entries(diskParameters.properties).flatMap(([template, schema]) =>
    parameterFields({
      ...belowOthers(
        ['diskparams', template],
        schema,
        valuesOf(all.diskparams, template),
        valuesOf(own.diskparams, template),
      ),
      section: texts.groups.diskparamsOf(template),
    }),
  ),
]

const NOTHING = { ipolicy: {}, ndparams: {}, diskparams: {} }

export const ADD_GROUP: Action<null> = {
  ...{ id: 'add', label: own.add, permission: 'groups.create' },
  text: () => own.addText,
  fields: [
    fieldOf(add, 'group_name', { label: texts.groups.columns.name, text: '' }),
    fieldOf(add, 'alloc_policy', {
      ...{ label: texts.groups.columns.policy, text: '', initial: 'preferred', choices: POLICIES },
    }),
  ],
  others: parametersOf({ own: NOTHING, all: NOTHING }),
  request: (_none, body) => ({
    ...{ method: 'POST', path: '/3/groups', body },
    gnt: gntText('group add', flagsOf(withoutName(body)), [String(body['group_name'] ?? 'GROUP')], FLAGS),
  }),
}

const flagsOf = ({ ipolicy, ...body }: Values): Values => ({ ...body, ...policyFlags(ipolicy) })

const withoutName = ({ group_name: _name, ...others }: Readonly<Record<string, unknown>>) => others

const MODIFY: Action<NodeGroup> = {
  ...{ id: 'modify', label: own.modify, permission: 'groups.modify' },
  text: ({ name }) => own.modifyText(name),
  fields: (group) => [
    fieldOf(modify, 'alloc_policy', {
      ...{ label: texts.groups.columns.policy, text: '', initial: group.alloc_policy, choices: POLICIES },
    }),
    ...parametersOf({
      all: { ipolicy: group.ipolicy ?? {}, ndparams: group.ndparams ?? {}, diskparams: group.diskparams ?? {} },
      own: {
        ...{ ipolicy: group.custom_ipolicy ?? {}, ndparams: group.custom_ndparams ?? {} },
        diskparams: group.custom_diskparams ?? {},
      },
    }),
  ],
  seen: seenOf,
  complaint: (_group, body) => nothingChanged(body),
  request: (group, body) => ({
    ...{ method: 'PATCH', path: groupPath(group), body },
    gnt: gntText('group modify', flagsOf(body), [group.name], FLAGS),
  }),
}

const ASSIGN: Action<NodeGroup> = {
  ...{ id: 'assign', label: own.assign, permission: 'groups.assign_nodes' },
  text: ({ name }) => own.assignText(name),
  fields: [
    fieldOf(assign, 'nodes', { label: texts.groups.nodes, text: '', source: 'nodes' }),
    fieldOf(assign, 'force'),
  ],
  request: (group, body) => ({
    ...{ method: 'POST', path: groupPath(group, '/assign-nodes'), body },
    gnt: gntText('group assign-nodes', { force: body['force'] }, [
      ...[group.name],
      ...(Array.isArray(body['nodes']) ? body['nodes'].map(String) : []),
    ]),
  }),
}

const EVACUATE: Action<NodeGroup> = {
  ...{ id: 'evacuate', label: own.evacuate, permission: 'groups.evacuate', danger: true, forOthers: true },
  beyond: ({ inst_hidden: hidden }) => (hidden === true ? 'others' : undefined),
  text: ({ name }) => own.evacuateText(name),
  fields: [fieldOf(evacuate, 'target_groups', { source: 'groups' })],
  others: otherFields(evacuate, ['target_groups']),
  unfit: ({ pinst_cnt: count }) => (count === 0 ? own.noInstances : undefined),
  request: (group, body) => ({
    ...{ method: 'POST', path: groupPath(group, '/evacuate'), body },
    gnt: gntText('group evacuate', body, [group.name], { target_groups: 'to' }),
  }),
}

const RENAME: Action<NodeGroup> = {
  ...{ id: 'rename', label: own.rename, permission: 'groups.rename' },
  text: ({ name }) => own.renameText(name),
  fields: [fieldOf(rename, 'new_name', { text: '' })],
  request: (group, body) => ({
    ...{ method: 'POST', path: groupPath(group, '/rename'), body },
    gnt: gntText('group rename', {}, [group.name, String(body['new_name'] ?? 'NAME')]),
  }),
}

export const GROUP_ACTIONS: readonly Action<NodeGroup>[] = [
  MODIFY,
  ASSIGN,
  EVACUATE,
  {
    ...{ id: 'verify', label: own.verify, permission: 'cluster.verify' },
    text: ({ name }) => own.verifyText(name),
    fields: [],
    request: (group, body) => ({
      ...{ method: 'POST', path: '/3/cluster/verify', body: { ...body, group_name: group.name } },
      gnt: gntText('cluster verify', { 'node-group': group.name }, []),
    }),
  },
  RENAME,
  {
    ...{ id: 'remove', label: own.remove, permission: 'groups.delete', danger: true },
    text: ({ name }) => own.removeText(name),
    fields: [],
    typed: ({ name }) => name,
    unfit: ({ node_cnt: count }) => (count === 0 ? undefined : own.hasNodes),
    request: (group, body) => ({
      ...{ method: 'DELETE', path: groupPath(group), body },
      gnt: gntText('group remove', {}, [group.name]),
    }),
  },
]
