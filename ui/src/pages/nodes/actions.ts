// What can be done to a node.
import type { Action } from '../../parts/action'
import type { ClusterNode } from './node'

const path = ({ name }: ClusterNode, verb = ''): string => `/3/nodes/${encodeURIComponent(name)}${verb}`

/** Sets one flag of the node. */
function flag(
  name: 'offline' | 'drained',
  value: boolean,
  texts: { label: string; text: string; unfit: string },
): Action<ClusterNode> {
  return {
    ...{
      id: `${name}-${value ? 'on' : 'off'}`,
      label: texts.label,
      permission: 'nodes.modify',
      danger: value && name === 'offline',
    },
    text: (node) => `${node.name}: ${texts.text}`,
    fields: value
      ? [
          {
            kind: 'switch',
            name: 'auto_promote',
            initial: false,
            label: 'Promote another node to candidate if there are too few',
          },
        ]
      : [],
    unfit: (node) => (node[name] === value ? texts.unfit : undefined),
    request: (node, body) => ({
      ...{ method: 'PATCH', path: path(node), body: { ...body, [name]: value } },
      gnt: `gnt node modify --${name}=${value ? 'yes' : 'no'}${body['auto_promote'] === true ? ' --auto-promote' : ''} ${node.name}`,
    }),
  }
}

export const NODE_ACTIONS: readonly Action<ClusterNode>[] = [
  {
    ...{ id: 'migrate', label: 'Migrate instances', permission: 'nodes.migrate' },
    text: ({ name }) => `Moves the instances that run on ${name} to other nodes while they run.`,
    fields: [],
    unfit: ({ pinst_cnt: count }) => (count === 0 ? 'No instance has it as its primary node' : undefined),
    request: (node, body) => ({
      ...{ method: 'POST', path: path(node, '/migrate'), body },
      gnt: `gnt node migrate --force ${node.name}`,
    }),
  },
  {
    ...{ id: 'evacuate', label: 'Evacuate', permission: 'nodes.evacuate' },
    text: ({ name }) => `Gives the instances of ${name} other nodes, which the allocator chooses.`,
    fields: [
      {
        ...{ kind: 'choice', name: 'mode', initial: 'all', label: 'Which instances' },
        choices: ['all', 'primary-only', 'secondary-only'],
      },
      {
        kind: 'switch',
        name: 'early_release',
        initial: false,
        label: 'Give up the old disks before the new ones are in sync',
      },
    ],
    request: (node, body) => ({
      // The opcode has no default for the mode.
      ...{ method: 'POST', path: path(node, '/evacuate'), body: { mode: 'all', ...body } },
      gnt: `gnt node evacuate --force ${MODE_FLAGS[String(body['mode'])] ?? ''}${body['early_release'] === true ? '--early-release ' : ''}${node.name}`,
    }),
  },
  flag('drained', true, { label: 'Drain', text: 'no new instances are put there.', unfit: 'It is drained already' }),
  flag('drained', false, {
    label: 'Undrain',
    text: 'new instances may be put there again.',
    unfit: 'It is not drained',
  }),
  flag('offline', true, {
    label: 'Set offline',
    text: 'the cluster no longer speaks to it. Its instances are taken for down.',
    unfit: 'It is offline already',
  }),
  flag('offline', false, { label: 'Set online', text: 'the cluster speaks to it again.', unfit: 'It is not offline' }),
]

const MODE_FLAGS: Readonly<Record<string, string>> = {
  'primary-only': '--primary-only ',
  'secondary-only': '--secondary-only ',
}
