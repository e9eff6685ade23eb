// The error of an opcode that lost the configuration daemon or the queue: what may be half done, and how to continue.
import { OpExecError } from '../model/errors'
import { OpNodeAdd } from '../opcodes/node'
import { opcodeSummary } from '../opcodes/summary'
import { PeerError } from '../rpc/json-protocol'
import type { WireOpCode } from '../rpc/luxi/calls'

/**
 * `begun`: a change of the configuration was sent. `isUnknown`: nobody knows whether it was made. Returns other errors
 * unchanged.
 */
export function interrupted(error: unknown, op: WireOpCode, { begun, isUnknown }: Sent): unknown {
  if (!(error instanceof PeerError)) return error
  if (!begun && (error.kind === 'unreachable' || error.kind === 'forbidden')) return error
  const what = `What ${opcodeSummary(op)} did before`
  const kept = isUnknown ? `${what} stays as it is` : `${what} stays, or was undone as its log says`
  return new OpExecError(`${error.message}. ${kept}: ${wayOut(op)}`)
}

interface Sent {
  readonly begun: boolean
  readonly isUnknown: boolean
}

function wayOut(op: WireOpCode): string {
  const [, kind] = /^OP_(INSTANCE|NODE|GROUP|NETWORK)_/.exec(op.OP_ID) ?? []
  const noun = kind?.toLowerCase()
  const name = noun && op[`${noun}_name`]
  if (typeof name !== 'string') return "'gnt cluster verify' shows what is amiss"
  const look = `'gnt ${noun} info ${name}' shows it`
  if (!/_(ADD|CREATE)$/.test(op.OP_ID)) return `${look}; then do it again, or undo it`
  if (op.OP_ID === OpNodeAdd.id)
    return `${look}; if it is there, give it what members have with 'gnt node add --readd ${name}'; otherwise add it again`
  return `${look}; if it is there, keep it or take it away with 'gnt ${noun} remove ${name}'`
}
