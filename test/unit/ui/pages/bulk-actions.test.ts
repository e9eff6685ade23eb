// The remote API takes what the console asks for many instances at once.
import { isObject } from '../../../../src/lib/shapes/shape'
import { readJobRequest } from '../../../../src/daemons/rapi/v3/job-request'
import { objectVerbs, opcodeOf } from '../../../../src/daemons/rapi/v3/object-verbs'
import type { Field } from '../../../../ui/src/forms/schema'
import { bodyOf } from '../../../../ui/src/forms/values'
import { type Body, type ConsoleAction, consoleModule, formOf } from '../../../support/console-actions'

interface Bulk {
  readonly action: ConsoleAction
  readonly fields: readonly Field[]
}

interface Exports {
  readonly BULK: readonly Bulk[]
  isHopeless(
    plan: { readonly ops: readonly { readonly possible: boolean | null }[] },
    names: readonly string[],
  ): boolean
  opcodesOf(bulk: Bulk, names: readonly string[], body: Body): object[]
}

const { BULK, isHopeless, opcodesOf } = consoleModule<Exports>('pages/instances/bulk-actions.ts')

test('what is possible for no chosen instance is not begun, and what may be possible for one is', () => {
  const plan = (...possible: readonly (boolean | null)[]) => ({ ops: possible.map((one) => ({ possible: one })) })
  expect(isHopeless(plan(false, false), ['web1', 'web2'])).toBe(true)
  expect(isHopeless(plan(false, true), ['web1', 'web2'])).toBe(false)
  expect(isHopeless(plan(false, null), ['web1', 'web2'])).toBe(false)
  // The plan is about the first ones only.
  expect(isHopeless(plan(false, false), ['web1', 'web2', 'web3'])).toBe(false)
})

test.each(BULK.map((bulk) => [bulk.action.label, bulk] as const))(
  '%s is planned for many as it is done to each',
  (_, bulk) => {
    const required = bulk.fields.flatMap(({ name, required: isNeeded }) => (isNeeded ? [[name, ['web']]] : []))
    const body = bodyOf(bulk.fields, Object.fromEntries(required) as Body)
    const names = ['web1', 'web2']
    const planned = readJobRequest(JSON.parse(JSON.stringify({ ops: opcodesOf(bulk, names, body) }))).ops
    expect(planned).toEqual(names.map((name) => opcodeOfRequest(bulk, name, body)))
  },
)

/** As the server reads the request for one. */
function opcodeOfRequest({ action }: Bulk, name: string, input: Body): unknown {
  const { method, path, body } = formOf(action)?.request({ name }, input) ?? { method: '', path: '', body: {} }
  const verb = objectVerbs.find((one) => one.verb === method.toLowerCase() && one.path.replace('{name}', name) === path)
  if (verb === undefined || !isObject(body)) throw new Error(`${method} ${path}`)
  return opcodeOf(verb, { name }, body)
}
