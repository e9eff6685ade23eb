// A node's self-diagnosis, signed as its mond signs it.
import { sha1Hmac } from '../../src/lib/hmac'

export interface Signing {
  readonly node: string
  readonly at_s: number
  readonly key: string
}

export function signedReport(data: unknown, { node, at_s, key }: Signing): string {
  const timestamp = at_s * 1e9
  const salt = String(timestamp)
  const msg = `{"node":${JSON.stringify(node)},"report":${JSON.stringify({ name: 'diagnose', timestamp, data })}}`
  return JSON.stringify({ name: 'diagnose', data: 'whatever', signed: { msg, salt, hmac: sha1Hmac(key, msg, salt) } })
}
