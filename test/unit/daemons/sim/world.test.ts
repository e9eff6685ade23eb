// What the disks of simulated nodes are.
import { World } from '../../../../src/daemons/sim/world'
import { buildDisk, smallConfig } from '../../config/builders'

test('a snapshot of a file is not its disk, although both have one UUID', () => {
  const world = new World(smallConfig())
  const disk = buildDisk(1, { dev_type: 'sharedfile', logical_id: ['loop', '/srv/shared/a/disk0'] })
  const dict = { ...disk, children: [] }
  world.addDisk('node1', disk, 64)
  world.removeDisk('node1', { ...dict, logical_id: ['loop', '/srv/shared/a/disk0.before'] })
  expect(world.disk('node1', dict as never)?.size).toBe(64)
  world.removeDisk('node1', dict)
  expect(world.disk('node1', dict as never)).toBeUndefined()
})
