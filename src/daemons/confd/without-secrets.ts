// Values of the configuration as every node may know them: without private OS parameters, and without the secrets by
// which the two sides of a mirror know each other. Every node has confd's key, also one that was demoted, and answers
// travel in clear. The fields stay, because Ganeti's programs expect them.
import { isObject, type JsonObject } from '../../lib/shapes/shape'
import { isDrbd } from '../../model/templates'

/** All the way down. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries({ ...value, ...blanked(value) }).map(([key, part]) => [key, withoutSecrets(part)]),
  )
}

/** A part of an object, which may be one of its secrets. */
export function openPart(object: JsonObject, key: string): unknown {
  const blank = blanked(object)
  return Object.hasOwn(blank, key) ? blank[key] : object[key]
}

const blanked = (object: JsonObject): JsonObject => ({ ...blankParams(object), ...blankId(object) })

const PRIVATE = ['osparams_private', 'osparams_private_cluster'] as const

const blankParams = (object: JsonObject): JsonObject =>
  Object.fromEntries(PRIVATE.flatMap((key) => (isObject(object[key]) ? [[key, {}]] : [])))

function blankId({ dev_type, logical_id }: JsonObject): JsonObject {
  if (typeof dev_type !== 'string' || !isDrbd(dev_type) || !Array.isArray(logical_id)) return {}
  return { logical_id: [...(logical_id as unknown[]).slice(0, -1), ''] }
}
