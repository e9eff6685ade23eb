// The state of each instance's disks, from files and from what LVM prints.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { instDiskStatus } from '../../../../src/collectors/instance/inst-disk-status'
import { mismatch } from '../../../../src/collectors/shapes'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { NODE, noStorage, nodeSources, type RecordedNode } from '../../../support/node-sources'

const data = (name: string) => fs.readFileSync(path.join(__dirname, '../../../data/collectors', name), 'utf8')

const HERE = 'uuid-here'
const OTHER = 'uuid-other'

async function disks(list: readonly object[], node: RecordedNode = {}, role: 'primary' | 'secondary' = 'primary') {
  const instance = { name: 'vm', uuid: 'uuid-vm', primary_node: role === 'primary' ? HERE : OTHER }
  const answers = {
    [`${CONFD.nodeInstances} ${NODE}`]: role === 'primary' ? [[instance], []] : [[], [instance]],
    [`${CONFD.instanceDisks} vm`]: list.map((one, index) => ({ uuid: `disk${index}`, ...one })),
  }
  const found = await instDiskStatus.open(nodeSources({ ...node, answers }), {}).collect()
  expect(mismatch(instDiskStatus.shape, found)).toBeUndefined()
  const { instances, status } = found as {
    status: object
    instances: { disks: { status: object; details: object }[] }[]
  }
  return { status, told: instances.flatMap((one) => one.disks) }
}

test('a file that is missing is bad, one that is there is healthy', async () => {
  const { told: reported, status } = await disks(
    [
      { dev_type: 'file', logical_id: ['loop', '/srv/a'] },
      { dev_type: 'sharedfile', logical_id: ['loop', '/srv/b'] },
    ],
    { files: { '/srv/a': 'data' } },
  )
  expect(reported.map(({ status, details }) => [status, details])).toEqual([
    [
      { code: 0, message: '' },
      { path: '/srv/a', size_bytes: 4 },
    ],
    [{ code: 4, message: '/srv/b is missing' }, { path: '/srv/b' }],
  ])
  expect(status).toEqual({ code: 4, message: '\n\nvm: disk 1: /srv/b is missing' })
})

test('volumes and mirrors in user space tell how they are as those of LVM and DRBD do', async () => {
  const side = { connection: 'Connected', role: 'Secondary', disk: 'UpToDate', peerDisk: 'UpToDate' }
  const mirrors = new Map([
    [0, side],
    [1, { ...side, connection: 'StandAlone', peerDisk: 'DUnknown' }],
    [2, { ...side, connection: 'SyncTarget', disk: 'Inconsistent' }],
  ])
  const volumes = [{ vg: 'xenvg', name: 'disk0', size: '64.00', attributes: '-wi-ao----' }]
  const userSpace = {
    ...noStorage,
    volumes: () => Promise.resolve(volumes),
    mirrors: () => Promise.resolve(mirrors),
  }
  const drbd = (minor: number) => ({ dev_type: 'drbd', logical_id: [HERE, OTHER, 11000, minor, minor, 'secret'] })
  const plain = (name: string) => ({ dev_type: 'plain', logical_id: ['xenvg', name] })
  const { told: reported } = await disks([plain('disk0'), plain('gone'), ...[0, 1, 2, 3].map(drbd)], { userSpace })
  expect(reported.map(({ status }) => status)).toEqual([
    { code: 0, message: '' },
    { code: 4, message: 'the logical volume xenvg/gone is missing' },
    { code: 0, message: '' },
    { code: 4, message: 'No network config available' },
    { code: 1, message: 'its own disk is inconsistent' },
    { code: 4, message: 'DRBD has no device 3' },
  ])
  expect(reported[0]?.details).toEqual({ volume: 'xenvg/disk0', attr: '-wi-ao----', size_bytes: 64 << 20 })
})

test('logical volumes are found among those of LVM, with what is wrong with them', async () => {
  const volumes = data('lvs_lv.txt')
  const [first = ''] = volumes.split('\n')
  const [, name = '', attr = '', ...rest] = first.trim().split(';')
  const partial = first.replace(attr, `${attr.slice(0, 8).padEnd(8, '-')}p`)
  const vg = rest[9] ?? ''
  const { told: reported } = await disks(
    [
      { dev_type: 'plain', logical_id: [vg, name] },
      { dev_type: 'plain', logical_id: [vg, 'gone'] },
    ],
    { programs: { lvs: `${partial}\n` } },
  )
  expect(reported.map((one) => one.status)).toEqual([
    { code: 4, message: 'a physical volume of it is missing' },
    { code: 4, message: `the logical volume ${vg}/gone is missing` },
  ])
})

test.each([
  ['primary', [HERE, OTHER, 11000, 0, 7, 'secret'], { code: 0, message: '' }],
  ['secondary', [OTHER, HERE, 11000, 7, 0, 'secret'], { code: 0, message: '' }],
  ['primary', [HERE, OTHER, 11000, 8, 0, 'secret'], { code: 4, message: 'No network config available' }],
  ['primary', [HERE, OTHER, 11000, 99, 0, 'secret'], { code: 4, message: 'DRBD has no device 99' }],
] as const)('a mirrored disk is that of its own minor: %s %j', async (role, logical_id, expected) => {
  const files = { '/proc/drbd': data('proc_drbd84.txt') }
  const { told: reported } = await disks([{ dev_type: 'drbd', logical_id }], { files }, role)
  expect(reported[0]?.status).toEqual(expected)
  expect(JSON.stringify(reported)).not.toContain('secret')
})

test('a disk whose storage tells nothing is unknown', async () => {
  const { told: reported } = await disks([{ dev_type: 'ext', logical_id: ['provider', 'x'] }])
  expect(reported[0]?.status).toEqual({ code: 2, message: 'disks of type ext do not tell how they are' })
})
