// Effective parameters: overrides laid over the defaults of the levels above.
import type {
  BeParams,
  Cluster,
  ConfigData,
  Instance,
  IPolicy,
  NdParams,
  Nic,
  NicParams,
  Node,
  NodeGroup,
  OsParams,
  Params,
} from '../model/config'
import { CLUSTER_ONLY_HVPARAMS } from '../model/constants/hypervisors'
import { diskDefaults, isDiskTemplate } from '../model/templates'

type InstanceParams = Pick<Instance, 'hypervisor' | 'os' | 'hvparams'>

/** From the cluster, then the OS, then the instance. `skipClusterOnly` omits parameters that an instance cannot set. */
export function fillHvParams(
  cluster: Cluster,
  instance: InstanceParams,
  options?: { skipClusterOnly?: boolean },
): Params {
  const filled = {
    ...cluster.hvparams[instance.hypervisor],
    ...cluster.os_hvp[instance.os]?.[instance.hypervisor],
    ...instance.hvparams,
  }
  if (!options?.skipClusterOnly) return filled
  return Object.fromEntries(Object.entries(filled).filter(([name]) => !CLUSTER_ONLY_HVPARAMS.includes(name)))
}

/** The same for many instances. Parameter sets are large, so instances without overrides share those of their OS. */
export function hvParamsFiller(cluster: Cluster, options?: { skipClusterOnly?: boolean }) {
  const shared = new Map<string, Params>()
  return (instance: InstanceParams): Params => {
    const { hypervisor, os, hvparams } = instance
    if (Object.keys(hvparams).length > 0) return fillHvParams(cluster, instance, options)
    const key = `${hypervisor} ${os}`
    const filled = shared.get(key) ?? fillHvParams(cluster, instance, options)
    shared.set(key, filled)
    return filled
  }
}

export const fillBeParams = (cluster: Cluster, overrides: Partial<BeParams>): BeParams => ({
  ...cluster.beparams.default,
  ...overrides,
})

export const fillNicParams = (cluster: Cluster, nic: Pick<Nic, 'nicparams'>): NicParams => ({
  ...cluster.nicparams.default,
  ...nic.nicparams,
})

/** From the OS, then its variant, then the instance. */
export const fillOsParams = (cluster: Cluster, os: string, overrides: OsParams): OsParams =>
  byVariant(cluster.osparams, os, overrides)

export const fillPrivateOsParams = (cluster: Cluster, os: string, overrides: OsParams): OsParams =>
  byVariant(cluster.osparams_private_cluster, os, overrides)

function byVariant(all: Readonly<Record<string, OsParams>>, os: string, overrides: OsParams): OsParams {
  const base = os.split('+')[0] ?? os
  return { ...all[base], ...all[os], ...overrides }
}

export const fillGroupNdParams = (cluster: Cluster, group: NodeGroup | undefined): NdParams => ({
  ...cluster.ndparams,
  ...group?.ndparams,
})

export const fillNdParams = (config: ConfigData, node: Node): NdParams => ({
  ...fillGroupNdParams(config.cluster, config.nodegroups[node.group]),
  ...node.ndparams,
})

/** A group overrides bounds, ratios and templates, but not the standard spec. */
export function fillIPolicy(cluster: Cluster, group: NodeGroup | undefined): IPolicy {
  const own = group?.ipolicy ?? {}
  return {
    minmax: own.minmax ?? cluster.ipolicy.minmax,
    std: { ...cluster.ipolicy.std, ...own.std },
    'spindle-ratio': own['spindle-ratio'] ?? cluster.ipolicy['spindle-ratio'],
    'vcpu-ratio': own['vcpu-ratio'] ?? cluster.ipolicy['vcpu-ratio'],
    'disk-templates': own['disk-templates'] ?? cluster.ipolicy['disk-templates'],
  }
}

/** Parameters of one disk template in a group. */
export const fillDiskParams = (cluster: Cluster, group: NodeGroup | undefined, template: string): Params => ({
  ...(isDiskTemplate(template) && diskDefaults(template)),
  ...cluster.diskparams[template],
  ...group?.diskparams[template],
})
