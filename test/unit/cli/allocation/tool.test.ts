// `gnt allocation` in front of a fake master: what it asks, prints and carries out.
import type { BalanceStep, Capacity, WhatIf } from '../../../../src/model/allocation'
import type { Answered, PlannedBalance } from '../../../../src/rpc/luxi/allocation'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const STEP: BalanceStep = {
  ...{ instance: 'inst3', group: 'default', kind: 'failover', from: ['node3'], to: ['node2'] },
  ...{ score_before: 2, score_after: 1.5, copied_mib: 2048, components: [], first_op: 0, op_count: 1 },
  candidates: [
    {
      ...{ node: 'node1', secondary: null, accepted: false, score_change: null },
      ...{ reject: 'FailMem', reason: 'lacks memory', free: 1000, needed: 4096 },
    },
    {
      ...{ node: 'node2', secondary: null, accepted: true, score_change: -0.5 },
      ...{ reject: null, reason: null, free: null, needed: null },
    },
  ],
}
const OP = { OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: 'inst3' }
const PLAN: PlannedBalance = {
  ...{
    plan: 'some-plan',
    expires: '2026-11-21T08:33:20.000000Z',
    steps: [STEP],
    ops: [OP],
    more: true,
    left_out: null,
  },
  groups: [{ group: 'default', score_before: 2, score_after: 1.5 }],
  preconditions: [[]],
}
const CAPACITY: Capacity = {
  fits: 3,
  groups: [
    {
      ...{ group: 'default', alloc_policy: 'preferred', fits: 2, nodes: [['node1', 'node2'], ['node3']] },
      ...{ reason: 'no node fits: 3 lack memory', candidates: null },
    },
    { group: 'rack2', alloc_policy: 'unallocable', fits: 1, nodes: [['node4']], reason: null, candidates: null },
  ],
}
const WHAT_IF: WhatIf = {
  dead: ['node2'],
  restored: [{ instance: 'inst1', from: ['node2'], to: ['node3'] }],
  lost: [{ instance: 'inst2', nodes: ['node2'], reason: 'its disks are only there', candidates: null }],
  mirrored: [{ instance: 'inst5', from: ['node1', 'node2'], to: ['node1', 'node3'] }],
  unmirrored: [{ instance: 'inst6', nodes: ['node1', 'node2'], reason: 'no node fits', candidates: null }],
  already_down: [{ instance: 'inst7', nodes: ['node4'], reason: 'its node, node4, is offline', candidates: null }],
  placed: [{ entry: 0, nodes: ['node1'] }],
  refused: [{ entry: 0, count: 4, reason: 'no node fits', candidates: STEP.candidates }],
  without_reserve: ['node1', 'node3'],
  groups: [],
}

async function run(
  line: string,
  answers: string[] = [],
  planned: Answered<PlannedBalance> = { answer: PLAN },
  whatIf: WhatIf = WHAT_IF,
) {
  const calls: unknown[][] = []
  const note =
    <T>(name: string, answer: T) =>
    async (identity: unknown, request: unknown, wait: unknown = null): Promise<T> => {
      expect(wait).toBeNull()
      expect(identity).toEqual({ user: 'root', token: null, permissions: ['*'] })
      calls.push([name, request])
      return answer
    }
  const gantry: Partial<GantryMaster> = {
    balance: note('balance', planned),
    capacity: note('capacity', { answer: CAPACITY }),
    whatIf: note('whatIf', { answer: whatIf }),
    submit: note('submit', { job: 7, replayed: false }),
  }
  const master = Object.assign(new FakeMaster([{ id: 7 }, { id: 9, result: PLAN }]), { gantry: gantry as GantryMaster })
  return { calls, ...(await runCli(master, `gnt allocation ${line}`.split(' '), { answers })) }
}

describe('gnt allocation balance', () => {
  test('shows the moves with what each gains, and carries none out', async () => {
    const { exit, stdout, stderr, calls } = await run('balance --groups default,rack2 --max-moves 5 --no-disk-moves')
    expect([exit, stdout]).toEqual([
      0,
      [
        'Move Instance Group   Kind     From  To    Copied Gain',
        '   1 inst3    default failover node3 node2 2.0G   0.50000000\n',
      ].join('\n'),
    ])
    expect(stderr).toMatch(/^Score of group default: 2\.00000000 -> 1\.50000000\n/)
    expect(stderr).toMatch(/\nThere are more moves than these: ask again after them\.\n$/)
    expect(calls).toEqual([
      [
        'balance',
        {
          ...{ groups: ['default', 'rack2'], max_moves: 5, disk_moves: false, instance_moves: true },
          ...{ evacuate: false, restricted_migration: false, explain: false },
        },
      ],
    ])
  })

  test('tells of each node why an instance would go there or not', async () => {
    const { stderr } = await run('balance --explain')
    expect(stderr).toContain(
      'Nodes for inst3:\n  node1: FailMem: lacks memory (1,000 of 4,096)\n  node2: accepted, score -0.50000000\n',
    )
  })

  test('carries the moves out as they were planned, when the user is sure', async () => {
    const submission = {
      ...{ ops: [{ ...OP, reason: [] }], reason: 'because', plan: 'some-plan' },
      ...{ key: null, digest: '', match: [] },
    }
    for (const [line, answers] of [
      ['balance -X --reason because', ['y']],
      ['balance -X -f --reason because', []],
    ] as const) {
      const { exit, calls, followed } = await run(line, [...answers])
      expect([exit, calls[1]]).toEqual([0, ['submit', submission]])
      expect(followed).toEqual([7, undefined])
    }
    const refused = await run('balance -X', ['n'])
    expect([refused.exit, refused.calls.length]).toEqual([13, 1])
    const submitted = await run('balance -X -f --submit')
    expect([submitted.exit, submitted.stderr.split('\n').at(-2), submitted.followed]).toEqual([0, 'JobID: 7', []])
  })

  test('waits for the job that looks for a long answer', async () => {
    const { exit, stdout, stderr, followed } = await run('balance -I mine --json', [], { job: 9 })
    expect([exit, stderr, followed]).toEqual([0, 'Job 9 looks for the answer\n', [9, undefined]])
    expect(JSON.parse(stdout)).toEqual(PLAN)
  })

  test('says when there is nothing to move, and asks nothing then', async () => {
    const { exit, stdout, calls, questions } = await run('balance -X', [], {
      answer: { ...PLAN, plan: null, steps: [], ops: [] },
    })
    expect([exit, stdout]).toEqual([0, 'There is nothing to move: no move gains enough.\n'])
    expect([calls.length, questions]).toEqual([1, []])
  })
})

describe('gnt allocation capacity', () => {
  test('shows what fits into each group', async () => {
    const { exit, stdout, stderr, calls } = await run(
      'capacity -t drbd --memory 2g --disks 10g,512m --disk-spindles 2,1 -p 2 --tags a,b --networks n --max-instances 9 --separator=;',
    )
    expect([exit, stdout, stderr]).toEqual([
      0,
      'Group;Policy;Fits;Why no more\ndefault;preferred;2;no node fits: 3 lack memory\nrack2;unallocable;1;-\n',
      '3 fit in all.\n',
    ])
    const spec = {
      ...{
        disk_template: 'drbd',
        memory_mib: 2048,
        vcpus: 2,
        disks_mib: [10240, 512],
        disks_spindles: [2, 1],
        tags: ['a', 'b'],
      },
      networks: ['n'],
    }
    expect(calls).toEqual([['capacity', { spec, max_instances: 9, explain: false }]])
  })

  test('names the option whose number is none', async () => {
    const { exit, stderr, calls } = await run('capacity -t plain --memory 1g --disks 1g --disk-spindles many')
    expect([exit, calls]).toEqual([1, []])
    expect(stderr).toMatch(/disk-spindles.*many/)
  })

  test('shows the nodes of each with --verbose, and all of it as JSON', async () => {
    const { stdout } = await run('capacity -t diskless --memory 1g -v --no-headers')
    expect(stdout.split('\n\n')[1]).toBe('default 1 node1,node2\ndefault 2 node3\nrack2   1 node4\n')
    expect(JSON.parse((await run('capacity -t diskless --memory 1g --json')).stdout)).toEqual(CAPACITY)
  })
})

describe('gnt allocation whatif', () => {
  test('without anything that happens, it asks for the present reserve', async () => {
    const { exit, calls } = await run('whatif')
    expect([exit, calls]).toEqual([0, [['whatIf', { nodes: [], explain: false }]]])
  })

  test('says what that reserve is, and what else it can be asked', async () => {
    const nothing = { dead: [], restored: [], lost: [], mirrored: [], unmirrored: [], placed: [], refused: [] }
    const reserve = async (without_reserve: string[]) =>
      run('whatif', [], undefined, { ...WHAT_IF, ...nothing, without_reserve })
    expect((await reserve([])).stdout).toMatch(
      /^If any one node died, the others could take over its mirrored instances\.\nName nodes to see /,
    )
    const short = await reserve(['node1'])
    expect(short.stdout).toMatch(/^Name nodes to see /)
    expect(short.stderr).toContain('Could not take over what they would have to if one more node died: node1')
  })

  test('shows what becomes of each instance', async () => {
    const { exit, stdout, stderr, calls } = await run(
      'whatif --node-tag rack:2 -t diskless --memory 1g --count 5 -g default --no-headers node2',
    )
    expect([exit, stdout]).toEqual([
      0,
      [
        'Nodes that die: node2',
        'inst1   restored       node2       node3       -',
        'inst5   mirrored anew  node1,node2 node1,node3 -',
        'inst6   without mirror node1,node2 -           no node fits',
        'inst2   lost           node2       -           its disks are only there',
        'inst7   down before    node4       -           its node, node4, is offline',
        '(new 1) placed         -           node1       -',
        '(4 new) refused        -           -           no node fits\n',
      ].join('\n'),
    ])
    expect(stderr).toMatch(/one more node died: node1, node3\nNodes for the next new instance:\n {2}node1: FailMem/)
    const spec = { disk_template: 'diskless', memory_mib: 1024, vcpus: 1 }
    const instances = [{ spec, count: 5, group: 'default' }]
    expect(calls).toEqual([['whatIf', { nodes: ['node2'], node_tag: 'rack:2', instances, explain: false }]])
  })

  test.each([
    ['whatif --count 3 node2', '--count and --node-group are of instances that arrive'],
    ['whatif -t plain', '--memory: say how much an instance has, like 2g'],
    ['whatif -t diskless --memory 1g --count 0', "can't parse value for 'instances'"],
    ['capacity --memory 1g', '--disk-template: say how the disks of an instance are stored'],
    ['capacity -t plain --memory 1g --disks 1g,x', 'Invalid size for disk 1: Invalid format'],
    ['balance --max-moves 0', "Can't parse value for 'max_moves'"],
  ])('%s', async (line, text) => {
    const { exit, stderr, calls } = await run(line)
    expect([exit, calls]).toEqual([1, []])
    expect(stderr.toLowerCase()).toContain(text.toLowerCase())
  })
})

test('a master of another product is recognized', async () => {
  const { exit, stderr } = await runCli(new FakeMaster(), 'gnt allocation balance'.split(' '))
  expect([exit, stderr]).toEqual([1, 'This master is not one of Gantry: it knows only Ganeti’s calls\n'])
})
