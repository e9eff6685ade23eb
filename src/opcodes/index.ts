// TABLE 1: every opcode that a job can hold, declared once, one file for each resource. This folder says what an opcode's
// parameters are, checks them and words them; it knows nothing of how one is carried out, nor of the door it came through.
export { allOpcodes, definitionOf, opcodeIds } from './all'
export type { AnyDefinition, DefinitionOf, OpcodeId } from './all'
export type {
  CommonParams,
  InputOf,
  OpCodeOf,
  OpcodeDefinition,
  Parameter,
  ParamsOf,
  ReasonEntry,
  ResultOf,
} from './opcode'
export { BadParameter, commonParams, fillOpcode, op, opcodeClass, parseOpcode } from './parse'
export type { ParsedOpCode } from './parse'
export { opcodeSummary, redact, redactSecrets, secretsOf, withSecrets } from './summary'
