// Actions on repair events, the settings of maintenance and the watcher.
import type { components } from '../../api/schema'
import type { Field } from '../../forms/schema'
import { type Action, nothingChanged } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { plainAction } from '../../parts/plain-dialog'
import { texts } from '../../texts'

export type Maintenance = components['schemas']['MaintenanceView']
export type RepairEvent = Maintenance['events'][number]
export type Watcher = components['schemas']['WatcherView']

const own = texts.maintenance

const isOver = (event: RepairEvent): boolean => ['canceled', 'failed', 'completed'].includes(event['repair-status'])
const nodeOf = ({ node_name: name, node }: RepairEvent): string => name ?? node
const path = ({ id }: RepairEvent, verb: string): string => `/3/maintenance/events/${encodeURIComponent(id)}/${verb}`

export const CANCEL_REPAIR: Action<RepairEvent> = plainAction({
  ...{ id: 'cancel', label: own.cancel, permission: 'maintenance.cancel', danger: true, changes: ['maintenance'] },
  text: (event) => own.cancelText(nodeOf(event)),
  fields: [],
  unfit: (event) => (isOver(event) ? own.ended : undefined),
  request: (event) => ({
    ...{ method: 'POST', path: path(event, 'cancel'), body: {} },
    gnt: gntText('cluster maintenance cancel', {}, [event.id]),
  }),
})

export const ACKNOWLEDGE: Action<RepairEvent> = {
  ...{ id: 'acknowledge', label: own.acknowledge, permission: 'maintenance.acknowledge' },
  text: (event) => own.acknowledgeText(nodeOf(event)),
  fields: [],
  unfit(event) {
    if (event['repair-status'] === 'canceled') return own.noTag
    return isOver(event) ? undefined : own.notEnded
  },
  request: (event) => ({
    ...{ method: 'POST', path: path(event, 'acknowledge'), body: {} },
    gnt: gntText('cluster maintenance acknowledge', {}, [event.id]),
  }),
}

type Settings = Maintenance['settings']

export const CHANGE_SETTINGS: Action<Settings> = {
  ...{ id: 'settings', label: own.change, permission: 'cluster.modify' },
  text: () => own.changeText,
  fields: (settings) => Object.entries(settings).map(([name, value]) => settingField(name, value)),
  complaint: (_settings, body) => nothingChanged(body),
  request: (_settings, body) => ({
    ...{ method: 'PATCH', path: '/3/maintenance/settings', body },
    gnt: gntText('cluster maintenance settings', {}, words(body)),
  }),
}

function settingField(name: string, value: unknown): Field {
  const label = own.setting[name] ?? name
  if (typeof value === 'boolean') return { kind: 'switch', name, label, initial: value }
  if (name === 'round_delay' || name === 'evacuation_copies')
    return { kind: 'number', name, label, initial: Number(value), min: 1 }
  if (typeof value === 'number') return { kind: 'number', name, label, initial: value, fraction: true }
  return { kind: 'text', name, label, initial: String(value) }
}

/** Words such as `balance=yes`. */
const words = (body: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(body).map(
    ([name, value]) => `${name}=${typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)}`,
  )

export const PAUSE_WATCHER: Action<null> = plainAction({
  ...{ id: 'pause', label: own.pause, permission: 'cluster.modify', changes: ['watcher'] },
  text: () => own.pauseText,
  fields: [{ kind: 'number', name: 'minutes', label: own.minutes, initial: 60, min: 1 }],
  request(_none, body) {
    const minutes = Number(body['minutes'] ?? 60)
    const until = new Date(Date.now() + minutes * 60_000).toISOString()
    return {
      ...{ method: 'PUT', path: '/3/watcher/pause', body: { until } },
      gnt: gntText('cluster watcher pause', {}, [`${minutes}m`]),
    }
  },
})

export const RESUME_WATCHER: Action<Watcher> = plainAction({
  ...{ id: 'resume', label: own.resume, permission: 'cluster.modify', changes: ['watcher'] },
  text: () => own.resumeText,
  fields: [],
  unfit: ({ paused_until: until }) => (until === null ? own.notPaused : undefined),
  request: () => ({
    ...{ method: 'PUT', path: '/3/watcher/pause', body: { until: null } },
    gnt: 'gnt cluster watcher continue',
  }),
})
