// Parses tempres.data: maps are lists of pairs, as Ganeti writes them.
import type { SavedReservations } from '../../config/reservations'
import { listOf, tuple } from '../../lib/shapes/containers'
import { int, oneOf, string } from '../../lib/shapes/leaves'
import { objectOf, optional } from '../../lib/shapes/objects'
import { Mismatch, type Shape } from '../../lib/shapes/shape'
import { plainly } from '../../lib/shapes/words'
import { errorText } from '../../lib/system-failure'
import { ConfigurationError } from '../../model/errors'
import { clientId } from '../../model/lock-shapes'

export function readTempres(text: string): SavedReservations {
  try {
    return saved.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof Mismatch ? plainly(error) : errorText(error)
    throw new ConfigurationError(`tempres.data is malformed: ${why}`)
  }
}

const byClient = <T>(item: Shape<T>) => listOf(tuple(clientId, listOf(item)))

const saved: Shape<SavedReservations> = objectOf(
  {
    dRBD: listOf(tuple(string, listOf(tuple(int, string)))),
    mACs: byClient(string),
    dRBDSecrets: byClient(string),
    lVs: byClient(string),
    iPv4s: byClient(tuple(oneOf('IpAction', ['reserve', 'release']), string, string)),
    gantryMinorsOf: optional(byClient(string)),
  },
  { others: 'dropped' },
)
