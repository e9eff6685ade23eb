// What each test of Ganeti's QA gives: gantry-outcomes.json says it of our packages, with a reason for each that fails, and ganeti-outcomes.json of
// Debian's Ganeti on the same machines.
import * as fs from 'node:fs'
import * as path from 'node:path'

type Outcome = 'passes' | 'fails'

export interface Outcomes {
  readonly passes: readonly string[]
  /** Each with the reason; of Ganeti's, what it said. */
  readonly fails: Readonly<Record<string, string>>
}

export interface Result {
  readonly test: string
  readonly outcome: Outcome
  readonly seconds: number
  readonly text?: string
}

const FILES = { gantry: 'gantry-outcomes.json', ganeti: 'ganeti-outcomes.json' } as const
export type Product = keyof typeof FILES
const fileOf = (product: Product): string => path.join(__dirname, FILES[product])

export const readOutcomes = (product: Product): Outcomes =>
  JSON.parse(fs.readFileSync(fileOf(product), 'utf8')) as Outcomes

/** What other tests gave stays as it is. */
export function noteGanetiOutcomes(results: readonly Result[]): void {
  const file = fileOf('ganeti')
  const before: Outcomes = fs.existsSync(file) ? readOutcomes('ganeti') : { passes: [], fails: {} }
  const again = new Set(results.map(({ test }) => test))
  const failed = results.filter(({ outcome }) => outcome === 'fails')
  const outcomes: Outcomes = {
    passes: [
      ...before.passes.filter((test) => !again.has(test)),
      ...results.flatMap(({ test, outcome }) => (outcome === 'passes' ? [test] : [])),
    ],
    fails: {
      ...Object.fromEntries(Object.entries(before.fails).filter(([test]) => !again.has(test))),
      ...Object.fromEntries(failed.map(({ test, text = '' }) => [test, text.split('\n')[0] ?? ''])),
    },
  }
  fs.writeFileSync(file, `${JSON.stringify(outcomes, null, 2)}\n`)
}

const outcomesByTest = ({ passes, fails }: Outcomes): ReadonlyMap<string, Outcome> =>
  new Map([
    ...passes.map((test) => [test, 'passes'] as const),
    ...Object.keys(fails).map((test) => [test, 'fails'] as const),
  ])

/** Each test that was run or that Ganeti has, with what it gives there and here. */
export function sideBySide(ganeti: Outcomes, ours: Outcomes, results: readonly Result[]): string[] {
  const [there, here] = [outcomesByTest(ganeti), new Map(results.map(({ test, outcome }) => [test, outcome]))]
  const row = (first: string, second: string, rest: string) => `${first.padEnd(8)}${second.padEnd(8)}${rest}`
  return [
    row('Ganeti', 'ours', 'test'),
    ...[...here].map(([test, outcome]) => {
      const reason = outcome === 'fails' ? ours.fails[test] : undefined
      return row(there.get(test) ?? '-', outcome, reason === undefined ? test : `${test}: ${reason}`)
    }),
  ]
}

/** Compares what the tests gave with gantry-outcomes.json. */
export function differences(ours: Outcomes, results: readonly Result[], partly: boolean): string[] {
  const known = outcomesByTest(ours)
  const found = new Set(results.map(({ test }) => test))
  return [
    ...results.flatMap(({ test, outcome, text = '' }) => {
      const desired = known.get(test)
      if (desired === outcome) return []
      const should = desired === undefined ? 'is not in gantry-outcomes.json' : `should be: ${desired}`
      return [`${test} ${outcome}, and ${should}. ${text.slice(-600)}`]
    }),
    ...[...known.keys()].flatMap((test) => (partly || found.has(test) ? [] : [`${test} was not run`])),
  ]
}

/** Tests that pass with Ganeti, and of which gantry-outcomes.json says neither that they pass here nor why they fail. */
export function unexplained(ganeti: Outcomes, ours: Outcomes): string[] {
  const passing = new Set(ours.passes)
  return ganeti.passes
    .filter((test) => !passing.has(test) && !ours.fails[test])
    .map((test) => `${test} passes with Ganeti; gantry-outcomes.json must say that it passes here, or why it fails`)
}
