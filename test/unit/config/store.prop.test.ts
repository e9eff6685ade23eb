import * as fc from 'fast-check'
import { encodeConfig, encodeGantry } from '../../../src/config/encode'
import { openStore } from '../../../src/config/store'
import type { Documents } from '../../../src/model/config'
import { arbitraryChange } from './arbitrary-changes'
import { smallConfig, storeOptions } from './builders'

const config = smallConfig()
const text = ({ config, gantry }: Documents): string => encodeConfig(config) + encodeGantry(gantry)

/** The power goes at a random moment, in the middle of a random write; checkpoints come in between. */
test('after a power cut every acknowledged change is there, and the state is one that was passed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryChange(config), { minLength: 1, maxLength: 25 }),
      fc.nat({ max: 40 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat({ max: 6 }),
      fc.boolean(),
      async (changes, failAfter, tornPart, every, together) => {
        const options = await storeOptions(config)
        const store = await openStore(options)
        const passed = [text(store.documents())]
        store.subscribe((_, documents) => passed.push(text(documents)))
        let acknowledged = store.current().serial_no
        Object.assign(options.disk, { failAfter: options.disk.operations + failAfter, tornPart })
        const finished = (async () => {
          for (const [index, change] of changes.entries()) {
            const result = store.change([change]).then(
              () => (acknowledged = store.current().serial_no),
              () => undefined,
            )
            if (!together) await result
            if (index % (every + 1) === every) void store.checkpoint().catch(() => undefined)
          }
        })()
        // Enough turns for all of it to be over, or stuck in the write that lost its power.
        const turns = async () => {
          for (let turn = 0; turn < 400; turn++) await new Promise((resolve) => setImmediate(resolve))
        }
        await Promise.race([together ? finished.then(turns) : finished, turns()])

        const disk = options.disk.restart()
        const again = await openStore({ ...options, disk })
        const found = text(again.documents())
        expect(again.current().serial_no).toBeGreaterThanOrEqual(acknowledged)
        // What was durable but not yet acknowledged may be there too: then it is what the journal's next record made of it.
        if (again.current().serial_no === acknowledged) expect(passed.includes(found)).toBe(true)
        await again.change([['addTags', 'cluster', '', ['alive']]])
        await again.close(true)
        expect(disk.files.has(options.paths.journalFile)).toBe(false)
      },
    ),
    { numRuns: 150 },
  )
}, 60000)
