// The order in which Jest runs our test files.
import * as fs from 'node:fs'
import * as path from 'node:path'

interface File {
  readonly path: string
}
type Sequencer = new () => { readonly sort: (tests: readonly File[]) => File[] }
const SlowestFirst = jest.requireActual<Sequencer>('../../../scripts/slowest-first.cjs')

const TESTS = path.join(__dirname, '../..')
const filesOf = (folder: string): File[] =>
  fs
    .readdirSync(path.join(TESTS, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => ({ path: path.join(TESTS, folder, name) }))
const names = (files: readonly File[]) => files.map((file) => path.relative(TESTS, file.path))
const sorted = (files: readonly File[]) => names(new SlowestFirst().sort(files))

test.each(['', 'unit', 'system'])('every test file below test/%s has its turn, once', (folder) => {
  const files = filesOf(folder)
  expect(files.length).toBeGreaterThan(20)
  expect(sorted(files).sort()).toEqual(names(files).sort())
})

test('those that wait begin early, with others between them, and short ones are the last', () => {
  const order = sorted(filesOf(''))
  expect(order[0]).toBe('scenarios/maintenance.test.ts')
  const kinds = order.map((name) => /^(scenarios|system|peers|campaigns)\//.test(name))
  const last = kinds.lastIndexOf(true)
  expect(kinds.slice(0, last)).toContain(false)
  expect(order.length - last).toBeGreaterThan(100)
})
