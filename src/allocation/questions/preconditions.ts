// Preconditions of a planned balance's steps: objects of the configuration that must not change.
import { findNode } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type { ConfigData } from '../../model/config'
import type { BalanceAnswer } from './balance-plan'

interface Version {
  readonly kind: 'instance' | 'node'
  readonly uuid: string
  readonly serial_no: number
}

/**
 * The preconditions of each opcode. A step depends on its instance, unless an earlier step changes it, and on its
 * target nodes.
 */
export function preconditionsOf(config: ConfigData, { ops, steps }: Pick<BalanceAnswer, 'ops' | 'steps'>): Version[][] {
  const instances = new Map(recordValues(config.instances).map((one) => [one.name, one]))
  const touched = new Set<string>()
  const match: Version[][] = ops.map(() => [])
  for (const { instance, to, first_op } of steps) {
    const own = instances.get(instance)
    const nodes = to.flatMap((name) => findNode(config, name) ?? [])
    match[first_op] = [
      ...(own === undefined || touched.has(instance) ? [] : [versionOf('instance', own)]),
      ...nodes.map((node) => versionOf('node', node)),
    ]
    touched.add(instance)
  }
  return match
}

const versionOf = (kind: Version['kind'], { uuid, serial_no }: Omit<Version, 'kind'>): Version => ({
  kind,
  uuid,
  serial_no,
})
