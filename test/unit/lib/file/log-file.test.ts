// Log files are bounded, and can be moved away or lost.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { LogFile } from '../../../../src/lib/file/log-file'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-log-'))
  file = path.join(folder, 'daemon.log')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const opened: string[] = []
const open = () => new LogFile({ file, bytes_max: 1000, unlooked_bytes: 100, opened: (name) => void opened.push(name) })
const line = (number: number) => `${String(number).padStart(9, '0')}\n`
const text = (name: string) => fs.readFileSync(path.join(folder, name), 'utf8')

test('a log has a bound, and is gone on with; of what came before, the newest file is kept', () => {
  const log = open()
  for (let number = 0; number < 1000; number++) log.write(line(number))
  expect(fs.readdirSync(folder)).toEqual(['daemon.log', 'daemon.log.1'])
  for (const name of fs.readdirSync(folder)) expect(text(name).length).toBeLessThan(1200)
  expect(text('daemon.log').endsWith(line(999)) || text('daemon.log.1').endsWith(line(999))).toBe(true)
  expect(new Set(opened)).toEqual(new Set([file]))
})

test('several that write one log go on in the same file', () => {
  const logs = [open(), open(), open()]
  for (let number = 0; number < 900; number++) logs[number % 3]?.write(line(number))
  expect(fs.readdirSync(folder)).toEqual(['daemon.log', 'daemon.log.1'])
  for (const name of fs.readdirSync(folder)) expect(text(name).length).toBeLessThan(1600)
  const last = text('daemon.log.1') + text('daemon.log')
  expect(last.split('\n').filter((found) => found !== '').length).toBeGreaterThan(80)
})

test.each([
  ['', false],
  [', also if a third one goes on before the second notices', true],
])('two that see the same full file rotate it once%s', (_, isThirdFaster) => {
  const other = open()
  let begun = false
  /** What happens after this look at a length. */
  const meanwhile = [
    () => {
      for (let number = 200; number < 220; number++) other.write(line(number))
    },
    () => isThirdFaster && fs.writeFileSync(file, line(300)),
  ]
  const one = new LogFile({
    ...{ file, unlooked_bytes: 100 },
    get bytes_max() {
      if (begun) meanwhile.shift()?.()
      return 1000
    },
  })
  for (let number = 0; number < 100; number++) fs.appendFileSync(file, line(number))
  const full = text('daemon.log')
  begun = true
  for (let number = 400; number < 415; number++) one.write(line(number))
  expect(meanwhile).toEqual([])
  expect(text('daemon.log.1')).toContain(full)
  for (const number of [219, 414, ...(isThirdFaster ? [300] : [])]) expect(text('daemon.log')).toContain(line(number))
  expect(fs.readdirSync(folder)).toEqual(['daemon.log', 'daemon.log.1'])
})

test('a file that was moved away is left for a new one', () => {
  const log = open()
  log.write(line(1))
  fs.renameSync(file, `${file}.old`)
  for (let number = 2; number < 15; number++) log.write(line(number))
  expect(text('daemon.log')).toContain(line(14))
})

test('nobody fails because his log cannot be written, and it goes on when it can', () => {
  const log = open()
  fs.rmSync(folder, { recursive: true })
  fs.writeFileSync(folder, '')
  for (let number = 0; number < 50; number++) log.write(line(number))
  fs.rmSync(folder)
  log.write(line(51))
  expect(text('daemon.log')).toBe(line(51))
})
