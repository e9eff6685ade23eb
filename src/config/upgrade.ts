// Reads the text of config.data: accepts known versions, checks every object, and fills in what old files lack, with
// notices.
import type { ConfigData, Container, GantryData, ObjectKind, ObjectKinds } from '../model/config'
import type { Random } from '../lib/random'
import { errorText } from '../lib/system-failure'
import { PATH } from '../model/constants/paths'
import { CONFIG_VERSIONS_SUPPORTED } from '../model/constants/versions'
import { ConfigurationError } from '../model/errors'
import { recordFrom } from './records'
import { canonical, canonicalCluster, canonicalTop, NOUN } from './schema'
import { isObject } from '../lib/shapes/shape'

export interface LoadedConfig {
  readonly config: ConfigData
  /** One sentence for each filled-in value. The file differs from `config` until it is rewritten. */
  readonly notices: readonly string[]
}

export function loadConfig(text: string, random: Pick<Random, 'uuid'>): LoadedConfig {
  const raw = parse(text, 'config.data')
  checkVersion(raw['version'])
  const notices: string[] = []
  fillDiskUuids(raw['disks'], random, notices)
  const top = canonicalTop(raw)
  return {
    notices,
    config: {
      ...top,
      cluster: canonicalCluster(top.cluster),
      nodes: container('nodes', top.nodes),
      nodegroups: container('nodegroups', top.nodegroups),
      instances: container('instances', top.instances),
      networks: container('networks', top.networks),
      disks: container('disks', top.disks),
      filters: container('filters', top.filters),
    },
  }
}

export const EMPTY_GANTRY: GantryData = { version: 1, serial_no: 0, sections: {} }

export function loadGantry(text: string): GantryData {
  const raw = parse(text, 'gantry.data')
  const { version, serial_no, sections } = raw
  if (version !== 1 || typeof serial_no !== 'number' || !isObject(sections))
    throw new ConfigurationError('gantry.data: not a document of version 1; move it away to start without it')
  const checked = Object.entries(sections).map(([name, entries]) => {
    if (!isObject(entries)) throw new ConfigurationError(`gantry.data: section "${name}" is not an object`)
    return [name, entries] as const
  })
  return { version, serial_no, sections: Object.fromEntries(checked) }
}

function container<K extends ObjectKind>(kind: K, raw: unknown): Container<ObjectKinds[K]> {
  if (!isObject(raw)) throw new ConfigurationError(`Configuration: "${kind}" is not an object`)
  return recordFrom(
    Object.entries(raw).map(([uuid, value]) => {
      const object = canonical(kind, value)
      if (object.uuid !== uuid)
        throw new ConfigurationError(`Configuration: ${NOUN[kind]} ${object.uuid} is filed under ${uuid}`)
      return [uuid, object] as const
    }),
  )
}

function checkVersion(version: unknown): void {
  if (typeof version !== 'number')
    throw new ConfigurationError('Configuration: the key "version" is missing or not a number')
  if (CONFIG_VERSIONS_SUPPORTED.includes(version)) return
  const name = `${Math.floor(version / 1e6)}.${Math.floor(version / 1e4) % 100}`
  if (version < Math.min(...CONFIG_VERSIONS_SUPPORTED))
    throw new ConfigurationError(
      `The configuration is of Ganeti ${name}, and 3.0 and 3.1 can be loaded. ${PATH.CFGUPGRADE} on the master makes one of 3.1 of it`,
    )
  throw new ConfigurationError(
    `The configuration is of version ${name} (${version}), which is newer than 3.1. ` +
      `Take it back with Ganeti's "gnt-cluster upgrade --to 3.1", or use a newer release of this program`,
  )
}

/** Ganeti up to 2.16 gave the two volumes below a DRBD disk no uuid. */
function fillDiskUuids(disks: unknown, random: Pick<Random, 'uuid'>, notices: string[]): void {
  if (!isObject(disks)) return
  for (const [uuid, disk] of Object.entries(disks)) {
    const children = isObject(disk) ? disk['children'] : undefined
    if (!Array.isArray(children)) continue
    const without = children.filter((child) => isObject(child) && child['uuid'] === undefined)
    for (const child of without) if (isObject(child)) child['uuid'] = random.uuid()
    if (without.length > 0)
      notices.push(`disk ${uuid}: ${without.length} of its component disks had no uuid and got one`)
  }
}

/** A file of the configuration is lost or damaged. */
export const RESTORE_IT = 'restore it from a master candidate or a backup'

function parse(text: string, file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const reason = errorText(error)
    throw new ConfigurationError(`${file} is not JSON (${reason}): ${RESTORE_IT}`)
  }
  if (!isObject(value)) throw new ConfigurationError(`${file} does not hold a JSON object`)
  return value
}
