// The master brings each change to its candidates, and waits for none in vain.
import { openStore, type ConfigStore } from '../../../src/config/store'
import type { Clock } from '../../../src/lib/clock'
import { nextTurn, systemClock } from '../../../src/lib/clock'
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { CONFIG_STATUS_S, REPLICATION_S } from '../../../src/model/limits/replication'
import { openReplication, type Replication } from '../../../src/replication/replication'
import { buildInstance, buildNode, master, smallConfig, storeOptions } from '../config/builders'
import { eventually, FakeNodes } from '../daemons/wconfd/support'

const NODE2 = 'node2.example.com'
const NODE3 = 'node3.example.com'

/** Waits of seconds pass in milliseconds. */
const fastClock: Clock = {
  ...systemClock,
  after: (ms, action, options) => systemClock.after(ms / 100, action, options),
}

let store: ConfigStore
let nodes: FakeNodes
let replication: Replication

async function open(answer?: FakeNodes['answer']): Promise<void> {
  const config = smallConfig()
  store = await openStore(await storeOptions(config))
  for (const n of [2, 3]) await store.change([['addNode', buildNode(config, n, { master_candidate: n === 2 })]])
  nodes = new FakeNodes()
  if (answer) nodes.answer = answer
  const paths = pathsOf('/r/n1', 'n1')
  replication = await openReplication({ nodes, clock: fastClock, log: silentLog, paths, store })
  await replication.ssconf.request()
}

const tag = (name: string) => store.change([['addTags', 'cluster', '', [name]]])
const state = () => replication.status().map(({ name, state: now }) => [name, now])
const notes = () => Object.values(store.gantry().sections['copies'] ?? {}).map((note) => [Object(note).node, Object(note).text]) // prettier-ignore

afterEach(async () => {
  replication.close()
  await store.close(false)
})

test('a candidate gets a full copy and then each change before it is acknowledged', async () => {
  await open()
  expect(nodes.of('gantry_config_replace').map(([name]) => name)).toEqual([NODE2])
  expect(state()).toEqual([[NODE2, 'in sync']])
  await tag('one')
  const [[name, , [record]] = ['', '', []]] = nodes.of('gantry_config_append')
  expect(name).toBe(NODE2)
  expect(String(record)).toContain('"tags":["one"]')
})

test('a change waits for a slow candidate', async () => {
  await open()
  let release = () => undefined as void
  nodes.answer = () => new Promise((resolve) => (release = () => resolve(null)))
  let done = false
  const change = tag('one').then(() => (done = true))
  await eventually(() => expect(nodes.of('gantry_config_append')).toHaveLength(1))
  expect(done).toBe(false)
  release()
  await change
})

test('a change waits for a candidate no longer than a start does, which has nothing else to do', () => {
  expect(REPLICATION_S).toBeLessThanOrEqual(CONFIG_STATUS_S)
})

test('a candidate that does not answer is not waited for again, is shown, and catches up', async () => {
  await open()
  let silent = true
  nodes.answer = () => (silent ? new Promise(() => undefined) : Promise.resolve(null))
  await tag('one')
  expect(replication.status()).toEqual([
    expect.objectContaining({
      name: NODE2,
      state: 'out of sync',
      reason: `no answer within ${REPLICATION_S} s`,
    }),
  ])
  const before = nodes.of('gantry_config_append').length
  await tag('two')
  expect(nodes.of('gantry_config_append')).toHaveLength(before)
  silent = false
  nodes.answer = () => Promise.resolve(null)
  await eventually(() => expect(state()).toEqual([[NODE2, 'in sync']]))
  const copies = nodes.of('gantry_config_replace')
  expect(String(copies.at(-1)?.[2][0])).toContain('"tags":["one","two"]')
})

test('a change during a full copy follows it', async () => {
  await open()
  nodes.answer = () => Promise.reject(new Error('needs a full copy'))
  await tag('one')
  let finish = () => undefined as void
  nodes.answer = (_, call) =>
    call === 'gantry_config_replace' ? new Promise((resolve) => (finish = () => resolve(null))) : Promise.resolve(null)
  await eventually(() => expect(nodes.of('gantry_config_replace').length).toBeGreaterThan(1))
  await tag('two')
  const before = nodes.of('gantry_config_append').length
  finish()
  await eventually(() => expect(state()).toEqual([[NODE2, 'in sync']]))
  expect(nodes.of('gantry_config_append')).toHaveLength(before + 1)
  expect(String(nodes.of('gantry_config_append').at(-1)?.[2][0])).toContain('two')
})

test('a candidate that has more is not overwritten, and is shown, until the master knows as much', async () => {
  const status = { config_serial: 1, gantry_serial: 99, forks: [], master: master(smallConfig()).uuid }
  await open((_, call) => Promise.resolve(call === 'gantry_config_status' ? status : null))
  expect(nodes.of('gantry_config_replace')).toEqual([])
  expect(replication.status()).toEqual([
    expect.objectContaining({
      state: 'out of sync',
      reason: 'it has gantry.data with serial number 99 (here: 0), and is not overwritten with less',
      has_more: true,
    }),
  ])
  await eventually(() => expect(notes()).toEqual([[NODE2, expect.stringContaining('is not overwritten with less')]]))
  // The note itself is a change, so what the master has is another number at the next look.
  const probes = nodes.of('gantry_config_status').length
  await eventually(() => expect(nodes.of('gantry_config_status').length).toBeGreaterThan(probes + 3))
  expect(notes()).toHaveLength(1)
  nodes.answer = () => Promise.resolve(null)
  await eventually(() => expect(state()).toEqual([[NODE2, 'in sync']]))
  expect(notes()).toHaveLength(1)
})

test('what a candidate has kept of its former copy is noted', async () => {
  await open((_, call) => Promise.resolve(call === 'gantry_config_replace' ? ['/x/config.data.rejected-1'] : null))
  await eventually(() =>
    expect(notes()).toEqual([[NODE2, 'the master lacks what this copy had; it is kept as /x/config.data.rejected-1']]),
  )
})

test.each([
  ['answers late', () => new Promise<never>(() => undefined)],
  ['fails', () => Promise.reject(new Error('it is being started'))],
])('a candidate that %s when it is asked what it has is not overwritten', async (_, answer) => {
  await open((_name, call) => (call === 'gantry_config_status' ? answer() : Promise.resolve(null)))
  await tag('one')
  expect(state()).toEqual([[NODE2, 'out of sync']])
  expect(nodes.of('gantry_config_replace')).toEqual([])
  nodes.answer = () => Promise.resolve(null)
  await eventually(() => expect(state()).toEqual([[NODE2, 'in sync']]))
})

describe('a flush copies everything to a candidate in sync', () => {
  let finish = () => undefined as void
  const copySlowly: FakeNodes['answer'] = (_, call) =>
    call === 'gantry_config_replace' ? new Promise((resolve) => (finish = () => resolve(null))) : Promise.resolve(null)
  const appended = () => nodes.of('gantry_config_append').map(([, , [record]]) => String(record))

  test('and changes wait for it meanwhile', async () => {
    await open()
    nodes.answer = copySlowly
    const flushed = replication.flush()
    let done = false
    const change = tag('one').then(() => (done = true))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect([done, state()]).toEqual([false, [[NODE2, 'in sync']]])
    finish()
    await change
    expect(appended()).toEqual([expect.stringContaining('"tags":["one"]')])
    await flushed
  })

  test('or, if it takes too long, the candidate is shown as out of sync', async () => {
    await open()
    nodes.answer = copySlowly
    void replication.flush()
    await tag('one')
    expect(state()).toEqual([[NODE2, 'out of sync']])
    finish()
    await eventually(() => expect(state()).toEqual([[NODE2, 'in sync']]))
    expect(appended()).toHaveLength(1)
  })

  test('and the copy never lacks a record that the candidate has already', async () => {
    await open()
    let answered = () => undefined as void
    nodes.answer = () => new Promise((resolve) => (answered = () => resolve(null)))
    const change = tag('one')
    await eventually(() => expect(appended()).toHaveLength(1))
    nodes.answer = () => Promise.resolve(null)
    const flushed = replication.flush()
    expect(String(nodes.of('gantry_config_replace').at(-1)?.[2][0])).toContain('"tags":["one"]')
    answered()
    await Promise.all([change, flushed])
  })
})

test('a candidate that runs Ganeti’s noded gets config.data as a file', async () => {
  await open((_, call) =>
    call.startsWith('gantry') ? Promise.reject(new Error('the node does not know this call')) : Promise.resolve(null),
  )
  expect(state()).toEqual([[NODE2, 'checkpoints']])
  await tag('one')
  await store.checkpoint({ force: true })
  await eventually(() => expect(nodes.of('upload_file')).toHaveLength(2))
  expect(nodes.of('upload_file').at(-1)?.[2][0]).toMatchObject({
    path: '/r/n1/var/lib/ganeti/config.data',
    content: expect.stringContaining('"tags":["one"]'),
    mode: 0o640,
  })
})

test('nodes become and cease to be candidates', async () => {
  await open()
  const uuid = Object.values(store.current().nodes).find(({ name }) => name === NODE3)?.uuid
  await store.change([['patchNode', uuid, { master_candidate: true }]])
  await eventually(() => expect(state()).toEqual(expect.arrayContaining([[NODE3, 'in sync']])))
  await store.change([['patchNode', uuid, { master_candidate: false }]])
  expect(state()).toEqual([[NODE2, 'in sync']])
})

test('ssconf goes to every node, and afterwards only what is new', async () => {
  await open()
  const sent = () => nodes.of('write_ssconf_files')
  expect(
    sent()
      .map(([name]) => name)
      .sort(),
  ).toEqual([master(store.current()).name, NODE2, NODE3].sort())
  expect(sent()[0]?.[2][0]).toMatchObject({ cluster_name: ['cluster.example.com'] })
  nodes.calls.length = 0
  const instance = buildInstance(store.current(), 1)
  await store.change([['addInstance', instance]])
  await replication.ssconf.request()
  expect(sent()).toHaveLength(3)
  expect(sent()[0]?.[2]).toEqual([{ instance_list: [instance.name] }])
  // Worked out and written once for all.
  expect(new Set(sent().map(([, , args]) => args)).size).toBe(1)
  nodes.calls.length = 0
  await store.change([['setInstanceStatus', instance.uuid, 'up', true, 'admin']])
  await replication.ssconf.request()
  expect(sent()).toEqual([])
})

test('what no ssconf file has, such as a port, makes nobody put the lists of all instances and nodes together', async () => {
  await open()
  const request = jest.spyOn(replication.ssconf, 'request')
  await store.change([['allocatePort'], ['addTcpUdpPort', 11005]])
  expect(request).not.toHaveBeenCalled()
  await tag('told')
  expect(request).toHaveBeenCalledTimes(1)
})

test('a node that missed its ssconf files is tried again', async () => {
  await open((node, call) =>
    node === NODE3 && call === 'write_ssconf_files' ? Promise.reject(new Error('down')) : Promise.resolve(null),
  )
  nodes.answer = () => Promise.resolve(null)
  nodes.calls.length = 0
  await eventually(() => expect(nodes.of('write_ssconf_files').map(([name]) => name)).toEqual([NODE3]))
})
