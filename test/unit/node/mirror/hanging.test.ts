// A node whose program hangs keeps its connections, and takes whatever is sent to it. The other one must not wait for it.
import * as net from 'node:net'
import * as path from 'node:path'
import { type Clock, systemClock } from '../../../../src/lib/clock'
import type { MirroredDisk } from '../../../../src/node/mirror/mirror'
import { MIRROR_FLUSH_S, MIRROR_LOOK_S, MIRROR_SILENT_LOOKS } from '../../../../src/model/limits/mirror'
import { OlderDisk } from '../../../support/older-mirror'
import { Pair, type Side } from '../../../support/mirror-sides'

/** A second of the product takes 20 ms. */
const FASTER = 50
const faster: Clock = {
  ...systemClock,
  after(delay_ms, action, options) {
    let isOver = false
    const ring = () => {
      if (isOver) return
      if (stands) return void due.push(ring)
      if (delay_ms === MIRROR_LOOK_S * 1000) looked++
      action()
    }
    const timer = systemClock.after(delay_ms / FASTER, ring, options)
    return { cancel: () => (timer.cancel(), void (isOver = true)) }
  },
  async sleep(delay_ms, signal) {
    await systemClock.sleep(delay_ms / FASTER, signal)
    if (stands) await new Promise<void>((resolve) => due.push(resolve))
  },
}

/** While the clock stands, the product waits for no time to pass. */
let stands = false
const due: (() => void)[] = []
const stand = (): void => void (stands = true)
const goOn = (): void => {
  stands = false
  for (const ring of due.splice(0)) ring()
}
/** How often both sides have looked at their connections. */
let looked = 0

/** Stands between the two. While it holds, connections are made and nothing passes, as with a process that is stopped. */
class Between {
  private readonly ends = new Set<net.Socket>()
  private holds = false
  /** Connections on which somebody has said something. */
  private begun = 0
  /** For each piece of data, in looks of the product. */
  delay_looks = 0
  private readonly server: net.Server

  constructor(
    readonly address: string,
    to: string,
  ) {
    this.server = net.createServer({ allowHalfOpen: true }, (near) => {
      const far = net.connect({ path: to, allowHalfOpen: true })
      near.once('data', () => this.begun++)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.ends.add(one)
        let before = Promise.resolve()
        const after = (work: () => void) => void (before = before.then(() => this.passing()).then(work))
        one.on('error', () => other.destroy())
        one.on('data', (data) => after(() => other.write(data)))
        one.on('end', () => after(() => other.end()))
      }
    })
    this.server.listen(address)
  }

  private async passing(): Promise<void> {
    if (this.delay_looks > 0) await probes(this.delay_looks)
    while (this.holds) await systemClock.sleep(2)
  }

  /** Resolves when the next attempt to connect is under way. */
  async attempt(): Promise<void> {
    const { begun } = this
    while (this.begun === begun) await systemClock.sleep(2)
  }

  hold = (): void => void (this.holds = true)
  go = (): void => void (this.holds = false)
  end(): void {
    this.go()
    this.server.close()
    for (const one of this.ends) one.destroy()
  }
}

let both: Pair
let a: Side
let b: Side
let between: Between

/** `a` connects to `b`, and writes unless `b` is to. */
async function begin(kinds: Readonly<Record<string, typeof MirroredDisk>> = {}, writer: 'a' | 'b' = 'a') {
  both = new Pair({ clock: faster }, kinds)
  ;({ a, b } = both)
  for (const side of both.sides) {
    await side.forget()
    await side.attach()
  }
  await both[writer].disk.promote(true)
  const place = (name: string) => path.join(both.folder, name)
  between = new Between(place('c.link'), place('b.link'))
  const ends = { secret: 's', dual: false, rate_kib: 0 }
  await b.disk.connect({ ...ends, local: place('b.link'), remote: place('a.link') })
  await a.disk.connect({ ...ends, local: place('a.link'), remote: between.address })
  await both.areWhole()
}

afterEach(async () => {
  goOn()
  between.end()
  await both.end()
})

const probes = (count: number) => systemClock.sleep((count * MIRROR_LOOK_S * 1000) / FASTER)

const linkOf = ({ disk }: Side): unknown => (disk as unknown as { link: unknown }).link

test('both sides notice soon that the other one hangs, and come together when it goes on', async () => {
  await begin()
  between.hold()
  while (both.sides.some(({ disk }) => disk.status.peerDisk !== 'DUnknown')) await probes(1)
  expect(a.disk.status.why ?? b.disk.status.why).toBe('the other node does not answer')
  between.go()
  await both.areWhole()
  expect(a.disk.status.why).toBeUndefined()
})

test('a guest that writes goes on without the node that hangs, which gets what it lacks afterwards', async () => {
  await begin()
  const guest = await a.open()
  between.hold()
  await guest.write(0, 'first')
  for (let at = 1; at <= 3; at++) {
    await between.attempt()
    // A write that waited for the end of the attempt would wait for ever.
    stand()
    await guest.write(at << 16, 'alone')
    goOn()
  }
  between.go()
  await both.areWhole()
  await guest.flush()
  expect(b.holds(0, 'first') && b.holds(3 << 16, 'alone')).toBe(true)
  expect(both.areAlike).toBe(true)
})

test.each([
  ['says nothing', ''],
  ['says nothing more than that it is ready', '{"id":1,"request":{"verb":"ready","pings":true}}'],
])('a node that connects and %s does not stay in the way of later connections', async (_name, said) => {
  both = new Pair({ clock: faster })
  ;({ a, b } = both)
  between = new Between(path.join(both.folder, 'c.link'), path.join(both.folder, 'b.link'))
  for (const side of both.sides) {
    await side.forget()
    await side.attach()
  }
  await a.disk.promote(true)
  await b.connect()
  const silent = net.connect(path.join(both.folder, 'b.link')).resume()
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(said.length, 0)
  if (said !== '') silent.write(Buffer.concat([lengths, Buffer.from(said)]))
  try {
    while (b.disk.status.connection !== 'WFReportParams') await probes(1)
    await a.connect()
    await both.areWhole()
  } finally {
    silent.destroy()
  }
})

test('a large write that takes long on its way does not end the connection', async () => {
  await begin()
  const guest = await a.open()
  const before = linkOf(a)
  between.delay_looks = 1
  await guest.write(0, 'x'.repeat(2 << 20))
  between.delay_looks = 0
  expect(linkOf(a)).toBe(before)
  expect(both.areAlike).toBe(true)
})

test('an idle connection whose sides answer stays', async () => {
  await begin()
  const before = linkOf(a)
  await probes(5 * MIRROR_SILENT_LOOKS)
  expect(linkOf(a)).toBe(before)
})

test('a node whose disk hangs is let go, though its program answers', async () => {
  await begin()
  const guest = await a.open()
  b.faults.data = { write: () => new Promise(() => undefined) }
  await guest.write(0, 'first')
  await guest.write(1 << 16, 'alone')
  expect(a.disk.status.peerDisk).toBe('DUnknown')
  b.faults.data = {}
  await b.crash()
}, 30_000)

test('a flush that hangs at the other node ends, too', async () => {
  await begin()
  const guest = await a.open()
  await guest.write(0, 'first')
  b.faults.data = { datasync: () => new Promise(() => undefined) }
  looked = 0
  await guest.flush()
  expect(looked).toBeGreaterThan(MIRROR_FLUSH_S / MIRROR_LOOK_S)
  b.faults.data = {}
  await b.crash()
}, 30_000)

describe('with an earlier version at the other node', () => {
  test.each([
    ['which connects', { a: OlderDisk }, 'b'],
    ['which is connected to', { b: OlderDisk }, 'a'],
  ] as const)('%s: an idle connection stays, and a write that is not answered ends', async (_which, kinds, writer) => {
    await begin(kinds, writer)
    const side = both[writer]
    await probes(5 * MIRROR_SILENT_LOOKS)
    await both.areWhole()
    const guest = await side.open()
    between.hold()
    await guest.write(0, 'alone')
    expect(side.disk.status.peerDisk).toBe('DUnknown')
    between.go()
    await both.areWhole()
    expect(both.areAlike).toBe(true)
  })
})
