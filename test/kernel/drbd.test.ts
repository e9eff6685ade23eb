// Instances on logical volumes and DRBD, with a real kernel under each of two nodes: what was written is there after each operation.
import { testWith } from '../support/needs'
import { Machines, NEEDED, nameOf, present } from './machines'

jest.setTimeout(900_000)
const kernelTest = testWith(present, NEEDED)
const MIRRORED = 'inst2.gnt.example'
/** Of what is written. */
const BYTES = 2_000_000

let machines: Machines
beforeAll(async () => {
  if (!present) return
  machines = await Machines.start(2)
  await machines.makeCluster()
})
afterAll(() => machines?.remove())

const [FIRST, SECOND] = [nameOf(1), nameOf(2)]
const written = async (node: number, device: string): Promise<string> =>
  (await machines.inGuest(node, `head -c ${BYTES} ${device} | sha1sum`)).trim()
const write = (node: number, device: string): Promise<string> =>
  machines.inGuest(
    node,
    `head -c ${BYTES} /dev/urandom | dd of=${device} bs=100k iflag=fullblock oflag=sync 2>/dev/null`,
  )

/** Both sides of the mirror, as the kernel of that side tells of it. */
async function expectMirror(primary: number): Promise<void> {
  const secondary = 3 - primary
  const state = (node: number) => machines.inGuest(node, "grep -o 'cs:.*/[A-Za-z]* C' /proc/drbd")
  expect((await state(primary)).trim()).toBe('cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C')
  expect((await state(secondary)).trim()).toBe('cs:Connected ro:Secondary/Primary ds:UpToDate/UpToDate C')
}

const add = (name: string, template: string, nodes: string, size: string) =>
  machines.gnt(
    ...['instance', 'add', '-t', template, '--disk', `0:size=${size}`, '-n', nodes, '-o', 'gantry-tiny'],
    ...['--no-nics', '--no-start', '-B', 'memory=16', name],
  )

kernelTest('a mirrored instance moves, grows, and gets new disks, and loses nothing', async () => {
  await add(MIRRORED, 'drbd', `${FIRST}:${SECOND}`, '64m')
  await machines.gnt('instance', 'startup', MIRRORED)
  await expectMirror(1)
  await write(1, '/dev/drbd0')
  const data = await written(1, '/dev/drbd0')
  await machines.gnt('instance', 'migrate', '-f', MIRRORED)
  await expectMirror(2)
  expect(await written(2, '/dev/drbd0')).toBe(data)
  await machines.gnt('instance', 'failover', '-f', MIRRORED)
  await machines.gnt('instance', 'grow-disk', MIRRORED, '0', '32m')
  expect((await machines.inGuest(1, 'blockdev --getsize64 /dev/drbd0')).trim()).toBe(String(96 << 20))
  await machines.gnt('instance', 'replace-disks', '-s', MIRRORED)
  await expectMirror(1)
  await machines.gnt('instance', 'replace-disks', '-p', MIRRORED)
  await expectMirror(1)
  expect(await written(1, '/dev/drbd0')).toBe(data)
})
