// Instances, disks and NICs in the form for nodes (spec: noded-rpc.json "encodings"): with all parameters filled.
import type {
  BeParams,
  ConfigData,
  Disk,
  Instance,
  Network,
  Nic,
  NicParams,
  Node,
  NodeGroup,
  NodeUuid,
  OsParams,
  Params,
} from '../model/config'
import { fillBeParams, fillDiskParams, fillHvParams, fillNicParams, fillOsParams, fillPrivateOsParams } from './filled'
import { drbdId, instanceDisks, secondaryNodes } from './lookup'
import { isDrbd } from '../model/templates'

export type NicDict = Omit<Nic, 'nicparams'> & { readonly nicparams: NicParams; readonly netinfo?: Network }

export type DiskDict = Omit<Disk, 'children' | 'params'> & {
  readonly children: readonly DiskDict[]
  readonly params: Params
  /** For DRBD, by node uuid: the addresses and minors of both ends, as that node sees them. */
  readonly dynamic_params: Readonly<Record<string, Params>>
}

export type InstanceDict = Omit<Instance, 'hvparams' | 'beparams' | 'nics'> & {
  readonly hvparams: Params
  readonly beparams: BeParams
  readonly nics: readonly NicDict[]
  readonly secondary_nodes: readonly NodeUuid[]
  readonly disks_info: readonly DiskDict[]
}

/** Values for this one call, over those of the configuration. */
export interface DictOverrides {
  readonly hvparams?: Params
  readonly beparams?: Partial<BeParams>
  readonly osparams?: OsParams
  readonly osparams_private?: OsParams
  /** Never in the configuration; only in calls that create or reinstall. */
  readonly osparams_secret?: OsParams
}

export function instanceDict(config: ConfigData, instance: Instance, overrides: DictOverrides = {}): InstanceDict {
  const { cluster } = config
  const osparams = { ...instance.osparams, ...overrides.osparams }
  const osparamsPrivate = { ...instance.osparams_private, ...overrides.osparams_private }
  return {
    ...instance,
    hvparams: { ...fillHvParams(cluster, instance), ...overrides.hvparams },
    beparams: { ...fillBeParams(cluster, instance.beparams), ...overrides.beparams },
    osparams: fillOsParams(cluster, instance.os, osparams),
    // Ganeti's nodes have only two kinds of parameters. As private ones, the secret parameters stay out of their logs.
    osparams_private: { ...fillPrivateOsParams(cluster, instance.os, osparamsPrivate), ...overrides.osparams_secret },
    nics: instance.nics.map((nic) => nicDict(config, nic)),
    secondary_nodes: secondaryNodes(config, instance),
    disks_info: instanceDisks(config, instance).map((disk) => diskDict(config, disk, groupOf(config, instance))),
  }
}

/** The request that asks the instance's primary node how to reach its console. */
export const consoleRequest = (
  config: ConfigData,
  instance: Instance,
  primary: Node,
  hvParams = fillHvParams(config.cluster, instance),
) => ({
  instance,
  node: primary,
  group: config.nodegroups[primary.group] ?? {},
  hvParams,
  beParams: fillBeParams(config.cluster, instance.beparams),
})

/**
 * The console as its node tells of it. The command runs on the node itself: a node names neither another machine nor
 * another instance.
 */
export const consoleOn = <T extends { readonly kind: string }>(
  primary: Node | undefined,
  instance: Instance,
  reported: T,
): T => ({
  ...reported,
  instance: instance.name,
  ...(reported.kind === 'ssh' && primary !== undefined && { host: primary.name }),
})

export function nicDict(config: ConfigData, nic: Nic): NicDict {
  const network = nic.network === undefined ? undefined : config.networks[nic.network]
  return { ...nic, nicparams: fillNicParams(config.cluster, nic), ...(network && { netinfo: network }) }
}

/**
 * A disk that may not be in the configuration yet. Its parameters are those of `group`, the group of its primary node.
 */
export function diskDict(config: ConfigData, disk: Disk, group: NodeGroup | undefined): DiskDict {
  const filled = { ...fillDiskParams(config.cluster, group, disk.dev_type), ...disk.params }
  return isDrbd(disk.dev_type) ? drbdDict(config, disk, filled) : leaf(disk, filled)
}

const leaf = (disk: Disk, params: Params): DiskDict => ({
  ...disk,
  params,
  children: disk.children.map((child) => leaf(child, { ...child.params })),
  dynamic_params: {},
})

/** DRBD parameters with another name on nodes. */
const LOW_LEVEL_NAMES: Readonly<Record<string, string>> = {
  'disk-barriers': 'disabled-barriers',
  'meta-barriers': 'disable-meta-flush',
  metavg: 'default-metavg',
}

/** Parameters of a mirror that are those of its volumes: which of the two, and their name there. */
const OF_VOLUMES: Readonly<Record<string, readonly [part: number, name: string]>> = {
  'data-stripes': [0, 'stripes'],
  'data-stripe-size': [0, 'stripe-size'],
  'meta-stripes': [1, 'stripes'],
  'meta-stripe-size': [1, 'stripe-size'],
}

const paramsOf = (filled: Params, part: number): Params =>
  Object.fromEntries(
    Object.entries(OF_VOLUMES).flatMap(([name, [of, there]]) =>
      of === part && filled[name] !== undefined ? [[there, filled[name]]] : [],
    ),
  )

function drbdDict(config: ConfigData, disk: Disk, filled: Params): DiskDict {
  const own = Object.entries(filled).filter(([name]) => !(name in OF_VOLUMES))
  return {
    ...disk,
    params: Object.fromEntries(own.map(([name, value]) => [LOW_LEVEL_NAMES[name] ?? name, value])),
    children: disk.children.map((child, part) =>
      leaf(child, { stripes: 1, ...paramsOf(filled, part), ...child.params }),
    ),
    dynamic_params: drbdAddresses(config, disk),
  }
}

function drbdAddresses(config: ConfigData, disk: Disk): Record<string, Params> {
  const id = drbdId(disk)
  if (!id) return {}
  const ends = [
    { node: id.nodeA, minor: id.minorA },
    { node: id.nodeB, minor: id.minorB },
  ].map((end) => ({ ...end, ip: config.nodes[end.node]?.secondary_ip ?? null }))
  const observed = (from: number, to: number): [string, Params][] => {
    const [local, remote] = [ends[from], ends[to]]
    if (!local || !remote) return []
    return [
      [
        local.node,
        {
          'local-ip': local.ip,
          'remote-ip': remote.ip,
          'local-minor': local.minor,
          'remote-minor': remote.minor,
        },
      ],
    ]
  }
  return Object.fromEntries([...observed(0, 1), ...observed(1, 0)])
}

function groupOf(config: ConfigData, instance: Instance): NodeGroup | undefined {
  const group = config.nodes[instance.primary_node]?.group
  return group === undefined ? undefined : config.nodegroups[group]
}

/** The cluster's own address, in the form in which a node sets it up. */
export const masterParams = ({ cluster }: ConfigData) => ({
  uuid: cluster.master_node,
  ip: cluster.master_ip,
  netmask: cluster.master_netmask,
  netdev: cluster.master_netdev,
  ip_family: cluster.primary_ip_family,
})
