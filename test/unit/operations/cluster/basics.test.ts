// Small opcodes of the cluster: what it is, its address, its files.
import { change } from '../../../../src/config/changes'
import { buildNode, smallConfig } from '../../config/builders'
import { FakeCluster } from '../../../support/fake-cluster'

const base = smallConfig()

test('the cluster is shown as to LUXI clients', async () => {
  const answer = await new FakeCluster(base).run('OP_CLUSTER_QUERY', {})
  expect(answer).toMatchObject({ name: 'cluster.example.com', master: 'node1.example.com', default_hypervisor: 'fake' })
})

test('values of the configuration come in the order of the fields, and an unknown field is refused', async () => {
  const fake = new FakeCluster(base)
  const kinds: Record<string, string> = { cluster_name: 'text', drain_flag: 'bool' }
  fake.queries = {
    query: async (_what, fields) => ({
      fields: fields.map((name) => ({ name, title: name, kind: kinds[name] ?? 'unknown', doc: '' })),
      data: [fields.map((name) => [0, name === 'drain_flag' ? false : 'cluster.example.com'])],
    }),
    queryFields: async () => ({ fields: [] }),
  }
  const ask = (...output_fields: string[]) => fake.run('OP_CLUSTER_CONFIG_QUERY', { output_fields })
  expect(await ask('drain_flag', 'cluster_name')).toEqual([false, 'cluster.example.com'])
  await expect(ask('nosuch')).rejects.toMatchObject({
    args: ['Unknown output fields selected: nosuch', 'wrong_input'],
  })
  await expect(ask('uuid', 'drain_flag', 'serial')).rejects.toThrow('Unknown output fields selected: serial, uuid')
})

test('the master address goes up and down on the master, under the lock of the whole cluster', async () => {
  const fake = new FakeCluster(base)
  fake.answers.node_activate_master_ip = () => null
  expect(await fake.run('OP_CLUSTER_ACTIVATE_MASTER_IP', {})).toBeNull()
  expect(fake.lockRequests).toEqual([[['cluster/BGL', 'exclusive']]])
  expect(fake.calls('node_activate_master_ip')).toMatchObject([
    { node: 'node1.example.com', args: [{ ip: '192.0.2.1', netmask: 32, netdev: 'xen-br0', ip_family: 2 }, false] },
  ])
  fake.answers.node_deactivate_master_ip = () => {
    throw new Error('no such device')
  }
  await expect(fake.run('OP_CLUSTER_DEACTIVATE_MASTER_IP', {})).rejects.toThrow(
    'Could not deactivate the master IP: no such device',
  )
})

test('after the first start only the hook of cluster-init runs', async () => {
  const fake = new FakeCluster(base)
  expect(await fake.run('OP_CLUSTER_POST_INIT', {})).toBe(true)
  expect(fake.calls('hooks_runner')).toMatchObject([
    { args: ['cluster-init', 'post', { GANETI_OP_TARGET: 'cluster.example.com' }] },
  ])
})

test('the configuration and the files beside it are sent again; a node that refuses a file is named', async () => {
  const fake = new FakeCluster(base).given(
    change('patchCluster', { modify_etc_hosts: false }),
    change('addNode', buildNode(base, 2)),
    change('addNode', buildNode(base, 3, { offline: true })),
  )
  fake.files.set('/var/lib/ganeti/hmac.key', 'key\n')
  fake.files.set('/var/lib/ganeti/rapi/users', 'admin x write\n')
  fake.answers.upload_file = (_node, [file]) => {
    if (file.path.endsWith('users')) throw new Error('disk full')
    return null
  }
  expect(await fake.run('OP_CLUSTER_REDIST_CONF', {})).toBeNull()
  expect(fake.flushes).toBe(1)
  expect(fake.calls('upload_file').map(({ node }) => node)).toEqual(['node2.example.com', 'node2.example.com'])
  expect(fake.calls('upload_file')[0]?.args).toMatchObject([{ content: 'key\n', mode: 0o440, owner: 'gnt-confd' }])
  expect(fake.log).toEqual([
    ' - WARNING: Copy of file /var/lib/ganeti/rapi/users to node node2.example.com failed: disk full',
  ])
})
