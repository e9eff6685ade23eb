// What commands print with `--format` is what `/3` shows.
import { parse } from 'yaml'
import type { Command } from '../../../../src/cli/command'
import { DATA_OPTIONS } from '../../../../src/cli/output/data'
import { ALL_TOOLS } from '../../../support/all-tools'
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const run = (words: string, master = new FakeMaster()) => runCli(master, words.split(' '))
const json = async (words: string): Promise<unknown> => JSON.parse((await run(words)).stdout)

const hasData = ({ data, options }: Command) => data !== undefined || DATA_OPTIONS.every((one) => options.includes(one))

test('every command that lists or shows objects prints them as data', () => {
  const shows =
    /^(list(-.*)?|info|diagnose|volumes|permissions|locks|search-tags|queue|watcher|version|getmaster|health|power|balance|capacity|whatif)$/
  const without = ALL_TOOLS.flatMap(({ name, commands }) =>
    commands.flatMap((one) => (shows.test(one.name) && !hasData(one) ? [`${name} ${one.name}`] : [])),
  )
  expect(without).toEqual([])
})

test('JSON has the fields that /3 shows, times as texts, and null where nothing is known', async () => {
  const [first] = (await json('gnt-instance list --json inst1')) as Record<string, unknown>[]
  expect(first).toMatchObject({ name: 'inst1.gnt.example', 'nic.macs': expect.any(Array), network_port: null })
  expect(first?.['ctime']).toMatch(/^2026-\d\d-\d\dT[\d:.]+Z$/)
  const [node] = (await json('gnt-node info --json node1')) as Record<string, unknown>[]
  expect(node).toMatchObject({ name: 'node1.gnt.example', master_candidate: true, tags: [] })
})

test('-o chooses the fields; one that is not there is a failure', async () => {
  expect(await json('gnt-instance list --json -o name,be/maxmem inst1')).toEqual([
    { name: 'inst1.gnt.example', 'be/maxmem': 64 },
  ])
  const { exit, stdout, stderr } = await run('gnt-instance list --json -o name,nosuch')
  expect([exit, stdout, stderr]).toEqual([14, '', 'There are no fields nosuch\n'])
})

test('YAML and CSV have the same objects', async () => {
  const objects = await json('gnt-node list --output-format json -o name,pinst_list,offline')
  expect(parse((await run('gnt-node list --output-format yaml -o name,pinst_list,offline')).stdout)).toEqual(objects)
  const { stdout } = await run('gnt-node list --output-format csv -o name,offline,pinst_list node2')
  expect(stdout.split('\n')).toEqual([
    'name,offline,pinst_list',
    expect.stringMatching(/^node2\.gnt\.example,false,"\[""inst1\.gnt\.example"".*\]"$/),
    '',
  ])
  const bare = await run('gnt-node list --output-format csv --no-headers -o name node2')
  expect(bare.stdout).toBe('node2.gnt.example\n')
})

test('a format that is not there is refused, and what Ganeti knows may still be cut short', async () => {
  expect(await run('gnt-node list --output-format xml')).toMatchObject({ exit: 2 })
  expect((await run('gnt-node list --out name --no-headers node2')).stdout).toBe('node2.gnt.example\n')
})

test('info of what is not there fails, and prints no data', async () => {
  expect(await run('gnt-filter info --json nosuch')).toMatchObject({ exit: 1, stdout: '' })
})

test('the queue and the watcher tell how they are, and do nothing but that where data are wanted', async () => {
  expect(await json('gnt-cluster queue --json info')).toEqual({ drained: false })
  expect(await json('gnt-cluster watcher --json info')).toEqual({ paused_until: null, next_run: null, groups: [] })
  const master = new FakeMaster()
  master.configValues['watcher_pause'] = 4e9
  const { stdout, stderr } = await run('gnt-cluster watcher --output-format yaml info', master)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^paused_until: \d{4}-\d\d-\d\dT[\d:.]+Z\n/)
  for (const verb of ['queue drain', 'watcher continue', 'watcher pause 1h']) {
    const refused = await run(`gnt-cluster ${verb.replace(' ', ' --json ')}`, master)
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining("Only 'info' prints data")])
  }
  expect((await run('gnt-cluster watcher info', master)).stdout).toMatch(/^The watcher is paused until /)
})

test('providers of external storage are objects with the fields of their query', async () => {
  const valid = [['/srv/ext/pvdr1', true, '', [['p', 'what it is']]]]
  const row = ['pvdr1', { node1: valid }, { default: true }, [['p', 'what it is']]]
  const displayed = {
    name: 'pvdr1',
    node_status: { node1: valid },
    nodegroup_status: { default: true },
    parameters: row[3],
  }
  const answering = (result: unknown) => new FakeMaster([{ id: 1, result }])
  for (const verb of ['diagnose', 'info', 'info pvdr1']) {
    const { stdout } = await run(`gnt-storage ${verb.replace(/ |$/, ' --json ').trim()}`, answering([row]))
    expect(JSON.parse(stdout)).toEqual([displayed])
  }
  expect((await run('gnt-storage diagnose --json', answering([]))).stdout).toBe('[]\n')
  expect(await run('gnt-storage info --json pvdr1 other', answering([row]))).toMatchObject({
    ...{ exit: 1, stdout: '', stderr: expect.stringContaining('ExtStorage provider other not found') },
  })
})

test('the versions and the master are fields of what /3 shows of the cluster', async () => {
  const master = new FakeMaster()
  master.clusterInfo = { software_version: '3.0.2', os_api_version: 20, name: 'c' }
  const { stdout } = await run('gnt-cluster version --json', master)
  expect(JSON.parse(stdout)).toEqual({ software_version: '3.0.2', os_api_version: 20 })
  expect(await json('gnt-cluster getmaster --json')).toEqual({ master: expect.stringMatching(/^node1/) })
})

test('answers of nodes about their power and health are data, and one that does not answer is a failure', async () => {
  const requested = async (words: string, result: unknown) => run(words, new FakeMaster([{ id: 7, result }]))
  const health = await requested('gnt-node health --json', [
    [[0, 'node1'], [0, [['fan', 'OK'], ['disk', 'WARNING']]]], // prettier-ignore
    [[0, 'node2'], [4, null]], // prettier-ignore
  ])
  const items = [
    { item: 'fan', status: 'OK' },
    { item: 'disk', status: 'WARNING' },
  ]
  const displayed = [
    { name: 'node1', health: items },
    { name: 'node2', health: null },
  ]
  expect([health.exit, JSON.parse(health.stdout)]).toEqual([1, displayed])
  const power = await requested('gnt-node power --output-format csv status', [[[0, 'node1'], [0, { powered: true }]]]) // prettier-ignore
  expect([power.exit, power.stdout]).toEqual([0, 'name,powered\nnode1,true\n'])
  const on = await requested('gnt-node power --json on node1', [])
  expect([on.exit, on.stderr]).toEqual([1, expect.stringContaining("Only 'status' prints data")])
})

test('tags are a list', async () => {
  expect(Array.isArray(await json('gnt-cluster list-tags --json'))).toBe(true)
})
