// The depth and size of JSON is counted before it is parsed.
import { hasMoreValues } from '../../../../src/lib/text/json-depth'

test.each([
  ['[0,1,2]', 3],
  ['{"a": 1, "b": {"c": []}}', 4],
  [String.raw`["[,{", "\\\",[[", ",,,"]`, 3],
  ['"a,b,c', 0],
])('%s has %i values', (text, values) => {
  expect(hasMoreValues(text, values)).toBe(false)
  expect(hasMoreValues(text, values - 1)).toBe(true)
})
