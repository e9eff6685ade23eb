// One failure keeps nobody from the rest.
import { forEachOne } from '../../../../src/lib/work/for-each-one'

const failing = async (observed: string[], bad: readonly string[]) =>
  forEachOne(['a', 'b', 'c'], async (name) => {
    observed.push(name)
    if (bad.includes(name)) throw new Error(`${name} failed`)
  })

test('all are tried, in their order, and all failures are told', async () => {
  const observed: string[] = []
  await failing(observed, [])
  await expect(failing(observed, ['a'])).rejects.toThrow(/^a failed$/)
  await expect(failing(observed, ['a', 'c'])).rejects.toThrow('a failed; c failed')
  expect(observed.join('')).toBe('abcabcabc')
})
