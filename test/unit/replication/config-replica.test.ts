// The copy of the configuration that a candidate keeps.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { openStore, type ConfigStore } from '../../../src/config/store'
import { systemClock } from '../../../src/lib/clock'
import { systemDisk } from '../../../src/lib/disk'
import { isServed } from '../../../src/lib/net/json-socket'
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { systemRandom } from '../../../src/lib/random'
import { followConfig } from '../../../src/rpc/wconfd/follow'
import { yieldFollow } from '../../../src/rpc/wconfd/follow-server'
import { refuseLess } from '../../../src/replication/config-status'
import { ConfigReplica } from '../../../src/replication/config-replica'
import { encodeRecord } from '../../../src/config/journal'
import { buildNode, smallConfig, storeOptions } from '../config/builders'
import { eventually, FakeNodes } from '../daemons/wconfd/support'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gcr-'))
let number = 0
let paths = pathsOf(folder, 'x')
let masterStore: ConfigStore
let replica: ConfigReplica
let isMaster = false

const newReplica = (disk = systemDisk) =>
  new ConfigReplica({
    ...{ paths, disk, clock: systemClock, random: systemRandom, log: silentLog },
    isMaster: () => isMaster,
  })

beforeEach(async () => {
  isMaster = false
  paths = pathsOf(`${folder}/${++number}`, `${number}`)
  masterStore = await openStore(await storeOptions(smallConfig()))
  replica = newReplica()
  await replica.start()
})

afterEach(async () => {
  await replica.close()
  await masterStore.close(false)
})

afterAll(() => fs.rmSync(folder, { recursive: true }))

const copy = async (to = replica) => {
  const { config, gantry } = masterStore.texts()
  await to.replace(config, gantry)
}
const feed = () =>
  masterStore.addReplica((data, kind) => (kind === 'journal' ? replica.append(data.toString()) : Promise.resolve()))
const tag = (name: string) => masterStore.change([['addTags', 'cluster', '', [name]]])
const readBack = async () => {
  const store = await openStore({ paths, disk: systemDisk, clock: systemClock, random: systemRandom, log: silentLog })
  const config = store.current()
  await store.close(true)
  return config
}

test('a node without a copy takes a full one and then records, and they survive', async () => {
  await expect(replica.append('')).rejects.toThrow('There is no configuration')
  await copy()
  feed()
  await tag('one')
  await replica.close()
  expect((await readBack()).cluster.tags).toEqual(['one'])
  expect(fs.existsSync(paths.journalFile)).toBe(false)
})

test('records that do not follow ask for a full copy', async () => {
  await copy()
  await tag('one')
  feed()
  const failures: string[] = []
  masterStore.addReplica((data, kind) =>
    kind === 'journal'
      ? replica.append(data.toString()).catch((e: unknown) => void failures.push(String(e)))
      : Promise.resolve(),
  )
  await tag('two')
  expect(failures.join()).toContain('send a full copy')
  await copy()
  await tag('three')
  await replica.close()
  expect((await readBack()).cluster.tags).toEqual(['one', 'three', 'two'])
})

test('followers on a candidate see each change, and survive its restart', async () => {
  await copy()
  feed()
  const follower = await followConfig(paths.socket('follow'), { clock: systemClock })
  await tag('one')
  await eventually(() => expect(follower.current().cluster.tags).toEqual(['one']))
  expect(follower.gantry()?.sections).toEqual({})
  await replica.close()
  replica = newReplica()
  await replica.start()
  await tag('two')
  await eventually(() => expect(follower.current().cluster.tags).toEqual(['one', 'two']))
  follower.close()
})

test('the files are let go when wconfd asks for them, and the master keeps no copy of its own', async () => {
  await copy()
  await yieldFollow(paths.socket('follow'), systemClock)
  await expect(isServed(paths.socket('follow'))).resolves.toBe(false)
  isMaster = true
  await replica.start()
  await expect(isServed(paths.socket('follow'))).resolves.toBe(false)
})

test('a copy is refused while another process keeps the files', async () => {
  await copy()
  const other = newReplica()
  await expect(other.append('')).rejects.toThrow('This node runs as master itself')
  await expect(copy(other)).rejects.toThrow('This node runs as master itself')
})

const keptFiles = () => fs.readdirSync(paths.dataDir).filter((name) => name.includes('.rejected-'))

test('a former master’s copy that has more is kept before the new one replaces it', async () => {
  await masterStore.change([['addNode', buildNode(masterStore.current(), 2, { master_candidate: true })]])
  await copy()
  const lost = encodeRecord({ from: masterStore.current().serial_no, to: masterStore.current().serial_no + 1, mtime: 1, cluster: { tags: ['lost'] } }) // prettier-ignore
  await replica.append(lost.toString())
  await masterStore.change([['setMasterNode', buildNode(masterStore.current(), 2).uuid]])
  const { config, gantry } = masterStore.texts()
  const kept = await replica.replace(config, gantry)
  expect(kept.map((file) => path.basename(file))).toEqual(keptFiles())
  expect(keptFiles()).toEqual([
    expect.stringMatching(/^config\.data\.rejected-\d+$/),
    expect.stringMatching(/^gantry\.data\.rejected-\d+$/),
  ])
  expect(JSON.parse(fs.readFileSync(kept[0] ?? '', 'utf8')).cluster.tags).toEqual(['lost'])
  expect(fs.statSync(kept[0] ?? '').mode & 0o777).toBe(0o600)
  await replica.close()
  expect((await readBack()).cluster.tags).toEqual([])
})

test('a copy whose changes were lost with the files of the master is kept, although the master has made more changes since', async () => {
  await masterStore.change([['addNode', buildNode(masterStore.current(), 3, { master_candidate: true })]])
  await copy()
  const lost = encodeRecord({ from: masterStore.current().serial_no, to: masterStore.current().serial_no + 1, mtime: 1, cluster: { tags: ['lost'] } }) // prettier-ignore
  await replica.append(lost.toString())
  // The master was restored, and starts while this candidate is away.
  const nodes = new FakeNodes()
  nodes.answer = () => Promise.reject(new Error('down'))
  await refuseLess(masterStore, { nodes, clock: systemClock, log: silentLog, random: systemRandom, paths })
  for (const name of ['three', 'four']) await tag(name)
  await copy()
  expect(keptFiles()).toHaveLength(2)
  await tag('five')
  await copy()
  expect(keptFiles()).toHaveLength(2)
})

test('a copy that the new one continues is replaced without a trace', async () => {
  await masterStore.change([['addNode', buildNode(masterStore.current(), 2, { master_candidate: true })]])
  await copy()
  await masterStore.change([['setMasterNode', buildNode(masterStore.current(), 2).uuid]])
  await copy()
  expect(keptFiles()).toEqual([])
})

test('a damaged copy is replaced, and kept', async () => {
  await copy()
  await replica.close()
  fs.writeFileSync(paths.configFile, '{"half')
  replica = newReplica()
  await replica.start()
  await tag('one')
  await copy()
  await replica.close()
  expect((await readBack()).cluster.tags).toEqual(['one'])
  expect(keptFiles()).toEqual([expect.stringMatching(/^config\.data/), expect.stringMatching(/^gantry\.data/)])
  const [damaged = ''] = keptFiles()
  expect(fs.readFileSync(path.join(paths.dataDir, damaged), 'utf8')).toBe('{"half')
})

test('a copy of the same changes with another content is kept, whichever of the two was edited', async () => {
  await tag('sound')
  await masterStore.change([['setGantry', 'notes', 'one', 'sound']])
  await copy()
  await copy()
  expect(keptFiles()).toEqual([])
  const { config, gantry } = masterStore.texts()
  const kept = await replica.replace(config.replace('sound', 'saund'), gantry)
  expect(kept.map((file) => path.basename(file))).toEqual(keptFiles())
  expect(JSON.parse(fs.readFileSync(kept[0] ?? '', 'utf8')).cluster.tags).toEqual(['sound'])
  await expect(replica.replace(config.replace('sound', 'saund'), gantry)).resolves.toEqual([])
  await expect(
    replica.replace(config.replace('sound', 'saund'), gantry.replace('sound', 'saund')),
  ).resolves.toHaveLength(2)
})

test('a full copy that fails half-way, again and again, pushes out nothing that was kept', async () => {
  await copy()
  await replica.close()
  fs.writeFileSync(paths.configFile, '{"half')
  const write: typeof systemDisk.write = (file, ...rest) =>
    file === paths.configFile ? Promise.reject(new Error('no space left')) : systemDisk.write(file, ...rest)
  replica = newReplica({ ...systemDisk, write })
  for (let round = 0; round < 20; round++) await expect(copy()).rejects.toThrow('no space left')
  expect(keptFiles()).toEqual([expect.stringMatching(/^config\.data/), expect.stringMatching(/^gantry\.data/)])
  await replica.close()
  replica = newReplica()
  await copy()
  expect(keptFiles()).toHaveLength(2)
})
