// Actions that move an instance to other nodes.
import { schema as changeGroup } from 'openapi:POST /3/instances/{name}/change-group'
import { schema as replaceDisks } from 'openapi:POST /3/instances/{name}/disks/replace'
import { schema as failover } from 'openapi:POST /3/instances/{name}/failover'
import { schema as migrate } from 'openapi:POST /3/instances/{name}/migrate'
import { schema as move } from 'openapi:POST /3/instances/{name}/move'
import { fieldOf, otherFields } from '../../../forms/schema'
import type { Action, FieldAction } from '../../../parts/action'
import { texts } from '../../../texts'
import type { Instance } from '../instance'
import { TEMPLATES } from '../templates'
import { isRunning, post } from './request'
import { onOfflineNode } from './run'

const own = texts.instances.actions
const group = own.groups.move
const templateOf = ({ disk_template: template }: Instance) => TEMPLATES[template ?? '']
const unlessMirrored = (instance: Instance) =>
  templateOf(instance)?.mirror === undefined ? own.unfit.onOneNode(instance.disk_template ?? '') : undefined

/** The target field. An instance whose two nodes mirror its disks can only move to its secondary node, so it has no such field. */
const targetOf = (instance: Instance, field: ReturnType<typeof fieldOf>) =>
  templateOf(instance)?.mirror === 'inside' ? [] : [field]

export const MIGRATE: FieldAction<Instance> = {
  ...{ id: 'migrate', label: own.migrate.label, permission: 'instances.migrate', group },
  text: ({ name }) => own.migrate.text(name),
  fields: (instance) => [
    ...targetOf(instance, fieldOf(migrate, 'target_node', own.target)),
    fieldOf(migrate, 'allow_failover', own.migrate.allow_failover),
  ],
  others: otherFields(migrate, ['target_node', 'allow_failover'], own.fields),
  unfit: (instance) => onOfflineNode(instance) ?? (isRunning(instance) ? unlessMirrored(instance) : own.unfit.stopped),
  request: (instance, body) =>
    post(instance, '/migrate', body, {
      ...{ command: 'instance migrate', more: { force: true } },
      flags: { mode: 'migration-mode', allow_runtime_changes: 'runtime-changes' },
    }),
}

export const FAILOVER: FieldAction<Instance> = {
  ...{ id: 'failover', label: own.failover.label, permission: 'instances.failover', danger: true, group },
  text: ({ name }) => own.failover.text(name),
  fields: (instance) => [
    ...targetOf(instance, fieldOf(failover, 'target_node', own.target)),
    fieldOf(failover, 'ignore_consistency', own.failover.ignore_consistency),
  ],
  others: otherFields(failover, ['target_node', 'ignore_consistency'], own.fields),
  unfit: unlessMirrored,
  request: (instance, body) =>
    post(instance, '/failover', body, {
      command: 'instance failover',
      more: { force: true, ...(body['ignore_consistency'] === true && { 'yes-do-it': true }) },
    }),
}

export const MOVE: Action<Instance> = {
  ...{ id: 'move', label: own.move.label, permission: 'instances.move', group },
  text: ({ name }) => own.move.text(name),
  fields: [fieldOf(move, 'target_node', { ...own.target, text: own.move.target, required: true })],
  others: otherFields(move, ['target_node'], own.fields),
  unfit: (instance) =>
    onOfflineNode(instance) ??
    (templateOf(instance)?.copyable ? undefined : own.unfit.notCopied(instance.disk_template ?? '')),
  request: (instance, body) =>
    post(instance, '/move', body, {
      ...{ command: 'instance move', more: { force: true }, flags: { target_node: 'node' } },
    }),
}

export const CHANGE_GROUP: Action<Instance> = {
  ...{ id: 'change-group', label: own.changeGroup.label, permission: 'instances.change_group', group },
  text: ({ name }) => own.changeGroup.text(name),
  fields: [fieldOf(changeGroup, 'target_groups', { ...own.changeGroup.target_groups, source: 'groups' })],
  others: otherFields(changeGroup, ['target_groups'], own.fields),
  unfit: unlessMirrored,
  request: (instance, body) =>
    post(instance, '/change-group', body, { command: 'instance change-group', flags: { target_groups: 'to' } }),
}

export const REPLACE_DISKS: Action<Instance> = {
  ...{ id: 'replace-disks', label: own.replaceDisks.label, permission: 'instances.replace_disks', group },
  text: ({ name }) => own.replaceDisks.text(name),
  fields: [
    fieldOf(replaceDisks, 'mode', { ...own.replaceDisks.mode, required: true }),
    fieldOf(replaceDisks, 'remote_node', { ...own.replaceDisks.remote_node, source: 'nodes' }),
    fieldOf(replaceDisks, 'iallocator', own.replaceDisks.iallocator),
  ],
  others: [fieldOf(replaceDisks, 'early_release', own.replaceDisks.early_release)],
  unfit: (instance) =>
    templateOf(instance)?.mirror === 'inside' ? undefined : own.unfit.notMirroredInside(instance.disk_template ?? ''),
  complaint: (_instance, { mode, remote_node: node, iallocator }) => {
    if (mode !== 'replace_new_secondary') return (node ?? iallocator) ? own.replaceDisks.onlyNew : undefined
    return (node === undefined) === (iallocator === undefined) ? own.replaceDisks.oneOfBoth : undefined
  },
  request: (instance, body) =>
    post(instance, '/disks/replace', body, {
      command: 'instance replace-disks',
      more: REPLACE_FLAGS[String(body['mode'])] ?? {},
      flags: { mode: null, remote_node: 'new-secondary' },
    }),
}

const REPLACE_FLAGS: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  replace_auto: { auto: true },
  replace_on_primary: { 'on-primary': true },
  replace_on_secondary: { 'on-secondary': true },
}
