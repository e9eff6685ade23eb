// TABLE 1: every opcode that a job can have, each declared once, in a file for each resource. This folder declares,
// checks and words an opcode's parameters. It knows nothing of its execution, nor of the door it came through.
export { allOpcodes, definitionOf, opcodeIds } from './all'
export type { OpcodeId } from './all'
export type { InputOf, OpcodeDefinition } from './opcode'
export { BadParameter, commonParams, fillOpcode, op, opcodeClass, parseOpcode } from './parse'
export type { ParsedOpCode } from './parse'
export { opcodeSummary } from './summary'
