// A real Ceph, reached by programs of a node that know nothing of it, and one that does not give what is wanted: an error says what is wrong
// and the way out, and nothing hangs.
import { CEPH_USER, Ceph, cephPresent, cephTest } from './ceph'
import { Sandbox } from './sandbox'
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

cephTest('the scripts of an OS read and write an image as a file of the node, which goes again', async () => {
  await nodes.ok(...nodes.add('vm4'))
  const written = await nodes.write('node1', 'vm4')
  await nodes.ok('backup', 'export', '--noshutdown', '-n', 'node1', 'vm4')
  const [image = ''] = await ceph.images()
  expect(JSON.parse(await ceph.rbd('snap', 'ls', image, '--format', 'json'))).toEqual([])
  await nodes.ok('instance', 'remove', '-f', 'vm4')
  const from = ['--src-node', 'node1.gantry.local', '--src-dir', '/var/lib/ganeti/export/vm4']
  await nodes.ok('backup', 'import', '-t', 'rbd', '-n', 'node2', ...from, 'vm5')
  await nodes.ok('instance', 'startup', 'vm5')
  expect(await nodes.read('node2', 'vm5')).toBe(written)
  await nodes.ok('instance', 'remove', '-f', 'vm5')
  expect(nodes.lent()).toEqual([])
})

cephTest('a pool that is missing is named, and nothing is left of the instance', async () => {
  await nodes.ok('cluster', 'modify', '-D', 'rbd:pool=nowhere')
  expect(await nodes.refused(...nodes.add('vm1'))).toMatch(
    /Cannot create the image 'nowhere\/.*' on node node1.gantry.local: Ceph has no pool 'nowhere'.*ceph osd pool create nowhere/,
  )
  await nodes.ok('cluster', 'modify', '-D', 'rbd:pool=rbd')
  expect(await nodes.refused('instance', 'info', 'vm1')).toContain("Instance 'vm1' not known")
})

cephTest('an error says that a keyring is missing or wrong, or that no monitor answers; then all goes on', async () => {
  await nodes.ok(...nodes.add('vm1', '--no-start'))
  await ceph.withKeyring(undefined, async () => {
    const missing = 'there is no keyring of client.vms; put /etc/ceph/ceph.client.vms.keyring there'
    expect(await nodes.refused('instance', 'grow-disk', 'vm1', '0', '8m')).toContain(missing)
    // Nobody knows then whether its image is there.
    expect(await nodes.refused('instance', 'remove', '-f', 'vm1')).toContain(missing)
  })
  const strange = '[client.vms]\n\tkey = AQBSl2pnAAAAABAA6zXGbmSRkLqlLyKzJhGeJQ==\n'
  await ceph.withKeyring(strange, async () => {
    expect(await nodes.refused('instance', 'grow-disk', 'vm1', '0', '8m')).toContain(
      "Ceph does not take the key of client.vms; run 'ceph auth get client.vms' on a machine of the Ceph cluster",
    )
  })
  await ceph.endMonitor()
  expect(await nodes.refused('instance', 'grow-disk', 'vm1', '0', '8m')).toMatch(
    /Cannot find the image 'rbd\/.*' on node node1.gantry.local: Ceph did not answer in time; see there with 'ceph -s'/,
  )
  await ceph.startMonitor()
  await nodes.ok('instance', 'grow-disk', 'vm1', '0', '8m')
  await nodes.ok('instance', 'startup', 'vm1')
  await nodes.console('node1', 'vm1')
  await nodes.ok('instance', 'remove', '-f', 'vm1')
  expect(await ceph.images()).toEqual([])
})
