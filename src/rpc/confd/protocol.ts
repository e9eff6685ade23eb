// Questions to confd, the daemon that answers from the configuration on every master candidate: signed JSON in single datagrams.
import { sha1Hmac, verifySha1Hmac } from '../../lib/hmac'

const MAGIC = 'plj0'

/** The questions that are asked here, by their numbers on the wire. */
export const CONFD = { nodeDrbd: 7, nodeInstances: 8, instanceDisks: 9 } as const
export type ConfdQuestion = (typeof CONFD)[keyof typeof CONFD]

export interface ConfdReply {
  readonly status: number
  readonly answer: unknown
  /** The serial number of the configuration that the answer comes from. */
  readonly serial: number
}

/** `salt` is told again by the answer. */
export function packQuestion(key: string, type: ConfdQuestion, query: string, now_s: number, salt: string): string {
  const msg = JSON.stringify({ protocol: 1, type, query, rsalt: salt })
  return pack(key, msg, String(Math.floor(now_s)))
}

/** Undefined for what is not signed with this key and salt, or makes no sense. */
export function unpackReply(key: string, datagram: string, salt: string): ConfdReply | undefined {
  const envelope = datagram.startsWith(MAGIC) ? record(parse(datagram.slice(MAGIC.length))) : undefined
  const { msg, hmac } = envelope ?? {}
  if (typeof msg !== 'string' || typeof hmac !== 'string' || envelope?.['salt'] !== salt) return undefined
  if (!verifySha1Hmac(key, msg, hmac, salt)) return undefined
  const reply = record(parse(msg))
  const { status, serial } = reply ?? {}
  if (typeof status !== 'number' || typeof serial !== 'number') return undefined
  return { status, serial, answer: reply?.['answer'] }
}

export const pack = (key: string, msg: string, salt: string): string =>
  MAGIC + JSON.stringify({ msg, salt, hmac: sha1Hmac(key, msg, salt) })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null ? { ...value } : undefined
