// npm run test:qa: Ganeti's own QA against our packages, on four machines with systemd. gantry-outcomes.json says what each of its tests gives,
// and why one fails; an outcome that is another one, either way, fails the lane. At the end, all tests are listed beside what they give
// with Debian's Ganeti. Names of parts of the QA, as they stand before the names of the tests, run only these. With --ganeti, the machines
// have Debian's Ganeti instead, and what its tests give is written down.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { createInterface } from 'node:readline'
import { DYING, NEEDED, bareHas, missing, missingForGaneti } from '../../machines/machines'
import { reaching, startMachines } from './machines'
import {
  differences,
  readOutcomes,
  sideBySide,
  noteGanetiOutcomes,
  unexplained,
  type Product,
  type Result,
} from './outcomes'

const REPOSITORY = path.join(__dirname, '../../..')
const PROGRAMS = path.join(REPOSITORY, '.cache/ganeti-programs')
const LIMITS_S = { gantry: 1260, ganeti: 3600 } as const
const GANETI = '--ganeti'

async function main(words: readonly string[]): Promise<number> {
  const product: Product = words.includes(GANETI) ? 'ganeti' : 'gantry'
  const parts = words.filter((word) => word !== GANETI)
  const reason = reasonToSkip(product)
  if (reason !== undefined) {
    console.log(`skipped: ${reason}`)
    return 0
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gq-'))
  const log = path.join(folder, 'log')
  const begun = Date.now()
  const machines = await startMachines(folder, product)
  console.log(`four machines are there after ${secondsSince(begun)} s`)
  const inside = [...DYING, ...reaching(machines, folder)]
  const results = await runQa(inside, log, parts, LIMITS_S[product]).finally(() => machines.remove())
  const passed = results.filter(({ outcome }) => outcome === 'passes').length
  console.log(`${results.length} tests in ${secondsSince(begun)} s: ${passed} pass, ${results.length - passed} fail`)
  if (product === 'ganeti') {
    noteGanetiOutcomes(results)
    console.log(`All that was said is in ${log}`)
    return 0
  }
  const [theirs, ours] = [readOutcomes('ganeti'), readOutcomes('gantry')]
  for (const line of sideBySide(theirs, ours, results)) console.log(line)
  const problems = [...unexplained(theirs, ours), ...differences(ours, results, parts.length > 0)]
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log(`All that was said is in ${log}`)
  else fs.rmSync(folder, { recursive: true })
  return problems.length === 0 ? 0 : 1
}

const secondsSince = (begun: number): number => Math.round((Date.now() - begun) / 1000)

function reasonToSkip(product: Product): string | undefined {
  if ((product === 'gantry' ? missing : missingForGaneti).length > 0) return NEEDED
  if (!fs.existsSync(path.join(PROGRAMS, 'qa')))
    return "Ganeti's QA is missing; fetch it with: sh test/peers/ganeti-programs.sh"
  if (!bareHas('/usr/bin/fping'))
    return 'the machines have no fping; renew them with: sh test/machines/root-file-system.sh'
  const absent = ['ssh', 'ssh-agent', 'openssl'].filter((tool) => spawnSync('which', [tool]).status !== 0)
  return absent.length > 0 ? `these programs are missing: ${absent.join(', ')}` : undefined
}

async function runQa(
  inside: readonly string[],
  log: string,
  parts: readonly string[],
  limit_s: number,
): Promise<Result[]> {
  const said = fs.openSync(log, 'w')
  const environment = ['env', `PYTHONPATH=${PROGRAMS}`, 'PYTHONDONTWRITEBYTECODE=1', 'PYTHONUNBUFFERED=1']
  const line = [...inside, ...environment, '/usr/bin/python3', here('drive.py'), here('configuration.json'), ...parts]
  const [program = '', ...words] = line
  const child = spawn(program, words, {
    stdio: ['ignore', said, said, 'pipe'],
    timeout: limit_s * 1000,
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

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
