// npm run test:qa: Ganeti's own QA against our programs, on four machines that are namespaces of this one. outcomes.json says what each
// of its tests gives, and why one fails; an outcome that is another one, either way, fails the lane. Names of parts of the QA, as they
// stand before the names of the tests, run only these.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { createInterface } from 'node:readline'

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
  const missing = reasonToSkip()
  if (missing !== undefined) {
    console.log(`skipped: ${missing}`)
    return 0
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-qa-'))
  const log = path.join(folder, 'log')
  const begun = Date.now()
  const results = await runQa(log, parts)
  const problems = differences(expectations(), results, parts.length > 0)
  const passed = results.filter(({ outcome }) => outcome === 'passes').length
  const seconds = Math.round((Date.now() - begun) / 1000)
  console.log(`${results.length} tests in ${seconds} s: ${passed} pass, ${results.length - passed} fail`)
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log(`All that was said is in ${log}`)
  else fs.rmSync(folder, { recursive: true })
  return problems.length === 0 ? 0 : 1
}

function reasonToSkip(): string | undefined {
  if (process.getuid?.() !== 0) return 'machines as namespaces need root'
  if (!fs.existsSync(path.join(PROGRAMS, 'qa')))
    return "Ganeti's QA is missing; fetch it with: sh test/peers/ganeti-programs.sh"
  const tools = ['ip', 'nsenter', 'unshare', 'setpriv', 'sshd', 'fping', 'openssl']
  const absent = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)
  if (absent.length > 0) return `these programs are missing: ${absent.join(', ')}`
  const apart = spawnSync('unshare', ['-m', '-u', '-i', '-n', '-p', '-f', 'true'], { encoding: 'utf8' })
  return apart.status === 0 ? undefined : `namespaces cannot be made here: ${apart.stderr.trim()}`
}

async function runQa(log: string, parts: readonly string[]): Promise<Result[]> {
  const said = fs.openSync(log, 'w')
  // All processes there end with this one, and their mounts and connections with them.
  const apart = ['--pdeathsig', 'KILL', 'unshare', ...'-m -n -p -f --kill-child=KILL --mount-proc'.split(' ')]
  const environment = ['env', `PYTHONPATH=${PROGRAMS}`, 'PYTHONDONTWRITEBYTECODE=1', 'PYTHONUNBUFFERED=1']
  const [machines, driver, configuration] = [here('machines.sh'), here('drive.py'), here('configuration.json')]
  const inside = [...environment, '/usr/bin/python3', driver, configuration, ...parts]
  const child = spawn('setpriv', [...apart, 'bash', machines, REPOSITORY, ...inside], {
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
