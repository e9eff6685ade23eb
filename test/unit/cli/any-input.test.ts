// Whatever is typed, a command ends with a text for people: never with a stack, and never with what a language calls nothing.
import type { Command } from '../../../src/cli/command'
import { ALL_TOOLS } from '../../support/all-tools'
import { ReadingMaster } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'

const NAMES = ['nosuch', '', '-1', 'a b', '/x/y', '99999999999999999999', '*', 'é☃']
const VALUES = ['x', '', '0:x', '0:a=b', '-1', 'kvm:x=y', 'a=b', '1,,2', '9'.repeat(30), `${'9'.repeat(30)}:size=1g`]

/** These commands work on the node itself, never end, or show data that the test's master does not have. */
const LEFT_OUT = [
  ...['gnt-cluster init', 'gnt-cluster destroy', 'gnt-cluster master-failover', 'gnt-cluster show-ispecs-cmd'],
  ...[
    'gnt-cluster epo',
    'gnt-node add',
    'gnt-cluster adopt',
    'gnt-cluster upgrade',
    'gnt-debug test-jobqueue',
    'gnt-debug locks --interval',
  ],
]

/** A master that reads each submission and then refuses it. */
const refusing = () =>
  new ReadingMaster(Array.from({ length: 20 }, (_, at) => ({ id: at + 1, error: ['OpExecError', ['not taken']] })))

function* linesOf(command: Command): Generator<string[]> {
  const words = (text: string) =>
    command.args.flatMap(({ min }) => Array.from({ length: Math.max(min, 1) }, () => text))
  yield []
  yield ['--nosuch']
  yield [...words('x'), 'x', 'x', 'x', 'x']
  for (const name of NAMES) yield words(name)
  for (const { long, short, type } of command.options) {
    const name = long[0] ?? short ?? ''
    if (type === 'flag' || type === 'count') yield [name, ...words('inst1')]
    else
      for (const value of VALUES) yield [...(long.length > 0 ? [`${name}=${value}`] : [name, value]), ...words('inst1')]
  }
}

const commands = ALL_TOOLS.flatMap((tool) =>
  tool.commands.map((command) => [`${tool.name} ${command.name}`, command] as const),
)

test.each(commands.filter(([name]) => !LEFT_OUT.includes(name)))('%s', async (name, command) => {
  const bad: unknown[] = []
  for (const words of linesOf(command)) {
    if (LEFT_OUT.some((line) => `${name} ${words[0]}`.startsWith(`${line}=`))) continue
    const run = async () => ({ code: 0, signal: null, stdout: '', stderr: '', output: '', timedOut: false })
    // Its answer would go on to files of a node.
    const answers = name === 'gnt-cluster renew-crypto' ? [] : ['y', 'y', 'y']
    const { exit, stdout, stderr } = await runCli(refusing(), [...name.split(' '), ...words], { run, answers })
    if (
      exit < 0 ||
      /Unexpected error|\n {4}at |undefined|NaN|\[object|cannot read this request|int\(\)/.test(stdout + stderr)
    )
      bad.push([words, stderr])
  }
  expect(bad).toEqual([])
})
