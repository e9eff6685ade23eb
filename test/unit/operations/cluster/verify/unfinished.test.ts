// Verify names what an interrupted job has left, and the way out.
import { change } from '../../../../../src/config/changes'
import type { Disk } from '../../../../../src/model/config'
import { HELPER_DISK_NAME } from '../../../../../src/model/constants/disks'
import { diskUuid, instanceUuid } from '../../../../../src/model/ids'
import { RecordedCluster } from './recorded-nodes'

const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

const halfMade = { forthcoming: true, disks_active: true } as const

test('an instance whose creation did not end is named, with what to do', async () => {
  const cluster = new RecordedCluster()
  const model = cluster.instance('inst1')
  const left = { ...model, uuid: instanceUuid(uuid(1)), name: 'left.gnt.example', nics: [], ...halfMade } as const
  cluster.given(change('addInstance', left))
  expect(await cluster.verifyGroup()).toEqual([
    true,
    [
      "WARNING: instance left.gnt.example: its creation did not end, and parts of its disks may be on node node2.gnt.example; make it anew with 'gnt-instance add --commit left.gnt.example', or remove it with 'gnt-instance remove left.gnt.example'",
    ],
  ])
})

test('one that is only reserved is well', async () => {
  const cluster = new RecordedCluster()
  const model = cluster.instance('inst1')
  const name = 'reserved.gnt.example'
  const reserved = { ...model, uuid: instanceUuid(uuid(1)), name, nics: [], forthcoming: true, disks_active: false }
  cluster.given(change('addInstance', { ...reserved, forthcoming: true }))
  expect(await cluster.verifyGroup()).toEqual([true, []])
})

test.each([
  [
    'a disk that was being added',
    {},
    "the creation of disk/1 (/srv/ganeti/shared-file-storage/inst6.gnt.example/new) did not end; remove it with 'gnt-instance modify --disk 1:remove inst6.gnt.example'",
  ],
  [
    'the disk of a helper machine',
    { name: HELPER_DISK_NAME },
    "disk/1 (/srv/ganeti/shared-file-storage/inst6.gnt.example/new) is of a helper machine, which may still run in place of the instance, and whose job did not end; stop it with 'gnt-instance shutdown inst6.gnt.example', remove the disk with 'gnt-instance modify --disk 1:remove inst6.gnt.example', and start the instance again",
  ],
])('so is %s', async (_what, fields, text) => {
  const cluster = new RecordedCluster()
  const instance = cluster.instance('inst6')
  const model = cluster.config.disks[instance.disks[0] ?? '']
  if (model === undefined) throw new Error('inst6 has no disk')
  const logical_id = ['loop', '/srv/ganeti/shared-file-storage/inst6.gnt.example/new']
  const disk: Disk = { ...model, uuid: diskUuid(uuid(2)), logical_id, forthcoming: true, ...fields }
  cluster.given(change('addInstanceDisk', instance.uuid, disk))
  const [, problems] = await cluster.verifyGroup()
  expect(problems).toContain(`WARNING: instance inst6.gnt.example: ${text}`)
})
