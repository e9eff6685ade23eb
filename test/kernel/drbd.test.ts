// Instances on logical volumes and DRBD, with a real kernel under each of three nodes: what was written is there after each operation,
// and after nodes lost their power.
import { SEED, tries } from '../support/effort'
import { testWith } from '../support/needs'
import { sharedWithGaneti } from './ganeti-side'
import { Kills, randomMoments } from './kills'
import { Leftovers } from './leftovers'
import { GANETI_NEEDED, Machines, NEEDED, PATIENT, ganetiPresent, nameOf, present } from './machines'
import { Mirrors } from './mirrors'
import { Programs } from './programs'
import { Volumes } from './volumes'
import { Writers } from './writers'

jest.setTimeout(1_800_000)
const kernelTest = testWith(present, NEEDED)
const ganetiTest = testWith(present && ganetiPresent, GANETI_NEEDED)
/** What these tags begin with says how far harep may go. */
const REPAIR = 'ganeti:watcher:autorepair:'
const DEVICE = '/dev/drbd0'

let machines: Machines
let mirrors: Mirrors
let programs: Programs
beforeAll(async () => {
  if (!present) return
  machines = await Machines.start(3)
  mirrors = new Mirrors(machines)
  programs = new Programs(machines, [1, 2, 3])
})
beforeEach(async () => {
  if (!present) return
  await machines.tidy()
  // A later test looks whether there was another split brain.
  for (const node of [1, 2, 3]) await machines.inGuest(node, 'dmesg -C')
})
afterAll(async () => {
  if (present) process.stdout.write(programs.table())
  await machines?.remove()
})

/** So many moments are tried, from the seed of all tests. */
const FEW = 2
const KILLS = Number(process.env['KILLS'] ?? tries(FEW))

const gnt = (...words: string[]) => machines.gnt(...words)

kernelTest('a mirrored instance moves, grows, and gets new disks, and loses nothing', async () => {
  const name = 'inst2.gnt.example'
  const writers = new Writers(machines, [1, 2, 3], DEVICE)
  await programs.count()
  await programs.noted('instance add', 86, ...mirrors.adding(name, 'drbd', [1, 2], '16m'))
  await programs.of('instance startup', 35, 'instance', 'startup', name)
  await mirrors.expectInSync([1, 2])
  const data = await mirrors.write(1, DEVICE)
  await writers.start()
  await writers.getsOn(1)
  await programs.noted('instance migrate', 64, 'instance', 'migrate', '-f', name)
  await writers.getsOn(2)
  await mirrors.expectInSync([2, 1])
  expect(await mirrors.read(2, DEVICE)).toBe(data)
  // Its guest is stopped first.
  await writers.stop()
  await programs.of('instance failover', 49, 'instance', 'failover', '-f', name)
  await writers.expectKept(1)
  await writers.start()
  await programs.noted('instance grow-disk', 39, 'instance', 'grow-disk', name, '0', '16m')
  expect((await machines.inGuest(1, `blockdev --getsize64 ${DEVICE}`)).trim()).toBe(String(32 << 20))
  await programs.noted('instance replace-disks -s', 62, 'instance', 'replace-disks', '-s', name)
  await mirrors.expectInSync([1, 2])
  await programs.noted('instance replace-disks -p', 59, 'instance', 'replace-disks', '-p', name)
  await mirrors.expectInSync([1, 2])
  await programs.noted('instance replace-disks -n', 69, 'instance', 'replace-disks', '-n', nameOf(3), name)
  await mirrors.expectInSync([1, 3])
  expect(await mirrors.volumes(2, name)).toEqual([])
  await machines.inGuest(3, 'drbdsetup detach 0')
  await gnt('instance', 'replace-disks', '-a', name)
  await mirrors.expectInSync([1, 3])
  await gnt('instance', 'replace-disks', '-I', 'hail', '--early-release', name)
  await mirrors.expectInSync([1, 2])
  expect(await mirrors.volumes(3, name)).toEqual([])
  await writers.getsOn(1)
  await writers.expectKept(1)
  await writers.stop()
  // The other copy is the newest of all, and was never read.
  await gnt('instance', 'failover', '-f', name)
  await writers.expectKept(2)
  expect(await mirrors.read(2, DEVICE)).toBe(data)
  await gnt('instance', 'remove', '-f', '--shutdown-timeout=0', name)
  for (const node of [1, 2]) expect(await mirrors.volumes(node, name)).toEqual([])
})

kernelTest('a large mirrored disk can be used before it is in sync', async () => {
  const name = 'inst1.gnt.example'
  const soon = ['--no-wait-for-sync', '--no-install']
  await programs.count()
  await programs.of(
    'instance add, 10 GiB, without waiting',
    79,
    ...mirrors.adding(name, 'drbd', [2, 3], '10g', ...soon),
  )
  expect(await mirrors.device(name)).toBe(DEVICE)
  await mirrors.isSource(2)
  await programs.of('instance deactivate-disks', 10, 'instance', 'deactivate-disks', name)
  await programs.of('instance activate-disks', 32, 'instance', 'activate-disks', name)
  await programs.of('instance remove', 14, 'instance', 'remove', '-f', name)
})

kernelTest(
  'what was acknowledged is there after the primary node lost its power, and on it when verify-disks found it back',
  async () => {
    const name = 'inst2.gnt.example'
    await mirrors.add(name, 'drbd', [1, 3], '16m')
    await gnt('instance', 'startup', name)
    const data = await mirrors.write(1, DEVICE)
    const writers = new Writers(machines, [1], DEVICE)
    await writers.start()
    await writers.getsOn(1)
    await machines.powerOff(1)
    await mirrors.isAlone(3)
    await gnt('node', 'modify', '--offline=yes', '-f', nameOf(1))
    await gnt('instance', 'failover', '-f', '--ignore-consistency', '--yes-do-it', name)
    expect(await mirrors.read(3, DEVICE)).toBe(data)
    await writers.expectNotedKept(3)
    const newer = await mirrors.write(3, DEVICE)
    await machines.backAgain(1)
    await gnt('node', 'modify', '--offline=no', '-f', nameOf(1))
    await gnt('cluster', 'verify-disks')
    await mirrors.expectInSync([3, 1])
    await gnt('instance', 'migrate', '-f', name)
    expect(await mirrors.read(1, DEVICE)).toBe(newer)
  },
)

/** The two sides of the only mirror are written to without each other. Answers with what the primary one has. */
async function splitBrain(name: string, primary: number, secondary: number): Promise<string> {
  await mirrors.part(primary)
  const chosen = await mirrors.write(primary, DEVICE)
  await machines.inGuest(secondary, 'drbdsetup primary 0 --force')
  const other = await mirrors.write(secondary, DEVICE)
  await machines.inGuest(secondary, 'drbdsetup secondary 0')
  await gnt('instance', 'activate-disks', name)
  await machines.inGuest(primary, "until dmesg | grep -qi 'split-brain detected'; do sleep 0.5; done")
  expect(await machines.refused('instance', 'repair', name)).toMatch(
    /refused the other[^]*gnt-instance replace-disks -n/,
  )
  expect(await machines.verify()).toMatch(/inst2.*disk\/0 on node\d.* is degraded/)
  await machines.inGuest(secondary, 'drbdsetup primary 0 --force')
  expect(await mirrors.read(primary, DEVICE)).toBe(chosen)
  expect(await mirrors.read(secondary, DEVICE)).toBe(other)
  await machines.inGuest(secondary, 'drbdsetup secondary 0')
  return chosen
}

kernelTest(
  'both sides were written to without each other: they stay apart and tell so until somebody chooses one, by either way',
  async () => {
    const name = 'inst2.gnt.example'
    await mirrors.add(name, 'drbd', [1, 2], '16m')
    await gnt('instance', 'startup', name)
    const first = await splitBrain(name, 1, 2)
    await gnt('instance', 'replace-disks', '-n', nameOf(3), name)
    await mirrors.expectInSync([1, 3])
    expect(await mirrors.read(1, DEVICE)).toBe(first)

    const second = await splitBrain(name, 1, 3)
    await gnt('instance', 'shutdown', '--timeout=0', name)
    await gnt('instance', 'modify', '-t', 'plain', name)
    await gnt('instance', 'modify', '-t', 'drbd', '-n', nameOf(3), name)
    await mirrors.device(name, '--wait-for-sync')
    await mirrors.expectInSync([1, 3])
    expect(await mirrors.read(1, DEVICE)).toBe(second)
  },
)

kernelTest('a plain instance becomes a mirrored one and a plain one again, with its data', async () => {
  const name = 'inst1.gnt.example'
  await mirrors.add(name, 'plain', [2], '16m')
  const first = await mirrors.write(2, await mirrors.device(name))
  await gnt('instance', 'modify', '-t', 'drbd', '-n', nameOf(3), name)
  expect(await mirrors.device(name)).toBe(DEVICE)
  await mirrors.expectInSync([2, 3])
  expect(await mirrors.read(2, DEVICE)).toBe(first)
  const data = await new Volumes(machines, mirrors).hasSnapshots(name, 2, first)
  expect(await mirrors.volumes(2, name)).toHaveLength(2)
  expect(await mirrors.volumes(3, name)).toHaveLength(2)
  await gnt('instance', 'deactivate-disks', name)
  await gnt('instance', 'failover', '-f', name)
  await gnt('instance', 'modify', '-t', 'plain', name)
  expect(await mirrors.read(3, await mirrors.device(name))).toBe(data)
  expect(await mirrors.volumes(2, name)).toEqual([])
  expect(await mirrors.volumes(3, name)).toHaveLength(1)
  await gnt('instance', 'remove', '-f', name)
})

kernelTest('the parameters of disks reach the kernel', async () => {
  const name = 'inst3.gnt.example'
  const set = (values: Readonly<Record<string, number | string>>) => {
    const words = Object.entries(values).map(([key, value]) => `${key}=${value}`)
    return gnt('cluster', 'modify', '-D', `drbd:${words.join()}`)
  }
  const inKernel = async () => {
    const minor = (await mirrors.device(name)).replace('/dev/drbd', '')
    return (await machines.inGuest(2, `drbdsetup show ${minor}`)).replace(/\s+/g, ' ')
  }
  try {
    await set({
      ...{ 'resync-rate': 20480, 'disk-barriers': 'bfd', 'meta-barriers': 'true', protocol: 'A' },
      ...{ 'net-custom': `${PATIENT} --max-buffers=4000 --ko-count=5`, 'disk-custom': '--al-extents=257' },
    })
    await mirrors.add(name, 'drbd', [2, 3], '16m')
    const fixed = await inKernel()
    // DRBD does not show its defaults, such as that there are no barriers.
    for (const option of ['resync-rate 20480k;', 'disk-flushes no;', 'disk-drain no;', 'md-flushes no;'])
      expect(fixed).toContain(option)
    for (const option of ['protocol A;', 'max-buffers 4000;', 'ko-count 5;', 'al-extents 257;'])
      expect(fixed).toContain(option)

    const plan = { 'c-plan-ahead': 21, 'c-fill-target': 2048, 'c-min-rate': 5120 }
    await set({ 'dynamic-resync': 'true', protocol: 'C', ...plan })
    await gnt('instance', 'deactivate-disks', name)
    const dynamic = await inKernel()
    for (const option of ['c-plan-ahead 21;', 'c-fill-target 2048s;', 'c-min-rate 5120k;'])
      expect(dynamic).toContain(option)
    expect(dynamic).not.toContain('protocol A;')
  } finally {
    await set({
      ...{ 'resync-rate': 61440, 'disk-barriers': 'n', 'meta-barriers': 'false', protocol: 'C' },
      ...{ 'net-custom': PATIENT, 'disk-custom': '', 'dynamic-resync': 'false' },
    })
  }
})

kernelTest('gnt-node evacuate, harep and hbal move mirrors, with their data', async () => {
  const names = ['inst1.gnt.example', 'inst2.gnt.example']
  const data = new Map<string, string>()
  for (const name of names) {
    await mirrors.add(name, 'drbd', [1, 2], '16m')
    data.set(name, await mirrors.write(1, await mirrors.device(name, '--wait-for-sync')))
  }
  const [moved = '', stays = ''] = names
  const expectKept = async () => {
    for (const name of names) {
      const device = await mirrors.device(name, '--wait-for-sync')
      const [primary] = await mirrors.sides(name)
      expect(await mirrors.read(primary, device)).toBe(data.get(name))
    }
  }
  await gnt('node', 'evacuate', '-f', '-s', '-n', nameOf(3), nameOf(2))
  for (const name of names) expect(await mirrors.sides(name)).toEqual([1, 3])
  await expectKept()

  await gnt('instance', 'add-tags', moved, `${REPAIR}fix-storage`)
  await gnt('node', 'modify', '--offline=yes', '-f', nameOf(3))
  expect(await machines.tool('harep', '-L', '--job-delay=0')).toContain(`Executing ArFixStorage repair on ${moved}`)
  const [, job = ''] = /:pending:fix-storage:[^:]+:\d+:(\d+)/.exec(await gnt('instance', 'list-tags', moved)) ?? []
  await machines.settle(job)
  expect(await mirrors.sides(moved)).toEqual([1, 2])
  expect(await mirrors.sides(stays)).toEqual([1, 3])
  // Nobody could ask node 3 to remove what it had.
  await gnt('node', 'modify', '--offline=no', '-f', nameOf(3))
  await new Leftovers(machines, [1, 2, 3]).mend()
  await expectKept()
  expect(await machines.tool('harep', '-L')).toContain(`Moving ${moved} from "Pending repair" to "Healthy"`)

  expect(await machines.tool('hbal', '-L', '-X')).toMatch(/Got job IDs \d+/)
  const sides = await Promise.all(names.map((name) => mirrors.sides(name)))
  expect(new Set(sides.map(([primary]) => primary)).size).toBe(2)
  await expectKept()
  for (const name of names) await gnt('instance', 'remove', '-f', name)
})

kernelTest('a plain instance is renamed, moved, exported, and imported on a mirror, with its data', () =>
  new Volumes(machines, mirrors).isRenamedMovedAndImported(),
)

kernelTest('a volume and both sides of a mirror are rolled back to their snapshots', () =>
  new Volumes(machines, mirrors).areRolledBack(),
)

kernelTest('a snapshot that has run full is never rolled back to', () =>
  new Volumes(machines, mirrors).losesFullSnapshots(),
)

kernelTest('a mirror that was lost is made again on other nodes', () =>
  new Volumes(machines, mirrors).areMadeAgainElsewhere(),
)

kernelTest('volumes are adopted with their data', () => new Volumes(machines, mirrors).areAdopted())

kernelTest(
  'volumes are in stripes, and only where LVM may place them, and a lost physical volume is taken out of its group',
  () => new Volumes(machines, mirrors).arePlaced(),
)

kernelTest('a full or unknown group and a minor of a stranger are named, and nothing is left of what was begun', () =>
  new Volumes(machines, mirrors).areRefused(),
)

ganetiTest(
  "a mirror whose other side a real Ganeti's daemon keeps is made, started, moved, grown, and gets new disks",
  () => sharedWithGaneti(machines, mirrors),
)

const campaign = `killed at ${KILLS} random moments (KILLS) of seed ${SEED}, operations lose no data, and what they leave can be mended`
kernelTest(
  campaign,
  async () => {
    const kills = new Kills(machines, mirrors)
    const failed: string[] = []
    for (const [index, moment] of randomMoments(KILLS, SEED).entries()) {
      const text = `${index}: ${moment.operation}; ${moment.victim}, at ${moment.at}`
      const error = await kills.carryOut(moment).catch(String)
      if (error !== undefined) failed.push(`${text}: ${error}`)
      if (KILLS > FEW) console.log(text, error ?? 'is well')
    }
    expect(failed).toEqual([])
    await kills.end()
  },
  Math.max(1_800_000, KILLS * 300_000),
)
