// Work for several that do not depend on each other.
import { errorText } from '../system-failure'

/** One after the other, whichever fails; in the end all failures are told as one. */
export async function forEachOne<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = []
  for (const item of items) await work(item).catch((error: unknown) => errors.push(error))
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, errors.map(errorText).join('; '))
}
