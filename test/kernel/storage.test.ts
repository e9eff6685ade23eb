// Instances that become mirrored and plain, move between nodes and are repaired, with a real kernel under each of three nodes; and
// operations that are killed. Nothing that was written is lost.
import { SEED, tries } from '../support/effort'
import { testWith } from '../support/needs'
import { Kills, randomMoments } from './kills'
import { Leftovers } from './leftovers'
import { type Machines, NEEDED, nameOf, present } from './machines'
import { Mirrors } from './mirrors'
import { threeNodes } from './three-nodes'
import { Volumes } from './volumes'

const kernelTest = testWith(present, NEEDED)
/** What these tags begin with says how far harep may go. */
const REPAIR = 'ganeti:watcher:autorepair:'
const DEVICE = '/dev/drbd0'

let machines: Machines
let mirrors: Mirrors
threeNodes((begun) => {
  machines = begun
  mirrors = new Mirrors(begun)
})

/** So many moments are tried, from the seed of all tests. */
const FEW = 2
const KILLS = Number(process.env['KILLS'] ?? tries(FEW))

const gnt = (...words: string[]) => machines.gnt(...words)

kernelTest('a plain instance becomes a mirrored one and a plain one again, with its data', async () => {
  const name = 'inst1.gnt.example'
  await mirrors.add(name, 'plain', [2], '16m')
  const data = await mirrors.write(2, await mirrors.device(name))
  await gnt('instance', 'modify', '-t', 'drbd', '-n', nameOf(3), name)
  expect(await mirrors.device(name)).toBe(DEVICE)
  await mirrors.expectInSync([2, 3])
  expect(await mirrors.read(2, DEVICE)).toBe(data)
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

kernelTest('volumes are adopted with their data', () => new Volumes(machines, mirrors).areAdopted())

kernelTest(
  'volumes are in stripes, and only where LVM may place them, and a lost physical volume is taken out of its group',
  () => new Volumes(machines, mirrors).arePlaced(),
)

kernelTest('a full or unknown group and a minor of a stranger are named, and nothing is left of what was begun', () =>
  new Volumes(machines, mirrors).areRefused(),
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
