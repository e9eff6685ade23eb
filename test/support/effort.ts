// How much the tests try. The gate tries a fixed selection, so that the same code always gives the same result. The nightly run tries much
// more, from a new seed. SEED repeats either of them; jest.config.js gives the nightly run one.
import * as fc from 'fast-check'

/** Whether the tests may take hours. */
const nightly = process.env['NIGHTLY'] === '1'

/** The number that random choices of a test follow from. */
export const SEED = Number(process.env['SEED'] ?? 1)

/** The number of cases to try. */
export const tries = (inTheGate: number, inTheNight = 20 * inTheGate): number => (nightly ? inTheNight : inTheGate)

type Parameters<Ts> = Omit<fc.Parameters<Ts>, 'seed'>

/** `fc.assert` with the seed of the run; `numRuns` is how many the gate tries. */
export function checkProperty<Ts>(property: fc.IAsyncProperty<Ts>, parameters?: Parameters<Ts>): Promise<void>
export function checkProperty<Ts>(property: fc.IProperty<Ts>, parameters?: Parameters<Ts>): void
export function checkProperty<Ts>(
  property: fc.IAsyncProperty<Ts> | fc.IProperty<Ts>,
  { numRuns = 100, ...parameters }: Parameters<Ts> = {},
): Promise<void> | void {
  return fc.assert(property, { ...parameters, seed: SEED, numRuns: tries(numRuns) })
}
