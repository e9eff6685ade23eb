import { COLLECTORS } from '../../../src/collectors/registry'
import { mismatches } from '../../../src/collectors/schema'
import { DATA_COLLECTORS } from '../../../src/model/constants/collectors'

test('every collector that the configuration can switch is there, once', () => {
  expect(COLLECTORS.map(({ name }) => name).sort()).toEqual([...DATA_COLLECTORS].sort())
})

test.each(COLLECTORS.map((one) => [one.name, one] as const))(
  '%s declares what it tells and what it costs',
  (_, one) => {
    const { schema, interval_s, cost_ms, kind, codes, help } = one
    expect(Object.keys(schema)).not.toEqual([])
    expect([interval_s, cost_ms].every((number) => number > 0)).toBe(true)
    expect(help).not.toBe('')
    // The self-diagnosis has states of its own.
    if (kind === 'status' && one.name !== 'diagnose')
      expect(Object.keys(codes ?? {})).toEqual(expect.arrayContaining(['0', '4']))
  },
)

test('a schema tells where a value is not as it says', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a', 'b'],
    additionalProperties: false,
  } as const
  expect(mismatches(schema, { a: 1.5, c: 0 })).toEqual(['$.b is missing', '$.a: 1.5 is no integer', '$.c is unknown'])
})
