// Reserved instances whose disks are volumes and mirrors: what a mirror may share with no other is reserved as well.
import { change } from '../../../../src/config/changes'
import { verifyConfig } from '../../../../src/config/verify'
import type { Disk, Instance } from '../../../../src/model/config'
import { instanceUuid } from '../../../../src/model/ids'
import { isHalfMade, isReserved } from '../../../../src/model/instance'
import type { FakeCluster } from '../../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../../support/storage-cluster'

const CREATE = 'OP_INSTANCE_CREATE'

let cluster: FakeCluster
beforeEach(() => {
  cluster = storageCluster()
})
afterEach(() => {
  expect(verifyConfig(cluster.config)).toEqual([])
})

const reserve = (op: Readonly<Record<string, unknown>>) => cluster.run(CREATE, { ...op, forthcoming: true })
const commit = ({ instance_name }: Readonly<Record<string, unknown>>) =>
  cluster.run(CREATE, { instance_name, mode: 'create', disks: [], nics: [{}], commit: true })
const ports = () => [cluster.config.cluster.highest_used_port, cluster.config.cluster.tcpudp_port_pool]

const stranger: Omit<Instance, 'name' | 'primary_node'> = {
  ...{ os: 'noop', hypervisor: 'fake', hvparams: {}, beparams: {}, osparams: {}, osparams_private: {} },
  ...{ admin_state: 'down', admin_state_source: 'admin', nics: [], disks: [], disks_active: false, tags: [] },
  ...{ uuid: instanceUuid('22222222-2222-4222-8222-222222222222'), serial_no: 1, ctime: 0, mtime: 0 },
}

function onlyInstance() {
  const [instance] = Object.values(cluster.config.instances)
  if (instance === undefined) throw new Error('the instance is gone')
  return instance
}
function onlyDisk(): Disk {
  const disk = cluster.config.disks[onlyInstance().disks[0] ?? '']
  if (disk === undefined) throw new Error('the disk is gone')
  return disk
}
const changing = () => cluster.asked.filter(({ call }) => /^(blockdev|instance|drbd)/.test(call))

test('a commit keeps the port, minors and secret that a mirror was reserved with', async () => {
  await reserve(drbdInstance)
  const before = onlyDisk()
  expect(before).toMatchObject({ forthcoming: true, children: [{ forthcoming: true }, { forthcoming: true }] })
  expect(before.logical_id[2]).toBeGreaterThan(0)
  expect(changing()).toEqual([])
  await commit(drbdInstance)
  expect(onlyDisk().logical_id).toEqual(before.logical_id)
  expect(JSON.stringify(cluster.config)).not.toContain('forthcoming')
})

test('two reservations share no port and no minor', async () => {
  await reserve(drbdInstance)
  await reserve({ ...drbdInstance, instance_name: 'other.gnt.example' })
  expect(Object.keys(cluster.config.disks)).toHaveLength(2)
})

test('what was reserved is free again when the reservation goes', async () => {
  await reserve(drbdInstance)
  await cluster.run('OP_INSTANCE_REMOVE', { instance_name: drbdInstance.instance_name })
  expect(cluster.config.disks).toEqual({})
  expect(ports()).toEqual([11000, [11000]])
})

test('an instance whose name somebody else has got meanwhile leaves no port behind', async () => {
  const { instance_name } = drbdInstance
  cluster.given(change('patchCluster', { enabled_hypervisors: ['kvm', 'fake'] }))
  cluster.answers.hooks_runner = () => {
    if (Object.keys(cluster.config.instances).length === 0)
      cluster.given(
        change('addInstance', { ...stranger, name: instance_name, primary_node: cluster.node('node1').uuid }, []),
      )
    return []
  }
  const op = { ...drbdInstance, hypervisor: 'kvm' }
  await expect(cluster.run(CREATE, op)).rejects.toThrow(instance_name)
  expect(ports()).toEqual([11001, [11000, 11001]])
})

test('a record that does not get in leaves no port behind', async () => {
  cluster.losesAnswer = (changes) => changes.some(([name]) => name === 'addInstance')
  await expect(reserve(drbdInstance)).rejects.toThrow('closed the connection')
  expect(cluster.config.instances).toEqual({})
  expect(ports()).toEqual([11000, [11000]])
})

test('a commit that fails keeps the port for the next one', async () => {
  await reserve(drbdInstance)
  const before = onlyDisk()
  cluster.answers.blockdev_create = () => {
    throw new Error('no space left')
  }
  await expect(commit(drbdInstance)).rejects.toThrow('no space left')
  expect(isReserved(onlyInstance())).toBe(true)
  expect(onlyDisk().logical_id).toEqual(before.logical_id)
  expect(ports()).toEqual([11000, []])
  cluster.answers = {}
  await commit(drbdInstance)
  expect(onlyInstance().admin_state).toBe('up')
})

test('the answer to a change may be lost: the reservation stays', async () => {
  await reserve(drbdInstance)
  cluster.losesAnswer = (changes) => changes.some(([name]) => name === 'replaceInstance')
  await expect(commit(drbdInstance)).rejects.toThrow('closed the connection')
  cluster.losesAnswer = () => false
  expect(cluster.diskFiles()).toEqual([])
  await commit(drbdInstance)
  expect(onlyInstance().admin_state).toBe('up')
})

test('another secondary node is a matter of the record, with a minor there', async () => {
  const target = cluster.node('node3')
  await reserve(drbdInstance)
  const before = onlyDisk()
  // Its first minor is another one's.
  await reserve({ ...drbdInstance, instance_name: 'other.gnt.example', pnode: target.name, snode: 'node1.gnt.example' })
  const params = { instance_name: drbdInstance.instance_name, disks: [] }
  await cluster.run('OP_INSTANCE_REPLACE_DISKS', {
    ...params,
    ...{ mode: 'replace_new_secondary', remote_node: target.name },
  })
  expect(onlyDisk().nodes).toEqual([before.nodes[0], target.uuid])
  expect(onlyDisk().logical_id.slice(0, 4)).toEqual([before.nodes[0], target.uuid, ...before.logical_id.slice(2, 4)])
  expect(onlyDisk().logical_id[4]).toBe(1)
  for (const mode of ['replace_on_primary', 'replace_auto'])
    await cluster.run('OP_INSTANCE_REPLACE_DISKS', { ...params, mode })
  expect(changing()).toEqual([])
  await commit(drbdInstance)
  expect(onlyInstance().admin_state).toBe('up')
})

test('a volume gets the name that was reserved for it', async () => {
  await reserve(plainInstance)
  const { logical_id } = onlyDisk()
  await commit(plainInstance)
  expect(onlyDisk().logical_id).toEqual(logical_id)
  expect(cluster.diskFiles()).toContain(logical_id.join('/'))
})

test('a creation that was to adopt its disks and did not end is not made anew, since they have their data', async () => {
  const adopting = { ...plainInstance, disks: [{ size: 0, adopt: 'mine' }] }
  await expect(reserve(adopting)).rejects.toThrow('Disks that are adopted cannot be reserved')
  const halfMade = () => Object.values(cluster.config.instances).some(isHalfMade)
  for (let after = 1; !halfMade(); after++) {
    cluster = storageCluster()
    cluster.answers.lv_list = () => ({ 'xenvg/mine': ['48.00', false, false] })
    await cluster.runUntilKilled(CREATE, adopting, after)
  }
  cluster.table.owners.clear()
  cluster.table.locks.clear()
  await expect(commit(plainInstance)).rejects.toThrow('which was to adopt its disks, did not end; remove it with')
})
