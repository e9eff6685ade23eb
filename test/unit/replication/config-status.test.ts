// When the master does not start with less.
import { openStore } from '../../../src/config/store'
import { systemClock } from '../../../src/lib/clock'
import { silentLog } from '../../../src/lib/log'
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

async function start(answer: FakeNodes['answer'], takeFiles = false): Promise<void> {
  const store = await openStore({ ...(await storeOptions(config)), takeFiles })
  await store.change([['addNode', buildNode(config, 2, { master_candidate: true })]])
  await store.close(false)
  const nodes = new FakeNodes()
  nodes.answer = answer
  await refuseLess(store.documents(), {
    nodes,
    clock,
    log,
    paths: { ...(await storeOptions(config)).paths, hostname: 'node1.example.com' },
  })
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
  await start(() => Promise.reject(new Error('the node does not know this call')))
  await start(() => Promise.resolve(null))
  expect(warned).toEqual([])
})

test.each([
  ['fails', () => Promise.reject(new Error('down'))],
  ['does not answer', () => new Promise<never>(() => undefined)],
])('it starts without a candidate that %s, and names it', async (_, answer) => {
  await start(answer)
  expect(warned).toEqual([expect.objectContaining({ node: 'node2.example.com' })])
})
