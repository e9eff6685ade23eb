// Reads JSON objects from files that another process may be writing.
import { isObject, type JsonObject } from '../shapes/shape'

/** Undefined if there is no text, or only half of one. */
export function objectIn(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
