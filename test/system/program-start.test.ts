// Programs start quickly: from one file with its compiled form, and with no more of Node than they need.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { nodeFlags } from '../../src/lib/programs/node-flags'
import { FRUGAL } from '../../src/model/limits/daemons'

const ROOT = path.join(__dirname, '../..')
const folders: string[] = []

afterAll(() => folders.forEach((folder) => fs.rmSync(folder, { recursive: true })))

/** Runs a program, and then a few words of JavaScript that know its `script`. */
function start(root: string, bundle: string, words: readonly string[], then: string, flags: readonly string[] = []) {
  const code = `
    process.argv = ['node', ...${JSON.stringify(words)}]
    const { compile, run } = require(${JSON.stringify(path.join(root, 'bin/load.js'))})
    const script = compile('${bundle}')
    process.on('exit', () => process.stderr.write(JSON.stringify(${then})))
    run('${bundle}', script)`
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', code], { encoding: 'utf8' })
  return { stdout, found: JSON.parse(stderr) as unknown }
}

test.each([
  ['gnt', ['gnt', '--version'], undefined],
  ['htools', ['hbal', '--version'], undefined],
  ['job', ['job', '--help'], FRUGAL.job],
  ['ganeti-node', ['gantryd', 'node', '--version'], FRUGAL.node],
  ['ganeti-noded', ['gantryd', 'noded', '--version'], FRUGAL.node],
  ['ganeti-confd', ['gantryd', 'confd', '--version'], FRUGAL.confd],
  ['ganeti-embedded', ['gantryd', 'embedded', '--help'], undefined],
  ['ganeti-wconfd', ['gantryd', 'wconfd', '--version'], undefined],
  ['ganeti-luxid', ['gantryd', 'luxid', '--version'], undefined],
  ['ganeti-rapi', ['gantryd', 'rapi', '--version'], undefined],
])('%s runs what the build compiled', (bundle, words, frugal) => {
  expect(start(ROOT, bundle, words, 'script.cachedDataRejected', nodeFlags(frugal, []))).toEqual({
    stdout: expect.stringMatching(/gantry|luxid|ganeti-/),
    found: false,
  })
})

test('files that another Node compiled are compiled anew, and missing ones, too', () => {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-start-'))
  folders.push(copy)
  for (const name of ['bin', 'dist/bundle']) fs.mkdirSync(path.join(copy, name), { recursive: true })
  for (const name of ['bin/load.js', 'dist/bundle/gnt.js'])
    fs.copyFileSync(path.join(ROOT, name), path.join(copy, name))
  const version = ['gnt', '--version']
  expect(start(copy, 'gnt', version, 'script.cachedDataRejected ?? null')).toEqual({
    stdout: expect.stringMatching(/gantry/),
    found: null,
  })
  fs.writeFileSync(path.join(copy, 'dist/bundle/gnt.js.cache'), 'of another Node')
  expect(start(copy, 'gnt', version, 'script.cachedDataRejected')).toEqual({
    stdout: expect.stringMatching(/gantry/),
    found: true,
  })
})

test('a command loads what it needs of Node, and no more', () => {
  const loaded = (...words: string[]) => {
    const { found } = start(ROOT, 'gnt', ['gnt', ...words], 'process.moduleLoadList')
    return ['child_process', 'crypto', 'https', 'readline', 'worker_threads'].filter((name) =>
      (found as string[]).includes(`NativeModule ${name}`),
    )
  }
  expect(loaded('--version')).toEqual([])
  // commander asks for it, whatever it does.
  expect(loaded('instance', 'list', '--help')).toEqual(['child_process'])
})
