// npm run test:qa: Ganeti's own QA against our packages, on four machines with systemd. outcomes.json says what each of its tests gives,
// and why one fails; an outcome that is another one, either way, fails the lane. Names of parts of the QA, as they stand before the names
// of the tests, run only these.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { createInterface } from 'node:readline'
import { DYING, NEEDED, bareHas, missing } from '../../machines/machines'
import { reaching, startMachines } from './machines'

interface Expected {
  readonly passes: readonly string[]
  /** Each with the reason. */
  readonly fails: Readonly<Record<string, string>>
}

interface Result {
  readonly test: string
  readonly outcome: 'passes' | 'fails'
  readonly seconds: number
  readonly text?: string
}

const REPOSITORY = path.join(__dirname, '../../..')
const PROGRAMS = path.join(REPOSITORY, '.cache/ganeti-programs')
const LIMIT_S = 1260

async function main(parts: readonly string[]): Promise<number> {
  const reason = reasonToSkip()
  if (reason !== undefined) {
    console.log(`skipped: ${reason}`)
    return 0
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gq-'))
  const log = path.join(folder, 'log')
  const begun = Date.now()
  const machines = await startMachines(folder)
  console.log(`four machines are there after ${secondsSince(begun)} s`)
  const results = await runQa([...DYING, ...reaching(machines, folder)], log, parts).finally(() => machines.remove())
  const problems = differences(expectations(), results, parts.length > 0)
  const passed = results.filter(({ outcome }) => outcome === 'passes').length
  console.log(`${results.length} tests in ${secondsSince(begun)} s: ${passed} pass, ${results.length - passed} fail`)
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log(`All that was said is in ${log}`)
  else fs.rmSync(folder, { recursive: true })
  return problems.length === 0 ? 0 : 1
}

const secondsSince = (begun: number): number => Math.round((Date.now() - begun) / 1000)

function reasonToSkip(): string | undefined {
  if (missing.length > 0) return NEEDED
  if (!fs.existsSync(path.join(PROGRAMS, 'qa')))
    return "Ganeti's QA is missing; fetch it with: sh test/peers/ganeti-programs.sh"
  if (!bareHas('/usr/bin/fping'))
    return 'the machines have no fping; renew them with: sh test/machines/root-file-system.sh'
  const absent = ['ssh', 'ssh-agent', 'openssl'].filter((tool) => spawnSync('which', [tool]).status !== 0)
  return absent.length > 0 ? `these programs are missing: ${absent.join(', ')}` : undefined
}

async function runQa(inside: readonly string[], log: string, parts: readonly string[]): Promise<Result[]> {
  const said = fs.openSync(log, 'w')
  const environment = ['env', `PYTHONPATH=${PROGRAMS}`, 'PYTHONDONTWRITEBYTECODE=1', 'PYTHONUNBUFFERED=1']
  const line = [...inside, ...environment, '/usr/bin/python3', here('drive.py'), here('configuration.json'), ...parts]
  const [program = '', ...words] = line
  const child = spawn(program, words, {
    stdio: ['ignore', said, said, 'pipe'],
    timeout: LIMIT_S * 1000,
    killSignal: 'SIGKILL',
  })
  const results: Result[] = []
  for await (const line of createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })) {
    const result = JSON.parse(line) as Result
    results.push(result)
    console.log(`${result.outcome} ${result.test} (${result.seconds} s)`)
  }
  return results
}

const here = (name: string): string => path.join(__dirname, name)

const expectations = (): Expected => JSON.parse(fs.readFileSync(here('outcomes.json'), 'utf8')) as Expected

function differences({ passes, fails }: Expected, results: readonly Result[], partly: boolean): string[] {
  const known = new Map<string, string>([
    ...passes.map((test) => [test, 'passes'] as const),
    ...Object.keys(fails).map((test) => [test, 'fails'] as const),
  ])
  const found = new Set(results.map(({ test }) => test))
  return [
    ...results.flatMap(({ test, outcome, text = '' }) => {
      const wanted = known.get(test)
      if (wanted === outcome) return []
      const should = wanted === undefined ? 'is not in outcomes.json' : `should be: ${wanted}`
      return [`${test} ${outcome}, and ${should}. ${text.slice(-600)}`]
    }),
    ...[...known.keys()].flatMap((test) => (partly || found.has(test) ? [] : [`${test} was not run`])),
  ]
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
