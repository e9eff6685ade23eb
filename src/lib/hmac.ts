// Keyed hashes as Ganeti makes them: SHA-1, with an optional salt before the text.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export const sha1Hmac = (key: string, text: string, salt = ''): string =>
  createHmac('sha1', key)
    .update(salt + text)
    .digest('hex')

export function verifySha1Hmac(key: string, text: string, digest: string, salt = ''): boolean {
  const wanted = Buffer.from(sha1Hmac(key, text, salt))
  const given = Buffer.from(digest.toLowerCase())
  return wanted.length === given.length && timingSafeEqual(wanted, given)
}

export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')
