// A mirror of which one side is on a node of ours, and the other on one whose daemon is a real Ganeti's.
import { type Machines, nameOf } from './machines'
import type { Mirrors } from './mirrors'

const DEVICE = '/dev/drbd0'

export async function sharedWithGaneti(machines: Machines, mirrors: Mirrors): Promise<void> {
  const name = 'inst1.gnt.example'
  await machines.addGaneti(4)
  await mirrors.add(name, 'drbd', [1, 4], '16m')
  await machines.gnt('instance', 'startup', name)
  await mirrors.expectInSync([1, 4])
  const data = await mirrors.write(1, DEVICE)
  await machines.gnt('instance', 'migrate', '-f', name)
  await mirrors.expectInSync([4, 1])
  expect(await mirrors.read(4, DEVICE)).toBe(data)
  await machines.gnt('instance', 'grow-disk', name, '0', '16m')
  expect((await machines.inGuest(4, `blockdev --getsize64 ${DEVICE}`)).trim()).toBe(String(32 << 20))
  await machines.gnt('instance', 'replace-disks', '-p', name)
  await mirrors.expectInSync([4, 1])
  await machines.gnt('instance', 'replace-disks', '-s', name)
  await mirrors.expectInSync([4, 1])
  await machines.gnt('instance', 'failover', '-f', name)
  await machines.gnt('instance', 'replace-disks', '-n', nameOf(2), name)
  expect(await mirrors.volumes(4, name)).toEqual([])
  await machines.gnt('instance', 'replace-disks', '-n', nameOf(4), name)
  await mirrors.expectInSync([1, 4])
  expect(await mirrors.read(1, DEVICE)).toBe(data)
  await machines.gnt('instance', 'remove', '-f', '--shutdown-timeout=0', name)
  for (const node of [1, 4]) expect(await mirrors.volumes(node, name)).toEqual([])
  await machines.removeNode(4)
}
