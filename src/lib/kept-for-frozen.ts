// What is made of an object that is given out again and again. A frozen object says that it will not change, so what was made of
// it is kept as long as it lives; of all others it is made anew.

export function keptForFrozen<V, T>(make: (value: V) => T): (value: V) => T {
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
