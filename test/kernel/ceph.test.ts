// Disks in a real Ceph, under real guests that reach them through librbd: what a guest wrote is there after each operation.
import { CEPH_USER, Ceph, cephPresent, cephTest } from './ceph'
import { Sandbox, until } from './sandbox'
import { StorageCluster } from './storage-cluster'

let ceph: Ceph
let nodes: StorageCluster
beforeAll(async () => {
  if (!cephPresent) return
  const sandbox = new Sandbox(['/run', '/etc/ceph'])
  ceph = new Ceph(sandbox)
  nodes = await StorageCluster.start('rbd', sandbox, () => ceph.start())
  await nodes.ok('cluster', 'modify', '-D', `rbd:user-id=${CEPH_USER}`)
})
afterAll(() => nodes?.remove())

cephTest('a guest writes to its image, which grows under it, moves with it, and survives it', async () => {
  await nodes.ok(...nodes.add('vm2', '--no-start'))
  // Asked while it is the only image.
  const [image = ''] = await ceph.images()
  const refusal = inUse('vm2', image)
  // Meanwhile others are served.
  await nodes.ok(...nodes.add('vm1'))
  const written = await nodes.write('node1', 'vm1')
  expect(Number(written)).toBeGreaterThan(1)
  await nodes.ok('instance', 'grow-disk', 'vm1', '0', '8m')
  expect(await nodes.sizeSeen('node1', 'vm1')).toEqual([16 << 20])
  await nodes.getsDiskAndMoves('vm1')
  expect(await nodes.read('node2', 'vm1')).toBe(written)
  // Who cannot reach Ceph for some seconds is forgotten here, so the stranger's part ends first.
  await refusal
  const later = await writtenWithoutObjects()
  expect(Number(later)).toBeGreaterThan(Number(written))
  nodes.kill('node2', 'vm1')
  await nodes.ok('instance', 'failover', '-f', 'vm1')
  expect(await nodes.read('node1', 'vm1')).toBe(later)
  await nodes.ok('instance', 'startup', 'vm2')
  await nodes.console('node1', 'vm2')
  for (const name of ['vm1', 'vm2']) await nodes.ok('instance', 'remove', '-f', name)
  expect(await ceph.images()).toEqual([])
})

/** What a guest writes while nobody keeps objects is kept as soon as somebody does again; its node answers meanwhile. */
async function writtenWithoutObjects(): Promise<string> {
  await ceph.endObjects()
  return nodes.writeWhile('node2', 'vm1', async () => {
    expect(await nodes.ok('instance', 'list', '--no-headers', '-o', 'status', 'vm1')).toBe('running\n')
    ceph.startObjects()
  })
}

/** Somebody else has the image open, so its instance is not started. */
async function inUse(name: string, image: string): Promise<void> {
  const read = ['-c', 'read 0 512', '-c', 'sleep 100000000']
  const stranger = nodes.sandbox.daemon('qemu-io', '-f', 'raw', ...read, `rbd:rbd/${image}`)
  await until('somebody has the image open', 60, async () => (await ceph.rbd('status', image)).includes('watcher='))
  expect(await nodes.refused('instance', 'startup', name)).toContain(
    'is in use at 127.0.0.1, so no instance begins with it on node node1.gantry.local: stop the programs that use it there',
  )
  await nodes.sandbox.end(stranger)
}
