// Finds features that a Ganeti cluster uses and Gantry lacks, from its configuration alone.
import { recordValues } from '../../config/records'
import { verifyConfig } from '../../config/verify'
import type { ConfigData } from '../../model/config'
import { NAMED_MAX } from '../../model/limits/adoption'

export interface Findings {
  /** Any of these prevents the adoption. */
  readonly problems: readonly string[]
  /** Worth knowing, but no obstacle. */
  readonly notes: readonly string[]
}

/** `hypervisors`: those that our nodes have. */
export function featuresThatLack(config: ConfigData, hypervisors: readonly string[]): Findings {
  const { cluster } = config
  const instances = recordValues(config.instances)
  const foreign = instances.filter(({ hypervisor }) => !hypervisors.includes(hypervisor))
  const unused = cluster.enabled_hypervisors.filter(
    (name) => !hypervisors.includes(name) && !foreign.some(({ hypervisor }) => hypervisor === name),
  )
  const problems = [
    foreign.length > 0 &&
      `${named(foreign)}: there is no hypervisor ${different(foreign.map(({ hypervisor }) => hypervisor))}; ` +
        'move or remove them first',
  ]
  const notes = [
    unused.length > 0 && `the hypervisor ${different(unused)} is enabled and not there; no instance uses it`,
    ...verifyConfig(config).map((text) => `configuration: ${text}`),
  ]
  return { problems: problems.filter(isText), notes: notes.filter(isText) }
}

export const isText = (text: string | false): text is string => text !== false

const different = (names: readonly string[]): string => [...new Set(names)].sort().join(', ')

const named = (objects: readonly { readonly name: string }[]): string => shortList(objects.map(({ name }) => name))

/** The first of many names, and the number of the others. */
export function shortList(names: readonly string[]): string {
  const more = names.length - NAMED_MAX
  return names.slice(0, NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
