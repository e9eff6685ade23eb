// `gnt-cluster monitor` tells how the nodes are, for people and for scripts.
import type { MonitoredNode, MonitoringRequest } from '../../../../src/rpc/luxi/monitoring'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'
import { FakeMaster } from '../../../support/fake-master'
import { type CliOptions, runCli } from '../../../support/run-cli'
import { SteppedClock } from '../../../support/stepped-clock'

const GIB = 2 ** 30
const NONE = {
  ...{ load: null, cpu_load: null, cpus: null, memory_total_bytes: null, memory_free_bytes: null, storage: null },
}
const fine: MonitoredNode = {
  ...{ node: 'node1.example', answer: 'reports', status: 0, problems: [], age_s: 4.2, clock_ahead_s: 0.1 },
  figures: {
    ...{ load: 1.5, cpu_load: 0.75, cpus: 4, memory_total_bytes: 8 * GIB, memory_free_bytes: 3 * GIB },
    storage: { name: 'xenvg', size_bytes: 1000 * GIB, free_bytes: 250 * GIB },
  },
  reports: null,
}
const healing: MonitoredNode = {
  ...{ ...fine, node: 'node2.example', status: 1 },
  problems: [{ collector: 'storage', category: 'storage', code: 1, message: 'pool: degraded' }],
}
const bad: MonitoredNode = {
  ...{ ...fine, node: 'node3.example', status: 4, age_s: 900 },
  problems: [
    { collector: null, category: null, code: 4, message: "its clock is 3600 s ahead of the master's" },
    { collector: 'inst-status', category: 'instance', code: 4, message: 'vm1: \u001b[31mcrashed' },
  ],
}
const silent: MonitoredNode = {
  ...{ ...fine, node: 'node4.example', answer: 'silent', status: 2, figures: NONE, age_s: null, clock_ahead_s: null },
  problems: [{ collector: null, category: null, code: 2, message: 'no answer within 4 s' }],
}
const offline: MonitoredNode = { ...silent, node: 'node5.example', answer: 'offline', status: null, problems: [] }

/** The master tells one list after the other. */
async function run(line: string, reported: readonly (readonly MonitoredNode[])[], options: CliOptions = {}) {
  const requested: MonitoringRequest[] = []
  const lists = [...reported]
  const gantry: Partial<GantryMaster> = {
    async monitoring(_identity, request) {
      requested.push(request)
      return { items: lists.shift() ?? [], next: lists.length > 0 && options.interrupt === undefined ? 'more' : null }
    },
  }
  const master = Object.assign(new FakeMaster(), { gantry: gantry as GantryMaster })
  return {
    asked: requested,
    ...(await runCli(master, ['gnt', 'cluster', 'monitor', ...line.split(' ').filter(Boolean)], options)),
  }
}

test('a table has one line for each node, and one for each further problem', async () => {
  const { stdout, exit } = await run('', [
    [fine, healing],
    [bad, silent, offline],
  ])
  expect(stdout.split('\n')).toEqual([
    'Node          Status  Load   CPUs MTotal MFree  DFree Age Problem',
    'node1.example ok      1.50 0.75/4   8.0G  3.0G 250.0G  4s',
    'node2.example healing 1.50 0.75/4   8.0G  3.0G 250.0G  4s storage: pool: degraded',
    "node3.example BAD     1.50 0.75/4   8.0G  3.0G 250.0G 15m its clock is 3600 s ahead of the master's",
    '                                                          inst-status: vm1: ?[31mcrashed',
    'node4.example unknown    -      -      -     -      -   - no answer within 4 s',
    'node5.example offline    -      -      -     -      -   -',
    '',
  ])
  expect(exit).toBe(1)
})

test.each([
  [[fine, healing, offline], 0],
  [[fine, silent], 1],
  [[bad], 1],
  [[], 0],
])('the exit code says whether a node is bad or unknown (%#)', async (nodes, exit) => {
  expect((await run('--no-headers', [nodes])).exit).toBe(exit)
})

test('parts are asked for by node, category and collector, and page by page', async () => {
  const { asked: requested } = await run('-n node1 -n node2 --category instance,storage --collector drbd', [
    [fine],
    [bad],
  ])
  expect(requested).toEqual([
    {
      ...{ nodes: ['node1', 'node2'], categories: ['instance', 'storage'], collectors: ['drbd'] },
      ...{ reports: false, after: null, limit: 1000 },
    },
    expect.objectContaining({ after: 'more' }),
  ])
})

test('as JSON it is the list of /3, with the reports where they are asked for, and the exit code is the same', async () => {
  const { reports: _, ...item } = bad
  const short = await run('--json', [[bad]])
  expect([JSON.parse(short.stdout), short.exit]).toEqual([[item], 1])
  const whole = await run('--json --reports', [[{ ...bad, reports: '[{"name":"lv"}]' }]])
  expect(JSON.parse(whole.stdout)).toEqual([{ ...item, reports: [{ name: 'lv' }] }])
  expect(whole.asked[0]?.reports).toBe(true)
})

test('live it shows them again and again until it is interrupted, and ends as the last table says', async () => {
  const clock = new SteppedClock()
  const interrupt = new AbortController()
  const live = run('--live --interval 5 --no-headers', [[fine], [fine, bad]], { clock, interrupt: interrupt.signal })
  await clock.pass(0)
  await clock.pass(5)
  interrupt.abort()
  const { stdout, exit } = await live
  const pictures = stdout.split('\n\n')
  expect(stdout).toContain('1 nodes: 1 ok  (Ctrl-C ends)\n\nnode1.example ok ')
  expect(stdout).toContain('2 nodes: 1 ok, 1 BAD  (Ctrl-C ends)\n\nnode1.example ok ')
  expect([pictures.length, exit]).toEqual([4, 1])
})

test('an interrupt ends it also while it waits for the nodes', async () => {
  const interrupt = new AbortController()
  const gantry = { monitoring: () => new Promise(() => undefined) } as unknown as GantryMaster
  const master = Object.assign(new FakeMaster(), { gantry })
  const live = runCli(master, ['gnt', 'cluster', 'monitor', '--live'], { interrupt: interrupt.signal })
  interrupt.abort()
  expect(await live).toMatchObject({ exit: 0, stdout: '' })
})

test.each([
  ['--live --json', /^--live shows a table/],
  ['--live --interval 0', /^--interval: give 1 second or more/],
])('%s is refused', async (line, text) => {
  const { exit, stderr } = await run(line, [])
  expect([exit, stderr]).toEqual([1, expect.stringMatching(text)])
})

test('its help has an example and says what the exit code means', async () => {
  const { stdout } = await run('--help', [])
  expect(stdout).toMatch(/exit code/)
  expect(stdout).toMatch(/\nExample\n=======\n {2}gnt-cluster monitor --live/)
})
