// A cluster goes over to another version, with nodes that fail at each step, jobs that do not end, and a command that dies anywhere.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { readIntent } from '../../../../src/bootstrap/upgrade/intent'
import type { UpgradeOptions } from '../../../../src/bootstrap/upgrade/on-nodes'
import { alone, isElsewhere, resume, upgrade } from '../../../../src/bootstrap/upgrade/upgrade'
import { systemDisk as disk } from '../../../../src/lib/disk'
import type { LockFile } from '../../../../src/lib/file/lock'
import { type Paths, pathsOf } from '../../../../src/lib/paths'
import type { ConfigData } from '../../../../src/model/config'
import { PATH } from '../../../../src/model/constants/paths'
import { clockAt } from '../../../support/instant-clock'
import { configOfNodes } from '../../config/builders'
import { FakeNodes } from '../../daemons/wconfd/support'
import { Machine, Machines, releaseOf } from './machines'

const NODE = (number: number) => `node${number}.example.com`
const ALL = [1, 2, 3].map(NODE)
const [MASTER = '', SECOND = '', THIRD = ''] = ALL

let folder: string
let paths: Paths
let config: ConfigData
let machines: Machines
let nodes: FakeNodes
let said: string[]

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gup-'))
  paths = { ...pathsOf(path.join(folder, MASTER), MASTER), root: '' }
  config = configOfNodes(3)
  await disk.makeDirectory(paths.dataDir)
  fs.writeFileSync(paths.configFile, 'as it was')
  machines = new Machines(Object.fromEntries(ALL.map((name) => [name, new Machine()])))
  nodes = new FakeNodes()
  nodes.answer = (name) => (of(name).daemons ? Promise.resolve(3010000) : Promise.reject(new Error('refused')))
  said = []
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const options = (more: Partial<UpgradeOptions> = {}): UpgradeOptions => ({
  ...{ paths, disk, nodes, config, shell: machines, clock: clockAt(1e12), patience_s: 60, pid: 77 },
  say: (text) => void said.push(text),
  ...more,
})
const of = (name: string): Machine => {
  const machine = machines.all[name]
  if (machine === undefined) throw new Error(`there is no ${name}`)
  return machine
}
const running = () => ALL.map((name) => [of(name).runs, of(name).daemons])
const allRun = (version: string) => ALL.map(() => [version, true])
const atWork = async () => ({
  drained: machines.drained,
  resting: machines.resting,
  intent: await readIntent({ disk, paths }),
})
const WORKING = { drained: false, resting: false, intent: undefined }
const setOffline = (name: string) => {
  const nodes = Object.values(config.nodes).map(
    (node) => [node.uuid, { ...node, offline: node.name === name }] as const,
  )
  config = { ...config, nodes: Object.fromEntries(nodes) }
}

test('all nodes go over: the master stops first, and changes and starts last', async () => {
  machines.jobs = 2
  expect(await upgrade(options(), '0.1.1')).toBe('done')
  expect(running()).toEqual(allRun('0.1.1'))
  expect(await atWork()).toEqual(WORKING)
  const steps = machines.done.map((step) => step.replace(MASTER, 'master').replace(/node\d\S+/, 'node'))
  expect(steps.filter((step, index) => step !== steps[index - 1])).toEqual([
    ...['master queue', 'master drain', 'master rest', 'master jobs'],
    ...['master stop', 'node stop', 'master backup', 'node switch 0.1.1', 'master switch 0.1.1'],
    ...['node start', 'master start', 'master answers', 'master distribute', 'master undrain', 'master wake'],
    'master verify',
  ])
  expect(await upgrade(options(), '0.1.1')).toBe('nothing to do')
})

test('a node that is offline stays as it is, and goes over alone when it is back', async () => {
  setOffline(THIRD)
  of(THIRD).unreachable = true
  expect(await upgrade(options(), '0.1.1')).toBe('done')
  expect(of(THIRD).runs).toBe('0.1.0')
  setOffline('')
  of(THIRD).unreachable = false
  machines.done.length = 0
  expect(await upgrade(options(), '0.1.1')).toBe('done')
  expect(running()).toEqual(allRun('0.1.1'))
  expect(machines.done).not.toContain(`${MASTER} stop`)
})

test('nodes that are named go over alone while the master works on, and all others later', async () => {
  expect(await upgrade(options(), '0.1.1', [SECOND, 'node3'])).toBe('done')
  expect(running()).toEqual([['0.1.0', true], ...allRun('0.1.1').slice(1)])
  expect(machines.done.filter((step) => / (stop|switch|backup)/.test(step))).toEqual(
    ['stop', 'switch 0.1.1'].flatMap((step) => [SECOND, THIRD].map((name) => `${name} ${step}`)),
  )
  expect(await atWork()).toEqual(WORKING)
  expect(await upgrade(options(), '0.1.1', [THIRD])).toBe('nothing to do')
  machines.done.length = 0
  expect(await upgrade(options(), '0.1.1')).toBe('done')
  expect(running()).toEqual(allRun('0.1.1'))
  expect(machines.done).not.toContain(`${THIRD} stop`)
})

test('one that is named and fails gets its own version back, whichever the master has', async () => {
  for (const ofMaster of ['0.1.0', '0.1.1']) {
    of(MASTER).runs = ofMaster
    of(THIRD).broken = '0.1.1'
    await expect(upgrade(options(), '0.1.1', [THIRD])).rejects.toThrow(
      `The part of the cluster that was to change (${THIRD}) could not go over to version 0.1.1, as said above. It runs version 0.1.0 as before`,
    )
    expect([of(THIRD).runs, of(THIRD).daemons, of(MASTER).runs]).toEqual(['0.1.0', true, ofMaster])
    expect(await atWork()).toEqual(WORKING)
  }
})

test('a node that is not there cannot be named, nor some where the configuration must be converted', async () => {
  await expect(upgrade(options(), '0.1.1', ['node'])).rejects.toThrow('There is no online node node in this cluster')
  config = { ...config, version: 3000000 }
  for (const name of ALL) of(name).releases.set('0.1.1', releaseOf('0.1.1', [3010000]))
  await expect(upgrade(options(), '0.1.1', [THIRD])).rejects.toThrow(
    'Version 0.1.1 needs another form of the configuration, so all nodes go over to it together',
  )
  expect(machines.done.filter((step) => !step.endsWith('queue'))).toEqual([])
  expect(await atWork()).toEqual(WORKING)
})

test.each<[string, () => void, string]>([
  ['lacks the version', () => of(SECOND).releases.delete('0.1.1'), `Version 0.1.1 is not there on ${SECOND}: install the package gantry-0.1.1 there first`], // prettier-ignore
  ['cannot be reached', () => (of(SECOND).unreachable = true), `cannot be asked over SSH: ${SECOND} (No route to host); mend that, or set them offline`], // prettier-ignore
  ['cannot start it', () => of(SECOND).notStarting.add('0.1.1'), `do not start on ${SECOND}: /usr/lib/gantry/0.1.1/bin/gantryd.js --version says why`], // prettier-ignore
])('a node that %s keeps all others as they are', async (_, spoil, text) => {
  spoil()
  await expect(upgrade(options(), '0.1.1')).rejects.toThrow(text)
  expect(machines.done).toEqual([])
  expect(await atWork()).toEqual(WORKING)
})

test('where Ganeti of such a version was before, the way back to it is told', async () => {
  const lacks = 'install the package gantry-3.0 there first'
  await expect(upgrade(options(), '3.0')).rejects.toThrow(new RegExp(`${lacks}$`))
  of(SECOND).ganeti = '3.0.2-3'
  await expect(upgrade(options(), '3.0')).rejects.toThrow(
    `${lacks}. Ganeti takes the cluster back with gantry-adopt --back`,
  )
})

test('jobs that do not end are named, and nothing was changed', async () => {
  machines.jobs = Infinity
  await expect(upgrade(options(), '0.1.1')).rejects.toThrow('It runs version 0.1.0 as before')
  expect(said.join('\n')).toMatch(/Jobs did not end within 60 s: 7\. .*--timeout/)
  expect(machines.done.filter((step) => / (stop|start|switch)/.test(step))).toEqual([])
  expect(await atWork()).toEqual(WORKING)
})

test('a queue that was drained before stays drained', async () => {
  machines.drained = true
  expect(await upgrade(options(), '0.1.1')).toBe('done')
  expect(machines.drained).toBe(true)
  expect(machines.done.filter((step) => step.endsWith('undrain'))).toEqual([])
})

const STEPS = ['stop', 'backup', 'switch 0.1.1', 'distribute', 'answers'] as const
test.each(
  STEPS.flatMap((step) => (['stop', 'switch 0.1.1'].includes(step) ? [[step, SECOND]] : [])).concat(
    STEPS.map((step) => [step, MASTER]),
  ),
)(
  // prettier-ignore
  'when "%s" fails on %s all is as before',
  async (step, name) => {
    let fails = true
    // Only on the way there.
    machines.before = (what) => {
      if (what.includes('return')) fails = false
      if (fails) of(name).failing.add(step)
      else of(name).failing.delete(step)
      if (what === `${name} ${step}` && step !== 'answers') fails = false
    }
    machines.before('')
    await expect(upgrade(options({ clock: clockAt(1e12) }), '0.1.1')).rejects.toThrow('It runs version 0.1.0 as before')
    expect(said.join('\n')).toContain(`${step} failed`)
    expect(running()).toEqual(allRun('0.1.0'))
    expect(await atWork()).toEqual(WORKING)
  },
)

test('daemons of the new version that do not start on one node take all nodes back', async () => {
  of(THIRD).broken = '0.1.1'
  await expect(upgrade(options(), '0.1.1')).rejects.toThrow('It runs version 0.1.0 as before')
  expect(said.join('\n')).toContain(`Could not start the daemons on ${THIRD} (noded did not start)`)
  expect(running()).toEqual(allRun('0.1.0'))
  expect(await atWork()).toEqual(WORKING)
})

test('a node that dies on the way does not keep the others from coming back', async () => {
  machines.before = (what) => {
    if (what === `${SECOND} switch 0.1.1`) of(THIRD).unreachable = true
  }
  await expect(upgrade(options(), '0.1.1')).rejects.toThrow(
    `It runs version 0.1.0 as before, but for ${THIRD}: mend these, and start their daemons`,
  )
  expect(running().slice(0, 2)).toEqual(allRun('0.1.0').slice(0, 2))
  expect(await atWork()).toEqual(WORKING)
})

test('what cannot be taken back says so, and is continued when it is mended', async () => {
  of(THIRD).broken = '0.1.1'
  machines.before = (what) => void (what.startsWith(`${MASTER} return`) && of(MASTER).failing.add('return 0.1.0'))
  await expect(upgrade(options(), '0.1.1')).rejects.toThrow('"gnt-cluster upgrade --resume" tries again')
  expect(await readIntent({ disk, paths })).toEqual({ from: '0.1.0', to: '0.1.1', drained: false })
  await expect(upgrade(options(), '0.1.2')).rejects.toThrow('use --resume to finish it first')
  of(THIRD).broken = undefined
  expect(await resume(options())).toBe('done')
  expect(running()).toEqual(allRun('0.1.1'))
  expect(await atWork()).toEqual(WORKING)
})

test('what fails again while it is continued keeps its note, until it is mended', async () => {
  of(SECOND).failing.add('switch 0.1.1')
  of(MASTER).failing.add('return 0.1.0')
  await expect(upgrade(options(), '0.1.1')).rejects.toThrow('tries again')
  await expect(resume(options())).rejects.toThrow('tries again')
  expect(await readIntent({ disk, paths })).toEqual({ from: '0.1.0', to: '0.1.1', drained: false })
  of(SECOND).failing.clear()
  expect(await resume(options())).toBe('done')
  expect(running()).toEqual(allRun('0.1.1'))
  expect(await atWork()).toEqual(WORKING)
})

test('what is continued waits for no node that is away, and begins nothing without one', async () => {
  const intent = '0.1.0,0.1.1,99\n'
  fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), intent)
  of(SECOND).unreachable = true
  for (const name of ALL) of(name).daemons = false
  machines.drained = true
  await expect(resume(options())).rejects.toThrow(`cannot be asked over SSH: ${SECOND}`)
  expect([of(MASTER).runs, of(MASTER).daemons]).toEqual(['0.1.0', true])
  expect(await atWork()).toEqual(WORKING)
  // The master has changed, so all others had before.
  fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), intent)
  of(MASTER).runs = '0.1.1'
  expect(await resume(options())).toBe('done')
  expect(said).toContain(`${SECOND} is left as it is: No route to host`)
  expect([of(THIRD).runs, of(THIRD).daemons]).toEqual(['0.1.1', true])
})

test('machines that start together with the master are waited for', async () => {
  fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), '0.1.0,0.1.1,99\n')
  for (const name of ALL) of(name).daemons = false
  of(SECOND).unreachable = true
  const clock = clockAt(1e12)
  const sleep = clock.sleep.bind(clock)
  const began_ms = clock.monotonic_ms()
  clock.sleep = async (delay_ms) => {
    await sleep(delay_ms)
    if (clock.monotonic_ms() - began_ms >= 60_000) of(SECOND).unreachable = false
  }
  expect(await resume(options({ clock }))).toBe('done')
  expect(said).toContain(`Waiting for ${SECOND}`)
  expect(running()).toEqual(allRun('0.1.1'))
  expect(await atWork()).toEqual(WORKING)
})

test.each([
  ['all', []],
  ['the named', [THIRD]],
])('wherever the command dies, --resume brings %s nodes to the new version', async (_, names) => {
  const counting = new Machines(machines.all)
  await upgrade(options({ shell: counting }), '0.1.1', names)
  const goneOver = running()
  for (let death = 0; death < counting.done.length; death++) {
    machines = new Machines(Object.fromEntries(ALL.map((name) => [name, new Machine()])))
    fs.rmSync(paths.local(PATH.INTENT_TO_UPGRADE), { force: true })
    let left = death
    // It never comes back from there.
    const died = new Promise<'died'>((resolve) => {
      const run = machines.run
      machines.run = (...args) => {
        if (args[1].startsWith('\necho "runs=')) return run(...args)
        if (left-- > 0) return run(...args)
        resolve('died')
        return new Promise(() => undefined)
      }
    })
    expect(await Promise.race([died, upgrade(options(), '0.1.1', names)])).toBe('died')
    const after = new Machines(machines.all)
    after.drained = machines.drained
    after.resting = machines.resting
    machines = after
    const isBegun = (await readIntent({ disk, paths })) !== undefined
    const outcome = await resume(options())
    expect([death, outcome]).toEqual([death, isBegun ? 'done' : 'nothing to do'])
    // The first question changes nothing, and at the last one all is done.
    expect(running()).toEqual(death === 0 ? allRun('0.1.0') : goneOver)
    expect(await atWork()).toEqual(WORKING)
  }
})

test('the same command again continues, too', async () => {
  fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), '0.1.0,0.1.1,99\n')
  expect(await upgrade(options(), '0.1.1')).toBe('done')
  expect(said[0]).toMatch(/^An upgrade is already in progress/)
})

test('two upgrades are not at work at once, and the turn ends with the work, however that ends', async () => {
  let held = false
  const lockFile: LockFile = (file) => {
    expect(file).toBe(paths.local(PATH.UPGRADE_LOCK_FILE))
    if (held) return Promise.resolve(undefined)
    held = true
    return Promise.resolve({ release: () => void (held = false) })
  }
  const place = { lockFile, paths }
  const second = alone(place, () => alone(place, () => Promise.resolve('begun')))
  await expect(second).rejects.toThrow('An upgrade is at work on this node already')
  expect(await alone(place, () => upgrade(options(), '0.1.1'))).toBe('done')
  expect(held).toBe(false)
})

test('where another node has become the master, nothing is continued', async () => {
  fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), '0.1.0,0.1.1,99\n')
  fs.writeFileSync(paths.ssconf('master_node'), `${MASTER}\n`)
  expect(await isElsewhere({ disk, paths })).toBe(false)
  fs.writeFileSync(paths.ssconf('master_node'), `${SECOND}\n`)
  expect(await isElsewhere({ disk, paths })).toBe(true)
  expect(await resume(options())).toBe('nothing to do')
})

test.each([
  ['up', '0.1.1', 3000000, [3010000]],
  ['down', '0.0.9', 3010000, [3000000]],
] as const)(
  'a configuration that the other version cannot read is converted %s, and taken back',
  async (way, to, version, known) => {
    // prettier-ignore
    config = { ...config, version }
    for (const name of ALL) of(name).releases.set(to, releaseOf(to, known))
    expect(await upgrade(options(), to)).toBe('done')
    const [convert, change] = [`${MASTER} convert ${way}`, `${MASTER} switch ${to}`].map((s) =>
      machines.done.indexOf(s),
    )
    expect(way === 'up' ? Number(convert) > Number(change) : Number(convert) < Number(change)).toBe(true)
    expect(fs.existsSync(`${paths.configFile}.before-upgrade`)).toBe(false)
    // And back, when the daemons do not like it.
    for (const name of ALL) of(name).runs = '0.1.0'
    of(SECOND).broken = to
    machines.before = (what) => void (what.includes('convert') && fs.writeFileSync(paths.configFile, 'converted'))
    await expect(upgrade(options(), to)).rejects.toThrow('as before')
    expect(fs.readFileSync(paths.configFile, 'utf8')).toBe('as it was')
  },
)

test('a configuration that nobody can convert for the other version keeps all as it is', async () => {
  for (const name of ALL) of(name).releases.set('0.0.9', releaseOf('0.0.9', [2160000]))
  config = { ...config, version: 3010000 }
  await expect(upgrade(options(), '0.0.9')).rejects.toThrow(
    /Version 0\.0\.9 cannot read a configuration of version 3010000/,
  )
  expect(await atWork()).toEqual(WORKING)
})

test('problems of the cluster are told at the end', async () => {
  machines.verifies = false
  expect(await upgrade(options(), '0.1.1')).toBe('done, with problems')
  expect(said).toContain('  - ERROR: node x: broken')
})
