// Answers of many rows travel on lines of their own, and are still JSON.
import { ANSWER_HEAD, ANSWER_TAIL, parseLong, tableText } from '../../../src/rpc/long-answers'

const rows = (count: number) => Array.from({ length: count }, (_, at) => [at, 'a\nline', { odd: '],[' }])

async function textOf(slices: readonly unknown[][], head = '[', tail = ']'): Promise<string> {
  let text = ''
  for await (const piece of tableText(
    head,
    slices.map((slice) => JSON.stringify(slice).slice(1, -1)),
    tail,
  ).pieces)
    text += piece.toString()
  return `${ANSWER_HEAD}${text}${ANSWER_TAIL}`
}

test.each([
  ['rows', [rows(3), rows(2), rows(1)]],
  ['rows with gaps', [[...rows(3), null], [[1, 'x', {}]]]],
])('%s are read back as they were, by our reader and by any other', async (_, slices) => {
  const text = await textOf(slices)
  const whole = { success: true, result: slices.flat() }
  expect(text.split('\n').length).toBeGreaterThan(3)
  expect(await parseLong(text)).toEqual(whole)
  expect(JSON.parse(text)).toEqual(whole)
})

test('the rest of the result stands around the rows', async () => {
  const text = await textOf([rows(1), rows(2)], '{"fields":[{"name":"x"}],"data":[', ']}')
  const whole = { success: true, result: { fields: [{ name: 'x' }], data: [...rows(1), ...rows(2)] } }
  expect(await parseLong(text)).toEqual(whole)
  expect(JSON.parse(text)).toEqual(whole)
})

test.each([[[]], [[[]]], [[rows(3)]]])('what is one slice or none has no lines: %j', async (slices) => {
  const text = await textOf(slices)
  expect(text).toBe(JSON.stringify({ success: true, result: slices.flat() }))
})

test("somebody else's blanks are no slices", async () => {
  expect(await parseLong('{"success":true,\n"result":[1,\n2]}')).toEqual({ success: true, result: [1, 2] })
  expect(await parseLong('{"success":true,"result":[\n1,2\n]}')).toEqual({ success: true, result: [1, 2] })
  await expect(Promise.resolve().then(() => parseLong('{"a":\n'))).rejects.toThrow()
})
