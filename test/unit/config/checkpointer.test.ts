// The checkpointer alone: what it writes, in which order, and what it does when a step fails.
import { applyChange } from '../../../src/config/changes'
import { Checkpointer } from '../../../src/config/checkpointer'
import { encodeConfig, encodeGantry } from '../../../src/config/encode'
import type { JournalWriter } from '../../../src/config/journal-writer'
import type { CheckpointTexts, StoreOptions } from '../../../src/config/store-files'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { CONFIG_JOURNAL_BYTES_MAX } from '../../../src/model/limits/config'
import { DISK_STEPS } from '../../support/disk-faults'
import { nextTurn } from '../../../src/lib/clock'
import { clockAt } from '../../support/instant-clock'
import { at, smallConfig, storeOptions } from './builders'
import type { MemoryDisk } from './memory-disk'

class FakeJournal implements Pick<
  JournalWriter,
  'checkpoint' | 'unfinished' | 'hasRecords' | 'fileBytes' | 'announce' | 'advance'
> {
  checkpoint = { mark: { config: { serial: 0, sha256: '' }, gantry: { serial: 0, sha256: '' } }, gantry: EMPTY_GANTRY }
  unfinished: CheckpointTexts | undefined
  hasRecords = true
  fileBytes = 0
  refusal: string | undefined
  constructor(private readonly told: string[]) {}

  async announce(texts: CheckpointTexts): Promise<void> {
    this.unfinished = texts
    if (this.refusal !== undefined) throw new Error(this.refusal)
    this.told.push(`announced ${texts.mark.config.serial}`)
  }

  async advance(texts: CheckpointTexts): Promise<void> {
    this.unfinished = undefined
    this.hasRecords = texts.mark.config.serial < documents.config.serial_no
    this.checkpoint = texts
    this.told.push(`whole ${texts.mark.config.serial}`)
  }
}

let reported: string[]
let journal: FakeJournal
let options: StoreOptions & { disk: MemoryDisk }
let documents = { config: smallConfig(), gantry: EMPTY_GANTRY }
let checkpointer: Checkpointer
/** Timers ring when the test says so. */
const timers = new Set<() => void>()
const clock: StoreOptions['clock'] = {
  ...clockAt(0),
  after(_ms, action) {
    timers.add(action)
    return { cancel: () => void timers.delete(action) }
  },
}
async function ring(): Promise<void> {
  for (const action of [...timers]) {
    timers.delete(action)
    action()
  }
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

beforeEach(async () => {
  reported = []
  journal = new FakeJournal(reported)
  options = { ...(await storeOptions(smallConfig())), clock }
  const { disk, paths } = options
  const write = disk.write.bind(disk)
  disk.write = async (file, data) => {
    await write(file, data)
    reported.push(file === paths.configFile ? 'config.data' : 'gantry.data')
  }
  documents = { config: smallConfig(), gantry: EMPTY_GANTRY }
  changed('first')
  checkpointer = new Checkpointer(options, journal as unknown as JournalWriter, () => documents, () => void reported.push('told')) // prettier-ignore
})
afterEach(async () => {
  await checkpointer.close()
  timers.clear()
})

function changed(value: string): void {
  documents = applyChange(documents, ['setGantry', 'tokens', 'k', value], at(1)).documents
  journal.hasRecords = true
}
const inFiles = () => {
  const text = (file: string) => options.disk.files.get(file)?.toString()
  return [text(options.paths.configFile), text(options.paths.gantryFile)]
}
const desired = () => [encodeConfig(documents.config), encodeGantry(documents.gantry)]

test('the journal names it, then the files are written, and then the journal goes on without the records', async () => {
  await checkpointer.run({ force: false })
  const { serial_no } = documents.config
  expect(reported).toEqual([`announced ${serial_no}`, 'gantry.data', 'config.data', `whole ${serial_no}`, 'told'])
  expect(inFiles()).toEqual(desired())
  await checkpointer.run({ force: false })
  expect(reported).toHaveLength(5)
})

test('nothing is written that the journal does not name', async () => {
  const before = inFiles()
  journal.refusal = 'the disk is full'
  await expect(checkpointer.run({ force: true })).rejects.toThrow('the disk is full')
  expect([reported, inFiles()]).toEqual([[], before])
})

describe.each(DISK_STEPS)('a %s fails', (step) => {
  test.each(['gantryFile', 'configFile'] as const)(
    'of %s: the same checkpoint is written again before a later one',
    async (name) => {
      options.disk.faults.plan({ file: options.paths[name], step, times: 2 })
      await expect(checkpointer.run({ force: false })).rejects.toThrow('EIO')
      changed('later-token')
      await expect(checkpointer.run({ force: false })).rejects.toThrow('EIO')
      expect(journal.unfinished?.mark.config.serial).toBe(documents.config.serial_no - 1)
      expect(inFiles().join()).not.toContain('later-token')
      await checkpointer.run({ force: false })
      expect(reported.filter((word) => word.startsWith('whole'))).toEqual([
        `whole ${documents.config.serial_no - 1}`,
        `whole ${documents.config.serial_no}`,
      ])
      expect(inFiles()).toEqual(desired())
    },
  )
})

test('one that fails in the background is tried again', async () => {
  options.disk.faults.plan({ file: options.paths.configFile, step: 'write', times: 3 })
  checkpointer.plan()
  for (let n = 0; n < 3; n++) await ring()
  expect(reported).not.toContain('told')
  await ring()
  expect(reported).toContain('told')
  expect(inFiles()).toEqual(desired())
})

test('a long journal is not waited with', async () => {
  checkpointer.plan()
  await nextTurn()
  expect([reported, timers.size]).toEqual([[], 1])
  journal.fileBytes = CONFIG_JOURNAL_BYTES_MAX
  checkpointer.plan()
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect([reported.includes('told'), timers.size]).toEqual([true, 0])
})

test('whoever closes waits for one that is being written, and none begins by itself afterwards', async () => {
  const running = checkpointer.run({ force: true })
  await checkpointer.close()
  expect(reported.at(-1)).toBe('told')
  await running
  changed('late')
  checkpointer.plan()
  await checkpointer.settle()
  expect(reported.filter((word) => word === 'told')).toHaveLength(1)
})
