// Commands that do more than submit an opcode: power, health, locks, new nodes.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { handedOn } from '../../../src/cli/node/join'
import { OptionValues } from '../../../src/cli/input/option-values'
import { systemClock } from '../../../src/lib/clock'
import { FakeMaster, type ScriptedJob } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'

async function run(line: string, script: ScriptedJob[] = [{ id: 7 }], answers: string[] = []) {
  const master = new FakeMaster(script)
  return { master, ops: master.submitted, ...(await runCli(master, line.split(' '), { answers })) }
}

describe('gnt-node power', () => {
  const powered = [[[0, 'node1'], [0, { powered: true }]], [[0, 'node2'], [3, null]]] // prettier-ignore

  test('shows what is on, and that it cannot tell', async () => {
    const { exit, stdout, ops } = await run('gnt-node power status node1 node2', [{ id: 7, result: powered }])
    expect(ops[0]).toMatchObject([{ OP_ID: 'OP_OOB_COMMAND', command: 'power-status', node_names: ['node1', 'node2'] }])
    expect(stdout).toBe('Node  Status   \nnode1 powered\nnode2 (unavail)\n')
    expect(exit).toBe(1)
  })

  test('switches nodes off that it has marked offline first, if the user is sure', async () => {
    const off = 'gnt-node power --auto-promote off node1'
    const { ops, questions } = await run(off, [{ id: 7, result: [[[0, 'node1'], [0, null]]] }], ['y']) // prettier-ignore
    expect(questions[0]).toMatch(/power off will operate on 1 nodes/)
    expect(ops[0]).toMatchObject([
      { OP_ID: 'OP_NODE_SET_PARAMS', node_name: 'node1', offline: true, auto_promote: true },
      { OP_ID: 'OP_OOB_COMMAND', command: 'power-off' },
    ])
    expect((await run(off, [{ id: 7 }], ['n'])).ops).toEqual([])
    expect(await run('gnt-node power cycle')).toMatchObject({ exit: 1, ops: [] })
  })

  test('shows every item of a node’s health', async () => {
    const result = [[[0, 'node1'], [0, [['fan', 'OK'], ['disk', 'WARNING']]]]] // prettier-ignore
    const { stdout, exit } = await run('gnt-node health --no-headers node1', [{ id: 7, result }])
    expect([stdout, exit]).toEqual(['node1 fan=OK\n      disk=WARNING\n', 0])
  })
})

test('the configuration is pushed out although the queue is drained, if that is asked for', async () => {
  const drained = (line: string) => run(line).then(({ master }) => master.calls.flat())
  expect(await drained('gnt-cluster redist-conf --yes-do-it')).toContain('submitJobToDrainedQueue')
  expect(await drained('gnt-cluster redist-conf')).not.toContain('submitJobToDrainedQueue')
})

test('the programs that make a node ready tell as much as the command', () => {
  const input = (debug: number, verbose: boolean) =>
    handedOn(
      new OptionValues(
        new Map<string, unknown>([
          ['debug', debug],
          ['verbose', verbose],
        ]),
      ),
    )
  expect([input(0, false), input(2, true)]).toEqual([[], ['--debug', '--verbose']])
})

test('locks are listed again and again with an interval', async () => {
  const pauses: number[] = []
  const sleep = (pause_ms: number) => {
    pauses.push(pause_ms)
    return pauses.length < 3 ? Promise.resolve() : Promise.reject(new Error('interrupted'))
  }
  const clock = { ...systemClock, sleep }
  const listed = await runCli(new FakeMaster([]), 'gnt-debug locks --interval 2'.split(' '), { clock })
  expect(pauses).toEqual([2000, 2000, 2000])
  expect(listed.stdout.match(/^Name/gm)).toHaveLength(3)
})

test.each([['gnt-cluster info --roman'], ['gnt-instance info --roman --all']])(
  '%s says that it has no effect',
  async (line) => {
    expect((await run(line)).stderr).toContain('--roman has no effect')
  },
)

test.each([
  ['rename', ['--no-ip-check', '--no-name-check', '--force', '-f'], 'vm1 vm2'],
  ['modify', ['--hotplug', '--hotplug-if-possible'], '-B auto_balance=false vm1'],
])('gnt-instance %s takes the options of Ganeti 3.0 that have no effect', async (command, options, rest) => {
  for (const option of options) {
    const { exit, stderr, ops } = await run(`gnt-instance ${command} ${option} ${rest}`)
    const warning = expect.stringMatching(/^Warning: --[a-z-]+ has no effect: [^\n]*\n$/) as string
    expect([option, exit, stderr]).toEqual([option, 0, warning])
    const plain = await run(`gnt-instance ${command} ${rest}`)
    expect(ops.flat().map(withoutReason)).toEqual(plain.ops.flat().map(withoutReason))
  }
})

const withoutReason = (op: object): object => ({ ...op, reason: [] })

test('a restricted command shows what each node said', async () => {
  const result = [[true, 'up 3 days\n'], [false, 'Executing command failed']] // prettier-ignore
  const { stdout, exit, ops } = await run('gnt-node restricted-command -M uptime node1 node2', [{ id: 7, result }])
  expect(ops[0]).toMatchObject([{ OP_ID: 'OP_RESTRICTED_COMMAND', command: 'uptime', use_locking: false }])
  expect(stdout.split('\n').filter((line) => !line.startsWith('---'))).toContain('Executing command failed')
  expect(exit).toBe(1)
  expect((await run('gnt-node restricted-command uptime')).stderr).toMatch(
    /\nNode group or node names must be given\n$/,
  )
})

describe('gnt-instance batch-create', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-batch-'))
  afterAll(() => fs.rmSync(folder, { recursive: true }))
  const file = (text: string) => {
    fs.writeFileSync(path.join(folder, 'instances.json'), text)
    return path.join(folder, 'instances.json')
  }
  const two = ['a', 'b'].map((instance_name) => ({ instance_name, disk_template: 'diskless', mode: 'create', disks: [], nics: [] })) // prettier-ignore

  test('submits what the file says, and follows what is made of it', async () => {
    const done = { allocatable: ['a', 'b'], failed: [], jobs: [[true, 8], [true, 9]] } // prettier-ignore
    const script = [{ id: 7, result: done }, { id: 8 }, { id: 9 }]
    const { exit, stdout, ops } = await run(`gnt-instance batch-create -I hail ${file(JSON.stringify(two))}`, script)
    expect(ops[0]).toMatchObject([{ OP_ID: 'OP_INSTANCE_MULTI_ALLOC', iallocator: 'hail', instances: two }])
    expect(stdout).toMatch(/Waiting for job 8 [^]*Waiting for job 9 [^]*All instances created successfully\.\n$/)
    expect(exit).toBe(0)
  })

  test('tells of those that found no place', async () => {
    const result = { allocatable: ['a'], failed: ['b'], jobs: [[true, 8]] }
    const outcome = await run(`gnt-instance batch-create ${file(JSON.stringify(two))}`, [{ id: 7, result }, { id: 8 }])
    expect(outcome).toMatchObject({ exit: 1, stderr: 'There are no nodes for instance b\n' })
    expect(outcome.stdout).toMatch(/There were 1 errors during the creation\.\n$/)
  })

  test.each([
    ['no json', /^Can't parse the instance definition file: /],
    ['{}', /is not a list of instances/],
    ['[{"instance_name": "a", "memory": 5}]', /Unknown fields in definition 0: memory$/],
  ])('refuses %s', async (text, why) => {
    const { exit, stderr, ops } = await run(`gnt-instance batch-create ${file(text)}`)
    expect([exit, stderr.trim(), ops]).toEqual([1, expect.stringMatching(why), []])
  })
})

describe('backups', () => {
  test('an export says where it goes and how', async () => {
    const { ops } = await run('gnt-backup export -n node2 --noshutdown --transport-compression=gzip --long-sleep vm1')
    expect(ops[0]).toMatchObject([
      { OP_ID: 'OP_BACKUP_EXPORT', target_node: 'node2', shutdown: false, compress: 'gzip', long_sleep: true },
    ])
    expect(await run('gnt-backup export vm1')).toMatchObject({
      stderr: expect.stringMatching(/wrong_input.*\nTarget node must be specified\n$/),
      ops: [],
    })
  })

  test('an import takes disks and NICs from the export unless they are given', async () => {
    const line = 'gnt-backup import -t file -n node1 --src-node node2 --src-dir old --identify-defaults'
    expect((await run(`${line} vm1`)).ops[0]).toMatchObject([
      { mode: 'import', disks: [], nics: [], pnode: 'node1', src_node: 'node2', src_path: 'old', start: false, identify_defaults: true },
    ]) // prettier-ignore
    expect((await run(`${line} --disk 0:size=1g --net 0:mac=auto vm1`)).ops[0]).toMatchObject([
      { disks: [{ size: 1024 }], nics: [{ mac: 'auto' }] },
    ])
  })
})

describe('keys and names of the cluster', () => {
  test('keys of nodes are renewed, and with that of the cluster those that it has signed', async () => {
    const { ops } = await run('gnt-cluster renew-crypto --new-node-certificates -f')
    expect(ops[0]).toMatchObject([{ OP_ID: 'OP_CLUSTER_RENEW_CRYPTO', node_certificates: true, renew_ssh_keys: false }])
    const all = await run('gnt-cluster renew-crypto -f --new-cluster-certificate')
    expect(all.ops[0]).toMatchObject([{ cluster_certificate: true, node_certificates: true }])
    expect((await run('gnt-cluster renew-crypto')).stderr).toMatch(/^Select what to renew/)
  })

  test('a rename is asked about', async () => {
    expect((await run('gnt-cluster rename new.example', [{ id: 7 }], ['n'])).ops).toEqual([])
    const { ops } = await run('gnt-cluster rename new.example', [{ id: 7, result: 'new.example' }], ['y'])
    expect(ops[0]).toMatchObject([{ OP_ID: 'OP_CLUSTER_RENAME', name: 'new.example' }])
  })
})

test('an allocator is tried out', async () => {
  const line = 'gnt-debug iallocator --dir out -I mine -m allocate --disks 1g,512 --nics aa:bb/1.2.3.4/br0 new'
  const { ops, stdout } = await run(line, [{ id: 7, result: '{"success": true}' }])
  expect(ops[0]).toMatchObject([
    {
      ...{ OP_ID: 'OP_TEST_ALLOCATOR', direction: 'out', mode: 'allocate', iallocator: 'mine', name: 'new' },
      disks: [{ size: 1024, mode: 'rw' }, { size: 512, mode: 'rw' }],
      nics: [{ mac: 'aa:bb', ip: '1.2.3.4', bridge: 'br0' }],
    },
  ]) // prettier-ignore
  expect(stdout).toBe('{"success": true}\n')
})

test('the options that make a policy again are shown, standard sizes for the cluster alone', async () => {
  const sizes = (memory: number) => ({ 'memory-size': memory, 'cpu-count': 1 })
  const master = new FakeMaster([])
  master.clusterInfo = {
    name: 'c.example',
    ipolicy: { std: sizes(128), minmax: [{ min: sizes(64), max: sizes(512) }] },
  }
  expect((await runCli(master, ['gnt-cluster', 'show-ispecs-cmd'])).stdout).toBe(
    'gnt-cluster init --ipolicy-std-specs cpu-count=1,memory-size=128' +
      ' --ipolicy-bounds-specs min:cpu-count=1,memory-size=64/max:cpu-count=1,memory-size=512 c.example\n',
  )
  expect((await runCli(master, ['gnt-group', 'show-ispecs-cmd', 'default'])).stdout).toBe('gnt-group add default\n')
  const full = await runCli(master, ['gnt-group', 'show-ispecs-cmd', '--include-defaults', 'default'])
  expect(full.stdout).toMatch(/^gnt-group add --ipolicy-bounds-specs min:cpu-count=1,.*\/max:.* default\n$/)
})
