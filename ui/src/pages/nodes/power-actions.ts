// Actions on the power of a node, through its out-of-band helper or its hypervisor.
import { schema as oob } from 'openapi:POST /3/nodes/{name}/oob'
import { schema as powercycle } from 'openapi:POST /3/nodes/{name}/powercycle'
import { schema as modify } from 'openapi:PATCH /3/nodes/{name}'
import { fieldOf, type Values } from '../../forms/schema'
import type { Action } from '../../parts/action'
import type { Request } from '../../parts/request'
import { gntText } from '../../parts/gnt'
import { JOBS } from '../../parts/use-plan'
import { texts } from '../../texts'
import { type ClusterNode, hasHelper } from './node'

const own = texts.nodes.actions
type Command = keyof typeof own.power

const path = ({ name }: ClusterNode, verb: string): string => `/3/nodes/${encodeURIComponent(name)}/${verb}`

const FLAGS = { timeout: 'oob-timeout' }

/** As in gnt, a node is marked offline before it is switched off, unless `ignore_status` is set. */
function powerRequest(command: Command, node: ClusterNode, { auto_promote: promote, ...body }: Values): Request {
  const gnt = gntText(
    'node power --force',
    { ...body, auto_promote: promote },
    [command.replace('power-', ''), node.name],
    FLAGS,
  )
  if (command !== 'power-off' || body['ignore_status'] === true)
    return { method: 'POST', path: path(node, 'oob'), body: { command, ...body }, gnt }
  const offline = { OP_ID: 'OP_NODE_SET_PARAMS', node_name: node.name, offline: true }
  const ops = [
    { ...offline, ...(promote !== undefined && { auto_promote: promote }) },
    { OP_ID: 'OP_OOB_COMMAND', node_names: [node.name], command, ...body },
  ]
  return { method: 'POST', path: JOBS, body: { ops }, gnt }
}

function power(command: Command): Action<ClusterNode> {
  const acts = command === 'power-off' || command === 'power-cycle'
  return {
    ...{ id: command, label: own.power[command], permission: 'nodes.oob', group: own.powerGroup, danger: acts },
    text: ({ name }) => own.powerText(name),
    fields: [
      ...(acts ? [fieldOf(oob, 'ignore_status', { label: own.ignoreStatus, text: '' })] : []),
      ...(command === 'power-off' ? [fieldOf(modify, 'auto_promote', { label: own.promote, text: '' })] : []),
    ],
    others: [fieldOf(oob, 'timeout', { label: own.timeout, text: '' })],
    unfit: (node) => (hasHelper(node) ? undefined : own.noHelper),
    request: (node, body) =>
      command === 'health'
        ? {
            ...{ method: 'POST', path: path(node, 'oob'), body: { command, ...body } },
            gnt: gntText('node health', body, [node.name], FLAGS),
          }
        : powerRequest(command, node, body),
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
      gnt: gntText('node powercycle --yes', body, [node.name]),
    }),
  },
]
