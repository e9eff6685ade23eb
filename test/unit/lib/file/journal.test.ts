// Appends to many files are one write, and reach the files whatever dies.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { nextTurn } from '../../../../src/lib/clock'
import { type Disk, systemDisk } from '../../../../src/lib/disk'
import { UnsettledAppend } from '../../../../src/lib/file/unsettled-append'
import { FileJournal } from '../../../../src/lib/file/journal'

let folder: string
beforeEach(() => void (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gj'))))
afterEach(() => fs.rmSync(folder, { recursive: true }))

const named = (name: string) => path.join(folder, name)
const text = (name: string) => (fs.existsSync(named(name)) ? fs.readFileSync(named(name), 'utf8') : undefined)
const open = (changes: Partial<Disk> = {}, isOurs = () => true) =>
  new FileJournal({ disk: { ...systemDisk, ...changes }, file: named('journal'), isOurs })
const contents = async () => Object.fromEntries(await open().contents())

test('appended content is in the files after a fold, the last content of each', async () => {
  const journal = open()
  await journal.append([[named('a'), '1'], [named('b'), '1\n']]) // prettier-ignore
  await journal.append([[named('a'), '2']])
  expect([text('a'), await contents()]).toEqual([undefined, { [named('a')]: '2', [named('b')]: '1\n' }])
  await journal.fold()
  expect([text('a'), text('b'), fs.readdirSync(folder)]).toEqual(['2', '1\n', ['a', 'b']])
})

test('a record that its writer could not end is skipped, and not those before and after it', async () => {
  await open().append([[named('a'), '1']])
  fs.appendFileSync(named('journal'), '\n12345678 [["b","half of')
  await open().append([[named('c'), '1']])
  await open().fold()
  expect(fs.readdirSync(folder)).toEqual(['a', 'c'])
})

test('a journal that a killed process left is not added to, since its name may not be durable', async () => {
  await open().append([[named('a'), '1']])
  const appended: number[] = []
  const append: Disk['append'] = (file, data) => {
    appended.push(fs.existsSync(file) ? fs.statSync(file).size : 0)
    return systemDisk.append(file, data)
  }
  await open({ append }).append([[named('b'), '1']])
  expect(appended).toEqual([0])
  expect(await contents()).toMatchObject({ [named('b')]: '1' })
})

test('a fold that failed is made up for by the next, with what came meanwhile', async () => {
  let room = false
  const write: Disk['write'] = (file, data) =>
    room ? systemDisk.write(file, data) : Promise.reject(new Error('disk full'))
  const journal = open({ write })
  await journal.append([[named('a'), '1']])
  await expect(journal.fold()).rejects.toThrow('disk full')
  await journal.append([[named('a'), '2']])
  await expect(journal.fold()).rejects.toThrow('disk full')
  expect(await contents()).toEqual({ [named('a')]: '2' })
  room = true
  await journal.alone(() => Promise.resolve())
  expect([text('a'), fs.readdirSync(folder)]).toEqual(['2', ['a']])
})

test('whoever does something alone finds everything in the files, and nothing is appended meanwhile', async () => {
  const journal = open()
  await journal.append([[named('a'), '1']])
  let later: Promise<void> | undefined
  await journal.alone(async () => {
    expect(text('a')).toBe('1')
    later = journal.append([[named('a'), '2']])
    await fs.promises.rename(named('a'), named('moved'))
  })
  await later
  expect(await contents()).toEqual({ [named('a')]: '2' })
})

test("a journal that is another process's by now is left as it is", async () => {
  let isOurs = true
  const journal = open({}, () => isOurs)
  await journal.append([[named('a'), '1']])
  isOurs = false
  await journal.fold()
  await journal.alone(() => Promise.resolve())
  expect(fs.readdirSync(folder)).toEqual(['journal'])
})

test('a part that got its name although the rename failed is not overwritten by the next', async () => {
  let failures = 1
  const rename: Disk['rename'] = async (from, to) => {
    await systemDisk.rename(from, to)
    if (failures-- > 0) throw new Error('EIO: the directory is not synced')
  }
  const journal = open({ rename })
  await journal.append([[named('a'), '1']])
  failures = 1
  await expect(journal.fold()).rejects.toThrow('EIO')
  await journal.append([[named('b'), '1']])
  await journal.fold()
  expect([text('a'), text('b')]).toEqual(['1', '1'])
})

describe('a record of which nobody knows', () => {
  const append: Disk['append'] = async (file, data) => {
    await systemDisk.append(file, data)
    if (data.includes('refused')) throw new UnsettledAppend(file, new Error('EIO: i/o error'))
  }

  test('is taken back before it is refused', async () => {
    let failures = 3
    const write: Disk['write'] = (file, data) =>
      failures-- > 0 ? Promise.reject(new Error('EIO')) : systemDisk.write(file, data)
    const settling = { clock: { sleep: () => nextTurn() }, isOver: () => false }
    const journal = new FileJournal({ disk: { ...systemDisk, append, write }, file: named('journal'), settling })
    await journal.append([[named('a'), '1']])
    await expect(journal.append([[named('a'), 'refused']])).rejects.toThrow(/^EIO: i\/o error$/)
    await journal.append([[named('b'), '1']])
    expect(await contents()).toEqual({ [named('a')]: '1', [named('b')]: '1' })
  })

  test('stays unknown for an owner that does not wait', async () => {
    const write: Disk['write'] = () => Promise.reject(new Error('EIO'))
    await expect(open({ append, write }).append([[named('a'), 'refused']])).rejects.toThrow(UnsettledAppend)
  })
})

describe('a single step of the disk fails', () => {
  type Step = 'read' | 'write' | 'append' | 'rename' | 'remove'
  /** Each step in turn: before it has done anything, or after it has done all. */
  const faults = (['read', 'write', 'append', 'rename', 'remove'] as const).flatMap((step: Step) =>
    [0, 1, 2].flatMap((nth) => (['before', 'after'] as const).map((when) => [step, nth, when] as const)),
  )

  test.each(faults)(
    '%s, number %d, %s it was done: what was acknowledged reaches the files',
    async (step, nth, when) => {
      let left = nth
      const failing = async <T>(work: () => Promise<T>): Promise<T> => {
        if (left-- !== 0) return work()
        if (when === 'after') await work()
        throw step === 'append' && when === 'after'
          ? new UnsettledAppend(named('journal'), new Error('EIO'))
          : new Error('EIO')
      }
      const disk: Disk = { ...systemDisk }
      // Each of them takes a file, and whatever follows.
      Object.assign(disk, {
        [step]: (...args: never[]) =>
          failing(() => (systemDisk[step] as (...input: never[]) => Promise<unknown>)(...args)),
      })
      const settling = { clock: { sleep: () => nextTurn() }, isOver: () => false }
      const journal = new FileJournal({ disk, file: named('journal'), settling })
      const expected: Record<string, string> = {}
      for (const [name, content] of [
        ['a', '1'],
        ['b', '1'],
        ['a', '2'],
      ] as const) {
        // prettier-ignore
        const isIn = await journal.append([[named(name), content]]).then(() => true, () => false) // prettier-ignore
        if (isIn) expected[name] = content
        await journal.fold().catch(() => undefined)
      }
      // A process that is killed here leaves it to the next one.
      await open().fold()
      const files = Object.fromEntries(fs.readdirSync(folder).map((name) => [name, text(name)]))
      expect(files).toEqual(expected)
    },
  )
})
