// Numbers are rounded as Ganeti's programs round them when they print.
import { fixed } from '../../../../src/allocation/model/numbers'

test('a number between two goes to the even one, as it is written and not as the machine keeps it', () => {
  const cases: [value: number, digits: number, text: string][] = [
    [0.125, 2, '0.12'],
    [0.375, 2, '0.38'],
    // Kept a little above and a little below the half.
    [0.165, 2, '0.16'],
    [0.145, 2, '0.14'],
    [0.135, 2, '0.14'],
    [-0.125, 2, '-0.12'],
    [0.995, 2, '1.00'],
    [2.5, 0, '2'],
    [3.5, 0, '4'],
    [0.5, 0, '0'],
    [1e21, 2, '1e+21'],
    [0, 4, '0.0000'],
    [1 / 3, 4, '0.3333'],
    [0.000000005, 8, '0.00000000'],
    [0.000000015, 8, '0.00000002'],
    [12345.678905, 5, '12345.67890'],
  ]
  for (const [value, digits, text] of cases) expect([value, fixed(value, digits)]).toEqual([value, text])
})
