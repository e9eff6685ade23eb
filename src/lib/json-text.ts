// Texts that should be JSON objects, from files that another process may be writing.
import { isObject, type JsonObject } from './shapes/shape'

/** Undefined when there is none, or half of one that is being replaced. */
export function objectIn(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
