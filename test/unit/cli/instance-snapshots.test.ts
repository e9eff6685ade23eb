// gnt-instance: what its commands about snapshots submit and show.
import type { ShownSnapshot } from '../../../src/model/snapshots'
import type { GantryMaster } from '../../../src/rpc/luxi/gantry-calls'
import { FakeMaster } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'

const reported: ShownSnapshot[] = [
  {
    ...{ disk: 0, name: 'before', size: 1024, node: 'node1', logical_id: ['xenvg', 'a.disk0.before'] },
    ...{ ctime: 1_700_000_000, status: 'invalid' },
  },
  { disk: 1, name: 'x', size: 64, node: null, logical_id: ['rbd', 'b@x'], ctime: 1_700_000_060, status: 'unknown' },
]

const masterWith = (requested: unknown[]): FakeMaster => {
  const master = new FakeMaster([{ id: 7, result: [['noop', []]] }])
  const snapshots: GantryMaster['snapshots'] = async (_identity, name) => (requested.push(name), reported)
  return Object.assign(master, { gantry: { snapshots } })
}

const run = (line: string, requested: unknown[] = []) => runCli(masterWith(requested), line.split(' '))

test('they are listed with the names that they have in their storage', async () => {
  const requested: unknown[] = []
  const { stdout, exit } = await run('gnt-instance list-snapshots vm1', requested)
  expect(exit).toBe(0)
  expect(requested).toEqual(['vm1'])
  expect(stdout).toBe(
    'Disk Name   Size Node  In the storage       Created (UTC)    Status\n' +
      '0    before 1024 node1 xenvg/a.disk0.before 2023-11-14 22:13 invalid\n' +
      '1    x        64 -     rbd/b@x              2023-11-14 22:14 unknown\n',
  )
})

test.each([
  [
    'snapshot --disk 0:snapshot_name=a,snapshot_size=1g vm1',
    'OP_INSTANCE_SNAPSHOT',
    [[0, { snapshot_name: 'a', snapshot_size: '1g' }]],
  ],
  ['rollback-snapshot --disk 0:snapshot_name=a vm1', 'OP_INSTANCE_ROLLBACK_SNAPSHOT', [[0, { snapshot_name: 'a' }]]],
  [
    'remove-snapshot --disk data:snapshot_name=a vm1',
    'OP_INSTANCE_REMOVE_SNAPSHOT',
    [['data', { snapshot_name: 'a' }]],
  ],
])('gnt-instance %s', async (line, OP_ID, disks) => {
  const master = masterWith([])
  await runCli(master, ['gnt-instance', ...line.split(' ')])
  expect(master.submitted.flat()).toMatchObject([{ OP_ID, instance_name: 'vm1', disks }])
})
