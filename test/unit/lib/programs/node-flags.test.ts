// The options of Node that a process hands on to those that it starts.
import { nodeFlags } from '../../../../src/lib/programs/node-flags'

test('options are handed on, but not those by which the parent has little memory', () => {
  const given = ['--cpu-prof', '--max-semi-space-size=1', '--interrupt-budget=7']
  expect(nodeFlags({ young_mib: 2, hot_bytes: 5 }, given)).toEqual([
    '--cpu-prof',
    '--max-semi-space-size=2',
    '--interrupt-budget=5',
  ])
  expect(nodeFlags(undefined, given)).toEqual(['--cpu-prof'])
})
