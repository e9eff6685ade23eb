// Actions on the cluster.
import { schema as modify } from 'openapi:PATCH /3/cluster'
import { schema as rename } from 'openapi:POST /3/cluster/rename'
import { schema as verify } from 'openapi:POST /3/cluster/verify'
import { sessionStore } from '../../api/session-store'
import { fieldOf, type Values } from '../../forms/schema'
import { type Action, nothingChanged } from '../../parts/action'
import { each, gntText, yesNo } from '../../parts/gnt'
import { policyFlags } from '../../parts/ipolicy'
import { texts } from '../../texts'
import { fieldsFor, seenOf, type Setting } from './settings'

const own = texts.cluster

export const CHANGE_SETTING: Action<Setting> = {
  ...{ id: 'change', label: own.change, permission: 'cluster.modify' },
  text: ({ name }) => own.changeText(name),
  fields: fieldsFor,
  others: [fieldOf(modify, 'force')],
  seen: seenOf,
  complaint: (_setting, body) => nothingChanged(body, ['force']),
  request: (_setting, body) => ({
    ...{ method: 'PATCH', path: '/3/cluster', body },
    gnt: gntText('cluster modify', flagsOf(body), [], FLAGS),
  }),
}

const FLAGS = {
  ...{ beparams: 'backend-parameters', hvparams: 'hypervisor-parameters', nicparams: 'nic-parameters' },
  ...{ ndparams: 'node-parameters', diskparams: 'disk-parameters', drbd_helper: 'drbd-usermode-helper' },
  ...{ enabled_user_shutdown: 'user-shutdown' },
}

/** Converts parameters for which gnt has other flags. */
function flagsOf({ ipolicy, ...body }: Values): Values {
  const { uid_pool: uids, default_iallocators: allocators, data_collector_interval: intervals } = body
  return {
    ...yesNo(body, ['force']),
    ...policyFlags(ipolicy),
    ...(Array.isArray(uids) && { uid_pool: uids.map((ends: unknown) => [ends].flat().join('-')) }),
    ...(allocators !== undefined && { default_iallocators: mapped(allocators, (names) => [names].flat().join(':')) }),
    ...(intervals !== undefined && { data_collector_interval: mapped(intervals, (micros) => Number(micros) / 1e6) }),
  }
}

const mapped = (values: unknown, change: (value: unknown) => unknown): Values =>
  Object.fromEntries(Object.entries(Object(values) as Values).map(([name, value]) => [name, change(value)]))

interface Plain {
  readonly id: string
  readonly path: string
  readonly label: string
  readonly text: string
  readonly permission: string
  readonly gnt: string
  readonly danger?: boolean
}

const plain = ({ path, text, gnt, ...rest }: Plain): Action<null> => ({
  ...rest,
  beyond: () => 'cluster',
  text: () => text,
  fields: [],
  request: (_none, body) => ({ method: 'POST', path: `/3/cluster/${path}`, body, gnt }),
})

const GROUP = fieldOf(verify, 'group_name', { source: 'groups' })
/** Whether the user has signed in with a token for a part of the cluster. */
const isScoped = (): boolean => sessionStore.scope() !== null

export const VERIFY: Action<null> = {
  ...{ id: 'verify', label: own.verify.run, permission: 'cluster.verify' },
  text: () => own.verify.runText,
  fields: () => (isScoped() ? [GROUP] : []),
  complaint: (_none, { group_name: group }) => (isScoped() && group === undefined ? own.verify.onlyGroups : undefined),
  others: () => [
    ...(isScoped() ? [] : [GROUP]),
    fieldOf(verify, 'verbose'),
    fieldOf(verify, 'verify_clutter'),
    fieldOf(verify, 'skip_checks'),
    fieldOf(verify, 'ignore_errors'),
  ],
  request: (_none, body) => ({
    ...{ method: 'POST', path: '/3/cluster/verify', body },
    gnt: gntText('cluster verify', { ...body, ...skipped(body), ignore_errors: each(body['ignore_errors']) }, [], {
      ...{ group_name: 'node-group', verify_clutter: 'verify-ssh-clutter', skip_checks: null },
    }),
  }),
}

/** Checks that can be skipped, with their flags. */
const SKIPS: Readonly<Record<string, string>> = {
  nplusone_mem: 'no-nplus1-mem',
  hvparam_assessment: 'no-hv-param-assessment',
}

const skipped = ({ skip_checks: names }: Values): Values =>
  Object.fromEntries((Array.isArray(names) ? names : []).map((name) => [SKIPS[String(name)] ?? String(name), true]))

export const REDISTRIBUTE = plain({
  ...{ id: 'redistribute', path: 'redistribute-config', permission: 'cluster.redistribute_config' },
  ...{ label: own.actions.redistribute, text: own.actions.redistributeText, gnt: 'gnt cluster redist-conf' },
})

const RENAME: Action<null> = {
  ...{ id: 'rename', label: own.actions.rename, permission: 'cluster.rename', danger: true },
  text: () => own.actions.renameText,
  fields: [fieldOf(rename, 'name', { text: '' })],
  request: (_none, body) => ({
    ...{ method: 'POST', path: '/3/cluster/rename', body },
    gnt: gntText('cluster rename --force', {}, [String(body['name'] ?? 'NAME')]),
  }),
}

export const CLUSTER_ACTIONS: readonly Action<null>[] = [
  VERIFY,
  REDISTRIBUTE,
  plain({
    ...{ id: 'disks', path: 'verify-disks', permission: 'cluster.verify_disks' },
    ...{ label: own.actions.disks, text: own.actions.disksText, gnt: 'gnt cluster verify-disks' },
  }),
  plain({
    ...{ id: 'sizes', path: 'repair-disk-sizes', permission: 'cluster.repair_disk_sizes' },
    ...{ label: own.actions.sizes, text: own.actions.sizesText, gnt: 'gnt cluster repair-disk-sizes' },
  }),
  plain({
    ...{ id: 'activate', path: 'master-ip/activate', permission: 'cluster.activate_master_ip' },
    ...{ label: own.actions.activate, text: own.actions.activateText, gnt: 'gnt cluster activate-master-ip' },
  }),
  plain({
    ...{ id: 'deactivate', path: 'master-ip/deactivate', permission: 'cluster.deactivate_master_ip', danger: true },
    ...{
      label: own.actions.deactivate,
      text: own.actions.deactivateText,
      gnt: 'gnt cluster deactivate-master-ip --yes',
    },
  }),
  RENAME,
]
