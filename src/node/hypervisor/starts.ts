// Starts of guests that are under way on this node. A job may die while its start goes on here. The calls of the next
// job must see that guest, or it would run on disks that are no longer its own.
import type { InstanceDict } from '../../rpc/node/dicts'
import type { NodeContext } from '../context'

type Starter = Pick<NodeContext, 'paths' | 'caller'>

interface Start {
  readonly name: string
  readonly hypervisor: string
  /** Fires when the job is gone. */
  readonly caller: AbortSignal | undefined
  /** Resolves when it is over, however it ended. */
  readonly end: Promise<unknown>
}

const startsOfNodes = new WeakMap<NodeContext['paths'], Set<Start>>()

/** Each call has a context of its own, but the node's paths are the same. */
function startsOf({ paths }: Starter): Set<Start> {
  const starts = startsOfNodes.get(paths) ?? new Set()
  startsOfNodes.set(paths, starts)
  return starts
}

/** Starts a guest, after earlier starts of the same instance. */
export async function startAlone<T>(
  context: Starter,
  { name, hypervisor }: Pick<InstanceDict, 'name' | 'hypervisor'>,
  work: () => Promise<T>,
): Promise<T> {
  const starts = startsOf(context)
  const result = startsOver(context, name).then(work)
  const start = { name, hypervisor, caller: context.caller, end: result.catch(() => undefined) }
  starts.add(start)
  try {
    return await result
  } finally {
    starts.delete(start)
  }
}

/** Resolves when no start of the instance is under way. */
export async function startsOver(context: Starter, name: string): Promise<void> {
  await Promise.all([...startsOf(context)].filter((start) => start.name === name).map(({ end }) => end))
}

/** Resolves when no start of a job that is gone is under way. A living job's locks keep others away from its instance. */
export async function abandonedStartsOver(context: Starter, hypervisors: readonly string[]): Promise<void> {
  const abandoned = [...startsOf(context)].filter(
    ({ hypervisor, caller }) => caller?.aborted === true && hypervisors.includes(hypervisor),
  )
  await Promise.all(abandoned.map(({ end }) => end))
}
