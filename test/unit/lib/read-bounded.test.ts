import { readBounded } from '../../../src/lib/read-bounded'

test('a file that has no end is refused, another one is read whole', () => {
  expect(() => readBounded('/dev/zero', 1 << 20)).toThrow('it has more than 1048576 bytes')
  expect(readBounded(__filename, 1 << 20)).toContain('is read whole')
  expect(() => readBounded('/nosuch', 1)).toThrow('ENOENT')
})
