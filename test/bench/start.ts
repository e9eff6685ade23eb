// How long commands take that ask nobody: what each start costs.
import { spawnSync } from 'node:child_process'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { measured } from './measured'
import type { Report } from './table'

const BIN = path.join(__dirname, '../../bin')
const [RUNS, RUNS_QUICK] = [40, 5]
const COMMANDS = [
  ['gnt', '--help'],
  ['gnt-instance', 'add', '--help'],
] as const

export function measureStart(quick: boolean, report: Report): void {
  for (const [program, ...words] of COMMANDS) {
    const times_ms: number[] = []
    // The first one reads the files from the disk.
    run(program, words)
    const begun_ms = performance.now()
    for (let count = quick ? RUNS_QUICK : RUNS; count > 0; count--) times_ms.push(run(program, words))
    const times = measured(times_ms, performance.now() - begun_ms)
    report(`${[program, ...words].join(' ')}, whole`, times.p50_ms, 'ms', times)
  }
}

function run(program: string, words: readonly string[]): number {
  const begun_ms = performance.now()
  const { status } = spawnSync(path.join(BIN, program), words, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}`)
  return performance.now() - begun_ms
}
