// Caches a value that is computed from an object. A frozen object cannot change, so its value is kept as long as the
// object lives. For other objects it is computed each time.

export function memoizeFrozen<V, T>(make: (value: V) => T): (value: V) => T {
  const kept = new WeakMap<object, { readonly made: T }>()
  return (value) => {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return make(value)
    const known = kept.get(value)
    if (known !== undefined) return known.made
    const made = make(value)
    kept.set(value, { made })
    return made
  }
}
