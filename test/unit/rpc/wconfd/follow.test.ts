// Followers of the configuration miss no change, and see no secret that is not theirs.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { recordFrom } from '../../../../src/config/records'
import { openStore } from '../../../../src/config/store'
import { silentLog } from '../../../../src/lib/log'
import { instanceUuid } from '../../../../src/model/ids'
import { CHECKPOINT_OBJECTS_AT_ONCE } from '../../../../src/model/limits/config'
import { WCONFD_ANSWER_S } from '../../../../src/model/limits/wconfd'
import { followConfig } from '../../../../src/rpc/wconfd/follow'
import { FollowFeed, serveFollow } from '../../../../src/rpc/wconfd/follow-server'
import { buildInstance, id, smallConfig, storeOptions } from '../../config/builders'
import { SteppedClock } from '../../../support/stepped-clock'
import { eventually } from '../../daemons/wconfd/support'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gfollow-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** A configuration that is sent in many slices. */
function largeConfig() {
  const config = smallConfig()
  const numbers = Array.from({ length: 3 * CHECKPOINT_OBJECTS_AT_ONCE + 1 }, (_, at) => at + 100)
  const instances = numbers.map((n) => buildInstance(config, n, { uuid: instanceUuid(id(n)) }))
  return { ...config, instances: recordFrom(instances.map((instance) => [instance.uuid, instance])) }
}

test('changes that are made while a snapshot is being sent come behind it', async () => {
  const store = await openStore(await storeOptions(largeConfig()))
  const before = store.current()
  const tag = (name: string) => store.change([['addTags', 'cluster', '', [name]]])
  const feed = new FollowFeed(() => {
    // When the first slices are on their way.
    if (store.current() === before) setImmediate(() => void tag('one').then(() => tag('two')))
    return store.documents()
  }, true)
  store.subscribe((delta) => feed.publish(delta))
  const server = await serveFollow({ path: path.join(folder, 'sock'), log: silentLog }, feed)

  const observed: string[] = []
  const follower = await followConfig(path.join(folder, 'sock'), { clock: systemClock }, ({ cluster }) =>
    observed.push(cluster.tags.join()),
  )
  await eventually(() => expect(observed).toEqual(['', 'one', 'one,two']))
  expect(follower.current()).toEqual(store.current())
  expect(follower.current().instances).toEqual(before.instances)
  expect(follower.gantry()).toEqual(store.gantry())

  follower.close()
  await server.close()
  await store.close(false)
})

test('a follower whom secrets are none of its business is told the settings of maintenance, and nothing else', async () => {
  const store = await openStore(await storeOptions(smallConfig()))
  const set = (section: string, key: string, value: unknown) => store.change([['setGantry', section, key, value]])
  await set('tokens', 'a', 'secret')
  await set('maintenance', 'harep', true)
  const feed = new FollowFeed(() => store.documents(), false)
  store.subscribe((delta) => feed.publish(delta))
  const server = await serveFollow({ path: path.join(folder, 'public'), log: silentLog }, feed)
  const follower = await followConfig(path.join(folder, 'public'), { clock: systemClock })
  expect(follower.gantry()?.sections).toEqual({ maintenance: { harep: true } })
  await set('tokens', 'b', 'secret')
  await set('maintenance', 'diagnose_command', 'check')
  await eventually(() =>
    expect(follower.gantry()?.sections).toEqual({ maintenance: { harep: true, diagnose_command: 'check' } }),
  )
  follower.close()
  await server.close()
  await store.close(false)
})

test('a daemon that hangs keeps nobody waiting for ever: it takes the connection, and says nothing', async () => {
  const requested: net.Socket[] = []
  const server = net.createServer((socket) => socket.once('data', () => requested.push(socket)))
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'hangs'), resolve))
  const clock = new SteppedClock()
  const following = followConfig(path.join(folder, 'hangs'), { clock, wait_s: WCONFD_ANSWER_S })
  const failed = expect(following).rejects.toThrow(`did not answer gantryFollow in ${WCONFD_ANSWER_S} s`)
  await eventually(() => expect(requested).toHaveLength(1))
  await clock.pass(WCONFD_ANSWER_S)
  await failed
  await eventually(() => expect(requested[0]?.destroyed).toBe(true))
  server.close()
})
