// Every collector of the registry, and the double of the house, tells what it promises to tell.
import { COLLECTORS } from '../../../src/collectors/registry'
import { DATA_COLLECTORS } from '../../../src/model/constants/collectors'
import { pulse } from '../../support/doubles/pulse'

test('every collector that the configuration can switch is there, once', () => {
  expect(COLLECTORS.map(({ name }) => name).sort()).toEqual([...DATA_COLLECTORS].sort())
})

test.each([...COLLECTORS, pulse].map((one) => [one.name, one] as const))(
  '%s declares what it tells and what it costs',
  (_, one) => {
    const { shape, interval_s, cost_ms, kind, codes, help } = one
    expect(Object.keys(shape.schema)).not.toEqual([])
    expect([interval_s, cost_ms].every((number) => number > 0)).toBe(true)
    expect(help).not.toBe('')
    // The self-diagnosis has states of its own.
    if (kind === 'status' && one.name !== 'diagnose')
      expect(Object.keys(codes ?? {})).toEqual(expect.arrayContaining(['0', '4']))
  },
)
