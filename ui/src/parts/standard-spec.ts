// An instance of the standard size in the cluster's instance policy.
import type { components } from '../api/schema'

export type Spec = components['schemas']['InstanceSpecification']

const numberOf = (values: unknown, name: string): number | undefined => {
  const value = typeof values === 'object' && values !== null ? (values as Record<string, unknown>)[name] : undefined
  return typeof value === 'number' && value > 0 ? value : undefined
}

export function standardSpec({
  ipolicy,
  enabled_disk_templates: templates,
}: Pick<components['schemas']['ClusterView'], 'enabled_disk_templates'> & {
  readonly ipolicy: Readonly<Record<string, unknown>>
}): Spec {
  const { std } = ipolicy
  const disk_template = templates.find((one) => one !== 'diskless') ?? 'diskless'
  const disk = numberOf(std, 'disk-size') ?? 1024
  return {
    disk_template,
    memory_mib: numberOf(std, 'memory-size') ?? 1024,
    vcpus: numberOf(std, 'cpu-count') ?? 1,
    ...(disk_template === 'diskless' ? {} : { disks_mib: [disk] }),
  }
}
