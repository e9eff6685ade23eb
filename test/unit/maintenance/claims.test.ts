// Rounds and the care for instances never work on the same instance.
import { Claims } from '../../../src/maintenance/claims'

test('who is first has the instance until it is released', () => {
  const claims = new Claims()
  expect(claims.take(['a', 'b'])).toEqual(['a', 'b'])
  expect(claims.take(['b', 'c'])).toEqual(['c'])
  expect(claims.takeForRound(['b', 'd'])).toBe(false)
  expect(claims.busy()).toEqual(['a', 'b', 'c'])
  claims.release(['a', 'b', 'c'])
  expect(claims.takeForRound(['b', 'd'])).toBe(true)
  expect(claims.take(['a', 'b', 'd'])).toEqual(['a'])
  claims.keepForRound([])
  expect(claims.take(['b', 'd'])).toEqual(['b', 'd'])
})
