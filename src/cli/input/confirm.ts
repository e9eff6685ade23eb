// Questions before a harmful command, and the options that answer them in advance.
import type { Call } from '../command'
import type { Option } from './option'
import { wrap } from '../output/help'
import { oForce } from './options'

/** The width of questions. */
const WIDTH = 70
/** The number of names shown with a question; more on request. */
const NAMES_SHOWN = 20

/** Asks, unless the option was given; no answer means no. */
export async function confirm({ options, terminal }: Call, question: string, by: Option = oForce): Promise<boolean> {
  return options.optionalFlag(by.dest) === true || (await terminal.ask(filled(question), CHOICES, nameOf(by))) === 'y'
}

/** Shows how many objects an operation will touch, and which. */
export async function confirmMany(
  { options, terminal }: Call,
  { names, kind, verb, note = '' }: Touched,
  by: Option = oForce,
): Promise<boolean> {
  if (options.optionalFlag(by.dest) === true) return true
  const question = `${note}The ${verb} will operate on ${names.length} ${kind}.\nDo you want to continue?`
  const affected = [question, `Affected ${kind}:`, ...names.map((name) => `  ${name}`)].join('\n')
  const choices = { y: `Yes, execute the ${verb}`, n: `No, abort the ${verb}` }
  const { y, n } = choices
  const few = names.length <= NAMES_SHOWN
  const answer = await terminal.ask(
    filled(few ? affected : question),
    few ? choices : { y, v: `View the list of affected ${kind}`, n },
    nameOf(by),
  )
  return (answer === 'v' ? await terminal.ask(filled(affected), choices, nameOf(by)) : answer) === 'y'
}

export interface Touched {
  readonly names: readonly string[]
  /** `nodes` */
  readonly kind: string
  readonly verb: string
  /** Printed first. */
  readonly note?: string
}

const nameOf = ({ long }: Option): string => long[0] ?? ''

const CHOICES = { y: 'Perform the operation', n: 'Do not perform the operation' }

const filled = (text: string): string =>
  text
    .split('\n')
    .flatMap((line) => (line.length <= WIDTH ? [line] : wrap(line, WIDTH)))
    .join('\n')
