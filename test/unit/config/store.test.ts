// When a change is durable, who hears of it, and what is on the disk then.
import { changes, type NamedChange } from '../../../src/config/changes'
import { encodeConfig } from '../../../src/config/encode'
import { gantryValue } from '../../../src/config/gantry'
import { openStore, type ConfigStore, type Delta } from '../../../src/config/store'
import { createConfig, type StoreOptions } from '../../../src/config/store-files'
import { applyDelta } from '../../../src/config/delta'
import { nextTurn, systemClock } from '../../../src/lib/clock'
import { silentLog, type Log } from '../../../src/lib/log'
import { CHECKPOINT_SETTLE_BYTES_MAX, CONFIG_JOURNAL_BYTES_MAX } from '../../../src/model/limits/config'
import { buildInstance, smallConfig, storeOptions } from './builders'
import type { MemoryDisk } from './memory-disk'

type Options = StoreOptions & { disk: MemoryDisk }

const config = smallConfig()
const tag = (name: string): NamedChange => ['addTags', 'cluster', '', [name]]
const fileText = ({ disk, paths }: Options) => disk.files.get(paths.configFile)?.toString() ?? ''
const stores: ConfigStore[] = []

async function open(options?: Options): Promise<{ store: ConfigStore; options: Options }> {
  const chosen = options ?? (await storeOptions(config))
  const store = await openStore(chosen)
  stores.push(store)
  return { store, options: chosen }
}

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(false)
})

test('a change is in the journal when it is acknowledged, and a restart finds it', async () => {
  const { store, options } = await open()
  const before = fileText(options)
  expect(await store.change([['allocatePort'], tag('a')])).toEqual([11000, null])
  expect(fileText(options)).toBe(before)
  const again = await open({ ...options, disk: options.disk.restart() })
  expect(again.store.current().cluster.tags).toEqual(['a'])
  expect(again.store.current().cluster.highest_used_port).toBe(11000)
  expect(again.store.current().serial_no).toBe(config.serial_no + 2)
})

test.each(['with plain files', 'with a journal'])(
  'a start without room %s answers, refuses changes, and goes on when there is room',
  async (files) => {
    const { store, options } = await open()
    await store.change([tag('a')])
    if (files === 'with plain files') await store.close(true)
    const disk = options.disk.restart()
    const { write } = disk
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    disk.write = () => Promise.reject(full)
    const again = (await open({ ...options, disk })).store
    expect(again.current().cluster.tags).toEqual(['a'])
    await expect(again.change([tag('b')])).rejects.toThrow('make room or repair the disk, and try again')
    // And once more, since nothing has become better.
    expect(
      (await open({ ...options, disk: Object.assign(disk.restart(), { write: disk.write }) })).store.current().cluster
        .tags,
    ).toEqual(['a'])
    disk.write = write
    await again.change([tag('c')])
    expect((await open({ ...options, disk: disk.restart() })).store.current().cluster.tags).toEqual(['a', 'c'])
  },
)

test('a start on a disk that is broken is refused', async () => {
  const { options } = await open()
  const disk = options.disk.restart()
  disk.write = () => Promise.reject(Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' }))
  await expect(openStore({ ...options, disk })).rejects.toThrow('EIO')
})

test('readers see a change only when it is durable', async () => {
  const { store } = await open()
  const change = store.change([tag('a')])
  expect(store.current().cluster.tags).toEqual([])
  await change
  expect(store.current().cluster.tags).toEqual(['a'])
})

test('a list of changes happens as a whole or not at all', async () => {
  const { store } = await open()
  await expect(store.change([tag('a'), ['removeNode', 'nobody']])).rejects.toThrow('There is no node with uuid nobody')
  await expect(store.change([['noSuchChange']])).rejects.toThrow('There is no configuration change named noSuchChange')
  await expect(store.change([['constructor']])).rejects.toThrow('There is no configuration change named constructor')
  expect(store.current()).toBe(store.documents().config)
  expect(store.current().serial_no).toBe(config.serial_no)
  await store.change([tag('b')])
  expect(store.current().cluster.tags).toEqual(['b'])
})

test('changes that come while one is written go out together', async () => {
  const { store, options } = await open()
  const start = options.disk.operations
  const deltas: Delta[] = []
  store.subscribe((delta) => deltas.push(delta))
  await Promise.all(Array.from({ length: 100 }, (_, index) => store.change([tag(`t${index}`)])))
  expect(store.current().cluster.tags).toHaveLength(100)
  expect(deltas.length).toBeLessThan(5)
  expect(options.disk.operations - start).toBeLessThan(20)
})

test('followers who apply the deltas have what the store has', async () => {
  const { store } = await open()
  let followed = store.documents()
  store.subscribe((delta) => (followed = applyDelta(followed, delta)))
  await store.change([['addInstance', buildInstance(config, 1)], tag('x'), ['setGantry', 'tokens', 'a', { name: 'b' }]])
  await store.change([['removeInstance', buildInstance(config, 1).uuid]])
  expect(encodeConfig(followed.config)).toBe(encodeConfig(store.current()))
  expect(gantryValue(followed.gantry, 'tokens', 'a')).toEqual({ name: 'b' })
})

test('a clean close leaves plain files and no journal', async () => {
  const { store, options } = await open()
  await store.change([tag('a'), ['setGantry', 'tokens', 'k', 1]])
  await store.close(true)
  expect([...options.disk.files.keys()].sort()).toEqual([options.paths.configFile, options.paths.gantryFile].sort())
  expect(fileText(options)).toBe(encodeConfig(store.current()))
  const gantry = options.disk.files.get(options.paths.gantryFile)?.toString()
  expect(JSON.parse(gantry ?? '')).toEqual({ version: 1, serial_no: 3, sections: { tokens: { k: 1 } } })
  await expect(store.change([tag('b')])).rejects.toThrow('closed')
})

test('the checkpoint follows a change within its time, and the journal begins anew', async () => {
  const { store, options } = await open()
  await store.change([tag('a')])
  await store.checkpoint()
  expect(fileText(options)).toBe(encodeConfig(store.current()))
  await store.change([tag('b')])
  const again = await open({ ...options, disk: options.disk.restart() })
  expect(again.store.current().cluster.tags).toEqual(['a', 'b'])
})

test('a full journal is checkpointed at once', async () => {
  const { store, options } = await open()
  const filler = 'x'.repeat(1000)
  for (let size = 0; size < CONFIG_JOURNAL_BYTES_MAX + 20000; size += 10000)
    await store.change(
      Array.from({ length: 10 }, (_, n): NamedChange => ['setGantry', 'plans', `k${size}-${n}`, filler]),
    )
  await store.checkpoint()
  expect(options.disk.files.get(options.paths.journalFile)?.length).toBeLessThan(CONFIG_JOURNAL_BYTES_MAX / 2)
  expect(fileText(options)).toContain(`"serial_no":${store.current().serial_no}}`)
})

test('the end of a job writes config.data if it is small; a large one waits for more changes', async () => {
  const { store, options } = await open()
  const written = async (name: string) => {
    await store.change([tag(name)])
    await store.settle()
    return fileText(options).includes(`"${name}"`)
  }
  expect(await written('small')).toBe(true)
  const large = buildInstance(config, 1, { osparams: { text: 'x'.repeat(CHECKPOINT_SETTLE_BYTES_MAX) } })
  await store.change([['addInstance', large]])
  await store.checkpoint()
  expect(await written('large')).toBe(false)
  await store.checkpoint()
  expect(fileText(options)).toContain('"large"')
})

test('changes during a checkpoint survive a crash right after it', async () => {
  const { store, options } = await open()
  await store.change([tag('a')])
  const checkpoint = store.checkpoint()
  await Promise.all([store.change([tag('b')]), store.change([tag('c')]), checkpoint])
  const again = await open({ ...options, disk: options.disk.restart() })
  expect(again.store.current().cluster.tags).toEqual(['a', 'b', 'c'])
})

test('a change that cannot be written is refused, did not happen, and the next one can be written again', async () => {
  const { store, options } = await open()
  await store.change([tag('a')])
  options.disk.full = 'ENOSPC: no space left on device'
  const refused = await Promise.allSettled([store.change([tag('b')]), store.change([tag('c')])])
  for (const one of refused) {
    expect(one.status).toBe('rejected')
    if (one.status === 'rejected') expect(String(one.reason)).toMatch(/ENOSPC.*did not happen/)
  }
  expect(store.current().cluster.tags).toEqual(['a'])
  options.disk.full = undefined
  await store.change([tag('d')])
  const again = await open({ ...options, disk: options.disk.restart() })
  expect(again.store.current().cluster.tags).toEqual(['a', 'd'])
})

describe('one file of two cannot be written', () => {
  /** No checkpoint begins by itself. */
  const timeless = { ...systemClock, after: () => ({ cancel: () => undefined }) }
  const token = (value: number): NamedChange => ['setGantry', 'tokens', 'k', value]
  const reopened = async ({ disk, ...options }: Options) => {
    const { store } = await open({ ...options, disk: disk.restart() })
    return { tags: store.current().cluster.tags, token: gantryValue(store.gantry(), 'tokens', 'k') }
  }
  const failing = async (store: ConfigStore, times: number) => {
    await store.change([token(7)])
    for (let n = 1; n <= times; n++) {
      await store.change([tag(`t${n}`)])
      await expect(store.checkpoint()).rejects.toThrow('EIO')
    }
  }

  test.each(['write', 'rename', 'sync'] as const)('gantry.data (%s) is written as soon as it can be', async (step) => {
    const { store, options } = await open({ ...(await storeOptions(config)), clock: timeless })
    options.disk.faults.plan({ file: options.paths.gantryFile, step, times: 20 })
    await failing(store, 20)
    await store.checkpoint()
    await store.close(true)
    expect(await reopened(options)).toMatchObject({ token: 7 })
  })

  test.each(['write', 'rename', 'sync'] as const)('config.data (%s): a new journal still fits it', async (step) => {
    const { store, options } = await open({ ...(await storeOptions(config)), clock: timeless })
    options.disk.faults.plan({ file: options.paths.configFile, step, times: 20 })
    await failing(store, 20)
    options.disk.faults.plan({ file: options.paths.journalFile, step: 'write', times: 1 })
    await expect(store.change([tag('refused')])).rejects.toThrow('did not happen')
    await store.change([tag('last')])
    const { tags, token: kept } = await reopened(options)
    expect(kept).toBe(7)
    expect(tags).toHaveLength(21)
    expect(tags).toContain('last')
  })
})

describe('a record arrived although its sync failed', () => {
  /** Waits of seconds take no time. */
  const clock = { ...systemClock, sleep: () => nextTurn() }

  test.each([1, 2, 3, 9])('a change that is refused after %d failures does not come back', async (times) => {
    const { store, options } = await open({ ...(await storeOptions(config)), clock })
    await store.change([tag('a')])
    options.disk.faults.plan({ file: options.paths.journalFile, step: 'sync', times })
    await expect(store.change([tag('refused')])).rejects.toThrow('did not happen')
    const again = await open({ ...options, disk: options.disk.restart() })
    expect(again.store.current().cluster.tags).toEqual(['a'])
    await store.change([tag('b')])
    expect(store.current().cluster.tags).toEqual(['a', 'b'])
  })

  test('while nobody knows, the change has no answer, and others are refused', async () => {
    const { store, options } = await open({ ...(await storeOptions(config)), clock })
    options.disk.faults.plan({ file: options.paths.journalFile, step: 'sync', times: Infinity })
    let answer: unknown
    const unknown = store.change([tag('a')]).catch((error: unknown) => (answer = error))
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    expect(answer).toBeUndefined()
    await expect(store.change([tag('b')])).rejects.toThrow(/config\.journal cannot be written \(.*\); repair the disk/)
    await store.close(false)
    await unknown
    expect(String(answer)).toContain('It is not known whether the change happened')
  })
})

describe('files that are not as the store left them are believed only if a person says so', () => {
  const token: NamedChange = ['setGantry', 'tokens', 'k', 'precious']

  /** After a kill: the journal names both files. */
  async function killed() {
    const { store, options } = await open()
    await store.change([tag('a'), token])
    await store.checkpoint()
    await store.change([tag('b')])
    return { ...options, disk: options.disk.restart() }
  }
  const edit = ({ disk, paths }: Options) =>
    disk.files.set(
      paths.configFile,
      Buffer.from(String(disk.files.get(paths.configFile)).replace('cluster.example', 'edited.example')),
    )
  const setAsideIn = ({ disk }: Options) => [...disk.files.keys()].filter((name) => name.includes('rejected'))

  test.each<[string, (options: Options) => unknown]>([
    ['config.data is another', edit],
    ['gantry.data is empty', ({ disk, paths }) => disk.files.set(paths.gantryFile, Buffer.alloc(0))],
    ['gantry.data is missing', ({ disk, paths }) => disk.files.delete(paths.gantryFile)],
    [
      'the journal is damaged before good records',
      ({ disk, paths }) =>
        disk.files.set(
          paths.journalFile,
          Buffer.concat([Buffer.from('00000000 {}\n'), disk.files.get(paths.journalFile) ?? Buffer.alloc(0)]),
        ),
    ],
  ])('%s: refused with the ways out, and nothing is touched', async (_, damage) => {
    const options = await killed()
    damage(options)
    const before = new Map(options.disk.files)
    await expect(openStore(options)).rejects.toThrow(
      /Restore them, with .*config\.journal, from a master candidate or a backup. If .* is right as it is, run: .*gantryd fold --take-file/,
    )
    expect(options.disk.files).toEqual(before)
  })

  test('then the journal is set aside with an error, and never replayed', async () => {
    const options = await killed()
    edit(options)
    const errors: string[] = []
    const log = { ...silentLog, error: (_: object, text: string) => errors.push(text) } as unknown as Log
    const { store } = await open({ ...options, log, takeFiles: true })
    expect(store.current().cluster).toMatchObject({ cluster_name: 'edited.example.com', tags: ['a'] })
    expect(errors).toEqual([
      expect.stringMatching(/not used: it belongs to another config.data; it is kept as .*rejected-\d+/),
    ])
    expect(setAsideIn(options)).toHaveLength(1)
    const again = await open({ ...options, disk: options.disk.restart() })
    expect(again.store.current().cluster.tags).toEqual(['a'])
  })

  test('a cluster that Ganeti has left has no gantry.data, and needs none', async () => {
    const { store, options } = await open()
    await store.change([tag('a')])
    const disk = options.disk.restart()
    disk.files.delete(options.paths.gantryFile)
    const again = await open({ ...options, disk: disk.restart() }).catch((error: unknown) => error)
    expect(again).toBeInstanceOf(Error)
    disk.files.delete(options.paths.journalFile)
    await expect(open({ ...options, disk })).resolves.toBeDefined()
  })
})

test('a change waits for the candidates, and one that fails does not fail it', async () => {
  const { store, options } = await open()
  const copies: Buffer[] = []
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  store.addReplica(async (data, kind) => {
    if (kind === 'journal') copies.push(data)
    await gate
  })
  store.addReplica(() => Promise.reject(new Error('unreachable')))
  let done = false
  const change = store.change([tag('a')]).then(() => (done = true))
  while (copies.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(false)
  expect(store.current().cluster.tags).toEqual([])
  release()
  await change
  const journal = options.disk.files.get(options.paths.journalFile)
  expect(journal?.subarray(-(copies[0]?.length ?? 0))).toEqual(copies[0])
})

test('a candidate that follows the records has the same files; a gap asks for a full copy', async () => {
  const { store } = await open()
  const replica = await open()
  const records: Buffer[] = []
  store.addReplica(async (data, kind) => void (kind === 'journal' && records.push(data)))
  await store.change([tag('a')])
  await store.change([['addInstance', buildInstance(config, 1)]])
  await store.change([tag('b')])
  const [first, second, third] = records
  if (!first || !second || !third) throw new Error('records are missing')
  await replica.store.follow(first)
  await expect(replica.store.follow(third)).rejects.toThrow(/does not follow serial 2: send a full copy/)
  await replica.store.follow(Buffer.concat([first, second, third]))
  await replica.store.follow(second)
  expect(encodeConfig(replica.store.current())).toBe(encodeConfig(store.current()))
  await expect(replica.store.follow(third.subarray(0, 30))).rejects.toThrow('Not records')

  const late = await open()
  const { config: text, gantry } = store.texts()
  await late.store.replace(text, gantry)
  expect(fileText(late.options)).toBe(text)
  await store.change([tag('c')])
  const newest = records.at(-1)
  if (newest) await late.store.follow(newest)
  expect(encodeConfig(late.store.current())).toBe(encodeConfig(store.current()))
})

test('a full copy that reached only one file is taken whole or not at all', async () => {
  const token = (value: string): NamedChange => ['setGantry', 'tokens', 'k', value]
  const { store } = await open()
  await store.change([token('revoked')])
  const { config: text, gantry } = store.texts()
  for (let failAfter = 0; failAfter < 12; failAfter++) {
    const options = await storeOptions(config)
    const { disk } = options
    const late = await openStore(options)
    await late.change([token('valid')])
    disk.failAfter = disk.operations + failAfter
    void late.replace(text, gantry)
    for (let turn = 0; turn < 60; turn++) await nextTurn()
    const again = await open({ ...options, disk: disk.restart() })
    const kept = gantryValue(again.store.gantry(), 'tokens', 'k')
    // Whoever has the configuration of the copy has its tokens, too.
    if (again.store.current().mtime === store.current().mtime) expect(kept).toBe('revoked')
    else expect(['valid', 'revoked']).toContain(kept)
  }
})

test('records do not follow a full copy that is not on the disk', async () => {
  const { store } = await open()
  const records: Buffer[] = []
  store.addReplica(async (data, kind) => void (kind === 'journal' && records.push(data)))
  await store.change([tag('a')])
  const { config: text, gantry } = store.texts()
  await store.change([tag('b')])
  const late = await open()
  late.options.disk.faults.plan({ file: late.options.paths.configFile, step: 'write', times: 2 })
  await expect(late.store.replace(text, gantry)).rejects.toThrow('EIO')
  await expect(late.store.follow(Buffer.concat(records))).rejects.toThrow('send a full copy')
  await expect(late.store.replace(text, gantry)).rejects.toThrow('EIO')
  await late.store.replace(text, gantry)
  await late.store.follow(Buffer.concat(records))
  expect(late.store.current().cluster.tags).toEqual(['a', 'b'])
})

test('a follower that fails does not fail the change', async () => {
  const { store } = await open()
  store.subscribe(() => {
    throw new Error('follower')
  })
  await expect(store.change([tag('a')])).resolves.toEqual([null])
})

test('a missing configuration is a clear error', async () => {
  const options = await storeOptions(config)
  options.disk.files.clear()
  await expect(openStore(options)).rejects.toThrow(
    /There is no configuration at .*config\.data: this node is not the master/,
  )
})

test.each(['journalFile', 'gantryFile'] as const)(
  'a configuration that is lost, but for its %s, is to be restored',
  async (left) => {
    const { options } = await open()
    const content = options.disk.files.get(options.paths[left])
    options.disk.files.clear()
    options.disk.files.set(options.paths[left], content ?? Buffer.from(''))
    await expect(openStore(options)).rejects.toThrow(/config\.data: restore it from a master candidate or a backup$/)
  },
)

test('making a configuration removes the journal of the one before', async () => {
  const { store, options } = await open()
  await store.change([tag('a')])
  await store.close(false)
  await createConfig(options, config)
  expect(options.disk.files.has(options.paths.journalFile)).toBe(false)
})

test('every change has a name of its own function', () => {
  for (const [name, run] of Object.entries(changes)) expect(run.name).toBe(name)
})

test('a crash while a crash is being recovered from loses nothing', async () => {
  const { store, options } = await open()
  await store.change([tag('a')])
  await store.change([tag('b')])
  for (let failAfter = 0; failAfter < 3; failAfter++) {
    const second = options.disk.restart()
    second.failAfter = failAfter
    const opening = openStore({ ...options, disk: second })
    for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve))
    const third = await open({ ...options, disk: second.restart() })
    expect(third.store.current().cluster.tags).toEqual(['a', 'b'])
    void opening
  }
})
