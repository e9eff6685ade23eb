// The cluster's certificate during its renewal. The file begins with the key and certificate that a node shows; all
// certificates in it are trusted. Before a new certificate is shown, it stands behind the present one, with its key. So
// every node's file tells how far the renewal has come.
import { createPrivateKey, X509Certificate } from 'node:crypto'

interface KeyPair {
  readonly key: string
  readonly certificate: string
}

export interface ServerPem {
  readonly shown: KeyPair
  /** The key pair that will replace the shown one. */
  readonly next: KeyPair | undefined
  /** Certificates that are only trusted. */
  readonly trusted: readonly string[]
}

/** Throws an error that says what is missing. */
export function readServerPem(pem: string): ServerPem {
  const blocks = [...pem.matchAll(BLOCK)].map(([text, label = '']) => ({ text: `${text}\n`, label }))
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY')).map(({ text }) => text)
  const [first, ...others] = blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ text }) => text)
  const key = first && keyOf(first, keys)
  if (first === undefined || key === undefined) throw new Error('there is no certificate with its private key')
  const pairs = others.map((certificate) => ({ certificate, key: keyOf(certificate, keys) }))
  const next = pairs.find((pair): pair is KeyPair => pair.key !== undefined)
  const trusted = others.filter((certificate) => certificate !== next?.certificate)
  return { shown: { key, certificate: first }, next, trusted }
}

export const writeServerPem = ({ shown: displayed, next, trusted }: ServerPem): string =>
  [displayed.key, displayed.certificate, ...(next ? [next.certificate, next.key] : []), ...trusted].join('')

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g

const keyOf = (certificate: string, keys: readonly string[]): string | undefined =>
  keys.find((key) => new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
