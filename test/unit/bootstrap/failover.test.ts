// A candidate becomes the master only when nothing that was acknowledged is lost.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { applyChange } from '../../../src/config/changes'
import { ssconfValues } from '../../../src/config/ssconf'
import { createConfig, loadFiles } from '../../../src/config/store-files'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { type Clock, systemClock } from '../../../src/lib/clock'
import { systemDisk as disk } from '../../../src/lib/disk'
import { silentLog as log } from '../../../src/lib/log'
import { type Paths, pathsOf } from '../../../src/lib/paths'
import { systemRandom as random } from '../../../src/lib/random'
import type { ConfigData } from '../../../src/model/config'
import type { ReplicaContents } from '../../../src/rpc/node/dicts'
import { majorityHealthy, masterFailover, surveyNodes } from '../../../src/bootstrap/failover'
import { at, buildNode, master, smallConfig } from '../config/builders'
import { FakeNodes } from '../daemons/wconfd/support'

const NODE = (number: number) => `node${number}.example.com`
/** Waits of seconds pass in milliseconds. */
const clock: Clock = {
  ...systemClock,
  after: (ms, action, options) => systemClock.after(ms / 100, action, options),
  sleep: (ms) => systemClock.sleep(ms / 100),
}

let folder: string
let paths: Paths
let config: ConfigData
let nodes: FakeNodes
let contents: Record<string, ReplicaContents>
let unreachable: Set<string>

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gfo-'))
  paths = pathsOf(path.join(folder, NODE(2)), NODE(2))
  config = threeNodes()
  await disk.makeDirectory(paths.socketDir)
  await disk.makeDirectory(paths.queueDir)
  await createConfig({ disk, paths }, config)
  for (const [key, value] of Object.entries(ssconfValues(config))) fs.writeFileSync(paths.ssconf(key), value)
  const same = { config_serial: config.serial_no, jobs: [[1, true] as const, [2, false] as const] }
  contents = { [NODE(1)]: same, [NODE(2)]: same, [NODE(3)]: same }
  unreachable = new Set()
  nodes = new FakeNodes()
  nodes.answer = (node, call) => {
    if (unreachable.has(node)) return Promise.reject(new Error('nobody is there'))
    if (call === 'master_node_name') return Promise.resolve(`${NODE(1)}\n`)
    return Promise.resolve(call === 'gantry_replica_status' ? contents[node] : null)
  }
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

function threeNodes(): ConfigData {
  let documents = { config: smallConfig(), gantry: EMPTY_GANTRY }
  const { cluster } = documents.config
  documents = { ...documents, config: { ...documents.config, cluster: { ...cluster, master_ip: '127.0.0.9' } } }
  for (const n of [2, 3])
    documents = applyChange(
      documents,
      ['addNode', buildNode(documents.config, n, { master_candidate: true })],
      at(1),
    ).documents
  return documents.config
}

const failOver = async (noVoting = false, on = paths) =>
  masterFailover({ paths: on, disk, clock, random, log, nodes, noVoting }, await survey())
const survey = () => surveyNodes({ paths, disk, nodes, clock })
const requested = (...calls: string[]) =>
  nodes.calls.flatMap(([node, call]) => (calls.includes(call) ? [`${node} ${call}`] : []))
const masterNow = async () => {
  const { documents } = await loadFiles({ disk, paths, clock, random, log })
  return documents.config.nodes[documents.config.cluster.master_node]?.name
}

test('the old master is stopped, then all nodes are told, and then the new one begins', async () => {
  fs.writeFileSync(`${paths.queueDir}/drain`, '')
  fs.writeFileSync(paths.eventsFile, 'of a former time\n')
  await expect(failOver()).resolves.toEqual({ ok: true, warnings: [] })
  await expect(masterNow()).resolves.toBe(NODE(2))
  const steps = ['node_stop_master', 'write_ssconf_files', 'node_deactivate_master_ip', 'node_start_master_daemons']
  const inTurn = requested(...steps)
  expect([...inTurn.slice(0, 2), ...inTurn.slice(2, 4).sort(), ...inTurn.slice(4)]).toEqual([
    `${NODE(1)} node_stop_master`,
    `${NODE(2)} write_ssconf_files`,
    `${NODE(1)} write_ssconf_files`,
    `${NODE(3)} write_ssconf_files`,
    `${NODE(1)} node_deactivate_master_ip`,
    `${NODE(2)} node_start_master_daemons`,
  ])
  expect(nodes.of('write_ssconf_files')[0]?.[2]).toMatchObject([{ master_node: [NODE(2)] }])
  expect(fs.readdirSync(paths.queueDir)).toEqual([])
  expect(fs.existsSync(paths.eventsFile)).toBe(false)
})

test('an old master that is gone is named, with what is to be done by hand', async () => {
  unreachable.add(NODE(1))
  await expect(failOver()).resolves.toEqual({
    ok: true,
    warnings: [
      'Could not disable the master IP: nobody is there',
      `Could not disable the master role on the old master ${NODE(1)}, please disable manually: nobody is there`,
    ],
  })
  await expect(masterNow()).resolves.toBe(NODE(2))
})

test('the node must be a candidate, and not the master', async () => {
  const asMaster = { ...paths, hostname: NODE(1) }
  await expect(failOver(false, asMaster)).rejects.toMatchObject({
    text:
      `This commands must be run on the node where you want the new master to be. ${NODE(1)} is already the master; ` +
      'gnt --node NAME cluster master-failover runs it on another virtual node',
  })
  fs.writeFileSync(paths.ssconf('master_candidates'), `${NODE(1)}\n${NODE(3)}\n`)
  await expect(failOver()).rejects.toMatchObject({
    code: 'wrong_state',
    text: expect.stringMatching(/Current list of master candidates is:\nnode3\.example\.com$/),
  })
  expect(requested('node_stop_master')).toEqual([])
})

test('a node that is behind the votes of the others does not take over', async () => {
  const { answer } = nodes
  nodes.answer = (node, call, args) =>
    call === 'master_node_name' ? Promise.resolve(NODE(3)) : answer(node, call, args)
  await expect(failOver()).rejects.toThrow(`I believe the master is ${NODE(1)} but the other nodes voted ${NODE(3)}.`)
  await expect(masterNow()).resolves.toBe(NODE(1))
})

test.each([
  ['a newer configuration', { config_serial: 99, jobs: [] }, 'serial number 99'],
  ['a job', { config_serial: 1, jobs: [[7, false]] }, 'job 7'],
  [
    'the end of a job',
    {
      config_serial: 1,
      jobs: [
        [1, true],
        [2, true],
      ],
    },
    'job 2',
  ],
] as const)(
  'who would lose %s that another candidate has does not take over without being forced',
  async (_, has, text) => {
    contents[NODE(3)] = has
    await expect(failOver()).rejects.toThrow(new RegExp(`would lose what ${NODE(3)} has: .*${text}\\b.*--no-voting`))
    expect(requested('node_stop_master')).toEqual([])
    await expect(failOver(true)).resolves.toMatchObject({ ok: true })
  },
)

test.each([
  ['from another candidate', 'gantry_replica_status', NODE(3)],
  ['from the old master, while it was stopped', 'node_stop_master', NODE(1)],
])('a change that is on its way here is waited for: %s', async (_, from, node) => {
  const { answer } = nodes
  const { jobs } = contents[node] ?? { jobs: [] }
  let probes = 0
  nodes.answer = (requested, call, args) => {
    // Its own copy is the last one that the old master's change gets to.
    if (call === from) contents[node] = { config_serial: config.serial_no + 1, jobs }
    if (requested === NODE(2) && call === 'gantry_replica_status' && contents[node]?.config_serial !== config.serial_no)
      contents[NODE(2)] = { config_serial: config.serial_no + (++probes > 3 ? 1 : 0), jobs }
    return answer(requested, call, args)
  }
  await expect(failOver()).resolves.toEqual({ ok: true, warnings: [] })
  expect(probes).toBeGreaterThan(3)
  await expect(masterNow()).resolves.toBe(NODE(2))
})

test.each([
  ['newer data of ours', 0, { gantry_serial: 9 }, 'gantry.data with serial number 9 \\(here: 0\\)'],
  ['a later history', 0, { config_serial: 99, forks: [['x', 5] as const] }, 'config.data with serial number 99'],
])('%s at another candidate is not given up either', async (_, own, more, text) => {
  const status = { config_serial: config.serial_no, gantry_serial: own, forks: [], master: master(config).uuid }
  for (const n of [1, 2, 3]) contents[NODE(n)] = { config_serial: status.config_serial, config: status, jobs: [] }
  contents[NODE(3)] = { config_serial: status.config_serial, config: { ...status, ...more }, jobs: [] }
  await expect(failOver()).rejects.toThrow(new RegExp(`would lose what ${NODE(3)} has: ${text}`))
})

test('a copy of a history that has ended is not waited for', async () => {
  const status = { config_serial: 7, gantry_serial: 7, forks: [['x', 5] as const], master: master(config).uuid }
  for (const n of [1, 2]) contents[NODE(n)] = { config_serial: 7, config: status, jobs: [] }
  contents[NODE(3)] = { config_serial: 99, config: { ...status, config_serial: 99, forks: [] }, jobs: [] }
  await expect(failOver()).resolves.toEqual({ ok: true, warnings: [] })
})

test('candidates whose copies are not compared are named', async () => {
  const { answer } = nodes
  const warning = `The master candidate ${NODE(3)} did not tell what it has. If it has more than this node, its files are kept there, and gnt-cluster verify names them when it is back` // prettier-ignore
  nodes.answer = (node, call, args) =>
    node === NODE(3) && call === 'gantry_replica_status' ? new Promise(() => undefined) : answer(node, call, args)
  await expect(failOver()).resolves.toEqual({ ok: true, warnings: [warning] })
})

test('so are those that do not answer at all', async () => {
  unreachable.add(NODE(3))
  await expect(failOver()).resolves.toMatchObject({
    warnings: [expect.stringMatching(`^The master candidate ${NODE(3)} `)],
  })
})

test('an archived job is not lost', async () => {
  contents[NODE(3)] = { config_serial: 1, jobs: [[7, true]] }
  fs.mkdirSync(`${paths.archiveDir}/0`, { recursive: true })
  fs.writeFileSync(`${paths.archiveDir}/0/job-7`, '{}')
  await expect(failOver()).resolves.toMatchObject({ ok: true })
})

test('the work of the old master until it was stopped counts, and it goes on when it has more', async () => {
  const { answer } = nodes
  nodes.answer = (node, call, args) => {
    if (call === 'node_stop_master') contents[NODE(1)] = { config_serial: 99, jobs: [] }
    return answer(node, call, args)
  }
  await expect(failOver()).rejects.toThrow('serial number 99')
  expect(requested('node_stop_master', 'node_start_master_daemons')).toEqual([
    `${NODE(1)} node_stop_master`,
    `${NODE(1)} node_start_master_daemons`,
  ])
  await expect(masterNow()).resolves.toBe(NODE(1))
})

test('the majority is healthy while more than half of the nodes answer', async () => {
  unreachable.add(NODE(1))
  expect(majorityHealthy(await survey(), false)).toEqual({ healthy: true, silent: [NODE(1)] })
  unreachable.add(NODE(3))
  expect(majorityHealthy(await survey(), false)).toMatchObject({ healthy: false })
  fs.rmSync(paths.ssconf('offline_nodes'))
  fs.writeFileSync(paths.ssconf('offline_nodes'), `${NODE(1)}\n${NODE(3)}\n`)
  expect(majorityHealthy(await survey(), true)).toEqual({ healthy: true, silent: [] })
})

test('a node in no cluster is told so', async () => {
  fs.rmSync(paths.ssconf('node_primary_ips'))
  await expect(failOver()).rejects.toThrow('this node is in no cluster')
})
