// Logical volumes and what is made of them, with a real kernel under each of three nodes. These tests have nodes of their own, so that they
// run beside those of DRBD.
import { testWith } from '../support/needs'
import { NEEDED, PATIENT, nameOf, present } from './machines'
import { threeNodes } from './three-nodes'
import { Volumes } from './volumes'

jest.setTimeout(1_800_000)
const kernelTest = testWith(present, NEEDED)
const DEVICE = '/dev/drbd0'
const nodes = threeNodes()
const volumes = () => new Volumes(nodes().machines, nodes().mirrors)
const gnt = (...words: string[]) => nodes().machines.gnt(...words)

kernelTest('a large mirrored disk can be used before it is in sync', async () => {
  const { mirrors, programs } = nodes()
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

kernelTest('a plain instance becomes a mirrored one and a plain one again, with its data', async () => {
  const { mirrors } = nodes()
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

kernelTest('the parameters of disks reach the kernel', async () => {
  const { machines, mirrors } = nodes()
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

kernelTest('a plain instance is renamed, moved, exported, and imported on a mirror, with its data', () =>
  volumes().isRenamedMovedAndImported(),
)

kernelTest('volumes are adopted with their data', () => volumes().areAdopted())

kernelTest(
  'volumes are in stripes, and only where LVM may place them, and a lost physical volume is taken out of its group',
  () => volumes().arePlaced(),
)

kernelTest('a full or unknown group and a minor of a stranger are named, and nothing is left of what was begun', () =>
  volumes().areRefused(),
)
