// Disks of old configurations were parts of their instances, and instances and nodes had their names as keys.
import type { Random } from '../../lib/random'
import { isObject } from '../../lib/shapes/shape'
import { ConfigurationError } from '../../model/errors'
import { isDrbd, isMirroredOutside } from '../../model/templates'
import { objectAt, objectsIn, rawList, textOf, type Raw } from './raw'

const RENAMED: Readonly<Record<string, string>> = { lvm: 'plain', drbd8: 'drbd' }

export function upgradeDisks(config: Raw, random: Pick<Random, 'uuid'>, notices: string[]): void {
  const instances = objectsIn(config, 'instances')
  const isOld = !isObject(config['disks'])
  if (isOld) config['disks'] = {}
  const disks = objectAt(config, 'disks', 'the configuration')
  if (isOld) for (const instance of instances) moveOut(instance, disks, random)
  for (const disk of objectsIn(config, 'disks')) eachWithChildren(disk, (one) => modernise(one, random))
  fileByUuid(config, disks)
  for (const instance of instances) {
    nameNodes(instance, disks, notices)
    delete instance['disk_template']
  }
}

function moveOut(instance: Raw, disks: Raw, random: Pick<Random, 'uuid'>): void {
  const own = rawList(instance['disks'])
  instance['disks'] = own.map((disk, index) => {
    const uuid = textOf(disk['uuid']) || random.uuid()
    const ctime = typeof instance['ctime'] === 'number' ? instance['ctime'] : 0
    disks[uuid] = { ...disk, uuid, iv_name: `disk/${index}`, serial_no: 1, ctime, mtime: ctime }
    return uuid
  })
}

function modernise(disk: Raw, random: Pick<Random, 'uuid'>): void {
  delete disk['physical_id']
  const type = textOf(disk['dev_type'])
  disk['dev_type'] = RENAMED[type] ?? type
  disk['uuid'] ??= random.uuid()
  disk['serial_no'] ??= 1
  disk['params'] ??= {}
  disk['children'] ??= []
}

function eachWithChildren(disk: Raw, change: (disk: Raw) => void): void {
  change(disk)
  for (const child of rawList(disk['children'])) eachWithChildren(child, change)
}

/** Replaces the names of nodes by uuids everywhere. Existing uuids stay. */
function fileByUuid(config: Raw, disks: Raw): void {
  const nodes = objectsIn(config, 'nodes')
  const uuids = new Map(nodes.map(({ name, uuid }) => [name, uuid]))
  const known = new Set(uuids.values())
  const uuidOf = (node: unknown, owner: string): unknown => {
    if (known.has(node)) return node
    const uuid = uuids.get(node)
    if (uuid === undefined)
      throw new ConfigurationError(`Configuration: ${owner} names a node ${String(node)} that is not there`)
    return uuid
  }
  const cluster = objectAt(config, 'cluster', 'the configuration')
  cluster['master_node'] = uuidOf(cluster['master_node'], 'the cluster')
  for (const instance of objectsIn(config, 'instances'))
    instance['primary_node'] = uuidOf(instance['primary_node'], `instance ${textOf(instance['name'])}`)
  for (const disk of Object.values(disks).filter(isObject))
    eachWithChildren(disk, (one) => {
      const { dev_type, logical_id } = one
      if (!isDrbd(textOf(dev_type)) || !Array.isArray(logical_id)) return
      const owner = `disk ${textOf(disk['uuid'])}`
      one['logical_id'] = logical_id.map((part: unknown, index) => (index < 2 ? uuidOf(part, owner) : part))
    })
  for (const kind of ['nodes', 'instances'])
    config[kind] = Object.fromEntries(objectsIn(config, kind).map((object) => [textOf(object['uuid']), object]))
}

/** Lists the nodes of each disk: two for a mirrored disk, the primary node for a local one, none for others. */
function nameNodes(instance: Raw, disks: Raw, notices: string[]): void {
  const uuids = Array.isArray(instance['disks']) ? instance['disks'].map(textOf) : []
  const own = uuids.flatMap((uuid) => {
    const disk = disks[uuid]
    if (isObject(disk)) return [disk]
    notices.push(`instance ${textOf(instance['name'])} has a disk ${uuid} that is not there`)
    return []
  })
  for (const disk of own) {
    if (disk['nodes'] !== undefined) continue
    const type = textOf(disk['dev_type'])
    if (isDrbd(type)) {
      const nodes: unknown[] = Array.isArray(disk['logical_id']) ? disk['logical_id'].slice(0, 2) : []
      eachWithChildren(disk, (one) => (one['nodes'] = nodes))
    } else disk['nodes'] = isMirroredOutside(type) ? [] : [instance['primary_node']]
  }
}
