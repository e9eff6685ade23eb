// Keyed hashes like Ganeti's: SHA-1, with an optional salt before the text.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export const sha1Hmac = (key: string, text: string, salt = ''): string =>
  createHmac('sha1', key)
    .update(salt + text)
    .digest('hex')

export function verifySha1Hmac(key: string, text: string, digest: string, salt = ''): boolean {
  if (!HEX.test(digest)) return false
  return timingSafeEqual(Buffer.from(sha1Hmac(key, text, salt)), Buffer.from(digest.toLowerCase()))
}

export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')

/** A digest in hexadecimal. */
const HEX = /^[0-9a-f]{40}$/i
