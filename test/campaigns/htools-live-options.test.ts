// Every option of harep, hscan and mon-collector: what is said, written and returned is what Ganeti's own programs say on the same
// cluster and the same files.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import type { EmbeddedCluster } from '../support/embedded-cluster'
import { GANETI_PROGRAMS } from '../support/ganeti-programs'
import { DEBIAN_HTOOLS, HTOOLS_PACKAGE, debianPresent, ours as runHere } from '../support/htools'
import { startMirrored } from '../support/mirrored-state'
import { type Ran, runProgram as run } from '../support/run-program'
import { testWith } from '../support/needs'

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)
const COLLECTOR = path.join(GANETI_PROGRAMS, 'mon-collector')
const collecting = testWith(fs.existsSync(COLLECTOR), `${HTOOLS_PACKAGE} && sh test/peers/ganeti-programs.sh`)

const ours = (program: string) => path.join(__dirname, `../../bin/${program}.js`)
const theirs = (program: string) => (program === 'mon-collector' ? COLLECTOR : `${DEBIAN_HTOOLS}/${program}`)

const reported = ({ code, out, err, files }: Ran, program: string) => ({
  ...{ code, files },
  // Times and names of repairs are new each time; what shells may complete is in no order.
  out: out
    .replace(/(:failover:)[-0-9a-f]+:\d+:/, '$1UUID:TIME:')
    .replace(/"timestamp":\d+/, '"timestamp":NOW')
    .replace(/^(-.*\n)+/, (lines) => lines.split('\n').sort().join('\n')),
  // Our programs print their own help after a wrong command line, so only the first line is compared.
  err: err.replaceAll(/^(htools|mon-collector): /gm, `${program}: `).replace(/^(Command line error: .*)[^]*$/, '$1'),
})

/** A mon-collector only reads and prints, so it needs no process of its own. */
const runOurs = async (program: string, args: readonly string[]): Promise<Ran> =>
  program === 'mon-collector' ? { ...(await runHere(program, args)), files: {} } : run(ours(program), args)

async function expectSame(program: string, lines: readonly (readonly string[])[]): Promise<void> {
  for (const args of lines) {
    const [mine, peers] = await Promise.all([runOurs(program, args), run(theirs(program), args)])
    expect({ args, ...reported(mine, program) }).toEqual({ args, ...reported(peers, program) })
  }
}

describe('of a cluster', () => {
  let cluster: EmbeddedCluster
  const luxi = () => `-L${cluster.socket}`
  const rapi = () => cluster.url.replace('https://', `https://admin:${cluster.password}@`)

  beforeAll(async () => void (cluster = await startMirrored()))
  afterAll(() => cluster.remove())

  const WRONG = [['--bogus'], ['-Z'], ['-q'], ['-m'], ['--help-completion'], ['-p', 'x', '-X']]

  peer('hscan', async () => {
    const input = [
      ...[[], ['-p'], ['-pname,pfmem'], ['-p+idx'], ['--print-nodes=bogus'], ['--no-headers'], ['-v', '-v']],
      ...[['-d', '.'], ['-d', '/nonexistent'], ['--output-dir=.']],
      ...['0', '8192', 'x', '1.5', '-1', ''].map((value) => [`--static-kvm-node-memory=${value}`]),
      ...WRONG,
    ]
    await expectSame(
      'hscan',
      input.map((line) => [luxi(), ...line]),
    )
    const saved = `file://${path.join(__dirname, '../data/htools/rapi')}`
    await expectSame('hscan', [
      [rapi()],
      [luxi(), rapi()],
      [`--luxi=${cluster.socket}`],
      [saved],
      ['file:///nonexistent'],
    ])
  })

  peer('harep', async () => {
    const delays = ['0', '1.5', '-1', 'x', ''].map((value) => ['--dry-run', `--job-delay=${value}`])
    const input = [
      [],
      ['--dry-run'],
      ...delays,
      ['--dry-run', '--reason='],
      ['--dry-run', '--reason=why'],
      ['argument'],
      ...WRONG,
    ]
    const all = () => expectSame('harep', input.map((line) => [luxi(), ...line])) // prettier-ignore
    await all()
    // With something to repair, which is only told of.
    expect(await cluster.gnt('cluster', 'add-tags', 'ganeti:watcher:autorepair:failover')).toMatchObject({ code: 0 })
    expect(await cluster.gnt('node', 'modify', '--offline=yes', '--force', 'node2')).toMatchObject({ code: 0 })
    expect((await run(ours('harep'), [luxi(), '--dry-run'])).out).toContain('Executing ArFailover repair')
    await expectSame('harep', [[luxi(), '--dry-run'], ...delays.map((line) => [luxi(), ...line])])
    expect(await cluster.gnt('node', 'modify', '--offline=no', '--force', 'node2')).toMatchObject({ code: 0 })
  })

  peer('data that cannot be right are told', async () => {
    const inst3 = 'inst3.gnt.example'
    for (const line of [
      ['modify', '-B', 'memory=8192', inst3],
      ['shutdown', inst3],
      ['startup', inst3],
      ['modify', '-B', 'memory=128', inst3],
    ])
      expect(await cluster.gnt('instance', ...line)).toMatchObject({ code: 0 })
    const { err } = await run(ours('harep'), [luxi(), '--dry-run'])
    expect(err).toBe('Warning: cluster has inconsistent data:\n  - node node3.gnt.example is missing 8064 MB ram and -1 GB disk\n\n') // prettier-ignore
    await expectSame('harep', [[luxi(), '--dry-run']])
    await expectSame('hscan', [[luxi()]])
  })

  test('a remote API may be named by host and port, with who asks', async () => {
    const { host } = new URL(cluster.url)
    const name = `admin:${cluster.password}@${host}`
    const [short, whole] = [await run(ours('hscan'), ['--no-headers', name]), await run(ours('hscan'), [rapi()])]
    expect(short).toMatchObject({ code: 0, err: '' })
    expect(Object.values(short.files)).toEqual(Object.values(whole.files))
    // Ganeti's own would send the password unencrypted.
    expect(await run(ours('hscan'), ['--no-headers', `${name}/`])).toMatchObject({ code: 0 })
  })

  peer('a master that cannot be reached ends hscan and harep with 1, another cluster hscan with 2', async () => {
    for (const [program, ...args] of [
      ['hscan', '-L/nonexistent'],
      ['hscan', '-L/dev/null'],
      ['harep', '-L/nonexistent'],
      ['hscan', 'ftp://127.0.0.1:1'],
      ['hscan', '127.0.0.1:x'],
      ['hscan', '127.0.0.1:1', '127.0.0.1:2'],
    ] as const) {
      const [mine, peers] = [await run(ours(program), args), await run(theirs(program), args)]
      // Each says in its own words why.
      const shape = ({ code, out, err }: Ran) => ({
        ...{ code, err: err.replace(/(hscan|aborting): .*/, '$1') },
        out: out.replace(/^(Curl e|E)rror (for|while reading) '.*/gm, 'WHY'),
      })
      expect({ args, ...shape(mine) }).toEqual({ args, ...shape(peers) })
    }
  })
})

describe('of files', () => {
  const DATA = path.join(__dirname, '../data/collectors')
  const file = (name: string) => path.join(DATA, name)
  const [pairing, disks, volumes] = ['instance-minor-pairing.txt', 'instance-disks.txt', 'lvs_lv.txt'].map(file)
  const statuses = fs.readdirSync(DATA).filter((name) => name.startsWith('proc_drbd'))

  collecting('mon-collector, of files that are not as they have to be', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mon-collector-'))
    const written = (text: string, at: number) => {
      const name = path.join(folder, String(at))
      fs.writeFileSync(name, text)
      return name
    }
    const whole = fs.readFileSync(`${volumes}`, 'utf8')
    const bad = [
      '',
      '\n',
      'foo',
      'foo\n',
      ' 254 0 vda 1',
      ' 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 x\n',
      '1;2;3',
      '[',
      '[1]',
      '{}',
      '[] x',
    ]
    const texts = [
      ...bad,
      whole.trimEnd(),
      whole.replaceAll('1;', 'x;'),
      whole.replace('\n', ';\n'),
      whole.replace('B', ''),
    ]
    const files = texts.map(written)
    await expectSame('mon-collector', [
      ...files.map((name) => ['diskstats', '-f', name]),
      ...files.map((name) => ['lv', '-f', name, '-i', `${disks}`]),
      ...files.map((name) => ['lv', '-f', `${volumes}`, '-i', name]),
      ...files.map((name) => ['drbd', '-s', file('proc_drbd84.txt'), '-p', name]),
      ['drbd', '-s', `${volumes}`, '-p', '/nonexistent'],
      ['drbd', '-s', `${volumes}`, '-p', `${pairing}`],
      ['drbd', '-s', '/dev/null', '-p', `${pairing}`],
    ])
    fs.rmSync(folder, { recursive: true })
  })

  collecting('mon-collector', async () => {
    await expectSame('mon-collector', [
      ...[['--file'], ['-f', '/nonexistent'], ['-f', '/dev/null'], ['-f', file('proc_diskstats.txt')]].map((line) => ['diskstats', ...line]), // prettier-ignore
      ...[['x'], ['--bogus'], ['-a', '1'], ['--help-completion']].map((line) => ['diskstats', ...line]),
      ...statuses.map((name) => ['drbd', '-s', file(name), `--drbd-pairing=${pairing}`]),
      ...[['-s', '/nonexistent', '-p', `${pairing}`], ['x'], ['-s'], ['--help-completion']].map((line) => [
        'drbd',
        ...line,
      ]),
      ...[[], ['-f', '/nonexistent'], ['-f', '/dev/null']].map((line) => [
        'lv',
        '-f',
        `${volumes}`,
        '-i',
        `${disks}`,
        ...line,
      ]),
      ...[['-f', `${volumes}`, '-i', '/nonexistent'], ['-p', 'x'], ['-p', '1.5'], ['-p', ''], ['x'], ['--file'], ['--help-completion']].map((line) => ['lv', ...line]), // prettier-ignore
      ...[['-p', 'x'], ['-a'], ['--help-completion']].map((line) => ['inst-status-xen', ...line]),
    ])
    for (const args of [[], ['bogus'], [''], ['--bogus'], ['disk']]) {
      const [mine, peers] = [await run(ours('mon-collector'), args), await run(COLLECTOR, args)]
      expect({ args, code: mine.code }).toEqual({ args, code: peers.code })
    }
  })
})
