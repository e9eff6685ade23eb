import { longAnswer, longResult, parseLong, rowsAtOnce } from '../../../src/rpc/long-answers'

const rows = (count: number) => Array.from({ length: count }, (_, at) => [at, 'a\nline', { odd: '],[' }])
const textOf = (result: unknown) => [...longAnswer(longResult(result) ?? [])].join('')

test.each([
  ['rows', rows(rowsAtOnce(3) * 2 + 1)],
  ['rows with gaps', [...rows(rowsAtOnce(3)), null, [1, 'x', {}]]],
  ['rows with their fields', { fields: [{ name: 'x' }], data: rows(rowsAtOnce(3) + 1) }],
])('%s are read back as they were, by our reader and by any other', async (_, result) => {
  const text = textOf(result)
  expect(text.split('\n').length).toBeGreaterThan(3)
  expect(await parseLong(text)).toEqual({ success: true, result })
  expect(JSON.parse(text)).toEqual({ success: true, result })
})

test.each([[[]], [rows(3)], [{ fields: [], data: rows(3) }], ['text'], [null], [{ data: 'none' }], [[1, 2]]])(
  'what is short or no table is written at once: %j',
  (result) => expect(longResult(result)).toBeUndefined(),
)

test("somebody else's blanks are no slices", async () => {
  expect(await parseLong('{"success":true,\n"result":[1,\n2]}')).toEqual({ success: true, result: [1, 2] })
  expect(await parseLong('{"success":true,"result":[\n1,2\n]}')).toEqual({ success: true, result: [1, 2] })
  await expect(Promise.resolve().then(() => parseLong('{"a":\n'))).rejects.toThrow()
})
