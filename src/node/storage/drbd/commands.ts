// The command lines of DRBD 8.4, with the parameters of a disk in them.
import * as net from 'node:net'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { nameOf } from '../name'

/** One of the two ends of a disk, as this node sees it. */
export interface End {
  readonly minor: number
  /** `family:address:port` of this node and of the other one. Missing as long as the disk is not to be connected. */
  readonly addresses?: { readonly local: string; readonly remote: string }
  readonly secret: string
}

/** Undefined if the node is not one of the disk's two nodes. */
export function endOf(disk: DiskDict): End | undefined {
  const { 'local-minor': minor, 'local-ip': local, 'remote-ip': remote } = disk.dynamic_params ?? {}
  if (typeof minor !== 'number') return undefined
  const [, , port, , , secret] = disk.logical_id ?? []
  const isConnected = typeof port === 'number' && typeof local === 'string' && typeof remote === 'string'
  const addresses = isConnected && { local: address(disk, local, port), remote: address(disk, remote, port) }
  if (addresses && addresses.local === addresses.remote)
    fail(`Disk ${nameOf(disk)} is to be connected with its own node, at ${local}`)
  return { minor, secret: typeof secret === 'string' ? secret : '', ...(addresses && { addresses }) }
}

function address(disk: DiskDict, ip: string, port: number): string {
  const family = net.isIP(ip)
  if (family === 0) fail(`Disk ${nameOf(disk)} has no address of a node in its parameters, but '${ip}'`)
  return family === 4 ? `ipv4:${ip}:${port}` : `ipv6:[${ip}]:${port}`
}

export const devicePath = (minor: number): string => `/dev/drbd${minor}`
/** A resource is named after the node's own minor, so the two nodes use different names. */
export const resourceName = (minor: number): string => `resource${minor}`

export const createMeta = (minor: number, meta: string): string[] => [
  'drbdmeta',
  '--force',
  devicePath(minor),
  'v08',
  meta,
  'flex-external',
  'create-md',
]

export const newDevice = (minor: number): string[][] => [
  ['drbdsetup', 'new-resource', resourceName(minor)],
  ['drbdsetup', 'new-minor', resourceName(minor), String(minor), '0'],
]

/** After a power failure, DRBD's activity log must be replayed before the data is used. */
export const applyLog = (minor: number, meta: string): string[] => [
  'drbdmeta',
  devicePath(minor),
  'v08',
  meta,
  'flex-external',
  'apply-al',
]

/** Prints, among other things, the size on which both nodes last agreed. */
export const showMeta = (minor: number, meta: string): string[] => [
  'drbdmeta',
  devicePath(minor),
  'v08',
  meta,
  'flex-external',
  'show-gi',
]

export function attach(disk: DiskDict, minor: number, data: string, meta: string): string[] {
  // A size of 0 means that the size is not known.
  const size = disk.size > 0 ? ['--size', `${disk.size}m`] : []
  const fixed = ['drbdsetup', 'attach', String(minor), data, meta, 'flexible', '--on-io-error=detach', ...size]
  return [...fixed, ...barriers(disk), ...words(text(disk, 'disk-custom', ''))]
}

/** The letters of the parameter, and the option that each one switches off. */
const BARRIERS = { f: '--disk-flushes=no', d: '--disk-drain=no', b: '--disk-barrier=no' } as const

function barriers(disk: DiskDict): string[] {
  const letters = text(disk, 'disabled-barriers', 'n')
  const isGood = letters === 'n' || (/^[bdf]+$/.test(letters) && new Set(letters).size === letters.length)
  if (!isGood) fail(`The disk parameter disk-barriers is n, or some of b, d and f, not '${letters}'`)
  const off = Object.entries(BARRIERS).flatMap(([letter, option]) => (letters.includes(letter) ? [option] : []))
  return [...(disk.params?.['disable-meta-flush'] === true ? ['--md-flushes=no'] : []), ...off]
}

/** The speed of the synchronization: a fixed rate, or one that follows the load. */
export function diskOptions(disk: DiskDict, minor: number): string[] {
  const fixed = ['drbdsetup', 'disk-options', String(minor)]
  if (disk.params?.['dynamic-resync'] !== true) return [...fixed, '--resync-rate', number(disk, 'resync-rate', 61440)]
  const planAhead = number(disk, 'c-plan-ahead', 20)
  if (planAhead === '0')
    fail(
      'The disk parameter c-plan-ahead is 0, which switches the dynamic rate off: set dynamic-resync to false instead',
    )
  return [
    ...fixed,
    ...['--c-plan-ahead', planAhead],
    ...['--c-fill-target', number(disk, 'c-fill-target', 0)],
    ...['--c-delay-target', number(disk, 'c-delay-target', 1)],
    ...['--c-max-rate', number(disk, 'c-max-rate', 61440)],
    ...['--c-min-rate', number(disk, 'c-min-rate', 4096)],
  ]
}

/** If both nodes may write, neither may be behind the other. */
const DUAL_PRIMARY_PROTOCOL = 'C'

export function connect(disk: DiskDict, end: End, resource: string, dualPrimary: boolean): string[] {
  const { local, remote } = end.addresses ?? fail(`Disk ${nameOf(disk)} has no port yet, so it cannot be connected`)
  return [
    ...['drbdsetup', 'connect', resource, local, remote],
    ...['--protocol', dualPrimary ? DUAL_PRIMARY_PROTOCOL : text(disk, 'protocol', 'C')],
    // DRBD must never discard written data. If both nodes have written, they stay disconnected.
    ...['--after-sb-0pri', 'discard-zero-changes', '--after-sb-1pri', 'consensus'],
    ...(dualPrimary ? ['--allow-two-primaries'] : []),
    ...(end.secret === '' ? [] : ['--cram-hmac-alg', 'md5', '--shared-secret', end.secret]),
    ...words(text(disk, 'net-custom', '')),
  ]
}

function text({ params }: DiskDict, name: string, ifMissing: string): string {
  const value = params?.[name] ?? ifMissing
  return typeof value === 'string' ? value : fail(`The disk parameter ${name} is a text, not ${JSON.stringify(value)}`)
}

function number({ params }: DiskDict, name: string, ifMissing: number): string {
  const value = params?.[name] ?? ifMissing
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? String(value)
    : fail(`The disk parameter ${name} is a number, not ${JSON.stringify(value)}`)
}

/** Splits a line as a shell does: quotes keep blanks together. */
function words(line: string): string[] {
  const found = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []
  return found.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'))
}
