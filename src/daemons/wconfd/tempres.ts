// Reading tempres.data: maps are lists of pairs, as Ganeti writes them.
import { ConfigurationError } from '../../model/errors'
import { isClientId } from '../../model/lock'
import type { IpAction, SavedReservations } from '../../config/reservations'

type Check<T> = (value: unknown) => value is T

const isText: Check<string> = (value) => typeof value === 'string'
const isInt: Check<number> = (value): value is number => Number.isSafeInteger(value)
const isIpAction: Check<IpAction> = (value): value is IpAction =>
  Array.isArray(value) &&
  value.length === 3 &&
  (value[0] === 'reserve' || value[0] === 'release') &&
  value.slice(1).every(isText)

export function readTempres(text: string): SavedReservations {
  const raw: unknown = JSON.parse(text)
  if (typeof raw !== 'object' || raw === null) throw malformed('no object')
  const fields = new Map<string, unknown>(Object.entries(raw))
  const read = <K, V>(name: string, isKey: Check<K>, isValue: Check<V>): [K, V][] =>
    pairs(fields.get(name), name, isKey, isValue)
  return {
    dRBD: read('dRBD', isText, listOf(pairOf(isInt, isText))),
    mACs: read('mACs', isClientId, listOf(isText)),
    dRBDSecrets: read('dRBDSecrets', isClientId, listOf(isText)),
    lVs: read('lVs', isClientId, listOf(isText)),
    iPv4s: read('iPv4s', isClientId, listOf(isIpAction)),
  }
}

function pairs<K, V>(value: unknown, name: string, isKey: Check<K>, isValue: Check<V>): [K, V][] {
  const isList = listOf(pairOf(isKey, isValue))
  if (!isList(value)) throw malformed(name)
  return value
}

const listOf =
  <T>(isItem: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(isItem)

const pairOf =
  <A, B>(isFirst: Check<A>, isSecond: Check<B>): Check<[A, B]> =>
  (value): value is [A, B] =>
    Array.isArray(value) && value.length === 2 && isFirst(value[0]) && isSecond(value[1])

const malformed = (what: string) => new ConfigurationError(`tempres.data is malformed: ${what}`)
