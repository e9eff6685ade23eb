// The options of Node that a process hands on to those that it starts.
import { nodeFlags } from '../../../../src/lib/programs/node-flags'
import { ROLES } from '../../../../src/roles/table'
import { FRUGAL } from '../../../../src/model/limits/daemons'
import { unitFiles } from '../../../../scripts/package/units'

test('options are handed on, but not those by which the parent has little memory', () => {
  const input = ['--cpu-prof', '--max-semi-space-size=1']
  expect(nodeFlags({ young_mib: 2, hot_bytes: 5 }, input)).toEqual(['--cpu-prof', '--max-semi-space-size=2'])
  expect(nodeFlags(undefined, input)).toEqual(['--cpu-prof'])
})

// Node ends at once if it does not know an option. Those that it lists here belong to its interface; V8's others come and go.
test('every Node knows the options that processes and units are given', () => {
  const ofUnits = Object.values(unitFiles()).flatMap((text) => /^ExecStart=\S*node (.*)$/m.exec(text)?.[1] ?? [])
  expect(ofUnits).toHaveLength(ROLES.filter((role) => role.name !== 'sim' && role.name !== 'node').length)
  const input = [
    ...ofUnits.flatMap((line) =>
      line
        .split(' ')
        .slice(0, -1)
        .filter((word) => word.startsWith('--') && word !== '--foreground'),
    ),
    ...Object.values(FRUGAL).flatMap((frugal) => nodeFlags(frugal, [])),
  ]
  const unknown = input.filter((flag) => !process.allowedNodeEnvironmentFlags.has(flag.replace(/=.*/, '')))
  expect(unknown).toEqual([])
})
