// What the kernel reports about DRBD: its version, each minor's state, and the program that it calls when it loses data.
import { isMissing } from '../../../lib/disk'
import { fail } from '../../failure'
import type { StorageContext } from '../storage'

type Places = Pick<StorageContext, 'files' | 'hostname'>

export interface Kernel {
  /** For example `8.4.11 (api:1/proto:86-101)`. */
  readonly version: string
  /** The configured minors. */
  readonly minors: ReadonlyMap<number, MinorState>
  /** The minors that have a name but no configuration yet. */
  readonly named: ReadonlySet<number>
}

export interface MinorState {
  /** For example `Connected`, `StandAlone` or `SyncTarget`. */
  readonly connection: string
  readonly role: string
  readonly disk: string
  readonly peerDisk: string
  readonly sync_percent?: number
  readonly estimated_time?: number
}

const STATUS_FILE = '/proc/drbd'
/** The kernel counts in sectors of this many bytes, whatever sectors the device has. */
const SECTOR = 512
const HELPER_FILE = '/sys/module/drbd/parameters/usermode_helper'

/** Returns undefined if DRBD is not loaded. */
export async function readKernel(context: Places): Promise<Kernel | undefined> {
  const text = await textOf(context, STATUS_FILE)
  return text === undefined ? undefined : parseKernel(text, context.hostname)
}

/** Fails if the commands of this driver do not fit the loaded version. */
export async function requireKernel(context: Places): Promise<Kernel> {
  const kernel = (await readKernel(context)) ?? fail(notLoaded(context, STATUS_FILE))
  if (!kernel.version.startsWith('8.4.'))
    fail(
      `DRBD ${kernel.version} is loaded on node ${context.hostname}: only 8.4, which kernels have, is supported; remove the package ` +
        'that has the other one (drbd-dkms), and load that of the kernel with modprobe drbd',
    )
  return kernel
}

export async function usermodeHelper(context: Places): Promise<string> {
  const text = (await textOf(context, HELPER_FILE)) ?? fail(notLoaded(context, HELPER_FILE))
  const [helper = ''] = text.split('\n')
  return helper === '' ? fail(`${HELPER_FILE} is empty on node ${context.hostname}`) : helper
}

/** Reads the size from a file of the kernel, because a device that is not open for writing here cannot be asked. */
export async function minorSize(context: Places, minor: number): Promise<number> {
  const file = `/sys/block/drbd${minor}/size`
  const sectors = Number((await textOf(context, file))?.trim() || Number.NaN)
  return Number.isInteger(sectors)
    ? sectors * SECTOR
    : fail(`The size of /dev/drbd${minor} on node ${context.hostname} is not known: ${file} tells none`)
}

const notLoaded = ({ hostname }: Places, file: string) =>
  `DRBD is not loaded on node ${hostname}, there is no ${file}: install the Debian package drbd-utils, and load it with modprobe drbd`

async function textOf({ files }: Places, file: string): Promise<string | undefined> {
  try {
    return await files.readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const VERSION = /^version: (\d+\.\d+\.\S+(?: \([^)]*\))?)/
const MINOR = /^ *(\d+): cs:(\S+)(?:\s+(?:ro|st):([^/\s]+)\/\S+\s+ds:([^/\s]+)\/(\S+))?/
const PERCENT = /sync'ed:\s*([\d.]+)%/
const FINISH = /finish:\s*(\d+):(\d+):(\d+)/

export function parseKernel(text: string, node: string): Kernel {
  const version = VERSION.exec(text)?.[1] ?? fail(`${STATUS_FILE} of node ${node} does not name a version`)
  const lines = text.split('\n')
  const starts = lines.flatMap((line, at) => (MINOR.test(line) ? [at] : []))
  const minors = new Map<number, MinorState>()
  const named = new Set<number>()
  for (const [index, start] of starts.entries()) {
    const [, number, connection = '', role = '', disk = '', peerDisk = ''] = MINOR.exec(lines[start] ?? '') ?? []
    if (connection === 'Unconfigured') {
      named.add(Number(number))
      continue
    }
    const progress = lines.slice(start, starts[index + 1]).join(' ')
    minors.set(Number(number), { connection, role, disk, peerDisk, ...progressIn(progress, connection) })
  }
  return { version, minors, named }
}

/** A synchronization that has just begun reports no figures yet. */
function progressIn(text: string, connection: string): Pick<MinorState, 'sync_percent' | 'estimated_time'> {
  const percent = PERCENT.exec(text)?.[1]
  if (percent === undefined) return isSyncing(connection) ? { sync_percent: 0 } : {}
  const [, hours, minutes, seconds] = FINISH.exec(text) ?? []
  return {
    sync_percent: Number(percent),
    ...(hours !== undefined && { estimated_time: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) }),
  }
}

const SYNCING = [
  'WFReportParams',
  'StartingSyncS',
  'StartingSyncT',
  'WFBitMapS',
  'WFBitMapT',
  'WFSyncUUID',
  'SyncSource',
  'SyncTarget',
  'PausedSyncS',
  'PausedSyncT',
]

export const isSyncing = (connection: string): boolean => SYNCING.includes(connection)
