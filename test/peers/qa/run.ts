// npm run test:qa: Ganeti's own QA against our programs, on four machines that are namespaces of this one. outcomes.json says what each
// of its tests gives, and why one fails; an outcome that is another one, either way, fails the lane.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

type Outcome = 'passes' | 'fails'

interface Expected {
  readonly test: string
  readonly outcome: Outcome
  /** Why it fails. */
  readonly why?: string
}

interface Result {
  readonly test: string
  readonly outcome: Outcome
  readonly seconds: number
  readonly text?: string
}

const REPOSITORY = path.join(__dirname, '../../..')
const PROGRAMS = path.join(REPOSITORY, '.cache/ganeti-programs')
const LIMIT_S = 1200

function main(): number {
  const missing = reasonToSkip()
  if (missing !== undefined) {
    console.log(`skipped: ${missing}`)
    return 0
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-qa-'))
  try {
    const results = runQa(folder)
    const problems = differences(expectations(), results)
    const seconds = results.reduce((sum, result) => sum + result.seconds, 0)
    const passed = results.filter(({ outcome }) => outcome === 'passes').length
    console.log(`${results.length} tests in ${Math.round(seconds)} s: ${passed} pass, ${results.length - passed} fail`)
    for (const problem of problems) console.log(problem)
    if (problems.length === 0) fs.rmSync(folder, { recursive: true, force: true })
    else console.log(`All that was said is in ${folder}/log`)
    return problems.length === 0 ? 0 : 1
  } finally {
    shell('stop.sh', folder)
  }
}

function reasonToSkip(): string | undefined {
  if (process.getuid?.() !== 0) return 'machines as namespaces need root'
  if (!fs.existsSync(path.join(PROGRAMS, 'qa')))
    return "Ganeti's QA is missing; fetch it with: sh test/peers/ganeti-programs.sh"
  const tools = ['ip', 'nsenter', 'unshare', 'sshd', 'fping', 'openssl']
  const absent = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)
  return absent.length === 0 ? undefined : `these programs are missing: ${absent.join(', ')}`
}

function runQa(folder: string): Result[] {
  const begun = shell('start.sh', folder, REPOSITORY)
  if (begun !== 0) throw new Error('the machines do not start')
  for (const file of ['drive.py', 'configuration.json'])
    fs.copyFileSync(path.join(__dirname, file), path.join(folder, file))
  const log = fs.openSync(path.join(folder, 'log'), 'w')
  const results = path.join(folder, 'results')
  const driver = ['/usr/bin/python3', `${folder}/drive.py`, `${folder}/configuration.json`, results]
  const inside = [path.join(__dirname, 'inside.sh'), `${folder}/node1`, 'env', `PYTHONPATH=${PROGRAMS}`, ...driver]
  spawnSync('bash', inside, { stdio: ['ignore', log, log], timeout: LIMIT_S * 1000 })
  const lines = fs.readFileSync(results, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Result)
}

const expectations = (): Expected[] =>
  JSON.parse(fs.readFileSync(path.join(__dirname, 'outcomes.json'), 'utf8')) as Expected[]

function differences(expected: readonly Expected[], results: readonly Result[]): string[] {
  const known = new Map(expected.map((one) => [one.test, one]))
  const found = new Map(results.map((one) => [one.test, one]))
  return [
    ...results.flatMap(({ test, outcome, text = '' }) => {
      const wanted = known.get(test)
      if (wanted?.outcome === outcome) return []
      const should = wanted === undefined ? 'is not in outcomes.json' : `should be: ${wanted.outcome}`
      return [`${test} ${outcome}, and ${should}. ${text.slice(-600)}`]
    }),
    ...expected.flatMap(({ test }) => (found.has(test) ? [] : [`${test} was not run`])),
  ]
}

const shell = (script: string, ...args: readonly string[]): number | null =>
  spawnSync('bash', [path.join(__dirname, script), ...args], { stdio: 'inherit' }).status

process.exitCode = main()
