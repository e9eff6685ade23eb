// Splits a question for a thread: first everything except the instances, then these in slices.
import { breathe } from '../../lib/clock'
import { slices } from '../../lib/work/slices'
import { INSTANCES_AT_ONCE } from '../../model/limits/allocation'
import type { AllocOptions } from '../model/options'
import type { ClusterData, InstanceData } from '../model/cluster-data'
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

/** Puts the question together again in the thread. */
export function fromParts<Q = Question>([head, ...rest]: readonly unknown[]): Asked<Q> {
  // Both ends are ours, and the parts arrive in order.
  const requested = head as Asked<Q>
  const instances = (rest as readonly (readonly InstanceData[])[]).flat()
  return { ...requested, data: { ...requested.data, instances } }
}
