// What can be done to the cluster.
import { schema as modify } from 'openapi:PATCH /3/cluster'
import { schema as rename } from 'openapi:POST /3/cluster/rename'
import { schema as verify } from 'openapi:POST /3/cluster/verify'
import { fieldOf } from '../../forms/schema'
import type { Action } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { texts } from '../../texts'
import { fieldsFor, type Setting } from './settings'

const own = texts.cluster

export const CHANGE_SETTING: Action<Setting> = {
  ...{ id: 'change', label: own.change, permission: 'cluster.modify' },
  text: ({ name }) => own.changeText(name),
  fields: fieldsFor,
  others: [fieldOf(modify, 'force')],
  request: (_setting, body) => ({
    ...{ method: 'PATCH', path: '/3/cluster', body },
    gnt: gntText('cluster modify', yesNo(body), []),
  }),
}

const yesNo = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'boolean' && name !== 'force' ? (value ? 'yes' : 'no') : value,
    ]),
  )

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
  text: () => text,
  fields: [],
  request: (_none, body) => ({ method: 'POST', path: `/3/cluster/${path}`, body, gnt }),
})

export const VERIFY: Action<null> = {
  ...{ id: 'verify', label: own.verify.run, permission: 'cluster.verify' },
  text: () => own.verify.runText,
  fields: [],
  others: [
    fieldOf(verify, 'group_name', { source: 'groups' }),
    fieldOf(verify, 'verbose'),
    fieldOf(verify, 'verify_clutter'),
    fieldOf(verify, 'skip_checks'),
    fieldOf(verify, 'ignore_errors'),
  ],
  request: (_none, body) => ({
    ...{ method: 'POST', path: '/3/cluster/verify', body },
    gnt: gntText('cluster verify', body, [], {
      ...{ group_name: 'node-group', verify_clutter: 'verify-ssh-clutter', skip_checks: null },
    }),
  }),
}

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
    ...{ label: own.actions.deactivate, text: own.actions.deactivateText, gnt: 'gnt cluster deactivate-master-ip' },
  }),
  RENAME,
]
