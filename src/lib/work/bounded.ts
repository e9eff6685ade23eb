/** Runs `action` for each item, at most `limit` at the same time. Rejects as Promise.all does, with the first failure. */
export async function eachBounded<T>(
  items: Iterable<T>,
  limit: number,
  action: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  const work = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await action(next.value)
  }
  await Promise.all(Array.from({ length: limit }, work))
}

/** The same, with what it makes of each item, in their order. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  make: (item: T) => Promise<R>,
): Promise<R[]> {
  const made: R[] = []
  await eachBounded(items.entries(), limit, async ([index, item]) => {
    made[index] = await make(item)
  })
  return made
}
