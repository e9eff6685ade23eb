// Guesses at passwords wait for each other, and nobody else waits for them.
import { HttpError } from '../../../../src/http/errors'
import { LoginThrottle } from '../../../../src/daemons/rapi/login-throttle'
import { silentLog } from '../../../../src/lib/log'
import { LOGIN_DELAY_S_MAX, LOGIN_FAILURES_FREE, LOGIN_WAIT_S_MAX } from '../../../../src/model/limits/logins'
import { settled, SteppedClock } from '../../../support/stepped-clock'

let clock: SteppedClock
let turns: LoginThrottle
let guess = 0
let looked: string[]

beforeEach(() => {
  clock = new SteppedClock()
  turns = new LoginThrottle(clock, silentLog)
  looked = []
})

/** Tries a login, and answers `right`, `wrong`, or the refusal. */
const login = (address: string, user: string | undefined, right = false, displayed = `guess ${++guess}`) =>
  turns
    .take(address, { ...(user !== undefined && { user }), shown: displayed }, async () => {
      looked.push(displayed)
      return right ? 'right' : undefined
    })
    .then((found) => found ?? 'wrong')
    .catch((error: unknown) => (error instanceof HttpError ? `${error.status}: ${error.message}` : String(error)))

test('guesses that come together over many connections are looked at one after the other, or refused', async () => {
  const answers = Array.from({ length: 100 }, () => login('10.0.0.1', 'admin'))
  await settled()
  expect(looked.length).toBe(LOGIN_FAILURES_FREE + 1)
  await clock.pass(LOGIN_WAIT_S_MAX)
  const all = await Promise.all(answers)
  expect(all.filter((answer) => answer === 'wrong').length).toBe(looked.length)
  expect(looked.length).toBeLessThan(LOGIN_FAILURES_FREE + 10)
  expect(all.at(-1)).toMatch(/^429: There were too many wrong logins from 10\.0\.0\.1; try again in 1\d s$/)
})

test('addresses of one IPv6 network are one guesser', async () => {
  for (let at = 1; at <= LOGIN_FAILURES_FREE + 1; at++)
    expect(await login(`2001:db8::${at}`, `user${at}`)).toBe('wrong')
  const next = login('2001:db8:0:0:ffff::1', 'another')
  const elsewhere = login('2001:db8:0:1::1', 'another')
  await settled()
  expect(looked.length).toBe(LOGIN_FAILURES_FREE + 2)
  expect(await elsewhere).toBe('wrong')
  await clock.pass(LOGIN_DELAY_S_MAX)
  expect(await next).toBe('wrong')
})

test('guesses for one name from many addresses wait for each other, but not where the user has logged in before', async () => {
  expect(await login('192.0.2.1', 'admin', true)).toBe('right')
  const guesses = Array.from({ length: 50 }, (_, at) => login(`10.0.0.${at}`, 'admin'))
  await settled()
  expect(looked.length).toBe(1 + LOGIN_FAILURES_FREE + 1)
  expect(await login('192.0.2.1', 'admin', true, 'a new password')).toBe('right')
  await clock.pass(LOGIN_WAIT_S_MAX)
  expect((await Promise.all(guesses)).at(-1)).toMatch(/^429: There were too many wrong logins for this user/)
  // Nobody else is held up.
  expect(await login('10.0.0.200', 'reader', true)).toBe('right')
})

test('the same login that is shown many times at once is one guess, and a right one makes good for what was wrong', async () => {
  for (let at = 0; at < LOGIN_FAILURES_FREE + 3; at++) {
    const wrong = login('10.0.0.1', 'admin')
    await clock.pass(LOGIN_DELAY_S_MAX)
    expect(await wrong).toBe('wrong')
  }
  looked.length = 0
  const many = Array.from({ length: 20 }, () => login('10.0.0.1', 'admin', true, 'the right one'))
  await clock.pass(LOGIN_DELAY_S_MAX)
  expect(await Promise.all(many)).toEqual(Array.from({ length: 20 }, () => 'right'))
  expect(looked).toEqual(['the right one'])
  expect(await login('10.0.0.1', 'admin')).toBe('wrong')
})

test('a password that could not be checked, as while the master is away, is no wrong guess', async () => {
  const away = () => Promise.reject(new Error('the master daemon is not there'))
  for (let at = 0; at < 50; at++)
    await expect(turns.take('10.0.0.1', { shown: `token ${at}` }, away)).rejects.toThrow('not there')
  expect(await login('10.0.0.1', undefined, true)).toBe('right')
})

test('wrong tokens take turns with wrong passwords of their address', async () => {
  for (let at = 0; at < LOGIN_FAILURES_FREE + 1; at++) await login('10.0.0.1', 'admin')
  const token = login('10.0.0.1', undefined)
  await settled()
  expect(looked.length).toBe(LOGIN_FAILURES_FREE + 1)
  await clock.pass(LOGIN_DELAY_S_MAX)
  expect(await token).toBe('wrong')
})
