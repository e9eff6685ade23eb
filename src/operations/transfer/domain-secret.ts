// The domain secret, which two clusters share to send each other instances. It signs their greetings, certificates and
// addresses, so neither has to trust the messenger.
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { sha1Hmac, verifySha1Hmac } from '../../lib/hmac'
import { RIE_HANDSHAKE } from '../../model/constants/exports'
import { RIE_VERSION } from '../../model/constants/versions'
import { PATH } from '../../model/constants/paths'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { UnitContext } from '../unit-context'

const SALT_BYTES = 8
const SIGNATURE = /^X-Ganeti-Signature:\s*([a-f0-9]+)\/([a-f0-9]+)$/i

export async function domainSecret(ctx: UnitContext): Promise<string> {
  const [secret] = ((await ctx.env.masterFile?.(PATH.CLUSTER_DOMAIN_SECRET_FILE)) ?? '').split('\n')
  if (secret !== undefined && secret !== '') return secret
  throw new OpPrereqError(
    `The master has no cluster domain secret in ${PATH.CLUSTER_DOMAIN_SECRET_FILE}; 'gnt-cluster renew-crypto' makes one`,
    ECODE.ENVIRON,
  )
}

export const newSalt = (ctx: UnitContext): string => ctx.env.random.hex(SALT_BYTES)

type Signed = [text: string, digest: string, salt: string]

export const signName = (secret: string, name: string, salt: string): Signed => [
  name,
  sha1Hmac(secret, name, salt),
  salt,
]

/** The name; the caller supplies the error's text. */
export function verifiedName(secret: string, signed: unknown): string {
  const [name, digest, salt, more] = strings(signed)
  if (name === undefined || digest === undefined || salt === undefined || more !== undefined)
    throw invalid(`Invalid data for X509 key name: ${JSON.stringify(signed)} is not [name, digest, salt]`)
  if (!verifySha1Hmac(secret, name, digest, salt)) throw invalid('HMAC for X509 key name is wrong')
  return name
}

const greeting = (version: unknown): string => `${String(version)}:${RIE_HANDSHAKE}`

export const newHandshake = (secret: string, salt: string): [version: number, digest: string, salt: string] => [
  RIE_VERSION,
  sha1Hmac(secret, greeting(RIE_VERSION), salt),
  salt,
]

export function checkHandshake(secret: string, handshake: unknown): void {
  const [version, digest, salt, more] = strings(handshake)
  const refuse = (why: string) => invalid(`Invalid handshake: ${why}`)
  if (version === undefined || digest === undefined || salt === undefined || more !== undefined)
    throw refuse(`Invalid data: ${JSON.stringify(handshake)} is not [version, digest, salt]`)
  if (!verifySha1Hmac(secret, greeting(version), digest, salt))
    throw refuse("Hash didn't match, clusters don't share the same domain secret")
  if (version !== String(RIE_VERSION))
    throw refuse(`Clusters don't have the same remote import/export protocol (local=${RIE_VERSION}, remote=${version})`)
}

/** A certificate, with its signature in a line above it. */
export function signCertificate(secret: string, pem: string, salt: string): string {
  const normal = new X509Certificate(pem).toString()
  return `X-Ganeti-Signature: ${salt}/${sha1Hmac(secret, normal, salt)}\n\n${normal}`
}

/** The certificate as PEM, if its signature is right and it is valid now. */
export function verifiedCertificate(ctx: UnitContext, secret: string, signed: string, what: string): string {
  const header = signed.split('\n').map((line) => SIGNATURE.exec(line.trim())).find((match) => match !== null) // prettier-ignore
  const unable = (why: string) => invalid(`Unable to load ${what} (${why})`)
  if (header === undefined) throw unable('X509 certificate signature is missing')
  const certificate = readCertificate(signed)
  if (certificate === undefined) throw unable('it is not a certificate in PEM format')
  const [, salt, digest = ''] = header
  if (!verifySha1Hmac(secret, certificate.toString(), digest, salt))
    throw unable('X509 certificate signature is invalid')
  const now_ms = ctx.env.clock.now_ms()
  if (now_ms > Date.parse(certificate.validTo))
    throw invalid(`Invalid ${what} (Certificate is expired (valid to ${certificate.validTo}))`)
  if (now_ms < Date.parse(certificate.validFrom) - CLOCK_SKEW_MS)
    throw invalid(`Invalid ${what} (Certificate not yet valid (valid from ${certificate.validFrom}))`)
  return certificate.toString()
}

const CLOCK_SKEW_MS = 150_000

function readCertificate(signed: string): X509Certificate | undefined {
  try {
    return new X509Certificate(signed.slice(signed.indexOf('-----BEGIN CERTIFICATE-----')))
  } catch {
    return undefined
  }
}

/** The destination of one disk of an export. */
export interface Destination {
  readonly host: string
  readonly port: number
  readonly magic: string
}

const destinationText = (index: number, { host, port, magic }: Destination): string =>
  `${index}:${host}:${port}:${magic}`

/** `[host, port, magic, digest, salt]`. */
export const signDestination = (secret: string, salt: string, index: number, to: Destination): unknown[] => [
  to.host,
  to.port,
  to.magic,
  sha1Hmac(secret, destinationText(index, to), salt),
  salt,
]

export function verifiedDestination(secret: string, index: number, signed: unknown): Destination {
  const [host, port, magic, digest, salt, more] = strings(signed)
  const refuse = (why: string) => invalid(`Target info for disk ${index}: ${why}`)
  if (digest === undefined || salt === undefined || more !== undefined)
    throw refuse(`Invalid data: ${JSON.stringify(signed)} is not [host, port, magic, digest, salt]`)
  if (!host || !port || !magic) throw refuse('Missing destination host, port or magic')
  const to = { host, port: Number(port), magic }
  if (!verifySha1Hmac(secret, destinationText(index, to), digest, salt)) throw refuse('HMAC is wrong')
  if (isIP(host) === 0 && !/^[A-Za-z0-9.-]+$/.test(host)) throw refuse(`Invalid host name '${host}'`)
  if (!Number.isInteger(to.port) || to.port < 1 || to.port > 65535) throw refuse(`Invalid port '${port}'`)
  return to
}

const invalid = (text: string): OpPrereqError => new OpPrereqError(text, ECODE.INVAL)

/** The numbers and texts of a list, as texts. Empty if the value is not such a list. */
function strings(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) => (typeof one === 'string' || typeof one === 'number' ? String(one) : ''))
}
