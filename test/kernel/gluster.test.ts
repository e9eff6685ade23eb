// Disks in a volume of a real Gluster, under real guests that reach them through gfapi: what a guest wrote is there after each operation.
import * as fs from 'node:fs'
import { FIRST, Gluster, glusterPresent, glusterTest } from './gluster'
import { StorageCluster } from './storage-cluster'

let gluster: Gluster
let nodes: StorageCluster
beforeAll(async () => {
  if (!glusterPresent) return
  gluster = new Gluster()
  nodes = await StorageCluster.start('gluster', gluster.first, () => gluster.start())
  for (const node of ['node1', 'node2'])
    fs.appendFileSync(nodes.local(node, 'etc/ganeti/file-storage-paths'), '/var/run/ganeti/gluster\n')
  await nodes.ok('cluster', 'modify', '-D', `gluster:host=${FIRST},volume=gv0`)
})
afterAll(async () => {
  await nodes?.remove()
  await gluster?.remove()
})

glusterTest(
  'a guest writes to a file of both servers, which grows under it, moves with it, and survives it',
  async () => {
    await nodes.ok(...nodes.add('vm1'))
    const written = await nodes.write('node1', 'vm1')
    expect(Number(written)).toBeGreaterThan(1)
    await nodes.ok('instance', 'grow-disk', 'vm1', '0', '8m')
    expect(await nodes.sizeSeen('node1', 'vm1')).toEqual([16 << 20])
    await nodes.getsDiskAndMoves('vm1')
    expect(await nodes.read('node2', 'vm1')).toBe(written)
    expect(gluster.haveBoth(2)).toBe(true)
    const later = await nodes.writeWhile('node2', 'vm1', async () => gluster.loseOne())
    expect(Number(later)).toBeGreaterThan(Number(written))
    nodes.kill('node2', 'vm1')
    await nodes.ok('instance', 'failover', '-f', 'vm1')
    expect(await nodes.read('node1', 'vm1')).toBe(later)
    await gluster.returnOne(2)
    await nodes.ok('instance', 'remove', '-f', 'vm1')
    await gluster.hasNone()
  },
)

glusterTest('a volume that is missing is named, with what to look at', async () => {
  await nodes.ok('cluster', 'modify', '-D', 'gluster:volume=nowhere')
  expect(await nodes.refused(...nodes.add('vm2'))).toMatch(
    /Cannot mount 198.51.100.1:\/nowhere .*on node node1.*gluster volume info nowhere/,
  )
  await nodes.ok('cluster', 'modify', '-D', 'gluster:volume=gv0')
  await nodes.ok('instance', 'remove', '-f', 'vm2')
})
