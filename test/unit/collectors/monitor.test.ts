// The cache of mond: when collectors are asked, and what is told meanwhile.
import { Monitor, type Watched } from '../../../src/collectors/monitor'
import type { Report } from '../../../src/collectors/report'
import { silentLog } from '../../../src/lib/log'
import { SteppedClock, settled } from '../../support/stepped-clock'

const ALL = { categories: [], names: [], verbose: true }

function fixture(...all: readonly Watched[]) {
  const clock = new SteppedClock()
  const monitor = new Monitor({ clock, log: silentLog, sign: (text) => ({ signed: text.length }) })
  monitor.watch(all)
  const read = async (selection: Partial<typeof ALL> & { categories?: string[]; names?: string[] } = {}) => {
    const requested = monitor.reports({ ...ALL, ...selection })
    await clock.pass(2)
    return JSON.parse(await requested) as Report[]
  }
  return { clock, monitor, read }
}

function watched(name: string, collect: () => Promise<unknown>, more: Partial<Watched> = {}): Watched {
  return { name, category: null, kind: 'performance', interval_s: 5, cost_ms: 1, open: () => ({ collect }), ...more }
}

const counted = (data: (look: number) => unknown = (look) => look) => {
  const observed = { looks: 0 }
  return Object.assign(observed, { collect: () => Promise.resolve(data(++observed.looks)) })
}

const status = { kind: 'status', category: 'storage', codes: { 0: 'well', 4: 'ill' } } as const

test('answers come from what was seen last', async () => {
  const one = counted()
  const { read, clock } = fixture(watched('one', one.collect))
  expect((await read())[0]).toMatchObject({
    name: 'one',
    version: 'B',
    format_version: 1,
    category: null,
    kind: 0,
    data: 1,
  })
  await read()
  expect(one.looks).toBe(1)
  await clock.pass(5)
  expect((await read())[0]?.data).toBe(2)
})

test('a collector that fails or hangs is one report with its error, and the others are as they were', async () => {
  const { read, clock } = fixture(
    watched('good', counted().collect),
    watched('bad', () => Promise.reject(new Error('no such thing'))),
    watched('ill', () => Promise.reject(new Error('no such thing')), status),
    watched('hangs', () => new Promise(() => undefined)),
  )
  const early = await read()
  expect(early.map(({ name, data }) => [name, data])).toEqual([
    ['good', 1],
    ['bad', { error: 'no such thing' }],
    ['ill', { status: { code: 2, message: 'no such thing' }, error: 'no such thing' }],
    ['hangs', { error: 'nothing was collected yet' }],
  ])
  await clock.pass(50)
  expect((await read()).at(-1)?.data).toEqual({ error: 'it did not answer within 40 s' })
})

test('a collector that waited at its first look, while others started, is looked at soon again', async () => {
  let probes = 0
  const { clock, monitor } = fixture()
  const waiting = async () => {
    if (++probes === 1) await clock.sleep(6000)
    return probes
  }
  monitor.watch([watched('one', waiting)])
  void monitor.reports(ALL)
  await clock.pass(6 + 5 + 1)
  expect(probes).toBe(2)
})

test('a collector that failed is tried again soon, however long it took', async () => {
  let probes = 0
  const { clock, monitor } = fixture()
  const slow = async () => {
    probes++
    await clock.sleep(10_000)
    throw new Error('nobody answers')
  }
  monitor.watch([watched('one', slow)])
  void monitor.reports(ALL)
  await clock.pass(36)
  expect(probes).toBe(3)
})

test('one that hangs is not begun again before it has ended', async () => {
  let begun = 0
  let finish: (value: unknown) => void = () => undefined
  const slow = watched('slow', () => (begun++, new Promise((resolve) => (finish = resolve))))
  const { clock, monitor, read } = fixture(slow)
  await read()
  await clock.pass(200)
  monitor.follow(new Map([['slow', { active: false, interval_s: 5 }]]))
  monitor.follow(new Map([['slow', { active: true, interval_s: 5 }]]))
  await clock.pass(200)
  expect(begun).toBe(1)
  finish('late')
  await clock.pass(60)
  expect(begun).toBe(2)
})

test('reports can be chosen by category and name, and those of a status be cut to it', async () => {
  const { read, monitor } = fixture(
    watched('a', counted(() => 1).collect),
    watched('b', counted(() => ({ status: { code: 0, message: '' }, more: 1 })).collect, status),
  )
  const names = async (selection: object) => (await read(selection)).map(({ name }) => name)
  expect(await names({ categories: ['storage'] })).toEqual(['b'])
  expect(await names({ categories: ['default'] })).toEqual(['a'])
  expect(await names({ names: ['a', 'b'] })).toEqual(['a', 'b'])
  expect((await read({ verbose: false })).map(({ data }) => data)).toEqual([1, { status: { code: 0, message: '' } }])
  expect(await monitor.report('storage', 'b', true)).toContain('"more":1')
  expect(await monitor.report('storage', 'a', true)).toBeUndefined()
})

test('the configuration switches collectors and sets their intervals while they run', async () => {
  const one = counted()
  const { read, clock, monitor } = fixture(watched('one', one.collect), watched('two', counted().collect))
  await read()
  monitor.follow(new Map([['one', { active: false, interval_s: 5 }]]))
  expect((await read()).map(({ name }) => name)).toEqual(['two'])
  expect(monitor.active().map(({ name }) => name)).toEqual(['two'])
  expect(await monitor.report('default', 'one', true)).toBeUndefined()
  const probes = one.looks
  await clock.pass(100)
  expect(one.looks).toBe(probes)
  monitor.follow(new Map([['one', { active: true, interval_s: 50 }]]))
  await clock.pass(49)
  expect(one.looks).toBe(probes + 1)
  monitor.follow(new Map([['one', { active: true, interval_s: 1 }]]))
  await clock.pass(3)
  expect(one.looks).toBe(probes + 4)
})

test('a collector rests until somebody asks, and when nobody has asked for long', async () => {
  const one = counted()
  const { read, clock, monitor } = fixture(watched('one', one.collect))
  await clock.pass(100)
  expect(one.looks).toBe(0)
  expect((await read())[0]?.data).toBe(1)
  await clock.pass(299)
  const probes = one.looks
  expect(probes).toBeGreaterThan(2)
  await clock.pass(1000)
  expect(one.looks).toBe(probes)
  expect((await read())[0]?.data).toBe(probes + 1)
  await clock.pass(2000)
  const figures = monitor.figures()
  await settled()
  expect((await figures)[0]?.seen_ms).toBe(clock.monotonic_ms())
})

test('a collector that compares looks keeps an even pace', async () => {
  const one = counted(() => 'same')
  const { clock } = fixture(watched('one', one.collect, { stateful: true }))
  await clock.pass(50)
  expect(one.looks).toBe(11)
})

test('plugins come and go while the others go on', async () => {
  const one = watched('one', counted().collect)
  const { read, monitor } = fixture(one)
  await read()
  monitor.watch([one, watched('plugin', counted(() => ({ text: 'x' })).collect, { version: 'P' })])
  expect((await read()).map(({ name, version, data }) => [name, version, data])).toEqual([
    ['one', 'B', 1],
    ['plugin', 'P', { text: 'x' }],
  ])
  monitor.watch([one])
  expect((await read()).map(({ name }) => name)).toEqual(['one'])
})

test('a report that others act on is signed as it was given out', async () => {
  const { read } = fixture(watched('one', counted().collect, { signed: true }))
  const [report] = await read()
  const { signed, ...plain } = report as Report & { signed: number }
  expect(signed).toBe(JSON.stringify(plain).length)
})

test('a report that is too long is an error', async () => {
  const { read } = fixture(watched('one', counted(() => 'x'.repeat((16 << 20) + 1)).collect))
  expect((await read())[0]?.data).toEqual({ error: expect.stringMatching(/^it reports \d+ characters, more than/) })
})
