// Actions on rules of the job queue.
import type { Field } from '../../forms/schema'
import type { Action } from '../../parts/action'
import { gntText, shellWord } from '../../parts/gnt'
import { plainAction } from '../../parts/plain-dialog'
import { texts } from '../../texts'
import { actionOf, type Rule, ruleBody, whyText } from './rule'

const own = texts.jobs.rules
const words = own.fields

const ACTIONS = Object.entries(own.action).map(([value, label]) => ({
  ...{ value, label: `${label}: ${own.actionText[value] ?? ''}` },
}))

function fieldsOf(rule?: Rule): Field[] {
  const { name, rate } = rule === undefined ? { name: 'PAUSE', rate: undefined } : actionOf(rule)
  return [
    { kind: 'choice', name: 'action', label: words.action, initial: name, choices: ACTIONS },
    { kind: 'number', name: 'rate', label: words.rate, initial: rate ?? '', min: 1 },
    { ...{ kind: 'text', name: 'opcode', label: words.opcode, text: words.opcodeText, initial: '' } },
    {
      ...{ kind: 'json', name: 'predicates', label: words.predicates, text: words.predicatesText },
      initial: JSON.stringify(rule?.predicates ?? []),
    },
    {
      ...{ kind: 'number', name: 'priority', label: words.priority, text: words.priorityText },
      ...{ initial: rule?.priority ?? 0, min: 0 },
    },
    { kind: 'text', name: 'reason', label: words.reason, initial: rule === undefined ? '' : whyText(rule) },
  ]
}

function gntOf(command: string, body: Readonly<Record<string, unknown>>, args: readonly string[]): string {
  const { action, predicates, priority, reason } = body
  const flags = {
    ...{ predicates: JSON.stringify(predicates), priority, reason },
    action: Array.isArray(action) ? action.join(' ') : action,
  }
  const displayed = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${shellWord(String(value))}`],
  )
  return [gntText(command, {}, []), ...displayed, ...args].join(' ')
}

const complaint = (rate: unknown, action: unknown): string | undefined =>
  action === 'RATE_LIMIT' && rate === undefined ? own.missingRate : undefined

const CHANGES = ['filters']

export const ADD_RULE: Action<null> = plainAction<null>({
  ...{ id: 'add', label: own.add, permission: 'filter.create', changes: CHANGES },
  text: () => own.addText,
  fields: fieldsOf(),
  complaint: ({ rate, action }) => complaint(rate, action),
  request(_none, input) {
    const body = ruleBody(input)
    return { method: 'POST', path: '/3/filters', body, gnt: gntOf('filter add', body, []) }
  },
})

export const CHANGE_RULE: Action<Rule> = plainAction<Rule>({
  ...{ id: 'change', label: own.change, permission: 'filter.modify', changes: CHANGES },
  text: () => own.changeText,
  fields: fieldsOf,
  request(rule, input) {
    const body = ruleBody(input, rule)
    const uuid = rule.uuid ?? ''
    return { method: 'PUT', path: `/3/filters/${uuid}`, body, gnt: gntOf('filter replace', body, [uuid]) }
  },
})

export const REMOVE_RULE: Action<Rule> = plainAction<Rule>({
  ...{ id: 'remove', label: own.remove, permission: 'filter.remove', changes: CHANGES, danger: true },
  text: () => own.removeText,
  fields: [],
  request: ({ uuid }) => ({
    ...{ method: 'DELETE', path: `/3/filters/${uuid}`, body: {} },
    gnt: gntText('filter delete', {}, [uuid ?? '']),
  }),
})
