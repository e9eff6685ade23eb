// Runs one opcode, from options to its end, as most commands do.
import { pythonText } from '../../lib/text/python-text'
import { type InputOf, type OpcodeDefinition } from '../../opcodes/opcode'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Call } from '../command'
import { EXIT } from '../outcome'

/** The compiler checks names. The values come from the command line; luxid checks them, in its words. */
export type Params<D extends OpcodeDefinition> = Partial<Record<keyof InputOf<D>, unknown>>

export function opcodeOf<D extends OpcodeDefinition>(definition: D, params: Params<D>): WireOpCode {
  const input = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined))
  return { OP_ID: definition.id, ...input }
}

/** A command that is one opcode, and prints nothing on success. */
export const submitting =
  <D extends OpcodeDefinition>(definition: D, params: (call: Call) => Params<D> | Promise<Params<D>>) =>
  async (call: Call): Promise<number> => {
    await call.jobs.run(opcodeOf(definition, await params(call)))
    return EXIT.ok
  }

/** `[[parameter, new value], ...]`, as opcodes that modify something return it. */
export function printChanges({ terminal }: Call, kind: string, name: string, result: unknown): void {
  if (!Array.isArray(result) || result.length === 0) return
  terminal.out(`Modified ${kind} ${name}`)
  for (const change of result as unknown[])
    if (Array.isArray(change)) terminal.out(` - ${String(change[0]).padEnd(5)} -> ${pythonText(change[1])}`)
}

/** The first argument; the command's table requires it. */
export const firstArgument = ({ args }: Call): string => args[0] ?? ''
