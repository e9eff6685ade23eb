// A question on its way to a thread: first all but the instances, then these, some at a time.
import { breathe } from '../lib/clock'
import { slices } from '../lib/slices'
import { INSTANCES_AT_ONCE } from '../model/limits/allocation'
import type { AllocOptions } from './options'
import type { ClusterData, InstanceData } from './cluster-data'
import type { Question } from './questions'

export interface Asked<Q = Question> {
  readonly data: ClusterData
  readonly question: Q
  readonly options: AllocOptions
}

export async function* toParts<Q>({ data, question, options }: Asked<Q>): AsyncGenerator {
  const head: Asked<Q> = { data: { ...data, instances: [] }, question, options }
  yield head
  for (const some of slices(data.instances, INSTANCES_AT_ONCE)) {
    yield some
    await breathe()
  }
}

/** The question again from its parts, at the other end. */
export function fromParts<Q = Question>([head, ...rest]: readonly unknown[]): Asked<Q> {
  // Both ends are ours, and the parts come in order.
  const asked = head as Asked<Q>
  const instances = (rest as readonly (readonly InstanceData[])[]).flat()
  return { ...asked, data: { ...asked.data, instances } }
}
