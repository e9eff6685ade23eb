// `hbal` on generated clusters, ours to completion, Debian's for as long as it is given: `node -r ./scripts/typescript.cjs
// test/bench/htools.ts [NODES:INSTANCES ...]`. Each runs in a process of its own; memory is the most it ever had.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { DEBIAN_HTOOLS, clusterOf, debianPresent } from '../support/htools'
import { buildIfStale } from './dist'

const LIMIT_S = 60

function measure(command: readonly string[], limit_s: number): string {
  const begun = performance.now()
  const script = [
    'import resource, subprocess, sys',
    'ran = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)',
    'print(ran.stdout)',
    "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)",
  ].join('\n')
  const ran = spawnSync('timeout', [`${limit_s}`, 'python3', '-c', script, ...command], { encoding: 'utf8' })
  const seconds = ((performance.now() - begun) / 1000).toFixed(2)
  if (ran.status !== 0) return `not finished after ${seconds} s`
  const found = (pattern: RegExp) => pattern.exec(ran.stdout)?.[1] ?? '?'
  const scores = `${found(/Initial score: (\S+)/)} -> ${found(/improved from \S+ to (\S+)/)}`
  return `${seconds} s, ${found(/^peak (\d+)/m)} MiB, ${found(/Solution length=(\d+)/)} moves, ${scores}`
}

function main(): void {
  buildIfStale(console.log)
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-htools-'))
  const launcher = path.join(__dirname, '..', '..', 'bin', 'hbal.js')
  const sizes = process.argv.length > 2 ? process.argv.slice(2) : ['20:100', '100:1000']
  try {
    for (const size of sizes) {
      const [nodes = 20, instances = 100] = size.split(':').map(Number)
      const file = path.join(directory, `${nodes}.data`)
      fs.writeFileSync(file, clusterOf(1, nodes, instances))
      for (const [what, args] of [
        ['one step', ['-l1']],
        ['whole', []],
      ] as const) {
        console.log(`${size} ${what}, ours:   ${measure([process.execPath, launcher, '-t', file, ...args], 600)}`)
        if (!debianPresent()) continue
        console.log(`${size} ${what}, Debian: ${measure([`${DEBIAN_HTOOLS}/hbal`, '-t', file, ...args], LIMIT_S)}`)
      }
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

main()
