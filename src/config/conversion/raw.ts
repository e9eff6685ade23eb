// Configurations of other versions are plain JSON: fields may be missing, or may have another meaning.
import { ConfigurationError } from '../../model/errors'
import { isObject } from '../../lib/shapes/shape'

export type Raw = Record<string, unknown>

/** The object under a key. Throws an error that names anything else there. */
export function objectAt(owner: Raw, key: string, what: string): Raw {
  const value = owner[key]
  if (!isObject(value)) throw new ConfigurationError(`Configuration: "${key}" of ${what} is not an object`)
  return value
}

/** The objects of a container, such as all nodes. */
export const objectsIn = (config: Raw, kind: string): Raw[] =>
  Object.values(objectAt(config, kind, 'the configuration')).filter(isObject)

export const rawList = (value: unknown): Raw[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Fills in missing and null values, also inside objects. */
export function fill(target: Raw, defaults: Readonly<Raw>): void {
  for (const [key, value] of Object.entries(defaults)) {
    const own = target[key]
    if (own === undefined || own === null) target[key] = structuredClone(value)
    else if (isObject(own) && isObject(value)) fill(own, value)
  }
}
