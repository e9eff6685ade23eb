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

describe('files of administrators', () => {
  const content = { owner: 'root', group: 'root', mode: 0o644, base64: Buffer.from('x').toString('base64') }
  const kvm = (hvparams: Record<string, string>) => {
    const { cluster } = base
    const fake = new FakeCluster(base).given(
      change('patchCluster', {
        modify_etc_hosts: false,
        enabled_hypervisors: ['kvm'],
        hvparams: { ...cluster.hvparams, kvm: { ...cluster.hvparams.kvm, ...hvparams } },
      }),
      change('addNode', buildNode(base, 2)),
      change('addNode', buildNode(base, 3, { vm_capable: false })),
    )
    fake.answers.gantry_distributed_read = (_node, [file]) => (file.endsWith('missing') ? null : content)
    fake.answers.gantry_distributed_write = () => null
    fake.answers.upload_file = () => null
    return fake
  }
  const sent = (fake: FakeCluster) =>
    [...fake.calls('gantry_distributed_write'), ...fake.calls('upload_file')].map(({ node, args }) => {
      const [file, copy] = args as [string | { path: string; mode: number }, { mode: number }]
      return typeof file === 'string' ? [node, file, copy.mode] : [node, file.path, file.mode]
    })

  test('the listed ones go to all nodes, those of hypervisors to nodes with instances, passwords for root alone', async () => {
    const fake = kvm({ vnc_password_file: '/etc/ganeti/vnc', spice_password_file: '/etc/ganeti/missing' })
    fake.files.set('/etc/ganeti/distribute-files', '# ours\n/etc/app.conf\nrelative\n/etc/ganeti/vnc\n')
    await fake.run('OP_CLUSTER_REDIST_CONF', {})
    expect(sent(fake)).toEqual([
      ['node2.example.com', '/etc/ganeti/vnc', 0o600],
      ['node2.example.com', '/etc/app.conf', 0o644],
      ['node3.example.com', '/etc/app.conf', 0o644],
      ['node2.example.com', '/etc/ganeti/distribute-files', 0o644],
      ['node3.example.com', '/etc/ganeti/distribute-files', 0o644],
      ['node2.example.com', '/etc/ganeti/kvm-vif-bridge', 0o644],
    ])
    expect(fake.log).toEqual([expect.stringContaining('"relative" is no absolute path')])
  })

  test('a refusal of the master or of a node is told, and the rest is sent', async () => {
    const fake = kvm({})
    fake.files.set('/etc/ganeti/distribute-files', '/etc/a\n/etc/b\n')
    fake.answers.gantry_distributed_read = (_node, [file]) => {
      if (file === '/etc/a') throw new Error('not accepted here')
      return content
    }
    fake.answers.gantry_distributed_write = ({ name }, [file]) => {
      if (name.startsWith('node2') && file === '/etc/b') throw new Error('not accepted there')
      return null
    }
    await fake.run('OP_CLUSTER_REDIST_CONF', {})
    expect(fake.log).toEqual([
      ' - WARNING: File /etc/a is not distributed: not accepted here',
      ' - WARNING: Copy of file /etc/b to node node2.example.com failed: not accepted there',
    ])
  })
})
