// Which of two copies has more, and when the master does not start with less.
import { openStore } from '../../../src/config/store'
import { statusOf } from '../../../src/config/copy-status'
import { lacks, refuseLess } from '../../../src/replication/config-status'
import { buildNode, master, smallConfig, storeOptions } from '../config/builders'
import { FakeNodes } from '../daemons/wconfd/support'

const own = { config_serial: 10, gantry_serial: 8, taken_ms: 0, master: 'me' }

test.each([
  ['the same', own, undefined],
  ['less', { ...own, config_serial: 9, gantry_serial: 1 }, undefined],
  ['a newer configuration', { ...own, config_serial: 11 }, 'config.data with serial number 11 (here: 10)'],
  ['newer data of ours', { ...own, gantry_serial: 9 }, 'gantry.data with serial number 9 (here: 8)'],
  ['more of another master', { ...own, config_serial: 11, master: 'the former one' }, undefined],
])('another copy with %s', (_, other, expected) => expect(lacks(own, other)).toBe(expected))

test('files that a person has taken count more than older ones', () => {
  const taken = { ...own, taken_ms: 5 }
  expect(lacks(taken, { ...own, config_serial: 99 })).toBeUndefined()
  expect(lacks(taken, { ...taken, config_serial: 99 })).toContain('99')
})

describe('the master does not start', () => {
  const config = smallConfig()
  const documents = async (takeFiles: boolean) => {
    const store = await openStore({ ...(await storeOptions(config)), takeFiles })
    await store.change([['addNode', buildNode(config, 2, { master_candidate: true })]])
    await store.close(false)
    return store.documents()
  }
  const start = async (answer: FakeNodes['answer'], takeFiles = false) => {
    const nodes = new FakeNodes()
    nodes.answer = answer
    const { clock, paths } = await storeOptions(config)
    await refuseLess(await documents(takeFiles), { nodes, clock, paths })
  }
  const more: FakeNodes['answer'] = () =>
    Promise.resolve({ config_serial: 1, gantry_serial: 23, taken_ms: 0, master: master(config).uuid })

  test('where a candidate has more, which it names with the ways out', async () => {
    await expect(start(more)).rejects.toThrow(
      /^node2.example.com has gantry.data with serial number 23 \(here: 0\): this master has lost data. Restore .* from a master candidate or a backup, or make node2.example.com the master. If .*--take-file$/,
    )
  })

  test('unless a person has said that its files are right, or the candidate cannot tell', async () => {
    await start(more, true)
    await start(() => Promise.reject(new Error('the node does not know this call')))
    await start(() => Promise.resolve(null))
  })
})

test('a copy is told by its documents', async () => {
  const store = await openStore(await storeOptions(smallConfig()))
  await store.change([['setGantry', 'tokens', 'k', 1]])
  expect(statusOf(store.documents())).toEqual({
    ...{ config_serial: 2, gantry_serial: 2, taken_ms: 0 },
    master: master(smallConfig()).uuid,
  })
  await store.close(false)
})
