// The error of an opcode that lost the configuration daemon or the queue: what may be half done, and how to continue.
import { OpExecError } from '../model/errors'
import { opcodeSummary } from '../opcodes/summary'
import { PeerError } from '../rpc/json-protocol'
import type { WireOpCode } from '../rpc/luxi/calls'

/** `begun`: a change of the configuration was sent. Returns other errors unchanged. */
export function interrupted(error: unknown, op: WireOpCode, begun: boolean): unknown {
  if (!(error instanceof PeerError)) return error
  if (!begun && (error.kind === 'unreachable' || error.kind === 'forbidden')) return error
  return new OpExecError(`${error.message}. What ${opcodeSummary(op)} did before stays as it is: ${wayOut(op)}`)
}

function wayOut(op: WireOpCode): string {
  const [, kind] = /^OP_(INSTANCE|NODE|GROUP|NETWORK)_/.exec(op.OP_ID) ?? []
  const noun = kind?.toLowerCase()
  const name = noun && op[`${noun}_name`]
  if (typeof name !== 'string') return "'gnt cluster verify' shows what is amiss"
  const look = `'gnt ${noun} info ${name}' shows it`
  if (!/_(ADD|CREATE)$/.test(op.OP_ID)) return `${look}; then do it again, or undo it`
  return `${look}; if it is there, keep it or take it away with 'gnt ${noun} remove ${name}'`
}
