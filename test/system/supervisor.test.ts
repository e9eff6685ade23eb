// The parent of a node's daemons, with a table of roles that is made for the test: what runs follows the place that the node has.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemDisk } from '../../src/lib/disk'
import { systemProcesses } from '../../src/lib/programs/processes'
import { systemFiles } from '../../src/lib/files'
import { Supervisor } from '../../src/daemons/supervisor/supervisor'
import { systemClock as clock } from '../../src/lib/clock'
import { silentLog as log } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { PART_RETRY_S } from '../../src/model/limits/daemons'
import type { Role } from '../../src/roles/role'

const TINY = path.join(__dirname, '../support/tiny-role.js')
const tiny = { user: 'root', group: 'root', log: 'tiny', options: [] }
const ROLES: readonly Role[] = [
  { ...tiny, name: 'reportd', program: 'ganeti-reportd', text: 'on every node', place: 'node', after: ['obeyd'] },
  { ...tiny, name: 'listd', program: 'ganeti-listd', text: 'on candidates', place: 'candidate' },
  {
    ...tiny,
    name: 'heard',
    program: 'ganeti-heard',
    text: 'for kvm',
    place: 'node',
    lines: { hypervisor_list: 'kvm' },
  },
  { ...tiny, name: 'askd', program: 'ganeti-askd', text: 'when asked for', place: 'demand' },
  { ...tiny, name: 'playd', program: 'ganeti-playd', text: 'not here', place: 'node', nodes: 'simulated' },
  { ...tiny, name: 'obeyd', program: 'ganeti-obeyd', text: 'on every node', place: 'node', nodes: 'real' },
]

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-supervisor-'))
const paths = pathsOf(path.join(root, 'n1'), 'n1')
const notesFile = path.join(root, 'notes')
const supervisor = new Supervisor({
  ...{ disk: systemDisk, files: systemFiles, processes: systemProcesses },
  ...{ paths, clock, log, program: TINY, roles: ROLES, args: new Map(), simulated: false, noVoting: false },
  onEnd: () => undefined,
})

beforeAll(() => {
  process.env['NOTES'] = notesFile
  fs.mkdirSync(paths.dataDir, { recursive: true })
  candidates('n2')
})

afterAll(async () => {
  await supervisor.stop()
  delete process.env['NOTES']
  fs.rmSync(root, { recursive: true, force: true })
})

const candidates = (...names: string[]) => fs.writeFileSync(paths.ssconf('master_candidates'), names.join('\n') + '\n')
const notes = () => fs.readFileSync(notesFile, 'utf8').trimEnd().split('\n')

/** As noded asks; resolves to the answer, and to what happened before it. */
async function ask(request: object): Promise<string[]> {
  fs.writeFileSync(notesFile, '')
  fs.writeFileSync(`${notesFile}.ask`, JSON.stringify(request))
  process.kill(Number(supervisor.pidOf('obeyd')), 'SIGUSR2')
  while (!notes().at(-1)?.startsWith('answer')) await clock.sleep(20)
  return notes()
}
const fine = 'answer true to obeyd'

test('a node has the daemons of its place, and follows when it changes', async () => {
  await supervisor.start()
  expect(notes()).toEqual(['start obeyd', 'start reportd'])

  candidates('n2', 'n1')
  expect(await ask({ action: 'settle' })).toEqual(['start listd', fine])
  expect(await ask({ action: 'settle' })).toEqual([fine])
  candidates('n2')
  expect(await ask({ action: 'settle' })).toEqual(['stop listd', fine])
})

test('a daemon that the lists of the node ask for comes and goes with them', async () => {
  const hypervisors = (...names: string[]) => fs.writeFileSync(paths.ssconf('hypervisor_list'), names.join('\n') + '\n')
  hypervisors('fake', 'kvm')
  expect(await ask({ action: 'settle' })).toEqual(['start heard', fine])
  hypervisors('fake', 'kvm2')
  expect(await ask({ action: 'settle' })).toEqual(['stop heard', fine])
})

test('daemons that run on demand are started and stopped by name', async () => {
  const ensure = (daemon: string, run: boolean) => ask({ action: 'ensure', daemon, run })
  expect(await ensure('ganeti-askd', true)).toEqual(['start askd', fine])
  expect(await ensure('ganeti-askd', true)).toEqual([fine])
  expect(await ensure('ganeti-askd', false)).toEqual(['stop askd', fine])
  // A daemon that only Ganeti has never runs here.
  expect(await ensure('ganeti-masterd', false)).toEqual([fine])
  expect(await ensure('ganeti-masterd', true)).toEqual([
    'answer "there is no ganeti-masterd to start: this version has none" to obeyd',
  ])
  expect(await ensure('ganeti-playd', false)).toEqual([
    'answer "there is no ganeti-playd that could be stopped: no daemon has this name" to obeyd',
  ])
  expect(await ensure('ganeti-obeyd', false)).toEqual(['answer "ganeti-obeyd cannot start or stop itself" to obeyd'])
})

test('a node starts without a part that cannot run, says so once, and gets it later', async () => {
  const reported: string[] = []
  let retries = 0
  const refusal = `${notesFile}.refuse-partd`
  fs.writeFileSync(refusal, '')
  fs.writeFileSync(notesFile, '')
  const partly = new Supervisor({
    ...{ disk: systemDisk, files: systemFiles, processes: systemProcesses },
    ...{ paths, log, program: TINY, args: new Map(), simulated: false, noVoting: false },
    roles: [{ ...tiny, name: 'partd', program: 'ganeti-partd', text: 'a part', place: 'node', part: 'small things' }],
    clock: {
      ...clock,
      after(ms, action, how) {
        if (ms !== PART_RETRY_S * 1000) return clock.after(ms, action, how)
        if (++retries === 2) fs.rmSync(refusal)
        return clock.after(1, action, how)
      },
    },
    onNotice: (text) => reported.push(text),
    onEnd: () => undefined,
  })
  await partly.start()
  while (reported.length < 2) await clock.sleep(20)
  expect(notes()).toEqual(['refuse partd', 'refuse partd', 'start partd'])
  expect(reported).toEqual([
    'partd cannot run, so small things are missing: n1: partd ended while it started (exit code 1)',
    'partd runs now',
  ])
  await partly.stop()
  expect(notes().at(-1)).toBe('stop partd')
})

test('a stop ends all of them, last started first', async () => {
  candidates('n1')
  await ask({ action: 'settle' })
  fs.writeFileSync(notesFile, '')
  await supervisor.stop()
  expect(notes()).toEqual(['stop listd', 'stop reportd', 'stop obeyd'])
})
