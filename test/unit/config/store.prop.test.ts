// A power cut at any moment loses nothing that was acknowledged.
import * as fc from 'fast-check'
import type { NamedChange } from '../../../src/config/changes'
import { encodeConfig, encodeGantry } from '../../../src/config/encode'
import { openStore } from '../../../src/config/store'
import { systemClock } from '../../../src/lib/clock'
import type { Documents } from '../../../src/model/config'
import { buildInstance, id, smallConfig, storeOptions } from './builders'
import { checkProperty } from '../../support/effort'

const config = smallConfig()
const text = ({ config, gantry }: Documents): string => encodeConfig(config) + encodeGantry(gantry)
const turn = () => new Promise((resolve) => setImmediate(resolve))

interface Crash {
  /** Writes until the power goes. */
  readonly failAfter: number
  /** How much of the last write gets through. */
  readonly tornPart: number
}

/** One life of a store: changes with checkpoints in between, until all is done or the power goes. */
async function live(changes: readonly NamedChange[], every: number, together: boolean, crash: Crash) {
  const options = await storeOptions(config)
  const store = await openStore(options)
  const start = options.disk.operations
  const passed = new Map([[store.current().serial_no, text(store.documents())]])
  store.subscribe((delta, documents) => passed.set(delta.to, text(documents)))
  let acknowledged = store.current().serial_no
  let finished = false
  Object.assign(options.disk, { failAfter: start + crash.failAfter, tornPart: crash.tornPart })
  const work = async () => {
    const under: Promise<unknown>[] = []
    for (const [index, change] of changes.entries()) {
      const written = store.change([change]).then(() => (acknowledged = store.current().serial_no))
      under.push(written)
      if (index % every === every - 1) under.push(store.checkpoint())
      if (!together) await written
    }
    await Promise.all(under)
    finished = true
  }
  void work()
  // Stuck is who made no write for many turns.
  for (let idle = 0, last = -1; !finished && idle < 60; idle++) {
    if (options.disk.operations !== last) idle = 0
    last = options.disk.operations
    await turn()
  }
  return { options, passed, acknowledged, finished, operations: options.disk.operations - start }
}

const value = fc.nat({ max: 9 })
const change: fc.Arbitrary<NamedChange> = fc.oneof(
  value.map((n): NamedChange => ['addTags', 'cluster', '', [`t${n}`]]),
  fc.constant<NamedChange>(['allocatePort']),
  value.map((n): NamedChange => ['patchInstance', id(0x1000000), { beparams: { vcpus: n } }]),
  value.map((n): NamedChange => ['setGantry', 'tokens', `k${n}`, n]),
)
const first: NamedChange = ['addInstance', buildInstance(config, 0)]

test('a power cut at any write, whole or torn, loses no acknowledged change and invents none', async () => {
  await checkProperty(
    fc.asyncProperty(
      fc.array(change, { minLength: 5, maxLength: 14 }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.constantFrom(0, 0.5, 1),
      async (list, every, together, tornPart) => {
        const changes = [first, ...list]
        const calm = await live(changes, every, together, { failAfter: Infinity, tornPart })
        expect(calm.finished).toBe(true)
        for (let failAfter = 0; failAfter < calm.operations; failAfter++) {
          const { options, passed, acknowledged } = await live(changes, every, together, { failAfter, tornPart })
          const again = await openStore({ ...options, disk: options.disk.restart() })
          const serial = again.current().serial_no
          expect(serial).toBeGreaterThanOrEqual(acknowledged)
          // A record may be whole though its acknowledgement was lost: the calm run knows that state, too.
          expect([passed.get(serial), calm.passed.get(serial)].map(withoutTimes)).toContain(
            withoutTimes(text(again.documents())),
          )
          await again.change([['addTags', 'cluster', '', ['alive']]])
          await again.close(true)
        }
      },
    ),
    { numRuns: 12 },
  )
})

test('one file that cannot be written for a while loses no acknowledged change, and keeps no refused one', async () => {
  /** No checkpoint begins by itself, and waits take no time. */
  const clock = {
    ...systemClock,
    after: () => ({ cancel: () => undefined }),
    sleep: () => turn().then(() => undefined),
  }
  await checkProperty(
    fc.asyncProperty(
      fc.record({
        file: fc.constantFrom('configFile', 'gantryFile', 'journalFile' as const),
        step: fc.constantFrom('write', 'rename', 'sync' as const),
        times: fc.integer({ min: 1, max: 12 }),
        from: fc.nat({ max: 6 }),
        /** The fault goes on over the stop. */
        ends: fc.boolean(),
      }),
      fc.array(fc.constantFrom('tag', 'token', 'checkpoint' as const), { minLength: 8, maxLength: 30 }),
      fc.boolean(),
      async ({ file, step, times, from, ends }, steps, isKilled) => {
        const options = { ...(await storeOptions(config)), clock }
        const { disk } = options
        const store = await openStore(options)
        const acknowledged = { tags: [] as string[], tokens: [] as string[] }
        const kept = async (list: string[], name: string, done: Promise<unknown>) =>
          done.then(
            () => list.push(name),
            () => undefined,
          )
        for (const [n, what] of steps.entries()) {
          if (n === from) disk.faults.plan({ file: options.paths[file], step, times })
          if (what === 'checkpoint') await store.checkpoint().catch(() => undefined)
          else if (what === 'tag')
            await kept(acknowledged.tags, `t${n}`, store.change([['addTags', 'cluster', '', [`t${n}`]]]))
          else await kept(acknowledged.tokens, `k${n}`, store.change([['setGantry', 'tokens', `k${n}`, n]]))
        }
        if (ends) disk.faults.clear()
        if (!isKilled) await store.close(true).catch(() => undefined)
        const again = await openStore({ ...options, disk: disk.restart() })
        const { tokens = {} } = again.gantry().sections
        expect([...again.current().cluster.tags].sort()).toEqual(acknowledged.tags.sort())
        expect(Object.keys(tokens).sort()).toEqual(acknowledged.tokens.sort())
      },
    ),
    { numRuns: 150 },
  )
})

test('a full copy between stores of any histories makes them equal, also after a restart', async () => {
  await checkProperty(
    fc.asyncProperty(
      fc.array(change, { maxLength: 8 }),
      fc.array(change, { maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      async (ones, others, checkpointed, folded) => {
        const master = await openStore(await storeOptions(config))
        const options = await storeOptions(config)
        const candidate = await openStore(options)
        for (const one of [first, ...ones]) await master.change([one])
        for (const other of [first, ...others]) await candidate.change([other])
        if (checkpointed) await candidate.checkpoint()
        const copy = master.texts()
        await candidate.replace(copy.config, copy.gantry)
        expect(text(candidate.documents())).toBe(text(master.documents()))
        if (folded) await candidate.close(true)
        const again = await openStore({ ...options, disk: options.disk.restart() })
        expect(text(again.documents())).toBe(text(master.documents()))
        for (const store of [master, candidate, again]) await store.close(false)
      },
    ),
    { numRuns: 30, examples: [[[['setGantry', 'tokens', 'k', 1]], [['setGantry', 'tokens', 'k', 2]], true, false]] },
  )
})

/** The two runs were not at the same time. */
const withoutTimes = (state: string | undefined): string | undefined => state?.replace(/"[cm]time":[\d.]+/g, '')
