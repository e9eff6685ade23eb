// Certificates and TLS settings. Each PEM file holds a private key and its certificate, as Ganeti's do. Only creating one loads
// the X.509 library.
import * as crypto from 'node:crypto'
import type { Files } from './files'
import type * as tls from 'node:tls'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import { type Clock, systemClock } from './clock'
import { fileVersion } from './file/file-version'
import type { Log } from './log'
import type { Paths } from './paths'
import { type Random, systemRandom } from './random'

/** The subject of the cluster's certificate; clients of Ganeti expect it. */
const CLUSTER_COMMON_NAME = 'ganeti.example.com'
const VALIDITY_DAYS = 1825
/** Certificates become valid a little in the past, for nodes whose clocks are behind. */
const BACKDATED_MS = 600_000
const DAY_MS = 86_400_000

export interface CertificateOptions {
  commonName?: string
  /** Tells certificates of the same name apart, so that a client that trusts both can find the signer. */
  unit?: string
  validity_days?: number
  /** Host names and addresses that the certificate is good for. */
  names?: readonly string[]
  /** PEM of the key and certificate that sign it. Without them the certificate signs itself and may sign others. */
  issuer?: string
  clock?: Clock
  random?: Random
}

/** Certificate and key, and beside it the certificate alone: it signs itself, so it is also that of its authority. */
export async function createSelfSigned(): Promise<{ pem: string; ca: string }> {
  const pem = await createCertificate()
  return { pem, ca: new crypto.X509Certificate(pem).toString() }
}

/** Creates a key and a certificate for it: the cluster's `server.pem` by default. */
export async function createCertificate(options: CertificateOptions = {}): Promise<string> {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const keys = await crypto.webcrypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const unit = options.unit === undefined ? '' : `, OU=${options.unit}`
  const subject = `CN=${options.commonName ?? CLUSTER_COMMON_NAME}${unit}`
  const issuer = options.issuer === undefined ? undefined : new crypto.X509Certificate(options.issuer)
  const now_ms = (options.clock ?? systemClock).now_ms()
  const extensions = [new x509.BasicConstraintsExtension(issuer === undefined, undefined, true)]
  const names = (options.names ?? []).map((value) => ({ type: isAddress(value) ? 'ip' : 'dns', value }) as const)
  const certificate = await x509.X509CertificateGenerator.create(
    {
      // A positive number of 16 bytes.
      serialNumber: `4${(options.random ?? systemRandom).hex(16).slice(1)}`,
      subject,
      issuer: issuer === undefined ? subject : new x509.X509Certificate(issuer.raw).subjectName,
      notBefore: new Date(now_ms - BACKDATED_MS),
      notAfter: new Date(now_ms + (options.validity_days ?? VALIDITY_DAYS) * DAY_MS),
      publicKey: keys.publicKey,
      signingKey: options.issuer === undefined ? keys.privateKey : await importPrivateKey(options.issuer),
      signingAlgorithm: { hash: 'SHA-256' },
      extensions: names.length === 0 ? extensions : [...extensions, new x509.SubjectAlternativeNameExtension(names)],
    },
    crypto.webcrypto,
  )
  const key = crypto.KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
  return `${key}${certificate.toString('pem').trimEnd()}\n`
}

/** A node's `client.pem`: signed by the cluster's certificate, with the node's name. */
export function createClientCertificate(serverPem: string, nodeName: string, options: CertificateOptions = {}) {
  return createCertificate({ ...options, commonName: nodeName, issuer: serverPem })
}

/** SHA-1 of a PEM's (first) certificate as `XX:XX:...`, as ssconf_master_candidates_certs lists it. */
export const certificateDigest = (pem: string | Buffer): string => new crypto.X509Certificate(pem).fingerprint

/** When the certificate ends, in milliseconds since the epoch. */
export const certificateEnd_ms = (pem: string | Buffer): number => Date.parse(new crypto.X509Certificate(pem).validTo)

/** Why a certificate is not valid at this time; undefined if it is valid. */
export function certificateProblem(file: string, pem: string | Buffer, now_ms: number): string | undefined {
  const { validFrom, validTo } = new crypto.X509Certificate(pem)
  const [from_ms, to_ms] = [Date.parse(validFrom), Date.parse(validTo)]
  if (now_ms >= from_ms && now_ms <= to_ms) return undefined
  const day = (time_ms: number) => new Date(time_ms).toISOString()
  return (
    `The certificate ${file} is valid from ${day(from_ms)} to ${day(to_ms)}, but the clock of this machine says ${day(now_ms)}: ` +
    `set the clock right, or renew the certificate with gnt-cluster renew-crypto`
  )
}

/** Files of a server's key and of its certificate chain; both may be one file. */
export interface CertificateFiles {
  readonly key: string
  readonly cert: string
}

export const keyAndCertificate = (files: Files, { key, cert }: CertificateFiles): SecureContextOptions => ({
  key: readPem(files, key, 'PRIVATE KEY'),
  cert: readPem(files, cert, 'CERTIFICATE'),
})

/** The node daemon's mutual TLS: it shows the cluster's certificate, which must have signed the caller's. */
export function nodeServerTls(files: Files, paths: Paths): TlsOptions {
  return clusterTls(readPem(files, paths.serverCert))
}

/** OpenSSL does not say which file is damaged. */
function readPem(files: Files, file: string, ...parts: readonly string[]): Buffer {
  const pem = files.readFileSync(file)
  const text = pem.toString('latin1')
  for (const part of parts.length > 0 ? parts : ['PRIVATE KEY', 'CERTIFICATE'])
    if (!new RegExp(`-----BEGIN [A-Z ]*${part}-----[^-]+-----END [A-Z ]*${part}-----`).test(text))
      throw new Error(
        `${file} is damaged: it has no whole ${part}. Copy it from another node or a backup; ` +
          "while the master runs, 'gnt-cluster renew-crypto' makes new certificates",
      )
  return pem
}

/** Both sides show the cluster's certificate, and trust no other. */
export const clusterTls = (pem: Buffer) =>
  ({ key: pem, cert: pem, ca: pem, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' }) as const

/**
 * The certificate of a node's caller: its client certificate, or the cluster's before there is one. The caller
 * recognizes the node by the cluster's certificate, not by its host name.
 */
export function nodeClientTls(
  files: Files,
  paths: Paths,
): SecureContextOptions & { checkServerIdentity: () => undefined } {
  const ca = readPem(files, paths.serverCert)
  const own = files.existsSync(paths.clientCert) ? readPem(files, paths.clientCert) : ca
  return { key: own, cert: own, ca, minVersion: 'TLSv1.2', checkServerIdentity: () => undefined }
}

/** Reads the certificate again for each new connection. An unusable certificate changes nothing. */
export function followCertificate(
  files: Files,
  server: tls.Server,
  from: readonly string[],
  read: () => SecureContextOptions,
  log: Log,
): void {
  const [file] = from
  const stampOf = () => {
    const stamps = from.map((one) => fileVersion(files, one))
    return stamps.includes(undefined) ? undefined : stamps.join()
  }
  let served = stampOf()
  // Runs before the handshake, which the server's own listener begins.
  server.prependListener('connection', () => {
    const stamp = stampOf()
    if (stamp === served || stamp === undefined) return
    served = stamp
    try {
      server.setSecureContext(read())
      log.info({ file }, 'serving a new certificate')
    } catch (error) {
      log.error({ err: error, file }, 'the new certificate cannot be used; the former one is served on')
    }
  })
}

const EC = { name: 'ECDSA', namedCurve: 'P-256' }

/** Reads an RSA key (Ganeti's) or an EC key (ours) from a PEM that may hold more. */
function importPrivateKey(pem: string): Promise<crypto.webcrypto.CryptoKey> {
  const key = crypto.createPrivateKey(pem)
  const algorithm = key.asymmetricKeyType === 'rsa' ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } : EC
  const der = key.export({ type: 'pkcs8', format: 'der' })
  return crypto.webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
}

const isAddress = (name: string): boolean => /^[0-9.]+$/.test(name) || name.includes(':')
