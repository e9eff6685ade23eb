// What we note about a job in the reason trail of its first opcode: it is written in the same step as the job, copied with it, and
// is Ganeti's own format. Jobs inherit the trail of the job that submitted them; a mark counts only for the job it was made for.
import type { JobId, WireOpCode } from '../rpc/luxi/calls'

export const MARK = {
  user: 'gantry:user',
  token: 'gantry:token',
  /** `<digest of user and key> <digest of the body>` */
  key: 'gantry:key',
  /** JSON of a list of Preconditions. */
  match: 'gantry:match',
  /** JSON of a TokenScope: the opcode may touch nothing outside it. */
  scope: 'gantry:scope',
} as const

export type Mark = readonly [source: string, text: string, time_ns: number]

/** The texts of a source that were noted for this job, and not for one that it comes from. */
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

function trailOf(op: WireOpCode): [string, string][] {
  const trail: readonly unknown[] = Array.isArray(op['reason']) ? op['reason'] : []
  return trail.flatMap((entry): [string, string][] => {
    if (!Array.isArray(entry)) return []
    const [source, text]: unknown[] = entry
    return typeof source === 'string' && typeof text === 'string' ? [[source, text]] : []
  })
}
