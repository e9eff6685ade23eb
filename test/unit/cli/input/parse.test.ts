// Options may stand before and after arguments.
import type { Command } from '../../../../src/cli/command'
import { parseCommandLine } from '../../../../src/cli/input/parse'
import { ALL_TOOLS } from '../../../support/all-tools'
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const terminal = { out: () => undefined, err: () => undefined } as never

function parsed(line: string) {
  const [tool = '', name = '', ...words] = line.split(' ')
  const command = ALL_TOOLS.find((one) => one.name === tool)?.commands.find((one) => one.name === name)
  if (command === undefined) throw new Error(`there is no ${tool} ${name}`)
  return parseCommandLine(command, words, terminal)
}

test.each([
  ['gnt-instance info web1 --json', ['web1'], { json: true }],
  ['gnt-instance info web1 -s web2 --reason why', ['web1', 'web2'], { static: true, reason: 'why' }],
  ['gnt-allocation whatif node2 --explain', ['node2'], { explain: true }],
  [
    'gnt-network connect net default -N mode=routed,link=x',
    ['net', 'default'],
    { nicparams: { mode: 'routed', link: 'x' } },
  ],
  ['gnt-instance remove inst1 -f', ['inst1'], { force: true }],
  ['gnt-instance remove inst1 -fd', ['inst1'], { force: true, debug: 1 }],
  // Abbreviated, glued and separate values.
  ['gnt-instance list inst1 --no-h -oname --sep :', ['inst1'], { no_headers: true, output: 'name', separator: ':' }],
  // A value may look like an option.
  ['gnt-instance list inst1 -o --separator -d', ['inst1'], { output: '--separator', debug: 1 }],
  ['gnt-instance list --separator -- inst1', ['inst1'], { separator: '--' }],
  // A number and the standard input are arguments.
  ['gnt-job autoarchive -1 -d', ['-1'], { debug: 1 }],
  ['gnt-cluster copyfile - -n node1', ['-'], { nodes: ['node1'] }],
  // `--` ends the options.
  ['gnt-backup remove -d -- -f', ['-f'], { debug: 1 }],
  ['gnt-instance list a -- -o --', ['a', '-o', '--'], { output: undefined }],
  // Words of other commands and tags are taken as they are.
  [
    'gnt-cluster command -n node1 ls -l -- --no-such --no',
    ['ls', '-l', '--', '--no-such', '--no'],
    { nodes: ['node1'] },
  ],
  ['gnt-cluster command -- -l', ['-l'], {}],
  ['gnt-instance add-tags inst1 -a --submit', ['inst1', '-a', '--submit'], { submit_only: undefined }],
  ['gnt-cluster remove-tags a --from', ['a', '--from'], { tags_source: undefined }],
])('%s', (line, args, options) => {
  const found = parsed(line)
  const input = Object.fromEntries(Object.keys(options).map((dest) => [dest, found.options.raw(dest)]))
  expect([found.args, input]).toEqual([args, options])
})

test.each([
  ['gnt-instance info web1 --nosuch', 'no such option: --nosuch'],
  ['gnt-instance info web1 -x', 'no such option: -x'],
  ['gnt-instance list web1 -o', '-o option requires 1 argument'],
  ['gnt-instance list web1 -vo', '-o option requires 1 argument'],
  ['gnt-instance list web1 --out', '--output option requires 1 argument'],
])('%s is a mistake', (line, text) => {
  expect(() => parsed(line)).toThrow(text)
})

/** Each flag of each command means behind the arguments what it means before them. */
const commands = ALL_TOOLS.flatMap((tool) =>
  tool.commands.flatMap((command) =>
    command.args.length === 0 || command.args.some((one) => one.verbatim === true)
      ? []
      : [[`${tool.name} ${command.name}`, command] as const],
  ),
)

test.each(commands)('%s takes its options before and after its arguments', (_name, command: Command) => {
  const args = command.args.flatMap(({ min }) => Array.from({ length: Math.max(min, 1) }, () => 'x'))
  const flags = command.options.filter(({ type, ignored }) => type === 'flag' && ignored === undefined)
  for (const { long, dest } of flags) {
    const spelled = long[0] ?? ''
    const [before, after] = [
      [spelled, ...args],
      [...args, spelled],
    ].map((words) => parseCommandLine(command, words, terminal))
    expect([spelled, after?.args, after?.options.raw(dest)]).toEqual([spelled, args, before?.options.raw(dest)])
  }
})

test('a command of nodes keeps its own options', async () => {
  const run = async () => ({ code: 0, signal: null, stdout: '', stderr: '', output: '', timedOut: false })
  const ran = await runCli(new FakeMaster(), ['gnt-cluster', 'command', '--no-headers'], { run })
  expect(ran.stderr).toContain('no such option: --no-headers')
})
