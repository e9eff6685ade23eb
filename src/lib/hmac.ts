// Keyed hashes like Ganeti's: SHA-1, with an optional salt before the text.
import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto'

export const sha1Hmac = (key: string, text: string, salt = ''): string =>
  text.length + salt.length <= SHORT_CHARS
    ? shortHmac(key, salt + text)
    : createHmac('sha1', key)
        .update(salt + text)
        .digest('hex')

export function verifySha1Hmac(key: string, text: string, digest: string, salt = ''): boolean {
  if (!HEX.test(digest)) return false
  WANTED.write(sha1Hmac(key, text, salt), 'latin1')
  GIVEN.write(digest.toLowerCase(), 'latin1')
  return timingSafeEqual(WANTED, GIVEN)
}

export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')

/** Bytes of a SHA-1 block and of a digest. */
const BLOCK = 64
const DIGEST = 20
const SHORT_CHARS = 1024
const HEX = /^[0-9a-f]{40}$/i
const [WANTED, GIVEN] = [Buffer.alloc(2 * DIGEST), Buffer.alloc(2 * DIGEST)]

/**
 * The input of the first and the second hash (RFC 2104): a block made from the key, and room behind it. Cached, since a
 * daemon uses one key.
 */
let prepared: { readonly key: string; readonly first: Buffer; readonly second: Buffer } | undefined

/** Node's own HMAC makes an object for each text, which costs several times as much as hashing a short text. */
function shortHmac(key: string, text: string): string {
  const { first, second } = prepared?.key === key ? prepared : (prepared = prepare(key))
  const bytes = first.write(text, BLOCK)
  second.write(hash('sha1', first.subarray(0, BLOCK + bytes), 'binary'), BLOCK, 'latin1')
  return hash('sha1', second, 'hex')
}

function prepare(key: string) {
  const given = Buffer.from(key)
  const block = Buffer.alloc(BLOCK)
  block.set(given.length <= BLOCK ? given : createHash('sha1').update(given).digest())
  // A character has at most three bytes.
  const first = Buffer.alloc(BLOCK + 3 * SHORT_CHARS)
  const second = Buffer.alloc(BLOCK + DIGEST)
  for (const [at, byte] of block.entries()) {
    first[at] = byte ^ 0x36
    second[at] = byte ^ 0x5c
  }
  return { key, first, second }
}
