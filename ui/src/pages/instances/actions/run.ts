// Actions that start, stop and restart an instance.
import { schema as reboot } from 'openapi:POST /3/instances/{name}/reboot'
import { schema as shutdown } from 'openapi:POST /3/instances/{name}/shutdown'
import { schema as startup } from 'openapi:POST /3/instances/{name}/startup'
import { fieldOf, otherFields } from '../../../forms/schema'
import type { FieldAction } from '../../../parts/action'
import { texts } from '../../../texts'
import type { Instance } from '../instance'
import { TEMPLATES } from '../templates'
import { isNodeOffline, isRunning, post } from './request'

const own = texts.instances.actions
/** An instance that should run can be stopped and restarted in any state: its state may be unknown, or just changing. */
const unlessUp = ({ admin_state: state, ...instance }: Instance) =>
  onOfflineNode(instance) ?? (state === 'up' || isRunning(instance) ? undefined : own.unfit.stopped)

/** Names the way out, if there is one. */
export const onOfflineNode = (instance: Instance): string | undefined => {
  if (!isNodeOffline(instance)) return undefined
  const mirrored = TEMPLATES[instance.disk_template ?? '']?.mirror !== undefined
  return (mirrored ? own.unfit.nodeOffline : own.unfit.nodeOfflineAlone)(instance.pnode ?? '')
}

/** Parameters for a single start. Other actions change them permanently. */
const ONCE = ['hvparams', 'beparams'] as const

export const START: FieldAction<Instance> = {
  ...{ id: 'startup', label: own.startup.label, permission: 'instances.startup', group: own.groups.run },
  text: ({ name }) => own.startup.text(name),
  fields: [fieldOf(startup, 'startup_paused', own.startup.startup_paused)],
  others: [
    ...ONCE.map((name) => fieldOf(startup, name, own.startup[name])),
    ...otherFields(startup, ['startup_paused', 'shutdown_timeout', ...ONCE], own.fields),
  ],
  unfit: (instance) => {
    if (instance.admin_state === 'offline') return own.unfit.offline
    return onOfflineNode(instance) ?? (isRunning(instance) ? own.unfit.running : undefined)
  },
  request: (instance, body) =>
    post(instance, '/startup', body, {
      command: 'instance startup',
      flags: {
        ...{ startup_paused: 'paused', ignore_offline_nodes: 'ignore-offline' },
        ...{ hvparams: 'hypervisor-parameters', beparams: 'backend-parameters' },
      },
    }),
}

export const STOP: FieldAction<Instance> = {
  ...{ id: 'shutdown', label: own.shutdown.label, permission: 'instances.shutdown', group: own.groups.run },
  text: ({ name }) => own.shutdown.text(name),
  fields: [fieldOf(shutdown, 'timeout', own.shutdown.timeout)],
  others: otherFields(shutdown, ['timeout', 'admin_state_source'], own.fields),
  unfit: unlessUp,
  request: (instance, body) =>
    post(instance, '/shutdown', body, {
      command: 'instance shutdown',
      flags: { ignore_offline_nodes: 'ignore-offline' },
    }),
}

export const REBOOT: FieldAction<Instance> = {
  ...{ id: 'reboot', label: own.reboot.label, permission: 'instances.reboot', group: own.groups.run },
  text: ({ name }) => own.reboot.text(name),
  fields: [fieldOf(reboot, 'reboot_type', { ...own.reboot.reboot_type, initial: 'hard', required: false })],
  others: otherFields(reboot, ['reboot_type'], own.fields),
  unfit: unlessUp,
  request: (instance, body) =>
    post(instance, '/reboot', body, { command: 'instance reboot', flags: { reboot_type: 'type' } }),
}
