// The programs of allocation on generated clusters, ours to completion, Debian's beside them for as long as each is given:
// `node -r ./scripts/typescript.cjs test/bench/htools.ts`, or `npm run bench -- --only htools`. Each runs in a process of its own;
// time is that of the processor, which others on the machine do not change, and memory is the most that it ever had.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { DEBIAN_HTOOLS, alikeClusterOf, clusterOf, debianPresent } from '../support/htools'
import { requestAbout } from '../support/htools-requests'
import { buildIfStale } from './dist'

const OURS_LIMIT_S = 600
const THEIRS_LIMIT_S = 120
const SIZES = [
  [100, 1000],
  [400, 4000],
  [1000, 10000],
] as const

interface Task {
  readonly what: string
  readonly program: string
  readonly args: readonly string[]
  /** Where the whole would take Debian's hours: said in the table. */
  readonly theirs?: { readonly what: string; readonly args: readonly string[] }
}

const MEASURE = [
  'import resource, subprocess, sys',
  'def limit(): resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))',
  'ran = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limit)',
  'used = resource.getrusage(resource.RUSAGE_CHILDREN)',
  "print(ran.stdout.decode('utf8', 'replace'))",
  "print('cost', ran.returncode, round(used.ru_utime + used.ru_stime, 2), used.ru_maxrss // 1024)",
].join('\n')

function measure(command: readonly string[], limit_s: number): string {
  const ran = spawnSync('python3', ['-c', MEASURE, `${limit_s}`, ...command], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, HTOOLS: command.some((one) => one.endsWith('/htools')) ? 'hail' : undefined },
  })
  const [, code, cpu_s, peak_mib] = /^cost (\S+) (\S+) (\d+)/m.exec(ran.stdout) ?? []
  if (code !== '0') return `ended with ${code} after ${cpu_s} s, ${peak_mib} MiB`
  const found = (pattern: RegExp) => pattern.exec(ran.stdout)?.[1]
  const moves = found(/Solution length=(\d+)/)
  const score = found(/improved from \S+ to (\S+)/)
  const placed = found(/HTS_TRL_INST_CNT=(\d+)/)
  return [
    `${cpu_s} s`,
    `${peak_mib} MiB`,
    ...(moves === undefined ? [] : [`${moves} moves to ${score}`]),
    ...(placed === undefined ? [] : [`${placed} instances`]),
  ].join(', ')
}

function tasks(directory: string): Task[] {
  const balance = SIZES.map(([nodes, instances]): Task => {
    const file = path.join(directory, `${nodes}.data`)
    fs.writeFileSync(file, clusterOf(1, nodes, instances))
    return {
      what: `hbal ${nodes}/${instances}, whole`,
      program: 'hbal',
      args: ['-t', file],
      theirs: { what: `hbal ${nodes}/${instances}, one step`, args: ['-t', file, '-l1'] },
    }
  })
  const alike = ['drbd', 'sharedfile'] as const
  const ofAlike = alike.map((template): Task => {
    const file = path.join(directory, `${template}.data`)
    fs.writeFileSync(file, alikeClusterOf(1, 100, 1000, template))
    const theirs = { what: `hbal 100/1000 alike, ${template}, one step`, args: ['-t', file, '-l1'] }
    return { what: `hbal 100/1000 alike, ${template}, whole`, program: 'hbal', args: ['-t', file], theirs }
  })
  const empty = ['--simulate=p,1000,4T,128G,32', '--disk-template=drbd', '--tiered-alloc=100g,16g,8']
  const request = path.join(directory, 'request.json')
  const instance = { name: 'new.example.com', memory: 1024, vcpus: 1, disk_space_total: 10240, disk_template: 'drbd' }
  const rest = { disks: [{ size: 10240, mode: 'rw' }], spindle_use: 1, tags: [], nics: [], required_nodes: 2 }
  fs.writeFileSync(
    request,
    requestAbout(clusterOf(1, 1000, 10000), { type: 'allocate', ...instance, ...rest, os: 'noop', hypervisor: 'kvm' }),
  )
  return [
    ...balance,
    ...ofAlike,
    { what: 'hspace tiered, 1000 empty nodes', program: 'hspace', args: [...empty, '--machine-readable'] },
    { what: 'hail allocate, 1000/10000', program: 'hail', args: [request] },
  ]
}

export function benchHtools(): void {
  buildIfStale()
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-htools-'))
  const bin = path.join(__dirname, '..', '..', 'bin')
  try {
    for (const { what, program, args, theirs } of tasks(directory)) {
      const mine = measure([process.execPath, path.join(bin, `${program}.js`), ...args], OURS_LIMIT_S)
      console.log(`${what}, ours: ${mine}`)
      if (theirs !== undefined) {
        const step = measure([process.execPath, path.join(bin, `${program}.js`), ...theirs.args], OURS_LIMIT_S)
        console.log(`${theirs.what}, ours: ${step}`)
      }
      if (!debianPresent()) continue
      const theirProgram = `${DEBIAN_HTOOLS}/${program === 'hail' ? 'htools' : program}`
      const their = measure([theirProgram, ...(theirs?.args ?? args)], THEIRS_LIMIT_S)
      console.log(`${theirs?.what ?? what}, Debian's: ${their}`)
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

if (require.main === module) benchHtools()
