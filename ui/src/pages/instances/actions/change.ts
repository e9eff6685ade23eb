// Actions that change an instance's record: OS, state, name and tags. Also reinstallation, export, repair and removal.
import { schema as commit } from 'openapi:POST /3/instances/{name}/commit'
import { schema as change } from 'openapi:PATCH /3/instances/{name}'
import { schema as removal } from 'openapi:DELETE /3/instances/{name}'
import { schema as exporting } from 'openapi:POST /3/instances/{name}/export'
import { schema as reinstall } from 'openapi:POST /3/instances/{name}/reinstall'
import { schema as rename } from 'openapi:POST /3/instances/{name}/rename'
import { schema as repair } from 'openapi:POST /3/instances/{name}/repair'
import { schema as tags } from 'openapi:POST /3/instances/{name}/tags'
import { fieldOf, otherFields } from '../../../forms/schema'
import { type Action, type FieldAction, nothingChanged } from '../../../parts/action'
import { texts } from '../../../texts'
import type { Instance } from '../instance'
import { isRunning, modify, post, remove, seenOf } from './request'

const own = texts.instances.actions
const group = own.groups.change
const OS_FLAGS = {
  ...{ os_type: 'os-type', osparams: 'os-parameters' },
  ...{ osparams_private: 'os-parameters-private', osparams_secret: 'os-parameters-secret' },
}
const whileStopped = (instance: Instance) => (isRunning(instance) ? own.unfit.running : undefined)

export const GENERAL: Action<Instance> = {
  ...{ id: 'general', label: own.general.label, permission: 'instances.modify', group, seen: seenOf },
  text: ({ name }) => own.general.text(name),
  fields: ({ os, admin_state: state }) => [
    fieldOf(change, 'os_name', { ...own.general.os_name, source: 'os', initial: os ?? '' }),
    {
      ...{ kind: 'switch', name: 'offline', initial: state === 'offline' },
      ...own.general.offline,
    },
    fieldOf(change, 'instance_communication', own.general.communication),
  ],
  others: ['force', 'force_variant', 'pnode', 'ignore_ipolicy'].map((name) => fieldOf(change, name, own.fields[name])),
  complaint: (_instance, body) => nothingChanged(body, ['force', 'force_variant', 'ignore_ipolicy']),
  request: modify,
}

export const RENAME: Action<Instance> = {
  ...{ id: 'rename', label: own.rename.label, permission: 'instances.rename', group, seen: seenOf },
  text: ({ name }) => own.rename.text(name),
  fields: [fieldOf(rename, 'new_name', own.rename.new_name)],
  others: otherFields(rename, ['new_name'], own.fields),
  unfit: whileStopped,
  request: (instance, body) =>
    post(instance, '/rename', body, {
      command: 'instance rename',
      flags: { new_name: null },
      args: [String(body['new_name'] ?? '')],
    }),
}

export const REINSTALL: Action<Instance> = {
  ...{ id: 'reinstall', label: own.reinstall.label, permission: 'instances.reinstall', danger: true, group },
  text: ({ name }) => own.reinstall.text(name),
  fields: ({ os }) => [
    fieldOf(reinstall, 'os_type', { ...own.reinstall.os_type, source: 'os', placeholder: os ?? '' }),
    fieldOf(reinstall, 'osparams', own.fields.osparams),
  ],
  others: [
    fieldOf(reinstall, 'osparams_private', { ...own.fields.osparams_private, hidden: true }),
    fieldOf(reinstall, 'osparams_secret', { ...own.fields.osparams_secret, hidden: true }),
    fieldOf(reinstall, 'force_variant', own.fields.force_variant),
  ],
  typed: ({ name }) => name,
  unfit: whileStopped,
  request: (instance, body) =>
    post(instance, '/reinstall', body, { command: 'instance reinstall', more: { force: true }, flags: OS_FLAGS }),
}

export const ADD_TAGS: FieldAction<Instance> = {
  ...{ id: 'tags', label: own.tags.label, permission: 'tags.set', group },
  text: ({ name }) => own.tags.text(name),
  fields: [{ ...fieldOf(tags, 'tags', own.tags.tags), required: true }],
  complaint: (_instance, body) => nothingChanged(body),
  request: (instance, body) =>
    post(instance, '/tags', body, {
      command: 'instance add-tags',
      flags: { tags: null },
      args: Array.isArray(body['tags']) ? body['tags'].map(String) : [],
    }),
}

export interface TagOf {
  readonly instance: Instance
  readonly tag: string
}

export const REMOVE_TAG: Action<TagOf> = {
  ...{ id: 'remove-tag', label: own.removeTag.label, permission: 'tags.delete', danger: true },
  text: ({ instance, tag }) => own.removeTag.text(tag, instance.name),
  fields: [],
  request: ({ instance, tag }) =>
    remove(instance, `/tags/${encodeURIComponent(tag)}`, {}, { command: 'instance remove-tags', args: [tag] }),
}

export const EXPORT: Action<Instance> = {
  ...{ id: 'export', label: own.export.label, permission: 'instances.export.create', group: own.groups.rescue },
  text: ({ name }) => own.export.text(name),
  fields: (instance) => [
    {
      ...{ kind: 'text', name: 'target_node', initial: '', required: true, source: 'nodes' },
      ...own.export.target_node,
    },
    ...(isRunning(instance) ? [fieldOf(exporting, 'shutdown', own.export.shutdown)] : []),
    fieldOf(exporting, 'compress', own.export.compress),
  ],
  others: [
    ...['shutdown_timeout', 'remove_instance', 'ignore_remove_failures', 'long_sleep'],
    ...['zero_free_space', 'zeroing_timeout_fixed', 'zeroing_timeout_per_mib'],
  ].map((name) => fieldOf(exporting, name, own.fields[name])),
  request: (instance, body) =>
    post(instance, '/export', body, {
      ...{ command: 'backup export', more: body['shutdown'] === false ? { noshutdown: true } : {} },
      flags: { target_node: 'node', compress: 'transport-compression', shutdown: null },
    }),
}

export const REPAIR: Action<Instance> = {
  ...{ id: 'repair', label: own.repair.label, permission: 'instances.repair', group: own.groups.rescue },
  text: ({ name }) => own.repair.text(name),
  fields: [fieldOf(repair, 'failover', own.repair.failover)],
  others: otherFields(repair, ['failover'], own.fields),
  request: (instance, body) => post(instance, '/repair', body, { command: 'instance repair' }),
}

export const COMMIT: Action<Instance> = {
  ...{ id: 'commit', label: own.commit.label, permission: 'instances.create', group: own.groups.run },
  text: ({ name }) => own.commit.text(name),
  fields: [fieldOf(commit, 'start', own.commit.start)],
  others: ['wait_for_sync', 'ignore_ipolicy'].map((name) => fieldOf(commit, name, own.fields[name])),
  request: (instance, body) => post(instance, '/commit', body, { command: 'instance add', more: { commit: true } }),
}

export const REMOVE: FieldAction<Instance> = {
  ...{ id: 'remove', label: own.remove.label, permission: 'instances.remove', danger: true, group: own.groups.rescue },
  text: ({ name }) => own.remove.text(name),
  typed: ({ name }) => name,
  fields: otherFields(removal, [], own.remove.fields),
  request: (instance, body) => remove(instance, '', body, { command: 'instance remove', more: { force: true } }),
}
