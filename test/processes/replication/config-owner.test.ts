// One process at a time owns the configuration of a node, and noded gives it up to wconfd.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { openStore } from '../../../src/config/store'
import { systemClock } from '../../../src/lib/clock'
import { systemDisk } from '../../../src/lib/disk'
import { type LockFile, lockFile } from '../../../src/lib/file/lock'
import { silentLog } from '../../../src/lib/log'
import { pathsOf } from '../../../src/lib/paths'
import { systemRandom } from '../../../src/lib/random'
import { fileHandlers } from '../../../src/node/handlers/files'
import { membershipHandlers } from '../../../src/node/handlers/membership'
import type { NodeContext } from '../../../src/node/context'
import { asConfigOwner, ownConfig, takeOverConfig } from '../../../src/replication/config-owner'
import { ConfigReplica } from '../../../src/replication/config-replica'
import { type TestNode, testNode } from '../../support/node-context'
import { smallConfig, storeOptions } from '../../unit/config/builders'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gco-'))
let number = 0
let paths = pathsOf(folder, 'x')
let replicas: ConfigReplica[]
let copy: { config: string; gantry: string }

beforeEach(async () => {
  paths = pathsOf(`${folder}/${++number}`, `${number}`)
  fs.mkdirSync(paths.socketDir, { recursive: true })
  replicas = []
  const store = await openStore(await storeOptions(smallConfig()))
  copy = store.texts()
  await store.close(false)
})
afterEach(async () => {
  for (const one of replicas) await one.close()
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

const options = (lock: LockFile = lockFile) => ({ paths, clock: systemClock, lockFile: lock })

/** noded's. */
function newReplica(): ConfigReplica {
  const system = { disk: systemDisk, random: systemRandom, log: silentLog }
  const replica = new ConfigReplica({ ...system, ...options(), isMaster: () => false })
  replicas.push(replica)
  return replica
}
const replace = (replica: ConfigReplica) => replica.replace(copy.config, copy.gantry)

test('of two that begin at the same moment one owns the files, and the other one does not open them', async () => {
  await replace(newReplica())
  await replicas[0]?.close()
  const openAppender = jest.spyOn(systemDisk, 'openAppender')
  const outcomes = await Promise.allSettled([newReplica(), newReplica()].map((one) => one.append('')))
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(openAppender).toHaveBeenCalledTimes(1)
  openAppender.mockRestore()
})

test('a copy that comes in while another process is the owner changes nothing, and is taken when that has ended', async () => {
  const replica = newReplica()
  const owner = await ownConfig(options())
  await expect(replace(replica)).rejects.toThrow('it takes no copy of the configuration')
  expect(fs.existsSync(paths.configFile)).toBe(false)
  owner?.release()
  await replace(replica)
  expect(fs.existsSync(paths.configFile)).toBe(true)
})

test('noded gives the files up, and leaves them alone from then on', async () => {
  const replica = newReplica()
  await replace(replica)
  const lock = await takeOverConfig(options())
  await expect(replica.append('')).rejects.toThrow('the configuration is kept by its own wconfd')
  lock.release()
  await expect(replica.append('')).resolves.toBeUndefined()
})

test('noded that has taken a record just before the new owner has the lock gives the files up once more', async () => {
  const replica = newReplica()
  await replace(replica)
  const between = jest.fn(() => replica.append(''))
  const lock = await takeOverConfig(
    options(async (file, mode) => {
      if (between.mock.calls.length === 0) await between()
      return lockFile(file, mode)
    }),
  )
  expect(between).toHaveBeenCalledTimes(1)
  await expect(replica.append('')).rejects.toThrow('kept by its own wconfd')
  lock.release()
})

describe('work on the files from outside of a store', () => {
  const isHeld = async () => {
    const lock = await ownConfig(options())
    lock?.release()
    return lock === undefined
  }

  test('holds the lock until it ends, however it ends', async () => {
    expect(await asConfigOwner(options(), isHeld)).toBe(true)
    await expect(asConfigOwner(options(), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await isHeld()).toBe(false)
  })

  test('is refused while another process owns them', async () => {
    const owner = await ownConfig(options())
    const work = jest.fn()
    await expect(asConfigOwner(options(), work)).rejects.toThrow(`another process owns ${paths.configFile}`)
    expect(work).not.toHaveBeenCalled()
    owner?.release()
  })

  const FILES = ['config.data', 'gantry.data', 'config.journal']
  const there = (node: TestNode) => FILES.filter((name) => fs.existsSync(path.join(node.paths.dataDir, name)))

  test.each([
    ['a demotion', (context: NodeContext) => membershipHandlers.node_demote_from_mc(context)],
    ['leaving the cluster', (context: NodeContext) => membershipHandlers.node_leave_cluster(context, false)],
    [
      'config.data from the master of a Ganeti',
      (context: NodeContext) =>
        fileHandlers.upload_file(context, {
          ...{ path: context.paths.configFile, content: copy.config, mode: 0o640, owner: null, group: null },
          ...{ atime: null, mtime: null },
        }),
    ],
  ])('on a node: %s waits for nobody, and touches nothing that another process has', async (what, order) => {
    const node = testNode()
    paths = node.paths
    const replica = newReplica()
    await replace(replica)
    const context = { ...node.context, configReplica: replica }
    await replica.close()
    const owner = await ownConfig(options())
    await expect(order(context)).rejects.toThrow('another process owns')
    expect(there(node)).toEqual(FILES.slice(0, 2))
    owner?.release()
    // Also while noded has the files open, which it gives up first.
    await replica.append('')
    await order(context)
    expect(there(node)).toEqual(what.startsWith('config.data') ? FILES.slice(0, 2) : [])
    expect(await isHeld()).toBe(false)
    node.remove()
  })
})

test('a start without the files ends, and says who may have them', async () => {
  const requested = jest.fn(() => Promise.resolve(undefined))
  await expect(takeOverConfig(options(requested))).rejects.toThrow(
    `another process owns ${paths.configFile}: it has locked ${paths.configLock}`,
  )
  expect(requested).toHaveBeenCalled()
})
