// A part of the configuration: selected objects, and the objects that they refer to. Job processes get this instead of
// the whole.
import type { ConfigData, Container, Disk, Instance, NetworkUuid } from '../model/config'
import {
  diskNodes,
  findDisks,
  findGroup,
  findInstance,
  findNetwork,
  findNode,
  instanceDisks,
  instancesOfDisk,
} from './lookup'
import { recordFrom, recordValues } from './records'

/** Names or uuids; instances and nodes may be given by short names. */
export interface SliceSelector {
  readonly instances?: readonly string[] | 'all'
  readonly nodes?: readonly string[] | 'all'
  readonly groups?: readonly string[] | 'all'
  readonly networks?: readonly string[] | 'all'
  /** By uuid or name, attached or not. */
  readonly disks?: readonly string[] | 'all'
}

/**
 * Always contains the cluster, the selected objects and the master node. An instance brings its disks, nodes and
 * networks, a disk the instance to which it is attached, a node its group, a group its networks. Objects that do not
 * exist are skipped. Slices have no filter rules.
 */
export function slice(config: ConfigData, selector: SliceSelector): ConfigData {
  const chosenDisks = disksOf(config, selector.disks)
  const owners = chosenDisks.flatMap((disk) => instancesOfDisk(config, disk.uuid))
  const chosen = select(config.instances, selector.instances, (name) => findInstance(config, name))
  const instances = [...new Set([...chosen, ...owners])]
  const disks = new Map(
    [...instances.flatMap((instance) => instanceDisks(config, instance)), ...chosenDisks].map((disk) => [
      disk.uuid,
      disk,
    ]),
  )
  const nodes = new Map(
    [
      ...select(config.nodes, selector.nodes, (name) => findNode(config, name)),
      ...pick(config.nodes, [
        config.cluster.master_node,
        ...instances.map((instance) => instance.primary_node),
        ...[...disks.values()].flatMap(diskNodes),
      ]),
    ].map((node) => [node.uuid, node]),
  )
  const groups = new Map(
    [
      ...select(config.nodegroups, selector.groups, (name) => findGroup(config, name)),
      ...pick(config.nodegroups, new Set([...nodes.values()].map((node) => node.group))),
    ].map((group) => [group.uuid, group]),
  )
  const networks = new Map(
    [
      ...select(config.networks, selector.networks, (name) => findNetwork(config, name)),
      ...pick(config.networks, new Set(instances.flatMap(networksOf))),
      ...pick(config.networks, new Set([...groups.values()].flatMap((group) => Object.keys(group.networks)))),
    ].map((network) => [network.uuid, network]),
  )
  return {
    ...config,
    instances: recordFrom(instances.map((instance) => [instance.uuid, instance])),
    disks: recordFrom(disks),
    nodes: recordFrom(nodes),
    nodegroups: recordFrom(groups),
    networks: recordFrom(networks),
    filters: {},
  }
}

function select<T>(
  container: Container<T>,
  desired: readonly string[] | 'all' | undefined,
  find: (name: string) => T | undefined,
): T[] {
  if (desired === 'all') return recordValues(container)
  return (desired ?? []).flatMap((name) => find(name) ?? [])
}

function disksOf(config: ConfigData, desired: readonly string[] | 'all' | undefined): Disk[] {
  if (desired === 'all') return recordValues(config.disks)
  return (desired ?? []).flatMap((name) => findDisks(config, name))
}

function pick<T>(container: Container<T>, uuids: Iterable<string>): T[] {
  return [...uuids].flatMap((uuid) => container[uuid] ?? [])
}

const networksOf = (instance: Instance): NetworkUuid[] => instance.nics.flatMap((nic) => nic.network ?? [])
