// The state of a form. It keeps only typed values. All other fields follow the object when it changes.
import { useState } from 'react'
import { ofSession } from './session-fields'
import type { Field, Values } from './schema'
import { bodyOf, complaintsOf } from './values'

export interface Form {
  readonly values: Values
  /** Only typed values. */
  readonly typed: Values
  /** The body of the request. */
  readonly body: Readonly<Record<string, unknown>>
  /** Errors of edited fields, and errors that the server reported. */
  readonly errors: Readonly<Record<string, string>>
  /** Whether all required values are there and all values are valid. */
  readonly complete: boolean
  /** A secret was typed. */
  readonly isSecret: boolean
  change(this: void, name: string, value: unknown): void
  /** Shows an error of the server at its field. Returns whether the form has this field. */
  refuse(this: void, parameter: string | undefined, text: string): boolean
}

/** The field says which parameter it is. */
export const withoutParameter = (text: string): string => text.replace(/^Parameter '[^']+': /, '')

/** `before`: what was typed in a form that is opened again. */
export function useForm(all: readonly Field[], before: Values = {}): Form {
  const fields = ofSession(all)
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
      setRefused({ [parameter]: withoutParameter(text) })
      return true
    },
  }
}
