// What can be done to the power of a node, by its out-of-band helper and by its hypervisor.
import { schema as oob } from 'openapi:POST /3/nodes/{name}/oob'
import { schema as powercycle } from 'openapi:POST /3/nodes/{name}/powercycle'
import { fieldOf } from '../../forms/schema'
import type { Action } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { texts } from '../../texts'
import type { ClusterNode } from './node'

const own = texts.nodes.actions
type Command = keyof typeof own.power

const path = ({ name }: ClusterNode, verb: string): string => `/3/nodes/${encodeURIComponent(name)}/${verb}`

function power(command: Command): Action<ClusterNode> {
  const acts = command === 'power-off' || command === 'power-cycle'
  return {
    ...{ id: command, label: own.power[command], permission: 'nodes.oob', group: own.powerGroup, danger: acts },
    text: ({ name }) => own.powerText(name),
    fields: acts ? [fieldOf(oob, 'ignore_status', { label: own.ignoreStatus, text: '' })] : [],
    others: [fieldOf(oob, 'timeout', { label: own.timeout, text: '' })],
    unfit: (node) => (node['ndp/oob_program'] ? undefined : own.noHelper),
    request: (node, body) => ({
      ...{ method: 'POST', path: path(node, 'oob'), body: { command, ...body } },
      gnt:
        command === 'health'
          ? gntText('node health', {}, [node.name])
          : gntText(`node power --force`, body, [command.replace('power-', ''), node.name], { timeout: 'oob-timeout' }),
    }),
  }
}

export const POWER_ACTIONS: readonly Action<ClusterNode>[] = [
  ...(['power-status', 'power-on', 'power-off', 'power-cycle', 'health'] as const).map(power),
  {
    ...{ id: 'powercycle', label: own.powercycle, permission: 'nodes.powercycle', group: own.powerGroup, danger: true },
    text: ({ name }) => own.powercycleText(name),
    fields: [fieldOf(powercycle, 'force')],
    typed: ({ name }) => name,
    request: (node, body) => ({
      ...{ method: 'POST', path: path(node, 'powercycle'), body },
      gnt: gntText('node powercycle --confirm', body, [node.name]),
    }),
  },
]
