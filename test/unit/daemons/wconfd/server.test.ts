// wconfd over its socket: locks, changes, reservations and followers.
import * as fs from 'node:fs'
import * as net from 'node:net'
import { systemClock } from '../../../../src/lib/clock'
import { systemRandom } from '../../../../src/lib/random'
import type { ConfigData } from '../../../../src/model/config'
import { LockError } from '../../../../src/model/errors'
import { openWconfd } from '../../../../src/rpc/wconfd/client'
import { followConfig } from '../../../../src/rpc/wconfd/follow'
import recorded from '../../../golden/wconfd/calls.json'
import { buildInstance, buildNetwork, master, smallConfig } from '../../config/builders'
import { eventually, TestWconfd } from './support'

let wconfd: TestWconfd
let config: ConfigData

beforeEach(async () => {
  wconfd = new TestWconfd()
  config = smallConfig()
  await wconfd.start(config)
})

afterEach(() => wconfd.remove())

/** Sends bytes as they are and returns the first answer with its end. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(wconfd.paths.socket('wconfd'))
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString()
      if (answer.endsWith('\x03')) socket.end(() => resolve(answer))
    })
    socket.on('error', reject)
    socket.write(text)
  })
}

describe('the wire', () => {
  test.each(recorded.map(({ request, response }) => [request, response]))(
    '%j is answered as by Ganeti',
    async (q, a) => {
      await expect(exchange(q)).resolves.toBe(a)
    },
  )

  test('the socket is for its owner only', () => {
    expect(fs.statSync(wconfd.paths.socket('wconfd')).mode & 0o777).toBe(0o600)
  })

  test('units are empty lists', async () => {
    await expect(exchange('{"method":"cleanupLocks","args":[]}\x03')).resolves.toBe('{"success":true,"result":[]}\x03')
  })

  test.each([
    ['freeLocks', []],
    ['freeLocks', [[1, 2, 3]]],
    ['freeLocksLevel', [[1, 'x', 1], 'rack']],
    ['tryUpdateLocks', [[1, 'x', 1], [['node/a', 'both']]]],
    ['tryUpdateLocks', [[1, 'x', 1], [['cluster/other', 'shared']]]],
    ['tryUpdateLocks', [[1, `/${'x'.repeat(200)}`, 1], [['node/a', 'shared']]]],
    ['gantryAcquire', [[1, 'x', 1], '0', [], null]],
    ['gantryChange', [[1, 'x', 1], null, [['nosuch']]]],
    ['gantryRead', [{ instances: 5 }]],
    ['echo', 'text'],
  ])('%s %j is refused, and nothing happens', async (method, args) => {
    const answer: unknown = JSON.parse((await exchange(`${JSON.stringify({ method, args })}\x03`)).slice(0, -1))
    expect(answer).toMatchObject({
      success: false,
      result: [expect.stringMatching(/^(Generic|Configuration)Error$/), [expect.any(String)]],
    })
    await expect(wconfd.client().listAllLocks()).resolves.toEqual([])
  })
})

describe('locks', () => {
  test('a granted lock is on the disk before it is acknowledged, and so is its release', async () => {
    const { client } = await wconfd.owner(1)
    const calls = wconfd.client()
    await calls.gantryAcquire(client, 0, [['cluster/BGL', 'shared']], null)
    expect(JSON.parse((await wconfd.locksFile()) ?? '')).toEqual([[[client, [['cluster/BGL', 'shared']]]], []])
    await calls.freeLocks(client)
    expect(await wconfd.locksFile()).toBe('[[],[]]')
  })

  test('a waiting owner hears when it is its turn', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    const granted = calls.gantryAcquire(second.client, 0, [['node/a', 'shared']], null)
    await eventually(async () => expect(await calls.hasPendingRequest(second.client)).toBe(true))
    expect(await calls.gantryBlockers(second.client)).toEqual([
      {
        lock: 'node/a',
        title: 'node/a',
        holders: [{ client: first.client, mode: 'exclusive', since: expect.any(Number) }],
      },
    ])
    await calls.freeLocks(first.client)
    await expect(granted).resolves.toEqual({ epoch: expect.any(Number) })
    await expect(calls.listLocks(second.client)).resolves.toEqual([['node/a', 'shared']])
    expect(JSON.parse((await wconfd.locksFile()) ?? '')).toEqual([[[second.client, [['node/a', 'shared']]]], []])
  })

  test('a waiting owner hears when a better priority grants its request', async () => {
    const [first, second, third] = [await wconfd.owner(1), await wconfd.owner(2), await wconfd.owner(3)]
    const calls = wconfd.client()
    await calls.gantryAcquire(first.client, 0, [['cluster/BGL', 'shared']], null)
    const held = calls.gantryAcquire(second.client, 0, [['cluster/BGL', 'exclusive']], null)
    await eventually(async () => expect(await calls.hasPendingRequest(second.client)).toBe(true))
    const granted = calls.gantryAcquire(third.client, 0, [['cluster/BGL', 'shared']], null)
    await eventually(async () => expect(await calls.hasPendingRequest(third.client)).toBe(true))
    await expect(calls.updateLocksWaiting(third.client, -20, [['cluster/BGL', 'shared']])).resolves.toEqual([])
    await expect(granted).resolves.toEqual({ epoch: expect.any(Number) })
    for (const { client } of [first, third]) await calls.freeLocks(client)
    await held
  })

  test('a request that is taken back or times out is refused, and says who holds the locks', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    await expect(calls.gantryAcquire(second.client, 0, [['node/a', 'shared']], 0.05)).rejects.toThrow(
      /^No locks for job 2 \(process 1002\) within 0.05 s: waiting for node\/a, held by job 1 \(process 1001\) \(exclusive since /,
    )
    const waiting = calls.gantryAcquire(second.client, 0, [['node/a', 'shared']], null)
    await eventually(async () => expect(await calls.hasPendingRequest(second.client)).toBe(true))
    await calls.gantryCancelRequest(second.client)
    await expect(waiting).rejects.toThrow(new LockError('The request was taken back'))
    await expect(calls.hasPendingRequest(second.client)).resolves.toBe(false)
  })

  test('the request of a broken connection is taken back', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    const other = openWconfd({
      clock: systemClock,
      random: systemRandom,
      path: wconfd.paths.socket('wconfd'),
      reconnect_s: 0,
    })
    const waiting = other.gantryAcquire(second.client, 0, [['node/a', 'shared']], null).catch((error: unknown) => error)
    await eventually(async () => expect(await calls.hasPendingRequest(second.client)).toBe(true))
    other.close()
    await waiting
    await eventually(async () => expect(await calls.hasPendingRequest(second.client)).toBe(false))
  })

  test('an owner that died loses its locks and reservations, and others go on', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    await calls.reserveMAC(first.client, 'aa:00:00:11:22:33')
    const waiting = calls.gantryAcquire(second.client, 0, [['node/a', 'exclusive']], null)
    await calls.cleanupLocks()
    await expect(calls.listLocks(first.client)).resolves.toHaveLength(1)
    await first.die()
    await calls.cleanupLocks()
    await waiting
    await calls.reserveMAC(second.client, 'aa:00:00:11:22:33')
    await expect(calls.gantryOwnerDied(second.client)).resolves.toEqual([['node/a', 'exclusive']])
    await expect(calls.listAllLocks()).resolves.toEqual([])
    await calls.reserveMAC(first.client, 'aa:00:00:11:22:33')
  })

  test('a change from an owner whose locks were taken away is refused', async () => {
    const { client } = await wconfd.owner(1)
    const calls = wconfd.client()
    const { epoch } = await calls.gantryAcquire(client, 0, [['cluster/BGL', 'shared']], null)
    const tag = (name: string) => calls.gantryChange(client, epoch, [['addTags', 'cluster', '', [name]]])
    await tag('one')
    await calls.gantryOwnerDied(client)
    await expect(tag('two')).rejects.toThrow(/locks of job 1 .* were taken away/)
    const again = await calls.gantryAcquire(client, 0, [['cluster/BGL', 'shared']], null)
    expect(again.epoch).not.toBe(epoch)
    await expect(tag('two')).rejects.toThrow(LockError)
    expect((await calls.readConfig()).cluster.tags).toEqual(['one'])
  })
})

describe('restart', () => {
  test('locks of the living stay, with their epoch; those of the dead are free', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    const { epoch } = await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    await calls.gantryAcquire(second.client, 0, [['node/b', 'exclusive']], null)
    await calls.reserveMAC(first.client, 'aa:00:00:11:22:33')
    await wconfd.stop()
    await second.die()
    await wconfd.start()
    await expect(calls.listAllLocksOwners()).resolves.toEqual([
      ['node/[lockset]', []],
      ['node/a', [[first.client, 'exclusive']]],
    ])
    await calls.gantryChange(first.client, epoch, [['addTags', 'cluster', '', ['kept']]])
    await expect(calls.gantryChange(first.client, epoch + 1, [])).rejects.toThrow(LockError)
    await expect(calls.reserveMAC(first.client, 'AA:00:00:11:22:33')).rejects.toThrow('Duplicate reservation')
  })

  test('an owner that waits over a restart gets its locks afterwards', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    const waiting = calls.gantryAcquire(second.client, 0, [['node/a', 'exclusive']], null)
    await eventually(async () => expect(await calls.hasPendingRequest(second.client)).toBe(true))
    await wconfd.stop()
    await wconfd.start()
    await calls.freeLocks(first.client)
    await expect(waiting).resolves.toMatchObject({ epoch: expect.any(Number) })
  })

  test('locks that cannot be read are set aside, and all are free', async () => {
    await wconfd.stop()
    fs.writeFileSync(wconfd.paths.locksFile, '[[[')
    await wconfd.start()
    await expect(wconfd.client().listAllLocks()).resolves.toEqual([])
    expect(fs.readdirSync(wconfd.paths.dataDir).some((name) => name.startsWith('locks.data.rejected-'))).toBe(true)
  })

  test.each(['{"dRBD":[["node1",[[0,"dis', '\0\0\0\0', '{}'])(
    'reservations that cannot be read are set aside: %j',
    async (text) => {
      await wconfd.stop()
      fs.writeFileSync(wconfd.paths.tempresFile, text)
      await wconfd.start()
      const calls = wconfd.client()
      await expect(calls.generateMAC((await wconfd.owner(1)).client, null)).resolves.toMatch(/^aa:/)
      const [kept = ''] = fs
        .readdirSync(wconfd.paths.dataDir)
        .filter((name) => name.startsWith('tempres.data.rejected-'))
      expect(fs.readFileSync(`${wconfd.paths.dataDir}/${kept}`, 'utf8')).toBe(text)
      fs.rmSync(`${wconfd.paths.dataDir}/${kept}`)
    },
  )

  test('a second daemon on the same files is refused', async () => {
    await expect(wconfd.start()).rejects.toThrow('another wconfd already serves')
  })
})

describe('configuration', () => {
  test('the cluster is read anew only after it has changed', async () => {
    const client = wconfd.client()
    const before = await client.gantryRead({})
    expect(await client.gantryRead({ nodes: 'all' })).not.toBe(before)
    expect(await client.gantryRead({})).toBe(before)
    await client.allocatePort()
    const { cluster } = await client.gantryRead({})
    expect(cluster.highest_used_port).toBe(before.cluster.highest_used_port + 1)
  })

  test('changes are one step and return their results', async () => {
    const calls = wconfd.client()
    const instance = buildInstance(config, 1)
    const results = await calls.gantryChange([0, '', 1], null, [['addInstance', instance], ['allocatePort']])
    expect(results).toEqual([expect.objectContaining({ uuid: instance.uuid }), expect.any(Number)])
    const both = calls.gantryChange([0, '', 1], null, [
      ['removeInstance', instance.uuid],
      ['removeInstance', 'nosuch'],
    ])
    await expect(both).rejects.toThrow()
    const slice = await calls.gantryRead({ instances: ['inst1.example.com', 'other'] })
    expect(Object.keys(slice.instances)).toEqual([instance.uuid])
    await expect(calls.gantryRead({})).resolves.toMatchObject({ instances: {} })
    await expect(calls.verifyConfig()).resolves.toBeNull()
  })

  test.each(['wconfd', 'follow'] as const)('a follower on the %s socket sees each change', async (socket) => {
    const observed: (string | null)[] = []
    const path = wconfd.paths.socket(socket)
    const follower = await followConfig(path, { clock: systemClock }, (now, delta) =>
      observed.push(delta && now.cluster.tags.join()),
    )
    const calls = wconfd.client()
    for (const tag of ['one', 'two']) await calls.gantryChange([0, '', 1], null, [['addTags', 'cluster', '', [tag]]])
    await eventually(() => expect(observed).toEqual([null, 'one', 'one,two']))
    expect(follower.current()).toEqual(await calls.readConfig())
    // Whoever may only follow hears of maintenance, and of nothing else beside the configuration.
    const sections = Object.keys(follower.gantry()?.sections ?? {})
    expect(sections.filter((name) => socket === 'follow' && !name.startsWith('maintenance'))).toEqual([])
    await wconfd.stop()
    await wconfd.start()
    await calls.gantryChange([0, '', 1], null, [['addTags', 'cluster', '', ['zzz']]])
    await eventually(() => expect(follower.current().cluster.tags).toEqual(['one', 'two', 'zzz']))
    follower.close()
  })
})

describe('reservations', () => {
  test('a reservation belongs to one job and nobody else, until it ends', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    const mac = await calls.generateMAC(first.client, null)
    expect(mac).toMatch(/^aa:00:00(:[0-9a-f]{2}){3}$/)
    await expect(calls.reserveMAC(second.client, mac)).rejects.toThrow('Duplicate reservation')
    await calls.reserveLV(first.client, 'xenvg/disk0')
    await expect(calls.reserveLV(second.client, 'xenvg/disk0')).rejects.toThrow('Duplicate reservation')
    expect(await calls.generateDRBDSecret(first.client)).toMatch(/^[0-9a-f]{40}$/)
    await calls.dropAllReservations(first.client)
    await calls.reserveMAC(second.client, mac)
    expect(JSON.parse(fs.readFileSync(wconfd.paths.tempresFile, 'utf8'))).toEqual({
      ...{ dRBD: [], dRBDSecrets: [], lVs: [], iPv4s: [] },
      mACs: [[second.client, [mac]]],
    })
  })

  test("minors for a disk are nobody else's until the disk is in the configuration or the job ends", async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    const [node] = Object.keys((await calls.readConfig()).nodes)
    if (node === undefined) throw new Error('the cluster has no node')
    const [minor] = await calls.gantryReserveMinors(first.client, 'disk one', [node])
    const [other] = await calls.gantryReserveMinors(second.client, 'disk two', [node])
    expect(other).not.toBe(minor)
    expect(JSON.parse(fs.readFileSync(wconfd.paths.tempresFile, 'utf8'))).toMatchObject({
      gantryMinorsOf: [
        [first.client, ['disk one']],
        [second.client, ['disk two']],
      ],
    })
    await calls.gantryFreeAll(first.client)
    expect(await calls.gantryReserveMinors(second.client, 'disk three', [node])).toEqual([minor])
    await calls.gantryFreeAll(second.client)
    expect(JSON.parse(fs.readFileSync(wconfd.paths.tempresFile, 'utf8'))).toMatchObject({ dRBD: [] })
    expect(fs.readFileSync(wconfd.paths.tempresFile, 'utf8')).not.toContain('gantryMinorsOf')
  })

  test('reservations and locks of an opcode are freed in one step at its end', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    const mac = await calls.generateMAC(first.client, null)
    await calls.gantryAcquire(first.client, 0, [['node/a', 'exclusive']], null)
    await calls.gantryFreeAll(first.client)
    await calls.reserveMAC(second.client, mac)
    expect(await calls.tryUpdateLocks(second.client, [['node/a', 'exclusive']])).toEqual([])
    expect(await calls.listLocks(first.client)).toEqual([])
  })

  test('config.data has what an opcode did when that has ended, unless another is at work', async () => {
    const written = () => fs.readFileSync(wconfd.paths.configFile, 'utf8')
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    await calls.gantryChange(first.client, null, [['addTags', 'cluster', '', ['alone']]])
    await calls.gantryFreeAll(first.client)
    expect(written()).toContain('"alone"')
    await calls.tryUpdateLocks(second.client, [['node/a', 'exclusive']])
    await calls.gantryChange(first.client, null, [['addTags', 'cluster', '', ['beside']]])
    await calls.gantryFreeAll(first.client)
    expect(written()).not.toContain('"beside"')
  })

  test('addresses are picked, kept and written into the network', async () => {
    const [first, second] = [await wconfd.owner(1), await wconfd.owner(2)]
    const calls = wconfd.client()
    const network = buildNetwork(1)
    await calls.gantryChange([0, '', 1], null, [['addNetwork', network]])
    const ip = await calls.generateIp(first.client, network.uuid)
    expect(await calls.generateIp(second.client, network.uuid)).not.toBe(ip)
    await expect(calls.reserveIp(second.client, network.uuid, ip, true)).rejects.toThrow('Duplicate reservation')
    await expect(calls.generateIp(second.client, 'nosuch')).rejects.toThrow("Network 'nosuch' not found")
    expect(await calls.listReservedIps(first.client)).toEqual([['reserve', ip, network.uuid]])
    await calls.commitTemporaryIps(first.client)
    await calls.dropAllReservations(first.client)
    await expect(calls.reserveIp(second.client, network.uuid, ip, true)).rejects.toThrow('IP address already in use')
    await calls.commitReleaseTemporaryIp(network.uuid, ip)
    await calls.reserveIp(second.client, network.uuid, ip, true)
    const outside = calls.reserveIp(second.client, network.uuid, '203.0.113.9', true)
    await expect(outside).rejects.toThrow(`Address 203.0.113.9 is not in network ${network.name}`)
  })

  test('the lowest free DRBD minors are given out, and belong to the disk', async () => {
    const calls = wconfd.client()
    const node = master(config).uuid
    await expect(calls.allocateDRBDMinor('disk1', [node, node])).resolves.toEqual([0, 1])
    await expect(calls.allocateDRBDMinor('disk2', [node])).resolves.toEqual([2])
    await expect(calls.computeDRBDMap()).resolves.toEqual([
      [
        node,
        [
          [0, 'disk1'],
          [1, 'disk1'],
          [2, 'disk2'],
        ],
      ],
    ])
    await calls.releaseDRBDMinors('disk1')
    await expect(calls.allocateDRBDMinor('disk3', [node])).resolves.toEqual([0])
    await expect(calls.allocateDRBDMinor('disk4', ['nosuch'])).rejects.toThrow('There is no node nosuch')
  })
})
