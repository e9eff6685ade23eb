// Asks which operating system an instance gets.
import { type Call } from '../command'
import { osNames } from './commands'

export const ABORTED = Symbol('aborted')

/** Lets the user choose from the cluster's operating systems by number. */
export async function askForOs(call: Call): Promise<string | typeof ABORTED> {
  const { out, ask } = call.terminal
  const names = await osNames(call)
  out('Available OS templates:')
  for (const [number, name] of names.entries()) out(`${String(number).padStart(3)}: ${name}`)
  const choices = Object.fromEntries(names.map((name, number) => [String(number), name]))
  const question = 'Enter OS template number (or x to abort):'
  const answer = await ask(question, { ...choices, x: 'Exit gnt-instance reinstall' }, '--os-type')
  return (answer === undefined ? undefined : names[Number(answer)]) ?? ABORTED
}
