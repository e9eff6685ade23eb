// Ours takes over a cluster that a real Ganeti has made, with its volumes and mirrors, goes on with them, and gives them back.
import { testWith } from '../support/needs'
import { GANETI_NEEDED, ganetiPresent, nameOf, present } from './machines'
import { Mirrors } from './mirrors'
import { RealGaneti } from './real-ganeti'

jest.setTimeout(3_600_000)
const takeoverTest = testWith(present && ganetiPresent, GANETI_NEEDED)
const [PLAIN, MIRRORED, OURS] = ['inst1.gnt.example', 'inst2.gnt.example', 'inst3.gnt.example']
const DEVICE = '/dev/drbd0'

let ganeti: RealGaneti | undefined
afterAll(() => ganeti?.machines.remove())

takeoverTest(
  "a real Ganeti's volumes and mirrors are taken over, carried on with, and given back, with their data",
  async () => {
    ganeti = await RealGaneti.start(2)
    const { machines } = ganeti
    const mirrors = new Mirrors(machines)
    const add = ['add', '-o', 'noop', '--no-nics', '--no-name-check', '--no-ip-check', '-B', 'memory=16,vcpus=1']
    await ganeti.gnt('instance', ...add, '-t', 'plain', '--disk', '0:size=32M', '-n', nameOf(1), PLAIN)
    const pair = `${nameOf(1)}:${nameOf(2)}`
    await ganeti.gnt('instance', ...add, '-t', 'drbd', '--disk', '0:size=64M', '-n', pair, MIRRORED)
    const volume = (await machines.inGuest(1, `readlink /var/run/ganeti/instance-disks/${PLAIN}:0`)).trim()
    const [plain, mirrored] = [await mirrors.write(1, volume), await mirrors.write(1, DEVICE)]
    const complaints = await ganeti.complaints()

    await ganeti.isTakenOver()
    expect(await machines.gnt('instance', 'list', '--no-headers', '-o', 'name,disk_template,status')).toMatch(
      /inst1\S* +plain +running\s+inst2\S* +drbd +running/,
    )
    await mirrors.expectInSync([1, 2])
    await machines.gnt('instance', 'migrate', '-f', MIRRORED)
    await mirrors.expectInSync([2, 1])
    expect(await mirrors.read(2, DEVICE)).toBe(mirrored)
    await machines.gnt('instance', 'replace-disks', '-s', MIRRORED)
    await machines.gnt('instance', 'grow-disk', MIRRORED, '0', '32m')
    await machines.gnt('instance', 'shutdown', '--timeout=0', PLAIN)
    await machines.gnt('instance', 'grow-disk', PLAIN, '0', '32m')
    await mirrors.add(OURS, 'drbd', [1, 2], '32m')
    const ours = await mirrors.write(1, await mirrors.device(OURS, '--wait-for-sync'))
    expect(await mirrors.read(1, await mirrors.device(PLAIN))).toBe(plain)
    const newer = await mirrors.write(2, DEVICE)

    await ganeti.isGivenBack()
    expect(await ganeti.complaints()).toEqual(complaints)
    await ganeti.gnt('instance', 'startup', PLAIN)
    expect(await mirrors.read(1, volume)).toBe(plain)
    await ganeti.gnt('instance', 'migrate', '-f', MIRRORED)
    expect(await mirrors.read(1, DEVICE)).toBe(newer)
    await ganeti.gnt('instance', 'replace-disks', '-s', MIRRORED)
    await ganeti.gnt('instance', 'grow-disk', MIRRORED, '0', '32M')
    expect((await machines.inGuest(1, `blockdev --getsize64 ${DEVICE}`)).trim()).toBe(String(128 << 20))
    const reported = await ganeti.gnt('instance', 'activate-disks', OURS)
    const [, device = ''] = /:disk\/0:(\/\S+)/.exec(reported) ?? []
    expect(await mirrors.read(1, device)).toBe(ours)
    for (const name of [PLAIN, MIRRORED, OURS])
      await ganeti.gnt('instance', 'remove', '-f', '--shutdown-timeout=0', name)
    for (const node of [1, 2]) expect(await machines.inGuest(node, 'lvs --noheadings xenvg')).toBe('')
  },
)
