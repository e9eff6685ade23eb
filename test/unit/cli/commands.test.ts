// Words of the command line become the opcodes that Ganeti's commands submit.
import { GenericError, JobLost, OpPrereqError } from '../../../src/model/errors'
import type { ScriptedJob } from '../../support/fake-master'
import { FakeMaster } from '../../support/fake-master'
import { goldenConfig, goldenSource } from '../../support/golden-query'
import { runCli } from '../../support/run-cli'

const words = (line: string) => line.split(' ')

async function run(line: string, script: ScriptedJob[] = [{ id: 7 }], answers: string[] = []) {
  const master = new FakeMaster(script)
  return { master, ops: master.submitted, ...(await runCli(master, words(line), { answers })) }
}

const REFUSED = 'Failure: prerequisites not met for this operation:\nerror type: wrong_input, error details:\n'

describe('gnt-instance add', () => {
  const add = async (line: string) => (await run(`gnt-instance add ${line}`)).ops[0]?.[0]

  test('hands over all that was typed', async () => {
    const op = await add(
      '-t sharedfile --disk 0:size=128m,name=root --disk 1:size=1g -o tiny -B memory=64m,vcpus=2 -H kvm:acpi=false,vnc_bind_address= ' +
        '--net 0:mode=bridged,ip=pool,network=net1 -n node1:node2 --tags a,b -O x=1,y -c yes --no-start vm1',
    )
    expect(op).toMatchObject({
      OP_ID: 'OP_INSTANCE_CREATE',
      instance_name: 'vm1',
      mode: 'create',
      disk_template: 'sharedfile',
      disks: [{ size: 128, name: 'root' }, { size: 1024 }],
      os_type: 'tiny',
      beparams: { memory: 64, vcpus: 2 },
      hypervisor: 'kvm',
      hvparams: { acpi: false, vnc_bind_address: '' },
      nics: [{ mode: 'bridged', ip: 'pool', network: 'net1' }],
      pnode: 'node1',
      snode: 'node2',
      tags: ['a', 'b'],
      osparams: { x: '1', y: true },
      instance_communication: true,
      start: false,
      name_check: false,
      ip_check: false,
    })
  })

  test('gives one disk with -s, one default NIC, and starts', async () => {
    expect(await add('-t file -s 1G -o tiny vm1')).toMatchObject({ disks: [{ size: 1024 }], nics: [{}], start: true })
    expect(await add('-t diskless --no-nics --no-install vm1')).toMatchObject({ disks: [], nics: [], no_install: true })
  })

  test('reserves, and commits to what was reserved with nothing but its name', async () => {
    const reserve = '-t file -s 1G -o tiny -n node1 --forthcoming vm1'
    expect(await add(reserve)).toMatchObject({ forthcoming: true, commit: false, disks: [{ size: 1024 }] })
    expect(await add('--commit vm1')).toMatchObject({ commit: true, forthcoming: false, disks: [], nics: [{}] })
    expect(await add('--commit --no-nics -B memory=1g vm1')).toMatchObject({ nics: [], beparams: { memory: 1024 } })
  })

  test('sends secrets, and says who asked, why and how urgently', async () => {
    const op = await add(
      '-t diskless -o x --os-parameters-secret pw=s --reason because --priority high --dry-run -d vm1',
    )
    expect(op).toMatchObject({ osparams_secret: { pw: 's' }, priority: -10, dry_run: true, debug_level: 1 })
    expect(op?.['reason']).toEqual([
      ['gnt:user', 'because', expect.any(Number)],
      ['gnt:client:gnt-instance', 'add', expect.any(Number)],
    ])
  })

  test.each([
    [
      '-t file vm1',
      'No disk information specified: write --disk 0:size=10g for each disk, -s 10g for a single one, or -t diskless',
    ],
    ['-t diskless -s 1g vm1', 'Diskless instance but disk information passed'],
    ['-t file -s 1g --disk 0:size=1g vm1', "Please use either the '--disk' or '-s' option"],
    ['-t file --disk 0:mode=rw vm1', 'Missing size or adoption source for disk 0'],
    ['-t file --disk 0:size=abc vm1', 'Invalid size for disk 0: Invalid format'],
    ['-t file --disk x:size=1g vm1', "Invalid disk index passed: 'x' is not a number"],
    ['-t diskless --no-nics --net 0:ip=1 vm1', 'Either NICs can be given, or --no-nics, not both'],
    [
      '-t diskless -B memory=abc vm1',
      "Parameter Error: 'memory' (value abc) is not a valid size. error: Invalid format",
    ],
    ['-t diskless -H kvm:nosuch=1 vm1', "Parameter Error: Unknown parameter 'nosuch'"],
    [
      '-t diskless -H kvm:kernel_args=a=1,1 vm1',
      "Parameter Error: Unknown parameter '1'; write .* for a comma inside a value",
    ],
  ])('refuses %s', async (line, text) => {
    const { exit, stderr, ops } = await run(`gnt-instance add ${line}`)
    expect([exit, stderr, ops]).toEqual([
      1,
      expect.stringMatching(new RegExp(`(^|\\n)${text.replace(/[()]/g, '.')}\\n$`)),
      [],
    ])
  })
})

describe('gnt-instance modify', () => {
  test('takes devices in every form', async () => {
    const { ops, stdout } = await run(
      'gnt-instance modify --disk add:size=1g --disk 0:add,size=2g --disk 2:remove --disk 1:mode=ro --net add --net 0:ip=none inst1',
      [{ id: 7, result: [['disk/1', 'add']] }],
    )
    expect(ops[0]?.[0]).toMatchObject({
      disks: [
        ['add', -1, { size: 1024 }],
        ['add', 0, { size: 2048 }],
        ['remove', 2, {}],
        ['modify', 1, { mode: 'ro' }],
      ],
      nics: [
        ['add', -1, {}],
        ['modify', 0, { ip: 'none' }],
      ],
    })
    expect(stdout).toMatch(/^Modified instance inst1\n - disk\/1 -> add\n/)
    const named = await run('gnt-instance modify --disk root:mode=ro inst1')
    expect(named.ops[0]?.[0]).toMatchObject({ disks: [['modify', 'root', { mode: 'ro' }]] })
    const bad = await run('gnt-instance modify --disk 0:remove,size=1g inst1')
    expect([bad.exit, bad.stderr]).toEqual([
      1,
      `${REFUSED}Not accepting parameters on removal/detach of device 0: size\n`,
    ])
  })

  test('says only of changes that wait for a start that they do', async () => {
    const reported = async (...result: unknown[]) =>
      (await run('gnt-instance modify --online inst1', [{ id: 7, result }])).stdout.split('\n').find((line) => /^When/.test(line)) // prettier-ignore
    expect(await reported(['disk/1', 'add:size=8,mode=rw'], ['disk/1', 'hotplug:done'])).toBeUndefined()
    expect(await reported(['be/auto_balance', true], ['runtime_memory', 64], ['admin_state', 'down'])).toBeUndefined()
    expect(await reported(['nic.ip/0', 'x'], ['nic/0', 'hotplug:failed'], ['hv/acpi', false])).toMatch(
      /these take effect: nic\.ip\/0, nic\/0, hv\/acpi$/,
    )
  })

  test('goes back to defaults, sets offline and memory', async () => {
    const { ops } = await run('gnt-instance modify -B vcpus=default -H acpi=default -m 1g --offline inst1')
    expect(ops[0]?.[0]).toMatchObject({
      beparams: { vcpus: 'default' },
      hvparams: { acpi: 'default' },
      runtime_mem: 1024,
      offline: true,
    })
  })
})

describe('commands on many instances', () => {
  const OPS = [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }, { id: 6 }]
  const names = (ops: readonly (readonly Record<string, unknown>[])[]) => ops.map(([op]) => op?.['instance_name'])

  test.each([
    ['--node node2', ['inst1', 'inst2']],
    ['--primary node3', ['inst3', 'inst4', 'inst6']],
    ['--tags web service:db', ['inst2', 'inst3']],
    ['--node-tags ssd', ['inst1', 'inst2']],
    ['--all', ['inst1', 'inst2', 'inst3', 'inst4', 'inst5', 'inst6']],
    ['inst5 inst1', ['inst5', 'inst1']],
  ])('%s chooses %j', async (selector, expected) => {
    const { ops, questions } = await run(`gnt-instance startup ${selector}`, [...OPS], ['y'])
    expect(names(ops)).toEqual(expected.map((name) => `${name}.gnt.example`))
    expect(questions).toHaveLength(1)
  })

  test('ask first, with the names, and stop at a no or at silence', async () => {
    const displayed = await run('gnt-instance shutdown --all', [...OPS], ['n'])
    expect([displayed.exit, displayed.ops]).toEqual([1, []])
    expect(displayed.questions[0]).toMatch(
      /^The shutdown will operate on 6 instances\.\nDo you want to continue\?\nAffected instances:\n {2}inst1\.gnt\.example\n/,
    )
    const silent = await run('gnt-instance shutdown --all', [...OPS])
    expect([silent.exit, silent.ops]).toEqual([1, []])
    const forced = await run('gnt-instance shutdown --all --force-multiple', [...OPS])
    expect([forced.exit, forced.ops.length, forced.questions]).toEqual([0, 6, []])
  })

  test('wait for all and fail if one did', async () => {
    const { exit, stdout, stderr } = await run('gnt-instance startup --force-multiple inst1 inst2', [
      { id: 1, error: ['OpExecError', ['no memory']] },
      { id: 2 },
    ])
    expect(exit).toBe(1)
    expect(stdout).toBe(
      'Submitted jobs 1, 2\nWaiting for job 1 for inst1.gnt.example ...\nWaiting for job 2 for inst2.gnt.example ...\n',
    )
    expect(stderr).toBe('Job 1 for inst1.gnt.example has failed: Failure: command execution error:\nno memory\n')
  })

  test('name an instance that does not exist', async () => {
    const { exit, stderr } = await run('gnt-instance startup nosuch')
    expect([exit, stderr]).toEqual([
      1,
      "Failure: prerequisites not met for this operation:\nerror type: unknown_entity, error details:\nInstance 'nosuch' not known\n",
    ])
    // Who names two must not get one.
    const some = await run('gnt-instance shutdown inst1 nosuch', [{ id: 1 }])
    expect([some.exit, some.ops]).toEqual([1, []])
  })
})

describe('commands on one instance', () => {
  test.each([
    ['remove inst1', 'OP_INSTANCE_REMOVE', { ignore_failures: false, shutdown_timeout: 120 }],
    ['migrate -n node2 inst1', 'OP_INSTANCE_MIGRATE', { target_node: 'node2', allow_runtime_changes: true }],
    ['migrate --non-live inst1', 'OP_INSTANCE_MIGRATE', { mode: 'non-live' }],
    ['failover -n node3 inst1', 'OP_INSTANCE_FAILOVER', { target_node: 'node3', ignore_consistency: false }],
    ['move -n node3 inst1', 'OP_INSTANCE_MOVE', { target_node: 'node3', compress: 'none' }],
  ])('%s asks, then acts', async (line, id, params) => {
    const refused = await run(`gnt-instance ${line}`, [{ id: 7 }], ['n'])
    expect([refused.exit, refused.ops]).toEqual([1, []])
    const done = await run(`gnt-instance ${line}`, [{ id: 7 }], ['y', 'y'])
    expect(done.exit).toBe(0)
    expect(done.ops[0]?.[0]).toMatchObject({ OP_ID: id, instance_name: 'inst1', ...params })
    const [verb = '', ...rest] = words(line)
    const forced = await run(`gnt-instance ${verb} -f ${rest.join(' ')}`)
    expect([forced.exit, forced.questions]).toEqual([0, []])
  })

  test('failover without consistency also asks whether the node is offline, which --force does not answer', async () => {
    const line = 'gnt-instance failover --ignore-consistency -n node3 inst1'
    const refused = await run(line, [{ id: 7 }], ['y', 'n'])
    expect([refused.exit, refused.questions.length, refused.ops]).toEqual([1, 2, []])
    expect((await run(line, [{ id: 7 }], ['y', 'y'])).ops[0]?.[0]).toMatchObject({ ignore_consistency: true })
    const forced = await run(line.replace('failover', 'failover -f'), [], ['n'])
    expect([forced.exit, forced.questions.length, forced.ops]).toEqual([1, 1, []])
    const confirmed = await run(line.replace('failover', 'failover -f --yes-do-it'))
    expect([confirmed.exit, confirmed.questions, confirmed.ops.length]).toEqual([0, [], 1])
  })

  test('migrate takes a node or an allocator', async () => {
    expect(await run('gnt-instance migrate -f -n a -I hail inst1')).toMatchObject({
      exit: 1,
      stderr: REFUSED + 'Specify either an iallocator (-I), or a target node (-n) but not both\n',
    })
  })

  test('grow-disk reads sizes', async () => {
    const { ops } = await run('gnt-instance grow-disk --absolute inst1 0 2g')
    expect(ops[0]?.[0]).toMatchObject({ disk: 0, amount: 2048, absolute: true })
  })

  test('replace-disks takes exactly one way', async () => {
    expect((await run('gnt-instance replace-disks -p --disks 0,1 inst1')).ops[0]?.[0]).toMatchObject({
      mode: 'replace_on_primary',
      disks: [0, 1],
    })
    expect(await run('gnt-instance replace-disks -p -s inst1')).toMatchObject({ exit: 1 })
  })
})

describe('waiting for a job', () => {
  test('shows its log, then nothing more', async () => {
    const log: ScriptedJob['log'] = [
      [1, [1795232547, 0], 'message', 'one'],
      [2, [1795232548, 0], 'jqueue-test', ['a', 1]],
    ]
    const { stdout, exit, followed } = await run('gnt-instance remove -f inst1', [{ id: 9, log }])
    expect(stdout).toBe("Sat Nov 21 03:42:27 2026 one\nSat Nov 21 03:42:28 2026 ['a', 1]\n")
    expect([exit, followed]).toEqual([0, [9, undefined]])
  })

  test('is not done with --submit; its id can be shown first', async () => {
    expect(await run('gnt-instance remove -f --submit inst1', [{ id: 9 }])).toMatchObject({
      exit: 0,
      stdout: '9\n',
      stderr: 'JobID: 9\n',
    })
    expect(await run('gnt-instance remove -f --print-jobid inst1', [{ id: 9 }])).toMatchObject({
      exit: 0,
      stdout: '9\n',
    })
  })

  test('--submit and --print-jobid of several give one id for each line, as gnt-job takes them', async () => {
    const jobs = () => [{ id: 9 }, { id: 10 }]
    for (const options of ['--submit', '--submit --print-jobid'])
      expect(await run(`gnt-instance stop ${options} --force-multiple inst1 inst2`, jobs())).toMatchObject({
        ...{ exit: 0, stdout: '9\n10\n' },
        stderr: 'JobID: 9 (inst1.gnt.example)\nJobID: 10 (inst2.gnt.example)\n',
      })
    const { stdout } = await run('gnt-instance stop --print-jobid --force-multiple inst1 inst2', jobs())
    expect(stdout.split('\n').slice(0, 2)).toEqual(['9', '10'])
  })

  test.each([
    [
      { error: ['OpPrereqError', ['wrong', 'wrong_state']] },
      /^Failure: prerequisites not met.*\nerror type: wrong_state, error details:\nwrong\n$/,
    ],
    [{ error: ['OpExecError', ['broken']] }, /^Failure: command execution error:\nbroken\n$/],
    [{ error: ['TagError', ['bad']] }, /^Failure: invalid tag\(s\) given:\nbad\n$/],
    [
      { error: ['HooksAbort', [[['node1', '00-x', 'out']]]] },
      /^Failure: hooks execution failed:\n {2}node: node1, script: 00-x, output: out\n$/,
    ],
    [{ error: 'plain text' }, /^Failure: command execution error:\nplain text\n$/],
    [{ status: 'canceled' }, /^Job was canceled\n$/],
  ])('ends with the error of the opcode: %j', async (outcome, text) => {
    const { exit, stderr } = await run('gnt-instance remove -f inst1', [{ id: 9, ...outcome }])
    expect([exit, stderr]).toEqual([1, expect.stringMatching(text)])
  })
})

describe('what the master refuses', () => {
  test.each([
    [
      new OpPrereqError('no', 'wrong_input'),
      'Failure: prerequisites not met for this operation:\nerror type: wrong_input, error details:\nno\n',
    ],
    [new GenericError('odd'), 'Failure: odd\n'],
    [
      new GenericError('Queue drained'),
      "Failure: the job queue is marked for drain and doesn't accept new requests\ngnt-cluster queue undrain opens it again\n",
    ],
    [
      new GenericError('Queue drained: the upgrade has not ended'),
      "Failure: the job queue is marked for drain and doesn't accept new requests\nthe upgrade has not ended\n",
    ],
    [new GenericError('Failed to parse request: what'), 'Failure: the master daemon cannot read this request: what\n'],
    [new JobLost("Can't load job file"), "Error checking job status: Can't load job file\n"],
  ])('is shown: %s', async (error, text) => {
    const master = new FakeMaster()
    master.submitJob = () => Promise.reject(error)
    const { exit, stderr } = await runCli(master, words('gnt-instance remove -f inst1'))
    expect([exit, stderr]).toEqual([1, text])
  })
})

describe('gnt-job', () => {
  test('cancels by id and by state', async () => {
    const byId = await run('gnt-job cancel 7 13')
    expect([byId.exit, byId.stdout]).toEqual([1, 'Job 7: answer\nJob 13: answer\n'])
    expect(await run('gnt-job cancel --kill 7')).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('--yes-do-it'),
    })
    expect((await run('gnt-job cancel --kill --yes-do-it 7')).master.calls).toEqual([['cancelJob', 7, true]])
    const either = REFUSED + 'Either a status filter or job ID(s) must be specified and never both\n'
    for (const line of ['gnt-job cancel', 'gnt-job cancel --queued 7'])
      expect(await run(line)).toMatchObject({ exit: 1, stderr: either })
    expect((await run('gnt-job cancel --queued')).stderr).toMatch(/wrong_state.*\nNo jobs with the requested status/)
  })

  test('archives, changes priorities, and counts what is old', async () => {
    expect(await run('gnt-job archive 7 13')).toMatchObject({ exit: 1, stderr: "Failed to archive job with ID '13'\n" })
    const old = await run('gnt-job autoarchive 2d')
    expect([old.stdout, old.master.calls]).toEqual([
      'Archived 3 jobs, 1 unchecked left\n',
      [['autoArchiveJobs', 172800, 60]],
    ])
    expect((await run('gnt-job change-priority --priority low 7')).master.calls).toEqual([['changeJobPriority', 7, 10]])
  })

  test('lists by state, and archived jobs when asked for', async () => {
    expect((await run('gnt-job list --no-headers --error')).stdout).toBe('')
    expect((await run('gnt-job list --no-headers --finished -o id')).stdout).toBe('149\n150\n151\n152\n153\n')
    expect((await run('gnt-job list --no-headers --archived -o id')).stdout).toMatch(/^ {2}1 Y\n/)
    expect((await run('gnt-job list --no-headers -o id 150 149')).stdout).toBe('150\n149\n')
  })

  test('watches and waits', async () => {
    const watched = await run('gnt-job watch 9', [{ id: 9, log: [[1, [0, 0], 'message', 'x']] }])
    expect(watched.stdout).toBe('Output from job 9 follows\n-------------------------\nThu Jan  1 00:00:00 1970 x\n')
    expect(await run('gnt-job wait 9', [{ id: 9, log: [[1, [0, 0], 'message', 'x']] }])).toMatchObject({
      exit: 0,
      stdout: '',
    })
    expect(await run('gnt-job wait 9', [{ id: 9, error: ['OpExecError', ['x']] }])).toMatchObject({
      exit: 1,
      stderr: 'Job 9 failed: Failure: command execution error:\nx\n',
    })
    expect(await run('gnt-job info x')).toMatchObject({
      exit: 1,
      stderr: REFUSED + "Invalid job ID passed: 'x' is not a number; gnt-job list shows the jobs\n",
    })
  })
})

test('a filter rule names only the reason that was given, and its uuid is told', async () => {
  const uuid = '11111111-1111-4111-8111-111111111111'
  const words = `--priority 3 --action PAUSE --predicates [["jobid",["=","id",5]]] --reason why`
  const { stdout, master } = await run(`gnt-filter replace ${words} ${uuid}`)
  const trail = [['gnt:user', 'why', expect.any(Number)]]
  expect([stdout, master.calls]).toEqual([
    'some-uuid\n',
    [['replaceFilter', uuid, 3, [['jobid', ['=', 'id', 5]]], 'PAUSE', trail]],
  ])
})

describe('gnt-instance console', () => {
  const console = async (line: string, info: object, nodesRoot?: string, ipVersion = 4) => {
    const source = goldenSource()
    const config = goldenConfig()
    for (const instance of Object.values(config.instances)) {
      const node = config.nodes[instance.primary_node]?.name ?? ''
      source.live.recorded.consoles[node] = {
        'inst1.gnt.example': { instance: 'inst1', kind: 'msg', ...info },
        'inst4.gnt.example': { instance: 'inst4', kind: 'msg', ...info },
      }
    }
    const master = new FakeMaster([], source)
    master.queryClusterInfo = async () => ({ primary_ip_version: ipVersion })
    return runCli(master, words(line), nodesRoot === undefined ? {} : { nodesRoot })
  }
  /** The master knows the host itself. */
  const ssh = { kind: 'ssh', host: 'elsewhere', user: 'root', port: 22, command: ['socat', "a b'c"] }

  test('hands the terminal to ssh, or to the command itself where nodes are virtual', async () => {
    const remote = await console('gnt-instance console inst1', ssh)
    expect(remote.exit).toBe(7)
    expect(remote.handed[0]).toContain('-4')
    expect((await console('gnt-instance console inst1', ssh, undefined, 6)).handed[0]).toContain('-6')
    expect(remote.handed[0]?.slice(-2)).toEqual(['root@node2.gnt.example', `socat 'a b'\\''c'`])
    expect((await console('gnt-instance console inst1', ssh, '/roots')).handed).toEqual([['socat', "a b'c"]])
    const displayed = await console('gnt-instance console --show-cmd inst1', { ...ssh, port: 2222 })
    expect([displayed.handed, displayed.stdout]).toEqual([[], expect.stringContaining('-oPort=2222')])
  })

  test('says where a graphical console is, and when there is none', async () => {
    const vnc = { kind: 'vnc', host: '127.0.1.1', port: 5901 }
    expect((await console('gnt-instance console inst1', vnc)).stdout).toContain('vnc://127.0.1.1:5901/')
    expect((await console('gnt-instance console inst1', { message: 'nothing here' })).stdout).toBe('nothing here\n')
  })

  test('of an instance that is down is shown, but not opened', async () => {
    const down = await console('gnt-instance console inst4', ssh)
    expect([down.exit, down.handed]).toEqual([1, []])
    expect(down.stderr).toBe(
      'Instance inst4 is not running (state ADMIN_down), cannot connect to console; gnt instance start inst4 starts it\n',
    )
    const displayed = await console('gnt-instance console --show-cmd inst4', ssh)
    expect([displayed.exit, displayed.stdout]).toEqual([0, expect.stringContaining('root@node3.gnt.example')])
  })

  test('is not known while the node does not answer, which is said so', async () => {
    const source = goldenSource()
    for (const node of Object.values(goldenConfig().nodes)) source.live.down.add(node.name)
    const { exit, stderr } = await runCli(new FakeMaster([], source), words('gnt-instance console --show-cmd inst1'))
    expect([exit, stderr]).toEqual([1, "The console of instance 'inst1' is not known: its node does not answer\n"])
  })
})

const REST = 'disk-size=1g,cpu-count=1,disk-count=1,nic-count=1,spindle-use=1'

describe('other tools', () => {
  test.each([
    [
      'gnt-node add --no-node-setup --readd -s 10.0.0.1 -g g1 n9',
      { OP_ID: 'OP_NODE_ADD', node_name: 'n9', readd: true, group: 'g1' },
    ],
    ['gnt-node modify -O yes --node-parameters spindle_count=3 n9', { offline: true, ndparams: { spindle_count: 3 } }],
    ['gnt-node remove n9', { OP_ID: 'OP_NODE_REMOVE', node_name: 'n9' }],
    ['gnt-group add --alloc-policy last_resort g1', { OP_ID: 'OP_GROUP_ADD', alloc_policy: 'last_resort' }],
    ['gnt-group assign-nodes g1 n1 n2', { OP_ID: 'OP_GROUP_ASSIGN_NODES', nodes: ['n1', 'n2'] }],
    ['gnt-group rename g1 g2', { OP_ID: 'OP_GROUP_RENAME', new_name: 'g2' }],
    ['gnt-network add --network 10.0.0.0/24 --add-reserved-ips 10.0.0.5 n1', { add_reserved_ips: ['10.0.0.5'] }],
    ['gnt-network rename n1 n2', { OP_ID: 'OP_NETWORK_RENAME', new_name: 'n2' }],
    ['gnt-cluster add-tags a b', { OP_ID: 'OP_TAGS_SET', kind: 'cluster', tags: ['a', 'b'] }],
    ['gnt-instance remove-tags inst1 a', { OP_ID: 'OP_TAGS_DEL', kind: 'instance', name: 'inst1', tags: ['a'] }],
    [
      'gnt-debug delay -n node1 --no-master 0.5',
      { OP_ID: 'OP_TEST_DELAY', duration: 0.5, on_nodes: ['node1'], on_master: false },
    ],
    ['gnt-os modify --hidden yes x', { hidden_os: [['add', 'x']] }],
    [
      'gnt-cluster modify -B vcpus=2 -H kvm:acpi=false -D drbd:resync-rate=100 --uid-pool 1-5,9 --ipolicy-vcpu-ratio 4 --reserved-lvs= --user-shutdown yes',
      {
        beparams: { vcpus: 2 },
        hvparams: { kvm: { acpi: false } },
        diskparams: { drbd: { 'resync-rate': 100 } },
        uid_pool: [
          [1, 5],
          [9, 9],
        ],
        ipolicy: { 'vcpu-ratio': 4 },
        reserved_lvs: [],
        enabled_user_shutdown: true,
      },
    ],
    [
      `gnt-cluster modify --ipolicy-bounds-specs min:memory-size=64m,${REST}/max:memory-size=1g,${REST}`,
      { ipolicy: { minmax: [{ min: { 'memory-size': 64, 'disk-size': 1024 }, max: { 'memory-size': 1024 } }] } },
    ],
    ['gnt-group modify --ipolicy-bounds-specs default g1', { ipolicy: { minmax: 'default' } }],
    [
      'gnt-node modify --disk-state=plain/vg1:disk_reserved=5 --disk-state=plain/vg2:disk_reserved=6 node4',
      { disk_state: { plain: { vg1: { disk_reserved: 5 }, vg2: { disk_reserved: 6 } } } },
    ],
    ['gnt-cluster modify --data-collector-interval=drbd=1.5', { data_collector_interval: { drbd: 1500000 } }],
    ['gnt-os modify -H -kvm noop', { os_hvp: { noop: { kvm: null } } }],
    ['gnt-os modify -H kvm:-acpi noop', { os_hvp: { noop: { kvm: { acpi: null } } } }],
    ['gnt-debug delay 0', { duration: 0 }],
  ])('%s', async (line, expected) => {
    const { exit, stderr, ops } = await run(line)
    expect([exit, stderr]).toEqual([0, ''])
    expect(ops[0]?.[0]).toMatchObject(expected)
  })

  test('an opcode that hands on its work is followed', async () => {
    const script = [
      {
        id: 1,
        result: {
          jobs: [
            [true, 2],
            [false, 'full'],
          ],
        },
      },
      { id: 2 },
    ]
    const { exit, stdout, stderr } = await run('gnt-group evacuate g1', script)
    expect([exit, stdout, stderr]).toEqual([
      1,
      'Submitted jobs 2\nWaiting for job 2 ...\nThere were 1 errors during the evacuation.\n',
      'Failed to submit job: full\n',
    ])
  })

  test('parameters of evacuations and of repair commands are handed on', async () => {
    const evacuate = async (line: string) => (await run(`gnt-node evacuate -f ${line} node2`)).ops[0]?.[0]
    expect(await evacuate('-I hail')).toMatchObject({ iallocator: 'hail', ignore_soft_errors: false })
    expect(await evacuate('--ignore-soft-errors')).toMatchObject({ ignore_soft_errors: true })
    const repair = { OP_ID: 'OP_REPAIR_COMMAND', command: 'mend', node_name: 'node2', reason: expect.anything() }
    const mended = { id: 7, result: 'done' }
    expect((await run('gnt-node repair-command mend node2', [mended])).ops[0]?.[0]).toEqual(repair)
    expect((await run('gnt-node repair-command --input= mend node2', [mended])).ops[0]?.[0]).toEqual(repair)
    const { ops, stdout } = await run('gnt-node repair-command --input=twice mend node2', [mended])
    expect([ops[0]?.[0], stdout]).toEqual([{ ...repair, input: 'twice' }, 'done\n'])
  })

  test('nothing to change, nothing submitted', async () => {
    for (const line of ['gnt-node modify n1', 'gnt-group modify g1', 'gnt-network modify n1'])
      expect(await run(line)).toMatchObject({
        exit: 1,
        stderr: 'Please give at least one of the parameters.\n',
        ops: [],
      })
  })

  test('the watcher is paused for a time', async () => {
    const { master, stdout } = await run('gnt-cluster watcher pause 1h')
    expect(master.calls[0]?.[1]).toBeGreaterThan(Date.now() / 1000 + 3500)
    expect(stdout).toMatch(/^The watcher is paused until /)
    const info = await run('gnt-cluster watcher info')
    expect([info.stdout, info.stderr]).toEqual(['The watcher is not paused.\n', ''])
    expect(await run('gnt-cluster watcher pause 5y')).toMatchObject({ exit: 1 })
  })

  test('list-fields names types as people do', async () => {
    expect((await run('gnt-node list-fields ndp/cpu_speed')).stdout).toContain(' Floating-point number ')
    const { stdout } = await run('gnt-node list-fields name mfree tags')
    const docs = stdout.split('\n').map((line) => line.slice(0, 24))
    expect(docs).toEqual([
      'Name  Type         Title',
      'name  Text         Node ',
      'mfree Storage size MFree',
      'tags  Custom       Tags ',
      '',
    ])
    expect((await run('gnt-node list-fields nosuch')).exit).toBe(14)
  })

  test('node and group info', async () => {
    expect((await run('gnt-node info node3')).stdout).toMatch(
      /^- Node name: node3\.gnt\.example\n {2}primary ip: 198\.51\.100\.13\n[^]*primary for instances: \n {4}- inst3[^]*spindle_count: 3\n {4}ssh_port: default \(22\)\n$/,
    )
    expect((await run('gnt-group info rack2')).stdout).toMatch(/^- Node group: rack2\n[^]*spindle_count: 2\n/)
  })
})

test('gnt-cluster modify takes lists of default allocators by kind of question, and an empty one', async () => {
  const { ops } = await run('gnt-cluster modify --default-iallocators allocate=mine:hail,relocate=')
  expect(ops[0]?.[0]).toMatchObject({ default_iallocators: { allocate: ['mine', 'hail'], relocate: [] } })
})

describe('info', () => {
  test.each([
    ['gnt-node info nosuch node1', 'Node nosuch not found\n', 'Node name: node1.gnt.example'],
    ['gnt-group info nosuch default', 'Node group nosuch not found\n', 'Node group: default'],
    ['gnt-network info nosuch', 'Network nosuch not found\n', ''],
    ['gnt-filter info nosuch', 'Filter rule nosuch not found\n', ''],
    ['gnt-job info 99999', '', '- Job ID 99999 not found\n'],
  ])('%s fails for what is not there, and shows the others', async (words, stderr, stdout) => {
    expect(await run(words)).toMatchObject({ exit: 1, stderr, stdout: expect.stringContaining(stdout) })
  })
})
