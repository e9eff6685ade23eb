// When the master does not start with less.
import { forksOf, type Fork } from '../../../src/config/copy-status'
import { openStore } from '../../../src/config/store'
import { systemClock } from '../../../src/lib/clock'
import { silentLog } from '../../../src/lib/log'
import { systemRandom } from '../../../src/lib/random'
import { refuseLess } from '../../../src/replication/config-status'
import { buildNode, master, smallConfig, storeOptions } from '../config/builders'
import { FakeNodes } from '../daemons/wconfd/support'

const config = smallConfig()
const warned: unknown[] = []
const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) }
/** Waits of seconds pass in milliseconds. */
const clock = {
  ...systemClock,
  after: ((ms, action) => systemClock.after(ms / 100, action)) as typeof systemClock.after,
}

beforeEach(() => void (warned.length = 0))

/** Returns the beginnings of histories. */
async function start(answer: FakeNodes['answer'], takeFiles = false): Promise<Fork[]> {
  const store = await openStore({ ...(await storeOptions(config)), takeFiles })
  await store.change([['addNode', buildNode(config, 2, { master_candidate: true })]])
  const nodes = new FakeNodes()
  nodes.answer = answer
  const paths = { ...(await storeOptions(config)).paths, hostname: 'node1.example.com' }
  try {
    await refuseLess(store, { nodes, clock, log, random: systemRandom, paths })
    await refuseLess(store, { nodes, clock, log, random: systemRandom, paths })
    return forksOf(store.gantry())
  } finally {
    await store.close(false)
  }
}

const more: FakeNodes['answer'] = () =>
  Promise.resolve({ config_serial: 1, gantry_serial: 23, forks: [], master: master(config).uuid })

test('a candidate that has more is named with the ways out', async () => {
  await expect(start(more)).rejects.toThrow(
    /^node2.example.com has gantry.data with serial number 23 \(here: 0\): this master has lost data. Restore .* from a master candidate or a backup, or make node2.example.com the master. If .*--take-file$/,
  )
})

test('the master starts if a person has said that its files are right, or the candidate cannot know', async () => {
  await start(more, true)
  expect(await start(() => Promise.reject(new Error('the node does not know this call')))).toEqual([])
  expect(await start(() => Promise.resolve(null))).toEqual([])
  expect(warned).toEqual([])
})

test.each([
  ['fails', () => Promise.reject(new Error('down'))],
  ['does not answer', () => new Promise<never>(() => undefined)],
])('it starts without a candidate that %s, names it, and begins a history of its own', async (_, answer) => {
  expect(await start(answer)).toEqual([[expect.any(String), 2]])
  expect(warned).toEqual(Array(2).fill(expect.objectContaining({ node: 'node2.example.com' })))
})
