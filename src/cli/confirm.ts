import { type Call } from './command'
import { wrap } from './help'

/** So wide are questions. */
const WIDTH = 70
/** So many names are shown with the question; of more, on request. */
const NAMES_SHOWN = 20

/** Asks unless --force was given; no answer is a no. */
export async function confirm(call: Call, question: string): Promise<boolean> {
  return call.options.optionalFlag('force') === true || ask(call, question)
}

export async function ask({ terminal }: Call, question: string): Promise<boolean> {
  return (await terminal.ask(filled(question), CHOICES)) === 'y'
}

/** Shows how many things an operation will touch, and which. */
export async function confirmMany(
  { terminal }: Call,
  names: readonly string[],
  kind: string,
  verb: string,
  note = '',
): Promise<boolean> {
  const question = `${note}The ${verb} will operate on ${names.length} ${kind}.\nDo you want to continue?`
  const affected = [question, `Affected ${kind}:`, ...names.map((name) => `  ${name}`)].join('\n')
  const choices = { y: `Yes, execute the ${verb}`, n: `No, abort the ${verb}` }
  const { y, n } = choices
  const few = names.length <= NAMES_SHOWN
  const answer = await terminal.ask(
    filled(few ? affected : question),
    few ? choices : { y, v: `View the list of affected ${kind}`, n },
  )
  return (answer === 'v' ? await terminal.ask(filled(affected), choices) : answer) === 'y'
}

const CHOICES = { y: 'Perform the operation', n: 'Do not perform the operation' }

const filled = (text: string): string =>
  text
    .split('\n')
    .flatMap((line) => (line.length <= WIDTH ? [line] : wrap(line, WIDTH)))
    .join('\n')
