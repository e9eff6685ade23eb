// All commands and options of Ganeti are there, and errors lead on.
import { ABOUT_COMMAS } from '../../../src/cli/input/parse-value'
import { ALL_TOOLS } from '../../support/all-tools'
import { TOOLS } from '../../../src/cli/program'
import { optionsOf } from '../../../src/cli/input/parse'
import { readJson } from '../../support/golden-query'
import { FakeMaster } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'
import type { Cell, QueryResult } from '../../../src/rpc/luxi/calls'
import * as path from 'node:path'

const run = (words: string, master = new FakeMaster()) => runCli(master, words.split(' '))

describe('tools and commands', () => {
  test('are found by program name and by object', async () => {
    const direct = await run('gnt-cluster getmaster')
    expect(direct.stdout).toBe('node1.gnt.example\n')
    expect(await run('gnt cluster getmaster')).toEqual(direct)
  })

  test('are all those of Ganeti, with the same options and aliases', () => {
    const spec = readJson(path.join(__dirname, '../../golden/cli/commands.json')) as Record<
      string,
      Record<string, string[]>
    >
    // Their answers decide the exit code, so they print data themselves.
    const answering = ['gnt-node health', 'gnt-node power']
    // From the branch of Ganeti with the maintenance daemon.
    const ofMaintenance = [
      ...['--auto-balance-cluster', '--auto-balance-threshold', '--diagnose-data-collector-filename'],
      '--maintenance-interval',
    ]
    const renaming = ['--no-ip-check', '--no-name-check', '--force', '-f']
    const more: Readonly<Record<string, readonly string[]>> = {
      ...Object.fromEntries(ofMaintenance.map((name) => [name, ['gnt-cluster modify']])),
      '--default-iallocators': ['gnt-cluster modify'],
      '--json': answering,
      '--output-format': answering,
      '--verbose': ['gnt-cluster watcher'],
      '-v': ['gnt-cluster watcher'],
      '--timeout': ['gnt-cluster upgrade'],
      // What the console asks for can be said here, too.
      '--gluster-storage-dir': ['gnt-cluster modify'],
      '--level': ['gnt-job change-priority'],
      '--primary-ip': ['gnt-node add'],
      '--start': ['gnt-backup import'],
      '--yes': ['gnt-node modify'],
      // Ganeti's command can only be answered at a terminal.
      '--yes-do-it': ['gnt-instance failover'],
      // Ganeti 3.0 takes them, and 3.1 does not.
      ...Object.fromEntries(renaming.map((name) => [name, ['gnt-instance rename']])),
      '--hotplug': ['gnt-instance modify'],
      '--hotplug-if-possible': ['gnt-instance modify'],
    }
    const own = [
      ...['gnt-allocation', 'gnt-token', 'gnt-debug confd', 'gnt-cluster monitor', 'gnt-cluster adopt'],
      ...['repair', 'snapshot', 'list-snapshots', 'rollback-snapshot', 'remove-snapshot'].map(
        (name) => `gnt-instance ${name}`,
      ),
      ...['gnt-cluster maintenance', 'gnt-cluster remove-repair', 'gnt-node repair-command'],
    ]
    const ours = ALL_TOOLS.filter(({ name }) => !own.includes(name)).map((tool) => [
      tool.name,
      Object.fromEntries(
        tool.commands
          .filter(({ name }) => !own.includes(`${tool.name} ${name}`))
          .map((command) => [
            command.name,
            [
              ...(command.aliases ?? []),
              ...command.options.flatMap(({ long, short }) =>
                [...long, short ?? []]
                  .flat()
                  .filter((name) => more[name]?.includes(`${tool.name} ${command.name}`) !== true),
              ),
            ].sort(),
          ]),
      ),
    ])
    expect(Object.fromEntries(ours)).toEqual(spec)
  })

  test('are loaded by the object that they are about', async () => {
    const loaded = await Promise.all(Object.values(TOOLS).map(({ load }) => load()))
    expect(loaded).toEqual(ALL_TOOLS)
    expect(loaded.map(({ name }) => name)).toEqual(Object.keys(TOOLS).map((object) => `gnt-${object}`))
  })

  test('have no two options with one spelling', () => {
    for (const tool of ALL_TOOLS)
      for (const command of tool.commands) {
        const names = optionsOf(command).flatMap(({ long, short }) => [...long, short ?? []].flat())
        expect([command.name, names.length]).toEqual([command.name, new Set(names).size])
      }
  })

  test('can be called by an alias', async () => {
    const master = new FakeMaster([{ id: 1 }])
    expect((await run('gnt-instance stop inst1', master)).exit).toBe(0)
    expect(master.submitted[0]?.[0]).toMatchObject({
      OP_ID: 'OP_INSTANCE_SHUTDOWN',
      instance_name: 'inst1.gnt.example',
    })
  })

  test('are shown to whoever names none, or asks', async () => {
    const { exit, stdout } = await run('gnt-instance --help')
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^Usage: gnt-instance \{command\}.*\n.*\n\nCommands:\n activate-disks +- /)
    expect(await run('gnt-instance -h')).toMatchObject({ exit: 0, stdout })
    expect(await run('gnt-instance')).toMatchObject({ exit: 1, stdout })
    const objects = expect.stringMatching(
      /\nObjects:\n allocation - what fits where.*\n backup {5}- exports of instances\n/,
    )
    expect(await run('gnt --help')).toMatchObject({ exit: 0, stdout: objects })
    expect(await run('gnt')).toMatchObject({ exit: 1, stdout: objects })
  })

  test.each([
    ['gnt instance lsit', "gnt-instance: there is no command 'lsit'. Did you mean list?\n"],
    ['gnt-instance stratup', "gnt-instance: there is no command 'stratup'. Did you mean startup?\n"],
    ['gnt instances list', "gnt: there is no object 'instances'. Did you mean instance?\n"],
    ['gnt x', "gnt: there is no object 'x'.\n"],
    ['gnt-node frobnicate', "gnt-node: there is no command 'frobnicate'.\n"],
  ])('%s is answered with what was probably meant', async (words, text) => {
    const [program = '', object = ''] = words.split(' ')
    const [requested, what] = text.startsWith('gnt:') ? ['gnt', 'objects'] : [program === 'gnt' ? `gnt ${object}` : program, 'commands'] // prettier-ignore
    expect(await run(words)).toMatchObject({
      ...{ exit: 1, stdout: '' },
      stderr: `${text}${requested} --help lists the ${what}.\n`,
    })
  })
})

describe('gnt, which people type', () => {
  const refused = () => new FakeMaster([{ id: 1, error: ['OpPrereqError', ['it runs', 'wrong_state']] }])
  const ganetis =
    'Failure: prerequisites not met for this operation:\nerror type: wrong_state, error details:\nit runs\n'

  test("begins a refusal with its reason, and the programs with Ganeti's names keep the lines that scripts read", async () => {
    expect((await run('gnt instance remove -f inst1', refused())).stderr).toBe('Failure: it runs\n')
    expect((await run('gnt-instance remove -f inst1', refused())).stderr).toBe(ganetis)
    expect((await run('gnt instance reboot inst1', refused())).stderr).toBe(
      'Job 1 for inst1.gnt.example has failed: Failure: it runs\n',
    )
    expect((await run('gnt-instance reboot inst1', refused())).stderr).toBe(
      `Job 1 for inst1.gnt.example has failed: ${ganetis}`,
    )
    expect((await run('gnt instance add vm9')).stderr).toBe(
      'Failure: No disk information specified: write --disk 0:size=10g for each disk, -s 10g for a single one, or -t diskless\n',
    )
  })

  test('leaves out an empty VLAN', async () => {
    expect((await run('gnt network list')).stdout).toContain(' default (routed, 100) ')
    expect((await run('gnt-network list')).stdout).toContain(' default (routed, 100, ) ')
  })

  test('says what a job about tags or names was about', async () => {
    const jobs: [summary: string, input: unknown][] = [
      ['TAGS_SET', { kind: 'nodegroup', name: 'web1' }],
      ['TAGS_DEL', { kind: 'cluster' }],
      ['INSTANCE_RENAME', { instance_name: 'a', new_name: 'b' }],
      ['INSTANCE_REMOVE(x)', {}],
    ]
    const requested: unknown[] = []
    const master = () =>
      Object.assign(new FakeMaster(), {
        async query(_: string, fields: readonly string[], filter: unknown): Promise<QueryResult> {
          requested.push([fields, filter])
          const rows = jobs.map(([summary, input], at): Record<string, unknown> => {
            return { id: at + 1, status: 'success', summary: [summary], ops: [input] }
          })
          return {
            fields: fields.map((name) => ({ name, title: name, kind: 'other', doc: '' })),
            data: rows.map((row) => fields.map((name): Cell => [0, row[name]])),
          }
        },
      })
    const { stdout } = await run('gnt job list --no-headers', master())
    expect(stdout.trim().split('\n').map((line) => line.trim())).toEqual([
      '1 success TAGS_SET(group web1)',
      '2 success TAGS_DEL(cluster)',
      '3 success INSTANCE_RENAME(a to b)',
      '4 success INSTANCE_REMOVE(x)',
    ]) // prettier-ignore
    expect(requested).toHaveLength(2)
    expect(requested[1]).toEqual([
      ['id', 'ops'],
      ['|', ['==', 'id', 1], ['==', 'id', 2], ['==', 'id', 3]],
    ])
    expect((await run('gnt-job list --no-headers', master())).stdout).toContain('1 success TAGS_SET\n')
  })
})

describe('options', () => {
  test('are explained by --help in columns', async () => {
    const { exit, stdout } = await run('gnt-debug delay --help')
    expect(exit).toBe(0)
    expect(stdout).toContain('Usage\n=====\n  gnt-debug delay [<opts>...] <duration>\n')
    expect(stdout).toContain('\nOptions\n=======\n--no-master             ')
    expect(stdout).toContain('\n--repeat=REPEAT, -r REPEAT\n                        ')
    expect(stdout).toContain('\n--help, -h              show this help and exit\n')
  })

  test('may be cut short where only one fits', async () => {
    expect((await run('gnt-instance list --no-h -o name inst1')).stdout).toBe('inst1.gnt.example\n')
    expect((await run('gnt-instance list --sep=: --no-h -o name,os inst1')).stdout).toBe('inst1.gnt.example:noop\n')
    const { exit, stderr } = await run('gnt-instance add --no x')
    expect([exit, stderr]).toEqual([2, expect.stringContaining('ambiguous option: --no (--no-conflicts-check, ')])
  })

  test.each([
    [
      'gnt-instance list --nosuch',
      'Usage\n=====\n  gnt-instance list [<instance-name>...]\n\ngnt-instance: error: no such option: --nosuch\n',
    ],
    ['gnt-filter add --nosuch=1', '  gnt-filter add \n\ngnt-filter: error: no such option: --nosuch\n'],
    ['gnt-instance list -o', 'error: -o option requires 1 argument'],
    ['gnt-instance list --out', 'error: --output option requires 1 argument'],
    ['gnt-node list-storage -t x', "error: option -t: invalid choice: 'x' (choose from"],
    ['gnt-instance list --units=x', "option --units: invalid choice: 'x' (choose from 'h', 'm', 'g', 't')"],
  ])('%s is a mistake', async (words, text) => {
    expect(await run(words)).toMatchObject({ exit: 2, stderr: expect.stringContaining(text) })
  })

  test.each([
    ['gnt-instance add', 'Error: Command add expects 1 argument(s)'],
    ['gnt-instance rename a b c', 'Error: Command rename expects 2 argument(s)'],
    ['gnt-cluster info x', 'Error: Command info expects no arguments'],
    ['gnt-cluster watcher pause 1h 2h', 'Error: Command watcher expects only 2 argument(s)'],
    ['gnt-job info', 'Error: Command info expects at least 1 argument(s)'],
    [
      'gnt-instance add -B a=1,a=2 x',
      `Failure: unknown/wrong parameter name 'Duplicate key 'a' in option -B; ${ABOUT_COMMAS}'`,
    ],
    ['gnt-node modify -D maybe n', "Failure: unknown/wrong parameter name 'Invalid boolean value 'maybe''"],
  ])('%s is refused', async (words, text) => {
    expect(await run(words)).toMatchObject({ exit: 1, stdout: '', stderr: `${text}\n` })
  })

  test('from the environment come first', async () => {
    const result = await runCli(new FakeMaster(), ['gnt-instance', 'list', 'inst1'], {
      variables: { GNT_INSTANCE_LIST: '--no-headers -o name,pnode' },
    })
    expect(result.stdout).toBe('inst1.gnt.example node2.gnt.example\n')
  })
})

describe('commands that work without the master, or have nothing to do', () => {
  test('upgrade wants to know where to, and works on the node itself', async () => {
    for (const words of ['', ' --to 0.1.1 --resume'])
      expect((await run(`gnt cluster upgrade${words}`)).stderr).toMatch(
        /^Precisely one of the options --to and --resume/,
      )
    for (const version of ['x', '1;reboot', '1/..'])
      expect(await runCli(new FakeMaster(), ['gnt-cluster', 'upgrade', '--to', version])).toMatchObject({
        exit: 1,
        stderr: `Could not parse version string ${version}\n`,
      })
    expect(await run('gnt cluster upgrade --to 0.1.1')).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('no node'),
    })
  })

  test('calls of wconfd take as many arguments as in Ganeti', async () => {
    expect((await run('gnt debug wconfd echo')).stderr).toBe("Command 'echo' takes only precisely argument.\n")
    expect((await run('gnt debug wconfd flushconfig 1')).stderr).toBe("Command 'flushconfig' takes no arguments.\n")
    expect((await run('gnt debug wconfd other')).stderr).toContain("'other' not supported; there are echo, ")
    expect((await run('gnt debug confd other')).stderr).toContain("'other' not supported; there are ping, ")
    expect((await run('gnt debug confd ping x')).stderr).toBe("Question 'ping' takes no arguments.\n")
    expect((await run('gnt debug confd nodeofip')).stderr).toBe("Question 'nodeofip' takes IP [LINK].\n")
    expect((await run('gnt debug metad other')).stderr).toContain("'other' not supported; there is echo")
    expect((await run('gnt debug metad echo')).stderr).toBe("Command 'echo' takes only precisely argument.\n")
  })

  test('a cluster is destroyed, and an outdated node made the master, by those only who mean it', async () => {
    expect(await run('gnt cluster destroy')).toMatchObject({ exit: 1, stderr: expect.stringContaining('irreversible') })
    const answered = await run('gnt cluster master-failover --no-voting')
    expect(answered).toMatchObject({ exit: 1, questions: [expect.stringContaining('non-consistent cluster')] })
  })
})
