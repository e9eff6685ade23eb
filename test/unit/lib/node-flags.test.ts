import { nodeFlags } from '../../../src/lib/node-flags'

test('options are handed on, but not how much memory the parent has for what is new', () => {
  const given = ['--cpu-prof', '--max-semi-space-size=1']
  expect(nodeFlags(2, given)).toEqual(['--cpu-prof', '--max-semi-space-size=2'])
  expect(nodeFlags(undefined, given)).toEqual(['--cpu-prof'])
})
