// The opcode that changes an instance, and the form in which changes are reported.
import type { OpInstanceSetParams } from '../../../opcodes/instance'
import type { Op } from '../../logical-unit'

export type SetOp = Op<typeof OpInstanceSetParams>
/** `[parameter, new value]`, as `gnt-instance modify` prints it. */
export type Changed = [name: string, value: unknown]
