// Keyed hashes are those of everybody else, whatever their length.
import { createHmac } from 'node:crypto'
import { sha1Hmac, verifySha1Hmac } from '../../../src/lib/hmac'
import { seededRandom } from '../../../src/lib/random'
import { SEED } from '../../support/effort'

test('the published examples (RFC 2202)', () => {
  expect(sha1Hmac('\x0b'.repeat(20), 'Hi There')).toBe('b617318655057264e28bc0b6fb378c8ef146be00')
  expect(sha1Hmac('Jefe', 'what do ya want for nothing?')).toBe('effcdf6ae5eb2fa2d27416d5f184df9c259a7c79')
})

test("texts, salts and keys of any length give what Node's own gives, in any order", () => {
  const random = seededRandom(SEED)
  const letters = ['a', 'é', '€', '😀', '\0']
  const some = (max: number) => Array.from({ length: random.below(max) }, () => letters[random.below(5)]).join('')
  const keys = ['', 'k', 'x'.repeat(64), 'x'.repeat(65), '€'.repeat(30)]
  for (let n = 0; n < 500; n++) {
    const [key, text, salt] = [keys[random.below(5)] ?? '', some(n % 3 === 0 ? 2000 : 60), some(9)]
    const desired = createHmac('sha1', key)
      .update(salt + text)
      .digest('hex')
    expect(sha1Hmac(key, text, salt)).toBe(desired)
    expect(verifySha1Hmac(key, text, desired.toUpperCase(), salt)).toBe(true)
    expect(verifySha1Hmac(key, `${text}.`, desired, salt)).toBe(false)
    expect(verifySha1Hmac(`${key}.`, text, desired, salt)).toBe(false)
  }
  for (const length of [0, 1023, 1024, 1025])
    expect(sha1Hmac('key', '€'.repeat(length))).toBe(createHmac('sha1', 'key').update('€'.repeat(length)).digest('hex'))
})

test('what is no signature at all is a wrong one', () => {
  const right = sha1Hmac('key', 'text')
  // Its lowest byte is the right one.
  const far = String.fromCharCode(right.charCodeAt(0) + 0x100) + right.slice(1)
  for (const wrong of [
    far,
    '',
    right.slice(1),
    `${right}0`,
    `${right.slice(1)}€`,
    'İ'.repeat(40),
    `${right.slice(0, 39)}g`,
  ])
    expect(verifySha1Hmac('key', 'text', wrong)).toBe(false)
})
