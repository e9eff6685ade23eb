// daemon-util on a node without systemd, as far as it decides what is started, and with what; a double starts it.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemDisk as disk } from '../../../src/lib/disk'
import type { Files } from '../../../src/lib/files'
import { thisMachine } from '../../../src/lib/machine'
import { pathsOf } from '../../../src/lib/paths'
import type { Run } from '../../../src/lib/programs/run-command'
import { daemonUtil } from '../../../src/start/daemon-util'

const NAME = 'node1.example.com'
const paths = pathsOf(path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'daemon-util-')), NAME), NAME)

beforeEach(() => fs.mkdirSync(paths.dataDir, { recursive: true }))
afterEach(() => fs.rmSync(path.dirname(paths.root), { recursive: true, force: true }))

const lists = (texts: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(texts)) {
    // Nobody but root may write into one that is there.
    fs.rmSync(paths.ssconf(name), { force: true })
    fs.writeFileSync(paths.ssconf(name), text)
  }
}

/** Answers with the programs that it starts, and their arguments; `codes` are those with which daemons end. */
async function started(words: readonly string[], codes: Readonly<Record<string, number>> = {}) {
  const lines: string[] = []
  const run: Run = async (argv, options) => {
    if (argv[0] !== 'start-stop-daemon') return thisMachine.run(argv, options)
    const program = path.basename(argv[argv.indexOf('--startas') + 1] ?? '')
    lines.push([program, ...argv.slice(argv.indexOf('--') + 1)].join(' '))
    const code = codes[program] ?? 0
    return { code, signal: null, stdout: '', stderr: '', output: '', timedOut: false }
  }
  return { code: await daemonUtil(words, paths, { ...thisMachine, run, disk }), lines }
}

const EVERYWHERE = ['ganeti-noded', 'ganeti-mond']
const MASTERS = ['ganeti-wconfd', 'ganeti-luxid', 'ganeti-maintd', 'ganeti-rapi']

test('all daemons of a node are those that are for it', async () => {
  lists({ master_node: 'node2.example.com\n', master_candidates: 'node2.example.com\n' })
  await expect(started(['start-all'])).resolves.toEqual({ code: 0, lines: EVERYWHERE })
  lists({ master_candidates: `${NAME}\n` })
  await expect(started(['start-all'])).resolves.toEqual({ code: 0, lines: [...EVERYWHERE, 'ganeti-confd'] })
  lists({ master_node: `${NAME}\n` })
  const { code, lines } = await started(['start-all'])
  expect([code, lines]).toEqual([0, [...EVERYWHERE, 'ganeti-confd', ...MASTERS]])
})

test('where the votes are lost the other daemons of the master are passed by, and that is no failure', async () => {
  lists({ master_node: `${NAME}\n` })
  await expect(started(['start-all'], { 'ganeti-wconfd': 11 })).resolves.toEqual({
    ...{ code: 0, lines: [...EVERYWHERE, 'ganeti-wconfd'] },
  })
  const said = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
  expect((await started(['start-all'], { 'ganeti-mond': 1 })).code).toBe(1)
  expect(said).toHaveBeenCalledWith('ganeti-mond did not start: \n')
  said.mockRestore()
})

test('a daemon gets the arguments of /etc/default/ganeti, and those of the call behind them', async () => {
  const file = paths.local('/etc/default/ganeti')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, 'HERE=192.0.2.1\nNODED_ARGS="-b $HERE" # its address\nEXTRA_NODED_ARGS=\'-d\'\n')
  const { lines } = await started(['start', 'ganeti-noded', '--syslog=only'])
  expect(lines).toEqual(['ganeti-noded -b 192.0.2.1 -d --syslog=only'])
})

test('a daemon is told by its pid file and its account: start-stop-daemon trusts no pid file of others alone', async () => {
  const lines: string[] = []
  const run: Run = async (argv) => {
    lines.push(argv.join(' '))
    return { code: 0, signal: null, stdout: '', stderr: '', output: '', timedOut: false }
  }
  const accounts = Buffer.from('root:x:0:0::/root:/bin/sh\ngnt-confd:x:101:101::/:/bin/false\n')
  const machine = {
    ...{ ...thisMachine, run },
    disk: { ...disk, read: (file: string) => (file === '/etc/passwd' ? Promise.resolve(accounts) : disk.read(file)) },
    files: { ...thisMachine.files, readFile: () => Promise.resolve('ganeti-confd') } as unknown as Files,
  }
  const pidFile = paths.pidFile('confd')
  expect(await daemonUtil(['start', 'ganeti-confd'], paths, machine)).toBe(0)
  fs.mkdirSync(path.dirname(pidFile), { recursive: true })
  fs.writeFileSync(pidFile, '12\n')
  expect(await daemonUtil(['stop', 'ganeti-confd'], paths, machine)).toBe(0)
  expect(lines.filter((line) => line.startsWith('start-stop-daemon'))).toEqual([
    expect.stringContaining(`--pidfile ${pidFile} --user gnt-confd --startas /usr/sbin/ganeti-confd`),
    expect.stringMatching(`^start-stop-daemon --stop .* --pidfile ${pidFile} --user gnt-confd$`),
  ])
})
