// Questions to confd, which answers from the configuration on every master candidate, and its answers: signed JSON in
// single datagrams. Both ends of the wire are here.
import { sha1Hmac, verifySha1Hmac } from '../../lib/hmac'
import { CONFD_CLOCK_S, CONFD_QUESTION_BYTES_MAX } from '../../model/limits/confd'

const MAGIC = 'plj0'
/** The first byte of a datagram without it. */
const BRACE = 0x7b

/** The kinds of questions by their numbers on the wire. */
export const CONFD = {
  ping: 0,
  nodeRole: 1,
  nodeOfInstanceIp: 2,
  clusterMaster: 3,
  nodeIps: 4,
  candidateIps: 5,
  instanceIps: 6,
  nodeDrbd: 7,
  nodeInstances: 8,
  instanceDisks: 9,
  configQuery: 10,
  dataCollectors: 11,
} as const
export type ConfdQuestion = (typeof CONFD)[keyof typeof CONFD]

export const CONFD_STATUS = { ok: 0, error: 1 } as const
/** Errors with a number; all others are texts. */
export const CONFD_ERROR = { unknownEntry: 0, badArgument: 2 } as const
export const CONFD_ROLE = { master: 0, candidate: 1, offline: 2, drained: 3, regular: 4 } as const
/** Facts about the master that a question can ask for. */
const MASTER_FIELD = { name: 0, ip: 1, primaryIp: 2 } as const

/** A question that needs more than one text. */
interface ConfdSelection {
  /** The link of network cards; the cluster's default if missing. */
  readonly link: string | undefined
  readonly ip: string | undefined
  readonly ips: readonly string[]
  /** Names of `MASTER_FIELD`. */
  readonly fields: readonly number[]
}
export type ConfdQuery = string | ConfdSelection | null

export interface ConfdRequest {
  readonly question: ConfdQuestion
  readonly query: ConfdQuery
  /** Signed together with the answer, so that the answer fits only this question. */
  readonly salt: string
  /** The question's signature, which is unique. */
  readonly hmac: string
  /** Whether it came without `plj0`, as the design of confd prints it. Its answer comes in the same form. */
  readonly plain: boolean
}

export interface ConfdReply {
  readonly status: number
  readonly answer: unknown
  /** The serial number of the configuration that the answer comes from. */
  readonly serial: number
}

/** The answer repeats `salt`. */
export function packQuestion(key: string, type: ConfdQuestion, query: unknown, now_s: number, salt: string): string {
  const msg = JSON.stringify({ protocol: 1, type, query, rsalt: salt })
  return pack(key, msg, String(Math.floor(now_s)))
}

/** Undefined if it is not signed with this key, has a wrong time, or makes no sense. Cheap checks come first. */
export function unpackQuestion(key: string, datagram: Buffer, now_s: number): ConfdRequest | undefined {
  const plain = datagram[0] === BRACE
  if (datagram.length > CONFD_QUESTION_BYTES_MAX) return undefined
  if (!plain && datagram.toString('latin1', 0, 4) !== MAGIC) return undefined
  const envelope = record(parse(datagram.toString('utf8', plain ? 0 : MAGIC.length)))
  const { msg, hmac, salt } = envelope ?? {}
  if (typeof msg !== 'string' || typeof hmac !== 'string' || typeof salt !== 'string') return undefined
  if (Object.keys(envelope ?? {}).length !== 3 || !/^-?\d{1,15}$/.test(salt)) return undefined
  if (Math.abs(Math.floor(now_s) - Number(salt)) > CONFD_CLOCK_S) return undefined
  return verifySha1Hmac(key, msg, hmac, salt) ? requestOf(record(parse(msg)) ?? {}, { hmac, plain }) : undefined
}

/** `answer` is JSON. */
export function packReply(
  key: string,
  { salt, plain }: Pick<ConfdRequest, 'salt' | 'plain'>,
  reply: ConfdReply & { readonly answer: string },
): string {
  const msg = `{"protocol":1,"status":${reply.status},"answer":${reply.answer},"serial":${reply.serial}}`
  return `${plain ? '' : MAGIC}{"hmac":"${sha1Hmac(key, msg, salt)}","msg":${JSON.stringify(msg)},"salt":${JSON.stringify(salt)}}`
}

/** Undefined if it is not signed with this key and salt, or makes no sense. */
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

type Fields = Readonly<Record<string, unknown>>

const QUESTIONS: readonly unknown[] = Object.values(CONFD)
const isQuestion = (type: unknown): type is ConfdQuestion => QUESTIONS.includes(type)
const REQUEST_KEYS = ['protocol', 'type', 'query', 'rsalt']

function requestOf(message: Fields, form: Pick<ConfdRequest, 'hmac' | 'plain'>): ConfdRequest | undefined {
  const { protocol, type, query = null, rsalt } = message
  const known = Object.keys(message).every((key) => REQUEST_KEYS.includes(key))
  if (!known || typeof protocol !== 'number' || !isQuestion(type) || typeof rsalt !== 'string') return undefined
  if (query === null || typeof query === 'string') return { question: type, query, salt: rsalt, ...form }
  const selection = Array.isArray(query) ? undefined : selectionOf(record(query))
  return selection && { question: type, query: selection, salt: rsalt, ...form }
}

/** Also accepts numbers as texts, as Ganeti's own confd-client sends them. */
const FIELDS: readonly unknown[] = Object.values(MASTER_FIELD).flatMap((field) => [field, String(field)])
const SELECTION_KEYS = ['0', '1', '2', '3']

function selectionOf(query: Fields | undefined): ConfdSelection | undefined {
  if (query === undefined || !Object.keys(query).every((key) => SELECTION_KEYS.includes(key))) return undefined
  const { 0: link, 1: ip, 2: ips, 3: fields } = query
  const isText = (value: unknown): value is string => typeof value === 'string'
  const isField = (value: unknown) => FIELDS.includes(value)
  if (!absentOr(isText, link) || !absentOr(isText, ip)) return undefined
  if (!absentOr((all) => listOf(all, isText), ips) || !absentOr((all) => listOf(all, isField), fields)) return undefined
  return {
    ...{ link: isText(link) ? link : undefined, ip: isText(ip) ? ip : undefined },
    ips: Array.isArray(ips) ? ips.filter(isText) : [],
    fields: Array.isArray(fields) ? fields.map(Number) : [],
  }
}

const absentOr = (check: (value: unknown) => boolean, value: unknown): boolean =>
  value === undefined || value === null || check(value)

const listOf = (value: unknown, check: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every((one) => check(one))

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const record = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null ? { ...value } : undefined
