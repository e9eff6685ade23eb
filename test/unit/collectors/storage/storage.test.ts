// Storage tells its state from recorded outputs of its programs.
import { storage } from '../../../../src/collectors/storage/storage'
import { diskstats } from '../../../../src/collectors/storage/diskstats'
import { drbd } from '../../../../src/collectors/storage/drbd'
import { lv } from '../../../../src/collectors/storage/lv'
import { CollectorFailure } from '../../../../src/collectors/report'
import { mismatch } from '../../../../src/collectors/shapes'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { noStorage, nodeSources, type RecordedNode, systemError } from '../../../support/node-sources'

const config = (templates: readonly string[], values: Readonly<Record<string, string>>) => ({
  [`${CONFD.configQuery} /cluster/enabled_disk_templates`]: templates,
  ...Object.fromEntries(Object.entries(values).map(([key, value]) => [`${CONFD.configQuery} /cluster/${key}`, value])),
})

async function found(templates: readonly string[], values: Readonly<Record<string, string>>, node: RecordedNode) {
  const data = await storage.open(nodeSources({ ...node, answers: config(templates, values) }), {}).collect()
  expect(mismatch(storage.shape, data)).toBeUndefined()
  return (data as { storages: { status: object; details: object }[] }).storages
}

const OK = { code: 0, message: '' }

test.each([
  ['  xenvg;1000;400;0;2\n', OK],
  ['  xenvg;1000;0;0;2\n', { code: 4, message: 'there is no free space' }],
  ['  xenvg;1000;400;1;2\n', { code: 4, message: '1 of its 2 physical volumes is missing' }],
  ['  other;1000;400;0;2\n', { code: 4, message: 'there is no such volume group on this node' }],
])('a volume group as LVM prints it: %j', async (vgs, expected) => {
  const [one] = await found(['plain', 'diskless'], { volume_group_name: 'xenvg' }, { programs: { vgs } })
  expect(one).toMatchObject({ type: 'lvm-vg', name: 'xenvg', templates: ['plain'], status: expected })
})

const FOR_ROOT = new CollectorFailure('running command: lvs: WARNING: Running as a non-root user. Functionality ...')

test.each<[string, RecordedNode]>([
  ['without LVM', {}],
  ['of an ordinary user, as LVM answers only to root', { programs: { vgs: FOR_ROOT, lvs: FOR_ROOT } }],
])('a node %s lacks the volume group, and has no volumes', async (_, node) => {
  const [one] = await found(['drbd'], { volume_group_name: 'xenvg' }, node)
  expect(one?.status).toEqual({ code: 4, message: 'there is no such volume group on this node' })
  await expect(lv.open(nodeSources(node), {}).collect()).resolves.toEqual([])
})

test('what else LVM fails with is told', async () => {
  const broken = new CollectorFailure('running command: lvs: broken')
  await expect(lv.open(nodeSources({ programs: { lvs: broken } }), {}).collect()).rejects.toThrow(broken)
})

test.each([
  [90, { free_bytes: 90 << 20, used_bytes: 10 << 20, status: OK }],
  [0, { free_bytes: 0, status: { code: 4, message: 'there is no free space' } }],
])('a volume group in user space, with %d MiB left', async (free_mib, expected) => {
  const groups = () => Promise.resolve([{ name: 'xenvg', size_mib: 100, free_mib }])
  const userSpace = { ...noStorage, groups }
  const [one] = await found(['plain'], { volume_group_name: 'xenvg' }, { userSpace })
  expect(one).toMatchObject({ size_bytes: 100 << 20, ...expected })
  const [other] = await found(['plain'], { volume_group_name: 'other' }, { userSpace })
  expect(other?.status).toEqual({ code: 4, message: 'there is no such volume group on this node' })
})

const MOUNTS = '1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n2 1 0:9 / /srv/my\\040files rw - nfs4 server:/x ro\n'

test('directories tell of the file system that they are on', async () => {
  const rooms = {
    '/srv/files': { size_bytes: 1000, free_bytes: 300 },
    '/srv/my files': { size_bytes: 1000, free_bytes: 300 },
    '/srv/gluster': systemError('ENOTCONN', '/srv/gluster'),
  }
  const values = {
    ...{
      file_storage_dir: '/srv/files',
      shared_file_storage_dir: '/srv/my files',
      gluster_storage_dir: '/srv/gluster',
    },
  }
  const node = { files: { '/proc/self/mountinfo': MOUNTS }, rooms }
  const all = await found(['file', 'sharedfile', 'gluster'], values, node)
  expect(all).toMatchObject([
    { size_bytes: 1000, free_bytes: 300, used_bytes: 700, status: OK, details: { mount: '/', file_system: 'ext4' } },
    { status: { code: 4, message: 'its file system is read-only' }, details: { mount: '/srv/my files' } },
    {
      used_bytes: null,
      status: { code: 4, message: 'its file system is not connected' },
      details: { error: 'ENOTCONN' },
    },
  ])
})

test.each([
  ['HEALTH_OK', {}, OK],
  ['HEALTH_WARN', { PG: { summary: { message: '3 pgs degraded' } } }, 1],
  ['HEALTH_ERR', { PG: { summary: { message: '3 pgs degraded' } } }, 4],
])('a pool of Ceph is as its cluster is: %s', async (status, checks, expected) => {
  const df = { pools: [{ name: 'rbd', stats: { stored: 100, max_avail: 900 } }] }
  const ceph = 'ceph --connect-timeout 5 --format json'
  const programs = { [`${ceph} health detail`]: JSON.stringify({ status, checks }), [`${ceph} df`]: JSON.stringify(df) }
  const [one] = await found(['rbd'], { 'diskparams/rbd/pool': 'rbd' }, { programs })
  const message = 'the cluster of Ceph is degraded: 3 pgs degraded'
  expect(one).toMatchObject({
    used_bytes: 100,
    status: typeof expected === 'object' ? expected : { code: expected, message },
  })
})

test('storage that cannot be asked is unknown, and says why', async () => {
  const [pool, group] = await found(['rbd', 'plain'], { 'diskparams/rbd/pool': 'rbd' }, {})
  expect(pool?.status).toEqual({ code: 2, message: 'the configuration does not say where it is' })
  expect(group?.status).toEqual({ code: 2, message: 'it cannot be asked how it is: ceph is not installed' })
})

test('a node without block devices, DRBD or LVM has nothing to tell, and that is no error', async () => {
  const node = nodeSources({})
  expect(await diskstats.open(node, {}).collect()).toEqual([])
  expect(await lv.open(node, {}).collect()).toEqual([])
  const mirrors = await drbd.open(node, {}).collect()
  expect(mirrors).toEqual({ status: OK, versionInfo: null, deviceInfos: [] })
  expect(mismatch(drbd.shape, mirrors)).toBeUndefined()
})
