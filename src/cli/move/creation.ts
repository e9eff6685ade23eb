// Converts an instance of the source cluster to the request that creates it in the destination.
import type { ParamValue } from '../../model/common'
import { carriedTo } from '../../model/disk-parameters'
import { diskIdOf } from '../../model/templates'
import { fieldsOf, type Fields } from './remote-cluster'

/** The user's changes. */
export interface Changes {
  readonly primary?: string | undefined
  readonly secondary?: string | undefined
  readonly iallocator?: string | undefined
  readonly diskTemplate?: string | undefined
  readonly hvparams: Fields
  readonly beparams: Fields
  readonly osparams: Fields
  /** By position; null removes what was set. */
  readonly nics: readonly Fields[]
}

/** The answer of OP_BACKUP_PREPARE for the mode `remote`. */
export interface Sender {
  readonly handshake: unknown
  readonly x509_key_name: unknown
  readonly x509_ca: unknown
}

/** `info`: the instance's part of OP_INSTANCE_QUERY_DATA's answer. */
export function creationRequest(
  info: Fields,
  tags: unknown,
  sender: Sender,
  { newName, compress, changes }: { newName: string; compress: string; changes: Changes },
  withOwn = true,
): Fields {
  const template = changes.diskTemplate ?? info['disk_template']
  return withoutNulls({
    __version__: 1,
    mode: 'remote-import',
    name: newName,
    disk_template: template,
    disks: listOf(info['disks']).map((disk) => ({
      ...diskRequest(fieldsOf(disk), template),
      ...(withOwn && carriedTo(ownParameters(fieldsOf(disk)), String(template))),
    })),
    nics: nicRequests(listOf(info['nics']), changes.nics),
    os: info['os'],
    pnode: changes.primary,
    snode: changes.secondary,
    iallocator: changes.iallocator,
    start: info['config_state'] === 'up',
    ip_check: false,
    hypervisor: info['hypervisor'],
    hvparams: { ...fieldsOf(info['hv_instance']), ...changes.hvparams },
    beparams: { ...fieldsOf(info['be_instance']), ...changes.beparams },
    osparams: { ...fieldsOf(info['os_instance']), ...changes.osparams },
    tags,
    compress,
    source_handshake: sender.handshake,
    source_x509_ca: sender.x509_ca,
    source_instance_name: info['name'],
  })
}

/** Those that are set for this disk alone. */
export function ownParameters(disk: Fields): Record<string, ParamValue> {
  const reported = listOf(disk['parameters']).map(fieldsOf)
  return Object.fromEntries(
    reported.flatMap(({ name, value, source }) => (source === 'disk' && isValue(value) ? [[String(name), value]] : [])),
  )
}

const isValue = (value: unknown): value is ParamValue => ['string', 'number', 'boolean'].includes(typeof value)

/** A disk of external storage needs its provider; nothing else of its old place is kept. */
function diskRequest({ size, mode, name, spindles, dev_type, logical_id }: Fields, template: unknown): Fields {
  const provider =
    dev_type === template && diskIdOf(String(template)) === 'provider' ? listOf(logical_id)[0] : undefined
  return withoutNulls({ size, mode, name, spindles, provider })
}

function nicRequests(tuples: readonly unknown[], changes: readonly Fields[]): Fields[] {
  if (changes.length > tuples.length)
    throw new Error(
      `The instance has ${tuples.length} NICs, and --net changes NIC ${changes.length - 1}: none are added`,
    )
  return tuples.map((tuple, at) => {
    const [name, , ip, mac, mode, link, vlan, network, described] = listOf(tuple)
    // A network sets these itself, and another cluster knows the network only by name.
    const place = network === null || network === undefined ? { mode, link, vlan } : {}
    return withoutNulls({ name, ip, mac, ...place, network: fieldsOf(described)['name'], ...changes[at] })
  })
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
