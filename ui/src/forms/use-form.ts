// The state of a form: only what was typed is kept, so that all else follows the object when it changes meanwhile.
import { useState } from 'react'
import type { Field, Values } from './schema'
import { bodyOf, complaintsOf } from './values'

export interface Form {
  readonly values: Values
  /** Only what was typed. */
  readonly typed: Values
  /** What a request gets. */
  readonly body: Readonly<Record<string, unknown>>
  /** Complaints at the fields that were touched, and those of the server. */
  readonly errors: Readonly<Record<string, string>>
  /** Whether all that is needed is there, and right. */
  readonly complete: boolean
  /** Something was typed that nobody else shall see. */
  readonly isSecret: boolean
  change(this: void, name: string, value: unknown): void
  /** Says the server's complaint at its field, if the form has it. */
  refuse(this: void, parameter: string | undefined, text: string): boolean
}

/** `before`: what was typed in a form that is opened again. */
export function useForm(fields: readonly Field[], before: Values = {}): Form {
  const [typed, setTyped] = useState<Values>(before)
  const [refused, setRefused] = useState<Readonly<Record<string, string>>>({})
  const values = { ...Object.fromEntries(fields.map(({ name, initial }) => [name, initial])), ...typed }
  const wrong = complaintsOf(fields, values)
  const touched = Object.fromEntries(Object.entries(wrong).filter(([name]) => Object.hasOwn(typed, name)))
  return {
    ...{ values, typed },
    body: bodyOf(fields, values),
    errors: { ...refused, ...touched },
    complete: Object.keys(wrong).length === 0,
    isSecret: fields.some((field) => 'hidden' in field && field.hidden === true && Object.hasOwn(typed, field.name)),
    change(name, value) {
      setTyped((before) => ({ ...before, [name]: value }))
      setRefused(({ [name]: _, ...others }) => others)
    },
    refuse(parameter, text) {
      if (parameter === undefined || !fields.some(({ name }) => name === parameter)) return false
      setRefused({ [parameter]: text })
      return true
    },
  }
}
