// The secret of a mirror lets whoever knows it join as its other side. More people may read jobs and what verify says than may know it.
import { drbdId, shownPlace } from '../../../../../src/config/lookup'
import type { Disk } from '../../../../../src/model/config'
import { VerifyReport } from '../../../../../src/operations/cluster/verify/report'
import { verifyUnfinished } from '../../../../../src/operations/cluster/verify/unfinished'
import { diskText } from '../../../../../src/operations/instance/disks/disk-text'
import type { FakeCluster } from '../../../../support/fake-cluster'
import { drbdInstance, storageCluster } from '../../../../support/storage-cluster'

const NAME = 'inst2.gnt.example'
const MODIFY = 'OP_INSTANCE_SET_PARAMS'

let cluster: FakeCluster
let mirror: Disk
beforeEach(async () => {
  cluster = storageCluster()
  await cluster.run('OP_INSTANCE_CREATE', { start: false, ...drbdInstance })
  await cluster.run(MODIFY, { instance_name: NAME, disks: [['add', -1, { size: 64 }]] })
  mirror = Object.values(cluster.config.disks)[0] as Disk
  cluster.log.length = 0
})

const secrets = () => Object.values(cluster.config.disks).flatMap((disk) => drbdId(disk)?.secret ?? [])

const cannotRemove = () => {
  cluster.answers.blockdev_remove = ({ name }) => {
    if (name === 'node2.gnt.example') throw new Error('the node is gone')
    return undefined
  }
}

test.each([
  ['a mirror becomes a volume', { disk_template: 'plain' }],
  ['a mirror is removed', { disks: [['remove', 1, {}]] }],
])('where %s and a part of it stays, its volumes are named, without the secret', async (_what, params) => {
  const known = secrets()
  expect(known).toHaveLength(2)
  cannotRemove()
  await cluster.run(MODIFY, { instance_name: NAME, ...params })
  const said = cluster.log.join('\n')
  expect(said).toMatch(/xenvg\/[^ ]*_data, xenvg\/[^ ]*_meta/)
  for (const secret of known) expect(said).not.toContain(secret)
})

test('neither verify nor an error tells the secret', () => {
  const instance = cluster.instance(NAME)
  const said: string[] = []
  const flags = { error_codes: false, ignore_errors: [], debug_simulate_errors: false, verbose: false }
  const report = new VerifyReport({ log: { say: (text: string) => said.push(text) } } as never, flags)
  const config = {
    ...cluster.config,
    disks: { ...cluster.config.disks, [mirror.uuid]: { ...mirror, forthcoming: true } },
  }
  verifyUnfinished(report, config as never, instance === undefined ? [] : [instance])
  const bare = { ...mirror, children: [] }
  const texts = [...said, diskText(mirror), diskText(bare), shownPlace(bare)]
  expect(texts.join('\n')).toMatch(/the creation of disk\/1 .xenvg.*did not end/)
  for (const secret of secrets()) expect(texts.join('\n')).not.toContain(secret)
})
