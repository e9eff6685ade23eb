// What a real `gnt-cluster init` with logical volumes and DRBD has written about storage, and what ours begins with.
import { initialConfig } from '../../../../src/config/init'
import { seededRandom } from '../../../../src/lib/random'
import { firstFields } from '../../../../src/operations/cluster/set-params/first-fields'
import recorded from '../../../golden/storage/init.json'

test('the storage of a new cluster with logical volumes and DRBD is configured as by Ganeti', async () => {
  const context = { now_s: 1000, random: seededRandom(7), masterFile: async () => undefined }
  const options = {
    ...{ enabled_disk_templates: ['plain', 'drbd', 'diskless'], vg_name: 'xenvg', drbd_helper: '/bin/true' },
    ...{ enabled_hypervisors: ['fake'], master_netdev: 'xen-br0', nicparams: { link: 'xen-br0' } },
  }
  const names = { clusterName: 'cluster4.gnt.example', masterIp: '198.51.100.18', masterName: 'node4.gnt.example' }
  const addresses = { primaryIp: '198.51.100.24', masterCertDigest: 'digest' }
  const { cluster } = initialConfig(
    { ...names, ...addresses, cluster: await firstFields(options, context, 4) },
    context,
  )
  const { diskparams, ipolicy, ...rest } = recorded
  expect(cluster).toMatchObject(rest)
  // 3.1 has a parameter more.
  expect(cluster.diskparams).toEqual({ ...diskparams, rbd: { ...diskparams.rbd, 'user-id': '' } })
  const sorted = (templates: readonly string[] = []) => templates.toSorted()
  expect({ ...cluster.ipolicy, 'disk-templates': sorted(cluster.ipolicy['disk-templates']) }).toEqual({
    ...ipolicy,
    'disk-templates': sorted(ipolicy['disk-templates']),
  })
})
