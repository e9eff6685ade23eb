// Missing programs of storage are named with the packages that have them.
import * as fs from 'node:fs'
import { missingHere, missingPrograms } from '../../../../src/node/storage/programs'
import { verifyNode } from '../../../../src/node/verify'
import { systemFiles, type Files } from '../../../../src/lib/files'
import { type TestNode, testNode } from '../../../support/node-context'

/** A machine with no other programs than these. */
const withPrograms = (...present: string[]): Files => ({
  ...systemFiles,
  access: async (file, mode) => {
    if (present.includes(String(file))) return
    if (/\/s?bin\//.test(String(file))) throw Object.assign(new Error('missing'), { code: 'ENOENT' })
    await systemFiles.access(file, mode)
  },
})

const DIRECTORY = '/var/run/ganeti/gluster'
let node: TestNode
afterEach(() => node.remove())

function verify(files: Files, allowed = DIRECTORY) {
  node = testNode('node1.example.com', { files })
  node.put('/etc/ganeti/file-storage-paths', `${allowed}\n`)
  const ask = (checks: Record<string, unknown>) =>
    verifyNode(node.context, { checks, clusterName: 'cluster', hvparams: {} })
  return { ask, gluster: () => ask({ 'gluster-storage-path': DIRECTORY }) }
}

test('programs that are missing are told with their packages', async () => {
  const files = withPrograms('/usr/bin/rbd')
  const requested = ['rbd', 'mount.glusterfs', '../rbd']
  await expect(missingPrograms(files, requested)).resolves.toEqual({ 'mount.glusterfs': 'glusterfs-client' })
  const { ask } = verify(files)
  await expect(ask({ 'gantry-missing-programs': requested })).resolves.toEqual({
    'gantry-missing-programs': { 'mount.glusterfs': 'glusterfs-client' },
  })
})

test('modules of QEMU are looked for where it has others, and a QEMU without any is believed to have all', async () => {
  node = testNode()
  const machine = (...present: string[]): Files => ({
    ...systemFiles,
    readdir: (async () => ['python3', 'x86_64-linux-gnu']) as unknown as Files['readdir'],
    access: async (file) => {
      if (!present.includes(String(file))) throw Object.assign(new Error('missing'), { code: 'ENOENT' })
    },
  })
  const folder = '/usr/lib/x86_64-linux-gnu/qemu'
  const requested = ['block-rbd.so', 'block-gluster.so']
  await expect(missingPrograms(machine(), requested)).resolves.toEqual({})
  await expect(missingPrograms(machine(folder, `${folder}/block-rbd.so`), requested)).resolves.toEqual({
    'block-gluster.so': 'qemu-block-extra',
  })
})

test('a node with mirrors in user space needs no programs of DRBD', async () => {
  node = testNode('node1.example.com', { files: withPrograms() })
  const requested = ['drbdsetup', 'rbd']
  await expect(missingHere(node.context, requested)).resolves.toEqual({ drbdsetup: 'drbd-utils', rbd: 'ceph-common' })
  await expect(missingHere({ ...node.context, userVolumes: '/srv/ganeti/user-volumes' }, requested)).resolves.toEqual({
    rbd: 'ceph-common',
  })
})

test('a node says why it cannot have disks on Gluster', async () => {
  await expect(verify(withPrograms()).gluster()).resolves.toEqual({
    'gluster-storage-path': 'the program mount.glusterfs is missing; install the Debian package glusterfs-client',
  })
  node.remove()
  const client = withPrograms('/usr/sbin/mount.glusterfs')
  const elsewhere = await verify(client, '/srv').gluster()
  expect(elsewhere['gluster-storage-path']).toContain(`Path '${DIRECTORY}' is not acceptable for file storage`)
  node.remove()
  const { gluster } = verify(client)
  await expect(gluster()).resolves.toEqual({})
  node.put(DIRECTORY, 'in the way')
  expect(fs.statSync(node.paths.local(DIRECTORY)).isFile()).toBe(true)
  await expect(gluster()).resolves.toEqual({ 'gluster-storage-path': `'${DIRECTORY}' is not a directory` })
})
