// Changes to instances. Names are those of Ganeti's wconfd where it has the same.
import type { ConfigData, Disk, Instance, Stamped } from '../../model/config'
import { ConfigurationError } from '../../model/errors'
import { nodeUuid } from '../../model/ids'
import { instanceOfDisk, instancesWithMac } from '../lookup'
import { keyByName } from '../records'
import { canonical } from '../schema'
import {
  checkSerial,
  done,
  drop,
  fresh,
  get,
  patched,
  put,
  touchCluster,
  touched,
  type ChangeContext,
  type Changed,
} from '../edit'
import { returnPort } from './cluster'
import { releaseAddresses, reserveAddress } from './network'
import { isDrbd } from '../../model/templates'

/** The new serial number and time of a changed object. */
export type Stamp = [serial_no: number, mtime: number]

/**
 * Adds an instance with its disks, and reserves its NICs' addresses in their networks. `replace` allows it to replace
 * the reservation (forthcoming) of the same uuid.
 */
export function addInstance(
  config: ConfigData,
  context: ChangeContext,
  instance: Instance,
  disks: readonly Disk[] = [],
  replace = false,
): Changed<Instance> {
  const there = config.instances[instance.uuid]
  if (there !== undefined && !(replace && there.forthcoming))
    throw new ConfigurationError(`Instance ${instance.name} cannot be added: its uuid ${instance.uuid} is in use`)
  const namesake = keyByName(config.instances, instance.name)
  if (namesake !== undefined && namesake !== instance.uuid)
    throw new ConfigurationError(`Instance ${instance.name} cannot be added: an instance of that name exists`)
  get(config, 'nodes', instance.primary_node)
  checkMacs(config, instance)
  let next = config
  for (const disk of disks) next = put(next, 'disks', fresh(disk, context))
  const made = canonical('instances', fresh(instance, context))
  for (const disk of made.disks) get(next, 'disks', disk)
  next = put(next, 'instances', made)
  for (const nic of made.nics) if (nic.network && nic.ip) next = reserveAddress(next, context, nic.network, nic.ip)
  return { config: touchCluster(next, context), result: made }
}

/**
 * The record becomes another one of the same uuid, with the same disks: that of a reservation, of an instance that is being made, or
 * of the instance. Its age and what others have counted of it stay.
 */
export function replaceInstance(
  config: ConfigData,
  context: ChangeContext,
  instance: Instance,
  disks: readonly Disk[],
): Changed<Instance> {
  let next = config
  for (const disk of disks) next = put(next, 'disks', touched(agedAs(disk, get(next, 'disks', disk.uuid)), context))
  return store(next, context, agedAs(instance, get(config, 'instances', instance.uuid)))
}

const agedAs = <T extends Stamped>(object: T, { serial_no, ctime }: Stamped): T => ({ ...object, serial_no, ctime })

/** Its disks' records go too; its port and addresses become free. */
export function removeInstance(config: ConfigData, context: ChangeContext, uuid: string): Changed<null> {
  const instance = get(config, 'instances', uuid)
  let next = drop(config, 'instances', uuid)
  for (const disk of instance.disks) next = dropDisk(next, context, disk)
  if (instance.network_port !== undefined) next = returnPort(next, context, instance.network_port)
  next = releaseAddresses(next, context, instance.nics)
  return done(touchCluster(next, context))
}

/** Null leaves a field as it is. */
export function setInstanceStatus(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  adminState: Instance['admin_state'] | null,
  disksActive: boolean | null,
  source: Instance['admin_state_source'] | null,
): Changed<Instance> {
  const instance = get(config, 'instances', uuid)
  const desired: Instance = {
    ...instance,
    admin_state: adminState ?? instance.admin_state,
    disks_active: disksActive ?? instance.disks_active,
    admin_state_source: source ?? instance.admin_state_source,
  }
  const same =
    desired.admin_state === instance.admin_state &&
    desired.disks_active === instance.disks_active &&
    desired.admin_state_source === instance.admin_state_source
  return same ? { config, result: instance } : store(config, context, desired)
}

export function setInstancePrimaryNode(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  node: string,
): Changed<null> {
  get(config, 'nodes', node)
  const instance = get(config, 'instances', uuid)
  return done(store(config, context, { ...instance, primary_node: nodeUuid(node) }).config)
}

/** Replaces the whole object, if nobody has changed it since it was read. */
export function updateInstance(config: ConfigData, context: ChangeContext, instance: Instance): Changed<Stamp> {
  checkSerial('instances', instance, get(config, 'instances', instance.uuid))
  return stamped(store(config, context, instance))
}

/** Sets some fields; null removes an optional one. */
export function patchInstance(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  fields: Readonly<Record<string, unknown>>,
): Changed<Instance> {
  return store(config, context, patched(get(config, 'instances', uuid), fields))
}

/**
 * Instance locks are named after the instance, so the caller holds both. Disks in files keep their paths unless `disks`
 * has new ones.
 */
export function renameInstance(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  name: string,
  disks: readonly Disk[] = [],
): Changed<Instance> {
  if (keyByName(config.instances, name) !== undefined)
    throw new ConfigurationError(`The instance cannot be renamed: an instance named ${name} exists`)
  let next = config
  for (const disk of disks) next = put(next, 'disks', touched({ ...get(next, 'disks', disk.uuid), ...disk }, context))
  const renamed = store(next, context, { ...get(config, 'instances', uuid), name })
  return { config: touchCluster(renamed.config, context), result: renamed.result }
}

/** A new disk, attached at `index`, or as the last. */
export function addInstanceDisk(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  disk: Disk,
  index: number | null = null,
  replace = false,
): Changed<null> {
  const there = config.disks[disk.uuid]
  if (there !== undefined && !(replace && there.forthcoming))
    throw new ConfigurationError(`Disk ${disk.uuid} cannot be added: its uuid is in use`)
  const added = put(config, 'disks', fresh(disk, context))
  return there !== undefined ? done(added) : attachInstanceDisk(added, context, uuid, disk.uuid, index)
}

export function attachInstanceDisk(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  diskUuid: string,
  index: number | null = null,
): Changed<null> {
  const disk = get(config, 'disks', diskUuid)
  const instance = get(config, 'instances', uuid)
  const owner = instanceOfDisk(config, disk.uuid)
  if (owner) throw new ConfigurationError(`Disk ${diskUuid} is already attached to instance ${owner.name}`)
  const at = index ?? instance.disks.length
  if (at < 0 || at > instance.disks.length)
    throw new ConfigurationError(`Disk index ${at} is beyond the ${instance.disks.length} disks of ${instance.name}`)
  return done(setDisks(config, context, instance, instance.disks.toSpliced(at, 0, disk.uuid)))
}

/** Keeps the disk's record, unattached. */
export function detachInstanceDisk(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  diskUuid: string,
): Changed<null> {
  const instance = get(config, 'instances', uuid)
  const disk = get(config, 'disks', diskUuid)
  if (!instance.disks.includes(disk.uuid))
    throw new ConfigurationError(`Disk ${diskUuid} is not attached to instance ${instance.name}`)
  const rest = instance.disks.filter((other) => other !== disk.uuid)
  return done(setDisks(put(config, 'disks', touched(disk, context)), context, instance, rest))
}

export function removeInstanceDisk(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  diskUuid: string,
): Changed<null> {
  return done(dropDisk(detachInstanceDisk(config, context, uuid, diskUuid).config, context, diskUuid))
}

export function updateDisk(config: ConfigData, context: ChangeContext, disk: Disk): Changed<Stamp> {
  checkSerial('disks', disk, get(config, 'disks', disk.uuid))
  const changed = touched(disk, context)
  return { config: put(config, 'disks', changed), result: [changed.serial_no, changed.mtime] }
}

export function patchDisk(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  fields: Readonly<Record<string, unknown>>,
): Changed<null> {
  return done(put(config, 'disks', touched(patched(get(config, 'disks', uuid), fields), context)))
}

function store(config: ConfigData, context: ChangeContext, instance: Instance): Changed<Instance> {
  const before = get(config, 'instances', instance.uuid)
  if (before.name !== instance.name && (keyByName(config.instances, instance.name) ?? before.uuid) !== before.uuid)
    throw new ConfigurationError(`An instance named ${instance.name} exists`)
  const changed = canonical('instances', touched(instance, context))
  let next = put(config, 'instances', changed)
  // Most changes do not touch the NICs, and then there is nothing to do.
  if (JSON.stringify(before.nics) !== JSON.stringify(changed.nics)) {
    checkMacs(config, instance)
    next = releaseAddresses(next, context, before.nics, changed.nics)
    for (const nic of changed.nics)
      if (nic.network && nic.ip && !before.nics.some((old) => old.network === nic.network && old.ip === nic.ip))
        next = reserveAddress(next, context, nic.network, nic.ip)
  }
  return { config: next, result: changed }
}

const stamped = (changed: Changed<Instance>): Changed<Stamp> => ({
  config: changed.config,
  result: [changed.result.serial_no, changed.result.mtime],
})

/** Disks are named by their index: disk/0, disk/1, ... */
function setDisks(
  config: ConfigData,
  context: ChangeContext,
  instance: Instance,
  disks: Instance['disks'],
): ConfigData {
  let next = put(config, 'instances', touched({ ...instance, disks }, context))
  disks.forEach((uuid, index) => {
    const disk = get(next, 'disks', uuid)
    if (disk.iv_name !== `disk/${index}`)
      next = put(next, 'disks', touched({ ...disk, iv_name: `disk/${index}` }, context))
  })
  return next
}

/** A DRBD disk's port goes back to the pool. */
function dropDisk(config: ConfigData, context: ChangeContext, uuid: string): ConfigData {
  const disk = get(config, 'disks', uuid)
  const port = isDrbd(disk.dev_type) ? disk.logical_id[2] : undefined
  const next = drop(config, 'disks', uuid)
  return typeof port === 'number' ? returnPort(next, context, port) : next
}

function checkMacs(config: ConfigData, instance: Instance): void {
  const macs = new Set(instance.nics.map((nic) => nic.mac.toLowerCase()))
  if (macs.size < instance.nics.length)
    throw new ConfigurationError(`Instance ${instance.name} has a MAC address twice`)
  for (const mac of macs) {
    const other = instancesWithMac(config, mac).find(({ uuid }) => uuid !== instance.uuid)
    const taken = other?.nics.find((nic) => nic.mac.toLowerCase() === mac)
    if (other && taken)
      throw new ConfigurationError(`MAC address ${taken.mac} of ${instance.name} is in use by instance ${other.name}`)
  }
}
