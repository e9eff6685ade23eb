import type { Call } from './command'

/** Asks unless --force was given; no answer is a no. */
export async function confirm({ options, terminal }: Call, question: string): Promise<boolean> {
  if (options.optionalFlag('force') === true) return true
  return (await terminal.ask(`${question}\ny/[n]: `, 'yn')) === 'y'
}

/** Shows how many things an operation will touch, and on request which. */
export async function confirmMany(
  { terminal }: Call,
  names: readonly string[],
  kind: string,
  verb: string,
): Promise<boolean> {
  const question = `The ${verb} will operate on ${names.length} ${kind}. Continue?`
  const answer = await terminal.ask(`${question}\ny/[n]/v: `, 'ynv')
  if (answer !== 'v') return answer === 'y'
  for (const name of names) terminal.out(`  ${name}`)
  return (await terminal.ask(`${question}\ny/[n]: `, 'yn')) === 'y'
}
