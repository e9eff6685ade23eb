// One failure keeps nobody from the rest.
import { forEachOne } from '../../../../src/lib/work/for-each-one'

const failing = async (seen: string[], bad: readonly string[]) =>
  forEachOne(['a', 'b', 'c'], async (name) => {
    seen.push(name)
    if (bad.includes(name)) throw new Error(`${name} failed`)
  })

test('all are tried, in their order, and all failures are told', async () => {
  const seen: string[] = []
  await failing(seen, [])
  await expect(failing(seen, ['a'])).rejects.toThrow(/^a failed$/)
  await expect(failing(seen, ['a', 'c'])).rejects.toThrow('a failed; c failed')
  expect(seen.join('')).toBe('abcabcabc')
})
