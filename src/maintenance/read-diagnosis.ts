// Reads a node's signed self-diagnosis. The daemon moves guests because of it, so it only counts if the node itself
// signed it recently.
import { sha1Hmac } from '../lib/hmac'
import { isObject, type JsonObject } from '../lib/shapes/shape'
import { NOT_RUN } from '../model/constants/collectors'
import { REPORT_CLOCK_SKEW_S, REPORT_KEPT_CHARS_MAX } from '../model/limits/maintenance'
import { REPAIR_ACTIONS, SELF_DIAGNOSIS } from '../model/maintenance'

export interface Expected {
  /** The key of the cluster. */
  readonly key: string
  readonly node: string
  readonly now_s: number
  /** The most seconds between two self-diagnoses of the node. */
  readonly interval_s: number
  /** When the last report that we read was made. */
  readonly last_ns: number
}

/** The report is unusable; the text says why, and what to do. */
class BadDiagnosis extends Error {}

export interface Diagnosis {
  readonly report: JsonObject
  readonly time_ns: number
}

export function readDiagnosis(text: string, expected: Expected): Diagnosis {
  const { signed } = parsed(text)
  if (!isObject(signed)) throw new BadDiagnosis('its report is not signed; does its ganeti-mond have this version?')
  const { msg, salt, hmac } = signed
  if (typeof msg !== 'string' || typeof salt !== 'string' || typeof hmac !== 'string')
    throw new BadDiagnosis('the signature of its report cannot be read')
  if (expected.key === '' || sha1Hmac(expected.key, msg, salt) !== hmac)
    throw new BadDiagnosis('its report is forged, or signed with another key: compare its hmac.key with the master')
  const { node, report } = parsed(msg)
  if (node !== expected.node) throw new BadDiagnosis(`its report is that of ${JSON.stringify(node)}`)
  const time_ns = checkTime(report, salt, expected)
  return { report: reportOf(isObject(report) ? report['data'] : undefined), time_ns }
}

function checkTime(report: unknown, salt: string, { now_s, interval_s, last_ns }: Expected): number {
  const time_ns = isObject(report) ? report['timestamp'] : undefined
  if (typeof time_ns !== 'number' || String(time_ns) !== salt)
    throw new BadDiagnosis('the time of its report is not the one that was signed')
  const age_s = now_s - time_ns / 1e9
  if (age_s < -REPORT_CLOCK_SKEW_S)
    throw new BadDiagnosis(`its report is from the future, by ${Math.round(-age_s)} s: compare the clocks`)
  if (age_s > 2 * interval_s + REPORT_CLOCK_SKEW_S)
    throw new BadDiagnosis(`its report is ${Math.round(age_s)} s old: compare the clocks, or somebody replays it`)
  if (time_ns < last_ns) throw new BadDiagnosis('its report is older than the one before: somebody replays it')
  return time_ns
}

function reportOf(data: unknown): JsonObject {
  if (!isObject(data)) throw new BadDiagnosis('its report has no object')
  // The program failed, so the report says nothing about the node.
  if (typeof data['error'] === 'string')
    throw new BadDiagnosis(`${SELF_DIAGNOSIS} failed: ${data['error'].slice(0, 500)}`)
  const { status, details } = data
  if (status === NOT_RUN)
    throw new BadDiagnosis(`${SELF_DIAGNOSIS} does not run (${NOT_RUN}): ${String(details).slice(0, 500)}`)
  if (status !== 'Ok' && !REPAIR_ACTIONS.some((one) => one === status))
    throw new BadDiagnosis(
      `${SELF_DIAGNOSIS} has the status ${(JSON.stringify(status) ?? 'none').slice(0, 100)}; known are Ok, ${REPAIR_ACTIONS.join(', ')}`,
    )
  const chars = JSON.stringify(data).length
  if (chars > REPORT_KEPT_CHARS_MAX)
    throw new BadDiagnosis(
      `${SELF_DIAGNOSIS} has ${chars} characters, more than ${REPORT_KEPT_CHARS_MAX}: shorten the details`,
    )
  return data
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // The error below covers this.
  }
  throw new BadDiagnosis('its report is not a JSON object')
}
