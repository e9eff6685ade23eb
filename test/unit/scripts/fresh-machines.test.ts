// The machines of `npm run test:fresh` are few, and yet no two properties are left untried together.
import { EVERY_CHANGE, MACHINES, unmet } from '../../fresh/machines'

test('any two properties of a machine meet on one of them, and every change meets each property', () => {
  expect(unmet(MACHINES, 2)).toEqual([])
  expect(unmet(MACHINES.slice(0, EVERY_CHANGE), 1)).toEqual([])
})
