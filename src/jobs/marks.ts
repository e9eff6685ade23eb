// Reads the marks in reason trails. `marksOf` ignores marks that a job inherited from the job that submitted it.
import type { JobId, WireOpCode } from '../rpc/luxi/calls'

/** The texts of a source that were noted for this job itself. */
export function marksOf(op: WireOpCode, job: JobId, source: string): string[] {
  const found: string[] = []
  let pending: string[] = []
  for (const [name, text] of trailOf(op)) {
    if (name === source) pending.push(text)
    if (!name.startsWith('gnt:opcode:')) continue
    if (text.startsWith(`job=${job};`)) found.push(...pending)
    pending = []
  }
  return found
}

/** The text of the first entry with this source. The user who submitted the first job of the chain left it. */
export const firstMark = (op: WireOpCode, source: string): string | null =>
  trailOf(op).find(([name]) => name === source)?.[1] ?? null

function trailOf(op: WireOpCode): [string, string][] {
  const trail: readonly unknown[] = Array.isArray(op['reason']) ? op['reason'] : []
  return trail.flatMap((entry): [string, string][] => {
    if (!Array.isArray(entry)) return []
    const [source, text]: unknown[] = entry
    return typeof source === 'string' && typeof text === 'string' ? [[source, text]] : []
  })
}
