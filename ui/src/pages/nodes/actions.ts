// Actions on a node.
import { schema as add } from 'openapi:POST /3/nodes'
import { schema as evacuate } from 'openapi:POST /3/nodes/{name}/evacuate'
import { schema as migrate } from 'openapi:POST /3/nodes/{name}/migrate'
import { schema as modify } from 'openapi:PATCH /3/nodes/{name}'
import { schema as nodeParameters } from 'openapi:#NodeParameters'
import { sessionStore } from '../../api/session-store'
import { belowOthers, parameterFields } from '../../forms/parameter-fields'
import { fieldOf, otherFields, type Values } from '../../forms/schema'
import { type Action, nothingChanged } from '../../parts/action'
import { gntText, yesNo } from '../../parts/gnt'
import type { Seen } from '../../parts/request-dialog'
import { texts } from '../../texts'
import type { ClusterNode } from './node'
import { POWER_ACTIONS } from './power-actions'

const own = texts.nodes.actions
const { facts } = texts.nodes

export const nodePath = ({ name }: Pick<ClusterNode, 'name'>, verb = ''): string =>
  `/3/nodes/${encodeURIComponent(name)}${verb}`

/** Shown if somebody else has changed the node meanwhile. */
const seenOf = ({ uuid, serial_no: serial, ...node }: ClusterNode): Seen => ({
  etag: `"node/${uuid ?? ''}/${serial ?? 0}"`,
  facts: {
    ...{ secondary_ip: node.sip, role: node.role, powered: node.powered },
    ...{ master_capable: node.master_capable, vm_capable: node.vm_capable, ndparams: node.custom_ndparams },
  },
})

/** Flags of `gnt node modify` without a value; all others take yes or no. */
const WORDS = ['force', 'auto_promote']

interface FlagTexts {
  readonly label: string
  readonly text: (name: string) => string
  readonly unfit: string
}

type Flag = 'offline' | 'drained' | 'master_candidate'

/** An action that sets one flag of the node. `lowers`: there may be too few master candidates afterwards. */
function flag(name: Flag, value: boolean, reported: FlagTexts): Action<ClusterNode> {
  const lowers = name === 'master_candidate' ? !value : value
  // gnt asks whether the node's configuration is still right; --yes confirms this.
  const sure = name === 'offline' && !value
  const promote = fieldOf(modify, 'auto_promote', { label: own.promote, text: '' })
  return {
    ...{
      id: `${name}-${value}`,
      label: reported.label,
      permission: 'nodes.modify',
      danger: value && name === 'offline',
    },
    beyond: () => (name === 'master_candidate' ? 'machines' : undefined),
    text: (node) => reported.text(node.name),
    fields: lowers ? [promote] : [],
    unfit(node) {
      if (node.master === true) return own.isMaster
      return node[name] === value ? reported.unfit : undefined
    },
    request: (node, body) => ({
      ...{ method: 'PATCH', path: nodePath(node), body: { ...body, [name]: value } },
      gnt: gntText(sure ? 'node modify --yes' : 'node modify', yesNo({ [name]: value, ...body }, WORDS), [node.name]),
    }),
  }
}

const MIGRATE: Action<ClusterNode> = {
  ...{ id: 'migrate', label: own.migrate, permission: 'nodes.migrate', forOthers: true },
  beyond: ({ pinst_hidden: hidden }) => (hidden === true ? 'others' : undefined),
  text: ({ name }) => own.migrateText(name),
  fields: [fieldOf(migrate, 'target_node', { source: 'nodes' }), fieldOf(migrate, 'mode')],
  others: otherFields(migrate, ['target_node', 'mode']),
  unfit: ({ pinst_cnt: count }) => (count === 0 ? own.noPrimaries : undefined),
  request: (node, body) => ({
    ...{ method: 'POST', path: nodePath(node, '/migrate'), body },
    gnt: gntText('node migrate --force', body, [node.name], {
      ...{ mode: 'migration-mode', allow_runtime_changes: 'runtime-changes' },
    }),
  }),
}

const MODES = [
  { value: 'all', label: texts.nodes.flags.all },
  { value: 'primary-only', label: texts.nodes.flags.primary },
  { value: 'secondary-only', label: texts.nodes.flags.secondary },
]

/** Without those that concern instances outside the scope of the session's token. */
const modesOf = ({ pinst_hidden: first, sinst_hidden: second }: ClusterNode) =>
  MODES.filter(
    ({ value }) => (first !== true || value === 'secondary-only') && (second !== true || value === 'primary-only'),
  )

const EVACUATE: Action<ClusterNode> = {
  ...{ id: 'evacuate', label: own.evacuate, permission: 'nodes.evacuate', forOthers: true },
  beyond(node) {
    const counts: Readonly<Record<string, number | null | undefined>> = {
      ...{ 'primary-only': node.pinst_cnt, 'secondary-only': node.sinst_cnt },
    }
    const isHidden = node.pinst_hidden === true || node.sinst_hidden === true
    return isHidden && modesOf(node).every(({ value }) => counts[value] === 0) ? 'others' : undefined
  },
  text: ({ name }) => own.evacuateText(name),
  fields: (node) => [
    fieldOf(evacuate, 'mode', {
      ...{ label: own.which, text: '', initial: modesOf(node)[0]?.value ?? 'all', choices: modesOf(node) },
    }),
    fieldOf(evacuate, 'remote_node', { label: own.remoteNode, text: own.remoteNodeText, source: 'nodes' }),
    fieldOf(evacuate, 'iallocator', { label: own.iallocator, text: own.iallocatorText }),
    fieldOf(evacuate, 'early_release', { label: own.earlyRelease, text: '' }),
    fieldOf(evacuate, 'ignore_soft_errors', { label: own.softErrors, text: '', initial: false }),
  ],
  unfit: ({ pinst_cnt: first, sinst_cnt: second }) => (first === 0 && second === 0 ? own.noInstances : undefined),
  complaint: (node, { mode = modesOf(node)[0]?.value, remote_node: remote }) =>
    mode === 'primary-only' && remote !== undefined ? own.onlySecondaries : undefined,
  request(node, input) {
    // The opcode has no default for the mode. With a named node, only secondary instances can be evacuated.
    const body: Values = {
      mode: modesOf(node)[0]?.value ?? 'all',
      ...input,
      ...(input['remote_node'] !== undefined && { mode: 'secondary-only' }),
    }
    const { mode, ...others } = body
    const flags = { ...(mode !== 'all' && { [String(mode)]: true }), ...others }
    return {
      ...{ method: 'POST', path: nodePath(node, '/evacuate'), body },
      gnt: gntText('node evacuate --force', flags, [node.name], { remote_node: 'new-secondary' }),
    }
  },
}

const MODIFY: Action<ClusterNode> = {
  ...{ id: 'modify', label: own.modify, permission: 'nodes.modify' },
  text: ({ name }) => own.modifyText(name),
  fields: (node) => [
    fieldOf(modify, 'secondary_ip', { label: facts.secondaryIp, initial: node.sip }),
    fieldOf(modify, 'master_capable', { label: facts.masterCapable, initial: node.master_capable }),
    fieldOf(modify, 'vm_capable', { label: facts.vmCapable, initial: node.vm_capable }),
    fieldOf(modify, 'powered', { label: facts.powered, initial: node.powered }),
    // Without parameters that only groups and the cluster have.
    ...parameterFields(
      belowOthers(['ndparams'], nodeParameters, node.ndparams ?? {}, node.custom_ndparams ?? {}),
    ).filter(({ label }) => label !== 'exclusive_storage'),
  ],
  others: [fieldOf(modify, 'auto_promote'), fieldOf(modify, 'force')],
  seen: seenOf,
  complaint: (_node, body) => nothingChanged(body, WORDS),
  request: (node, body) => ({
    ...{ method: 'PATCH', path: nodePath(node), body },
    gnt: gntText('node modify', yesNo(body, WORDS), [node.name], {
      ndparams: 'node-parameters',
      powered: 'node-powered',
    }),
  }),
}

const REMOVE: Action<ClusterNode> = {
  ...{ id: 'remove', label: own.remove, permission: 'nodes.remove', danger: true },
  text: ({ name }) => own.removeText(name),
  fields: [],
  typed: ({ name }) => name,
  unfit({ master, pinst_cnt: first, sinst_cnt: second, ...node }) {
    if (master === true) return own.isMaster
    const isHidden = node.pinst_hidden === true || node.sinst_hidden === true
    return (first ?? 0) + (second ?? 0) > 0 || isHidden ? own.hasInstances : undefined
  },
  request: (node, body) => ({
    ...{ method: 'DELETE', path: nodePath(node), body },
    gnt: gntText('node remove', {}, [node.name]),
  }),
}

export const NODE_ACTIONS: readonly Action<ClusterNode>[] = [
  MIGRATE,
  EVACUATE,
  flag('drained', true, { label: own.drain, text: own.drainText, unfit: own.drained }),
  flag('drained', false, { label: own.undrain, text: own.undrainText, unfit: own.notDrained }),
  MODIFY,
  flag('offline', true, { label: own.offline, text: own.offlineText, unfit: own.isOffline }),
  flag('offline', false, { label: own.online, text: own.onlineText, unfit: own.notOffline }),
  flag('master_candidate', true, { label: own.candidate, text: own.candidateText, unfit: own.isCandidate }),
  flag('master_candidate', false, { label: own.demote, text: own.demoteText, unfit: own.notCandidate }),
  ...POWER_ACTIONS,
  REMOVE,
]

/** Without the SSH set-up, because only the command line can ask for the password of the node. */
export const ADD_NODE: Action<null> = {
  ...{ id: 'add', label: own.add, permission: 'nodes.add' },
  text: () => own.addText,
  fields: [
    fieldOf(add, 'node_name', { label: texts.nodes.columns.name }),
    fieldOf(add, 'group', { source: 'groups' }),
    fieldOf(add, 'readd', { label: own.readd, text: '' }),
  ],
  // A new node is in no token's scope.
  complaint: (_none, { readd }) => (sessionStore.scope() !== null && readd !== true ? own.onlyAgain : undefined),
  others: otherFields(add, ['node_name', 'group', 'readd', 'node_setup', 'hv_state', 'disk_state']),
  request: (_none, body) => {
    const { node_name: name = 'NODE', ...others } = body
    return {
      ...{ method: 'POST', path: '/3/nodes', body },
      gnt: gntText('node add --no-node-setup', yesNo(others, ['readd']), [String(name)], {
        group: 'node-group',
        ndparams: 'node-parameters',
      }),
    }
  },
}
