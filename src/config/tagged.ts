// All objects with tags, the cluster first.
import type { ConfigData } from '../model/config'
import type { ObjectKind } from '../model/object-kinds'
import { recordValues } from './records'

export interface Tagged {
  readonly kind: ObjectKind
  readonly name: string
  readonly tags: readonly string[]
}

export function* taggedObjects(config: ConfigData): Iterable<Tagged> {
  yield { kind: 'cluster', name: config.cluster.cluster_name, tags: config.cluster.tags }
  for (const { name, tags } of recordValues(config.instances)) yield { kind: 'instance', name, tags }
  for (const { name, tags } of recordValues(config.nodes)) yield { kind: 'node', name, tags }
  for (const { name, tags } of recordValues(config.nodegroups)) yield { kind: 'group', name, tags }
  for (const { name, tags } of recordValues(config.networks)) yield { kind: 'network', name, tags }
}
