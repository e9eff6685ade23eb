// Where confd has the configuration from: the `follow` socket while somebody serves it, and the files otherwise.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { openStore } from '../../../../src/config/store'
import { createConfig } from '../../../../src/config/store-files'
import { ConfigCopy } from '../../../../src/daemons/confd/config-copy'
import { systemClock as clock } from '../../../../src/lib/clock'
import { systemDisk as disk } from '../../../../src/lib/disk'
import { silentLog as log } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { seededRandom } from '../../../../src/lib/random'
import { FollowFeed, serveFollow } from '../../../../src/rpc/wconfd/follow-server'
import { smallConfig } from '../../config/builders'
import { eventually } from '../wconfd/support'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gconfd-'))
const paths = pathsOf(path.join(root, 'node1'), 'node1')
const options = { files: fs, paths, clock, log, disk, random: seededRandom(1) }
let copy: ConfigCopy

beforeEach(() => {
  fs.mkdirSync(paths.dataDir, { recursive: true })
  fs.mkdirSync(paths.socketDir, { recursive: true })
})
afterEach(() => {
  copy.close()
  fs.rmSync(paths.root, { recursive: true })
})
afterAll(() => fs.rmSync(root, { recursive: true }))

const tags = () => copy.current()?.cluster.tags.join()
const named = (cluster_name: string) => ({
  ...smallConfig(),
  cluster: { ...smallConfig().cluster, cluster_name },
})

test('changes come over the socket, and what was last known stays when nobody serves it', async () => {
  await createConfig(options, smallConfig())
  const store = await openStore(options)
  const feed = new FollowFeed(() => store.documents(), false)
  store.subscribe((delta) => feed.publish(delta))
  const serve = () => serveFollow({ path: paths.socket('follow'), log }, feed)
  const server = await serve()
  const tag = (name: string) => store.change([['addTags', 'cluster', '', [name]]])

  copy = await ConfigCopy.open(options)
  await tag('one')
  await eventually(() => expect(tags()).toBe('one'))
  await server.close()
  await store.close(true)
  fs.rmSync(paths.configFile)
  expect(tags()).toBe('one')

  await createConfig(options, smallConfig())
  const again = await openStore(options)
  const newFeed = new FollowFeed(() => again.documents(), false)
  again.subscribe((delta) => newFeed.publish(delta))
  const newServer = await serveFollow({ path: paths.socket('follow'), log }, newFeed)
  await again.change([['addTags', 'cluster', '', ['other']]])
  await eventually(() => expect(tags()).toBe('other'))
  await newServer.close()
  await again.close(false)
})

test('without the socket it is what the files say, the journal included', async () => {
  await createConfig(options, smallConfig())
  const store = await openStore(options)
  await store.change([['addTags', 'cluster', '', ['one']]])
  copy = await ConfigCopy.open(options)
  expect(tags()).toBe('one')

  await store.change([['addTags', 'cluster', '', ['two']]])
  await eventually(() => expect(tags()).toBe('one,two'))
  await store.close(true)
  await createConfig(options, named('replaced'))
  await eventually(() => expect(copy.current()?.cluster.cluster_name).toBe('replaced'))
})

test('files that cannot be read leave what was known, and nobody else is disturbed', async () => {
  copy = await ConfigCopy.open(options)
  expect(copy.current()).toBeUndefined()
  await createConfig(options, named('first'))
  await eventually(() => expect(copy.current()?.cluster.cluster_name).toBe('first'))
  // Torn by a writer that does not replace it in one step, and a journal of another configuration.
  fs.writeFileSync(paths.configFile, '{"version":')
  fs.writeFileSync(paths.journalFile, 'nonsense\n')
  fs.writeFileSync(paths.hmacKey, 'key\n')
  await eventually(() => expect(copy.key()).toBe('key\n'))
  expect(copy.current()?.cluster.cluster_name).toBe('first')
  await disk.write(paths.configFile, fs.readFileSync(path.join(__dirname, '../../../golden/state/config.data')))
  await eventually(() => expect(copy.current()?.cluster.cluster_name).toBe('cluster.gnt.example'))
  expect(fs.readdirSync(paths.dataDir).sort()).toEqual(['config.data', 'config.journal', 'gantry.data', 'hmac.key'])
})

test('a key that is replaced counts, and one that cannot be read any more still does', async () => {
  fs.writeFileSync(paths.hmacKey, 'first\n')
  copy = await ConfigCopy.open(options)
  expect(copy.key()).toBe('first\n')
  await disk.write(paths.hmacKey, 'second\n')
  await eventually(() => expect(copy.key()).toBe('second\n'))
})
