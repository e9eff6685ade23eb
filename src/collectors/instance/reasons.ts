// Why an instance is in its state: the reason trail that the node daemon writes when it starts, stops or restarts an
// instance.
import { withoutMarks } from '../../model/marks'
import { type NodeSources, listOf } from '../report'

/**
 * `[source, reason, nanoseconds]` of each step, the node's own last; empty without a file. Everybody may read reports, so
 * they have none of our own marks, which a node daemon of an earlier version may have written.
 */
export async function reasonTrail(sources: NodeSources, instance: string): Promise<readonly unknown[]> {
  const file = `${sources.paths.instanceReasonDir}/${instance}`
  try {
    return withoutMarks(listOf(JSON.parse(await sources.read(file))))
  } catch {
    sources.warn(`no reason of the state of the instance can be read from ${file}`)
    return []
  }
}

/** The last order to the node about this instance, such as `shutdown`, and who gave it. */
export function lastRequest(trail: readonly unknown[]): { readonly action: string; readonly by: string } | undefined {
  const [source] = listOf(trail.at(-1))
  const action = /^gnt:daemon:noded:(\w+)$/.exec(String(source))?.[1]
  return action === undefined ? undefined : { action, by: String(listOf(trail[0])[0]) }
}
