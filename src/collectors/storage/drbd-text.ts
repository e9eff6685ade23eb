// Parses the kernel's /proc/drbd of DRBD 8.0 to 8.4.
import { CollectorFailure } from '../report'
import { unread } from '../text-cursor'

export interface DrbdStatus {
  readonly versionInfo: Readonly<Record<string, string>>
  readonly devices: readonly DrbdDevice[]
}

export interface DrbdDevice {
  readonly minor: number
  readonly connectionState: string
  /** Absent for an unconfigured device. */
  readonly details?: Readonly<Record<string, unknown>>
}

const DEVICE = /^\s*(\d+): ?cs:(\w+)(.*)$/

export function parseDrbd(text: string): DrbdStatus {
  const lines = text.split('\n')
  const starts = lines.flatMap((line, at) => (DEVICE.test(line) ? [at] : []))
  const versionInfo = parseVersion(lines.slice(0, starts[0]).join('\n'))
  return {
    versionInfo,
    devices: starts.map((start, at) => parseDevice(lines.slice(start, starts[at + 1]))),
  }
}

const VERSION: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['version', /^version:[ \t]*(\S+)/m],
  ['api', /\(api:([^/]*)\//],
  ['proto', /\/proto:([^)]*)\)/],
  ['srcversion', /^srcversion:\s+(.*)$/m],
  ['gitHash', /^GIT-hash:[ \t]*(\S+)/m],
  ['buildBy', /build by[ \t]*(.*)$/m],
]

function parseVersion(text: string): Record<string, string> {
  const found = VERSION.flatMap(([name, pattern]) => {
    const value = pattern.exec(text)?.[1]
    return value === undefined ? [] : [[name, value] as const]
  })
  if (found.length === 0) throw unread(text, 'Failed reading: versionInfo')
  return Object.fromEntries(found)
}

/** Some versions end the line with a NUL. */
const ROLES = /^ (?:ro|st):(\w+)\/(\w+) ds:(\w+)\/(\w+)\s(.)[ \t]*([^\0]*)\0*$/

function parseDevice([first = '', ...rest]: readonly string[]): DrbdDevice {
  const [, minor = '', connectionState = '', more = ''] = DEVICE.exec(first) ?? []
  if (connectionState === 'Unconfigured') return { minor: Number(minor), connectionState }
  const roles = ROLES.exec(more)
  if (roles === null) throw new CollectorFailure(`not the state of a DRBD device: "${first}"`)
  const [, localRole, remoteRole, localState, remoteState, replicationProtocol, ioFlags] = roles
  const text = rest.join('\n')
  const syncs = connectionState === 'SyncSource' || connectionState === 'SyncTarget'
  const details = {
    ...{ localRole, remoteRole, localState, remoteState, replicationProtocol, ioFlags },
    perfIndicators: parseIndicators(text, first),
    ...(syncs && { syncStatus: parseSync(text, first) }),
  }
  return { minor: Number(minor), connectionState, details }
}

const INDICATORS: readonly (readonly [name: string, key: string])[] = [
  ['networkSend', 'ns'],
  ['networkReceive', 'nr'],
  ['diskWrite', 'dw'],
  ['diskRead', 'dr'],
  ['activityLog', 'al'],
  ['bitMap', 'bm'],
  ['localCount', 'lo'],
  ['pending', 'pe'],
  ['unacknowledged', 'ua'],
  ['applicationPending', 'ap'],
]

function parseIndicators(text: string, device: string): Readonly<Record<string, number | string>> {
  const values = new Map([...text.matchAll(/\b([a-z]+):(\S+)/g)].map(([, key = '', value = '']) => [key, value]))
  const count = (name: string, key: string) => {
    const value = values.get(key)
    return value === undefined ? [] : [[name, Number(value)] as const]
  }
  const found = INDICATORS.flatMap(([name, key]) => count(name, key))
  if (found.length < INDICATORS.length) throw new CollectorFailure(`missing figures of the DRBD device "${device}"`)
  const order = values.get('wo')
  return Object.fromEntries<number | string>([
    ...found,
    ...count('epochs', 'ep'),
    ...(order === undefined ? [] : [['writeOrder', order] as const]),
    ...count('outOfSync', 'oos'),
  ])
}

const PROGRESS = /sync'ed:\s*([\d.]+)%\s*\((\d+)\/(\d+)\)([KM])/
const FINISH = /finish:\s*(\d+):(\d+):(\d+)\s+speed:\s*([\d,]+) \([\d,]+\)(?:\s+want:\s*([\d,]+))?\s+([KM])\/sec/
const UNITS: Readonly<Record<string, string>> = { K: 'KiloByte', M: 'MegaByte' }

function parseSync(text: string, device: string): Record<string, unknown> {
  const [progress, finish] = [PROGRESS.exec(text), FINISH.exec(text)]
  if (progress === null || finish === null) {
    throw new CollectorFailure(`missing progress of the DRBD device "${device}"`)
  }
  const [, percentage, done, total, unit = ''] = progress
  const [, hours, minutes, seconds, speed = '', want, speedUnit = ''] = finish
  const number = (digits: string) => Number(digits.replaceAll(',', ''))
  return {
    percentage: Number(percentage),
    progress: `${done}/${total}`,
    progressUnit: UNITS[unit],
    timeToFinish: [hours, minutes, seconds].map((part = '') => part.padStart(2, '0')).join(':'),
    speed: number(speed),
    ...(want !== undefined && { want: number(want) }),
    speedUnit: `${UNITS[speedUnit]}/Second`,
  }
}
