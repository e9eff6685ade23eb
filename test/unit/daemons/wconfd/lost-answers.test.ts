// A change whose answer is lost is made once, whatever happens to the daemon meanwhile, and its client gets the answer.
import * as fs from 'node:fs'
import * as net from 'node:net'
import { systemClock } from '../../../../src/lib/clock'
import { systemRandom } from '../../../../src/lib/random'
import { openWconfd, type WconfdClient } from '../../../../src/rpc/wconfd/client'
import { smallConfig } from '../../config/builders'
import { TestWconfd, type TestOwner } from './support'

let wconfd: TestWconfd
let relay: Relay
let owner: TestOwner
let calls: WconfdClient
let epoch: number

beforeEach(async () => {
  wconfd = new TestWconfd()
  await wconfd.start(smallConfig())
  relay = await Relay.open(`${wconfd.folder}/relay`, wconfd.paths.socket('wconfd'))
  owner = await wconfd.owner(1)
  calls = open(5)
  ;({ epoch } = await calls.gantryAcquire(owner.client, 0, [['cluster/BGL', 'shared']], null))
})

afterEach(async () => {
  calls.close()
  await relay.close()
  await wconfd.remove()
})

const open = (reconnect_s: number) =>
  openWconfd({ clock: systemClock, random: systemRandom, path: `${wconfd.folder}/relay`, reconnect_s })

/** Loses the answer to a change, does something else, and then lets the client ask again. */
async function changeWhile(meanwhile: () => Promise<void>): Promise<unknown[]> {
  relay.losing = 1
  const answer = calls.gantryChange(owner.client, epoch, [['allocatePort']])
  answer.catch(() => undefined)
  await relay.lost
  await meanwhile()
  relay.isShut = false
  return answer
}

const highestPort = async () => (await wconfd.client().readConfig()).cluster.highest_used_port

/** What a crash at this moment would leave. */
function files(): () => void {
  const { dataDir } = wconfd.paths
  const copy = fs.mkdtempSync(`${wconfd.folder}/copy-`)
  fs.cpSync(dataDir, copy, { recursive: true })
  return () => {
    fs.rmSync(dataDir, { recursive: true })
    fs.cpSync(copy, dataDir, { recursive: true })
  }
}

test('the daemon goes on: it does not do the change again', async () => {
  await expect(changeWhile(async () => undefined)).resolves.toEqual([11000])
  await expect(highestPort()).resolves.toBe(11000)
})

test('the daemon is stopped and started', async () => {
  const port = changeWhile(async () => {
    await wconfd.stop()
    await wconfd.start()
  })
  await expect(port).resolves.toEqual([11000])
  await expect(highestPort()).resolves.toBe(11000)
})

test.each([1, 2])('the daemon crashes, times: %d', async (times) => {
  const port = changeWhile(async () => {
    for (let crash = 0; crash < times; crash++) {
      const crashed = files()
      await wconfd.stop()
      crashed()
      await wconfd.start()
    }
  })
  await expect(port).resolves.toEqual([11000])
  await expect(highestPort()).resolves.toBe(11000)
})

test('what was remembered goes with the locks', async () => {
  await changeWhile(async () => {
    await wconfd.stop()
    await wconfd.start()
  })
  await calls.gantryFreeAll(owner.client)
  await wconfd.stop()
  await wconfd.start()
  expect(fs.readFileSync(wconfd.paths.gantryFile, 'utf8')).not.toContain('receipts')
})

test('a change that was refused is refused again', async () => {
  relay.losing = 1
  const answer = calls.gantryChange(owner.client, epoch, [['removeNode', 'nobody']])
  void relay.lost.then(() => (relay.isShut = false))
  await expect(answer).rejects.toThrow('There is no node')
})

test.each(['the answer stays lost', 'the daemon has forgotten the owner'])('%s: it is not known', async (case_) => {
  calls.close()
  calls = open(1)
  const answer = changeWhile(async () => {
    if (case_.startsWith('the daemon')) await wconfd.client().gantryOwnerDied(owner.client)
    else relay.losing = Infinity
  })
  await expect(answer).rejects.toMatchObject({ kind: 'lost' })
})

/** Stands between client and daemon. When it loses an answer, it shuts until it is told otherwise. */
class Relay {
  losing = 0
  isShut = false
  private tell: () => void = () => undefined
  readonly lost = new Promise<void>((resolve) => (this.tell = resolve))

  private constructor(
    private readonly server: net.Server,
    to: string,
  ) {
    server.on('connection', (from) => {
      if (this.isShut) return void from.destroy()
      const daemon = net.connect(to)
      for (const [one, other] of [
        [from, daemon],
        [daemon, from],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy())
      from.on('data', (data) => daemon.write(data))
      daemon.on('data', (data) => this.answer(from, data))
    })
  }

  static async open(path: string, to: string): Promise<Relay> {
    const server = net.createServer()
    const relay = new Relay(server, to)
    await new Promise<void>((resolve) => server.listen(path, resolve))
    return relay
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()))
  }

  private answer(from: net.Socket, data: Buffer): void {
    if (this.losing <= 0) return void from.write(data)
    this.losing--
    this.isShut = true
    from.destroy()
    this.tell()
  }
}
