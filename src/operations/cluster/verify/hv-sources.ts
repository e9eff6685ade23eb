// Every set of effective hypervisor parameters, and its source.
import { fillHvParams } from '../../../config/filled'
import type { ConfigData, Hypervisor, Instance, Params } from '../../../model/config'

export type HvSource = readonly [source: string, hypervisor: Hypervisor, params: Params]

export function hvSources({ cluster }: ConfigData, instances: readonly Instance[]): HvSource[] {
  const own = (hypervisor: Hypervisor, os = ''): Params => fillHvParams(cluster, { hypervisor, os, hvparams: {} })
  const ofCluster = cluster.enabled_hypervisors.map((name): HvSource => ['cluster', name, own(name)])
  const ofSystems = Object.entries(cluster.os_hvp).flatMap(([os, byHypervisor]) =>
    // Parameters of a disabled hypervisor are checked when it is enabled.
    cluster.enabled_hypervisors
      .filter((name) => Object.keys(byHypervisor[name] ?? {}).length > 0)
      .map((name): HvSource => [`os ${os}`, name, own(name, os)]),
  )
  const ofInstances = instances
    .filter((instance) => Object.keys(instance.hvparams).length > 0)
    .map((instance): HvSource => [`instance ${instance.name}`, instance.hypervisor, fillHvParams(cluster, instance)])
  return [...ofCluster, ...ofSystems, ...ofInstances]
}
