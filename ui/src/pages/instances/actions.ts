// What can be done to an instance.
import type { Action, Field } from '../../parts/action'
import type { Instance } from './instance'

const TIMEOUT: Field = {
  ...{ kind: 'number', name: 'timeout', initial: 120, label: 'Time to stop' },
  text: 'Seconds until it is switched off.',
}

const at = ({ name }: Instance, verb: string): string => `/3/instances/${encodeURIComponent(name)}/${verb}`
const isRunning = ({ status }: Instance): boolean => status === 'running' || status === 'ERROR_up'
const unlessRunning = (instance: Instance) => (isRunning(instance) ? undefined : 'It does not run')

/** The flags of gnt for what was set. */
function gnt(
  verb: string,
  { name }: Instance,
  flags: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const words = Object.entries(flags).flatMap(([flag, value]) => {
    if (value === undefined || value === false) return []
    return value === true ? `--${flag}` : `--${flag}=${value}`
  })
  return ['gnt instance', verb, ...words, name].join(' ')
}

export const INSTANCE_ACTIONS: readonly Action<Instance>[] = [
  {
    ...{ id: 'startup', label: 'Start', permission: 'instances.startup' },
    text: ({ name }) => `Starts ${name} on its primary node.`,
    fields: [
      {
        kind: 'switch',
        name: 'startup_paused',
        initial: false,
        label: 'Start paused',
        text: 'It goes on when its console is opened.',
      },
    ],
    unfit: (instance) => (isRunning(instance) ? 'It runs already' : undefined),
    request: (instance, body) => ({
      ...{ method: 'POST', path: at(instance, 'startup'), body },
      gnt: gnt('startup', instance, { paused: body['startup_paused'] }),
    }),
  },
  {
    ...{ id: 'shutdown', label: 'Stop', permission: 'instances.shutdown' },
    text: ({ name }) => `Asks ${name} to shut down, and switches it off when it does not in time.`,
    fields: [TIMEOUT],
    unfit: unlessRunning,
    request: (instance, body) => ({
      ...{ method: 'POST', path: at(instance, 'shutdown'), body },
      gnt: gnt('shutdown', instance, { timeout: body['timeout'] }),
    }),
  },
  {
    ...{ id: 'reboot', label: 'Reboot', permission: 'instances.reboot' },
    text: ({ name }) => `Restarts ${name}.`,
    fields: [
      {
        ...{ kind: 'choice', name: 'reboot_type', initial: 'hard', choices: ['soft', 'hard', 'full'], label: 'How' },
        text: 'soft asks the hypervisor, hard stops and starts it, full also its disks.',
      },
    ],
    unfit: unlessRunning,
    request: (instance, body) => ({
      ...{ method: 'POST', path: at(instance, 'reboot'), body },
      gnt: gnt('reboot', instance, { type: body['reboot_type'] }),
    }),
  },
  {
    ...{ id: 'migrate', label: 'Migrate', permission: 'instances.migrate' },
    text: ({ name }) => `Moves ${name} to another node while it runs.`,
    fields: [
      {
        ...{ kind: 'text', name: 'target_node', initial: '', label: 'To which node' },
        text: 'Empty for its secondary node, or for the one that the allocator chooses.',
      },
      {
        kind: 'switch',
        name: 'allow_failover',
        initial: false,
        label: 'Fail over where it cannot be moved while it runs',
      },
    ],
    unfit: unlessRunning,
    request: (instance, body) => ({
      ...{ method: 'POST', path: at(instance, 'migrate'), body },
      gnt: gnt('migrate', instance, {
        force: true,
        'target-node': body['target_node'],
        'allow-failover': body['allow_failover'],
      }),
    }),
  },
  {
    ...{ id: 'failover', label: 'Fail over', permission: 'instances.failover', danger: true },
    text: ({ name }) => `Stops ${name}, and starts it on another node.`,
    fields: [
      {
        ...{ kind: 'text', name: 'target_node', initial: '', label: 'To which node' },
        text: 'Empty for its secondary node, or for the one that the allocator chooses.',
      },
      {
        ...{ kind: 'switch', name: 'ignore_consistency', initial: false, label: 'Although disks are not in sync' },
        text: 'What was written last may be lost.',
      },
    ],
    request: (instance, body) => ({
      ...{ method: 'POST', path: at(instance, 'failover'), body },
      gnt: gnt('failover', instance, {
        ...{ force: true, 'target-node': body['target_node'], 'ignore-consistency': body['ignore_consistency'] },
      }),
    }),
  },
  {
    ...{ id: 'remove', label: 'Remove', permission: 'instances.remove', danger: true },
    text: ({ name }) => `Removes ${name} with all that is on its disks. It cannot be taken back.`,
    typed: ({ name }) => name,
    fields: [
      { kind: 'switch', name: 'ignore_failures', initial: false, label: 'Although something of it cannot be removed' },
    ],
    request: (instance, body) => ({
      ...{ method: 'DELETE', path: `/3/instances/${encodeURIComponent(instance.name)}`, body },
      gnt: gnt('remove', instance, { force: true, 'ignore-failures': body['ignore_failures'] }),
    }),
  },
]
