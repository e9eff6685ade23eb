// Opcodes of jobs that another opcode submits.
import type { WireOpCode } from '../rpc/luxi/calls'

/** Prepares an opcode for a job that another opcode submits: it inherits the reason trail and its source. */
export function inherit(op: WireOpCode, from: WireOpCode): WireOpCode {
  const own = Array.isArray(op['reason']) ? op['reason'] : []
  const trail = Array.isArray(from['reason']) ? from['reason'] : []
  return {
    ...op,
    debug_level: from['debug_level'] ?? 0,
    priority: op['priority'] ?? from['priority'] ?? 0,
    comment: op['comment'] ?? `Submitted by ${from.OP_ID}`,
    reason: [...own, ...trail],
  }
}
