// A rule of the job queue as a text, and its conversion from and to a form.
import type { components } from '../../api/schema'
import { anyOf, nameLike, uuidLike } from '../../api/conditions'
import { texts } from '../../texts'

export type Rule = components['schemas']['FilterView']

const own = texts.jobs.rules

/** The action of a rule. `RATE_LIMIT` is in a list with its number. */
export function actionOf({ action }: Rule): { name: string; rate: number | undefined } {
  if (Array.isArray(action)) return { name: String(action[0]), rate: Number(action[1]) }
  return { name: String(action), rate: undefined }
}

export function actionText(rule: Rule): string {
  const { name, rate } = actionOf(rule)
  return rate === undefined ? (own.action[name] ?? name) : own.limit(rate)
}

/** `OP_ID = OP_INSTANCE_CREATE and jobid > 12` */
export function whenText({ predicates }: Rule): string {
  const all = (predicates ?? []).flatMap((entry) => (Array.isArray(entry) ? [conditionText(entry[1])] : []))
  return all.length === 0 ? own.all : all.join(own.and)
}

function conditionText(condition: unknown): string {
  if (!Array.isArray(condition)) return String(condition)
  const [op, ...args] = condition as unknown[]
  const word = String(op)
  if (word === '&' || word === '|') return `(${args.map(conditionText).join(word === '&' ? own.and : own.or)})`
  if (word === '!') return own.not(conditionText(args[0]))
  return args.length === 2
    ? `${String(args[0])} ${word} ${valueText(args[1])}`
    : `${word} ${args.map(valueText).join(' ')}`
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The reasons that users gave, without entries of programs. */
export const whyText = ({ reason_trail: trail }: Rule): string =>
  (trail ?? [])
    .flatMap((entry) => (Array.isArray(entry) && entry[0] === 'gnt:user' ? [String(entry[1])] : []))
    .filter((text) => text !== '')
    .join('; ')

/** Matches rules by a word of their conditions or reasons, or by their UUID. */
export const ruleLike = (letters: string): unknown[] =>
  anyOf([nameLike(letters, 'conditions'), nameLike(letters, 'reason'), ...uuidLike(letters)])

type Given = Readonly<Record<string, unknown>>

/** The body of a request from the form. Parts of `before` that the form does not change are kept. */
export function ruleBody(input: Given, before?: Rule): Record<string, unknown> {
  const { name, rate } = before === undefined ? { name: 'PAUSE', rate: undefined } : actionOf(before)
  const action = String(input['action'] ?? name)
  const limit = input['rate'] ?? rate
  const { opcode, predicates = before?.predicates ?? [], reason = before && whyText(before) } = input
  return {
    priority: input['priority'] ?? before?.priority ?? 0,
    action: action === 'RATE_LIMIT' ? [action, Number(limit)] : action,
    predicates: opcode === undefined ? predicates : [['opcode', ['=', 'OP_ID', opcode]]],
    ...(reason ? { reason } : {}),
  }
}
