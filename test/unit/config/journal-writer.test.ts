// The journal's writer alone: whatever single step of the disk fails, the journal has the records that were acknowledged,
// none that were refused, and the names of all checkpoints that the files may hold.
import { decodeJournal, encodeRecord } from '../../../src/config/journal'
import { JournalWriter } from '../../../src/config/journal-writer'
import type { CheckpointTexts } from '../../../src/config/store-files'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { nextTurn, systemClock } from '../../../src/lib/clock'
import { DISK_STEPS } from '../../support/disk-faults'
import { smallConfig, storeOptions } from './builders'
import type { MemoryDisk } from './memory-disk'

/** Waits of seconds take no time. */
const clock = { ...systemClock, sleep: () => nextTurn() }
const checkpoint = (serial: number): CheckpointTexts => ({
  ...{ configText: Buffer.from(''), gantryText: undefined, gantry: EMPTY_GANTRY },
  mark: { config: { serial, sha256: `c${serial}` }, gantry: { serial: 0, sha256: 'g' } },
})
const record = (to: number) => encodeRecord({ from: to - 1, to, mtime: 1 })

let disk: MemoryDisk
let file: string
let writer: JournalWriter
beforeEach(async () => {
  const options = { ...(await storeOptions(smallConfig())), clock }
  disk = options.disk
  file = options.paths.journalFile
  writer = new JournalWriter(options, { files: checkpoint(1), records: [] })
  await writer.begin()
  await append(2)
})

const append = (to: number) => writer.append(record(to), to)
/** What a restart reads after a power cut. */
function kept() {
  const { marks, records, torn_bytes, damagedLine } = decodeJournal(disk.files.get(file) ?? Buffer.alloc(0))
  expect([torn_bytes, damagedLine]).toEqual([0, undefined])
  return { checkpoints: marks.map(({ config }) => config.serial), records: records.map(({ delta }) => delta.to) }
}
const outcome = (work: Promise<unknown>) => work.then(() => true, () => false) // prettier-ignore

describe.each(DISK_STEPS)('a %s fails', (step) => {
  const once = { step, times: 1 }

  test.each([1, 2, 3, 5])('%d times, when a record is appended', async (times) => {
    disk.faults.plan({ file, step, times })
    const isIn = await outcome(append(3))
    expect(kept()).toEqual({ checkpoints: [1], records: isIn ? [2, 3] : [2] })
    expect(writer.unsettled).toBeUndefined()
    // Its writer tries until it can, and no refused record comes back with a later one.
    while (!(await outcome(append(4)))) expect(kept().records).toEqual(isIn ? [2, 3] : [2])
    expect(kept().records).toEqual(isIn ? [2, 3, 4] : [2, 4])
  })

  test.each([1, 2, 3])('%d times, when a checkpoint is announced', async (times) => {
    disk.faults.plan({ file, step, times })
    const isNamed = await outcome(writer.announce(checkpoint(2)))
    // Only a checkpoint that the journal names may be written.
    expect(kept().checkpoints).toEqual(expect.arrayContaining(isNamed ? [1, 2] : [1]))
    expect(kept().records).toEqual([2])
    disk.faults.clear()
    await append(3)
    expect(kept()).toEqual({ checkpoints: [1, 2], records: [2, 3] })
  })

  test('when a checkpoint is whole', async () => {
    await writer.announce(checkpoint(2))
    await append(3)
    disk.faults.plan({ file, ...once })
    await outcome(writer.advance(checkpoint(2)))
    // Records that the checkpoint has may stay: a reader passes over them.
    expect(kept().checkpoints).toContain(2)
    expect(kept().records).toContain(3)
    await append(4)
    expect(kept()).toEqual({ checkpoints: [2], records: [3, 4] })
  })

  test('when the journal begins anew', async () => {
    disk.faults.plan({ file, ...once })
    await outcome(writer.begin())
    expect(kept()).toEqual({ checkpoints: [1], records: [2] })
    await append(3)
    expect(kept()).toEqual({ checkpoints: [1], records: [2, 3] })
  })
})

test('nobody gets an answer while it is not known whether the record is in', async () => {
  disk.faults.plan({ file, step: 'sync', times: Infinity })
  let answered = false
  const waiting = outcome(append(3)).finally(() => (answered = true))
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  expect([answered, writer.unsettled]).toEqual([false, expect.stringContaining('EIO')])
  disk.faults.clear()
  expect(await waiting).toBe(false)
  expect([writer.unsettled, kept().records]).toEqual([undefined, [2]])
})

test('a writer that closes leaves it open', async () => {
  disk.faults.plan({ file, step: 'sync', times: Infinity })
  const waiting = outcome(append(3))
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  writer.hurry()
  expect(await waiting).toBe(false)
  expect(writer.unsettled).toContain('EIO')
})
