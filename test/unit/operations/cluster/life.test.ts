// A cluster is renamed, gets new certificates, and is given up.
import { change } from '../../../../src/config/changes'
import { buildInstance, buildNode, master, smallConfig } from '../../config/builders'
import { FakeCluster } from '../../../support/fake-cluster'
import { clockAt } from '../../../support/instant-clock'

const base = smallConfig()

test('an empty cluster is given up, after its hooks', async () => {
  const fake = new FakeCluster(base)
  fake.answers.node_deactivate_master_ip = () => {
    throw new Error('busy')
  }
  expect(await fake.run('OP_CLUSTER_DESTROY', {})).toBe(master(base).uuid)
  expect(fake.config.cluster.master_node).toBe('')
  expect(fake.log).toEqual([' - WARNING: Error disabling the master IP address: busy'])
  expect(fake.asked.slice(0, 2).map(({ call }) => call)).toEqual(['hooks_runner', 'node_deactivate_master_ip'])
})

test('a cluster with nodes or instances is not given up', async () => {
  const fake = new FakeCluster(base).given(change('addInstance', buildInstance(base, 1), []))
  await expect(fake.run('OP_CLUSTER_DESTROY', {})).rejects.toThrow('There are still 1 instance(s) in this cluster.')
  fake.given(change('addNode', buildNode(base, 2)))
  await expect(fake.run('OP_CLUSTER_DESTROY', {})).rejects.toThrow('There are still 1 node(s) in this cluster.')
})

test('a cluster gets another name and the address of it, unless somebody answers there', async () => {
  const fake = new FakeCluster(base)
  fake.answers.node_deactivate_master_ip = () => null
  fake.answers.node_activate_master_ip = () => null
  fake.answers.node_verify = () => ({ 'master-ip': true })
  const rename = (name: string) => fake.run('OP_CLUSTER_RENAME', { name })
  await expect(rename('127.0.0.9')).rejects.toThrow(
    'The given cluster IP address (127.0.0.9) is reachable on the network',
  )
  fake.answers.node_verify = () => ({ 'master-ip': false })
  expect(await rename('127.0.0.9')).toBe('127.0.0.9')
  expect(fake.config.cluster).toMatchObject({ cluster_name: '127.0.0.9', master_ip: '127.0.0.9' })
  expect(fake.calls('node_activate_master_ip')[0]?.args).toMatchObject([{ ip: '127.0.0.9' }, false])
  fake.addInstance('127.0.0.7', 'node1')
  await expect(rename('127.0.0.7')).rejects.toThrow("Instance '127.0.0.7' is already in the cluster")
  await expect(rename('127.0.0.9')).rejects.toThrow('Neither the name nor the IP address of the cluster has changed')
})

describe('client certificates', () => {
  const node2 = buildNode(base, 2, { master_candidate: true })
  const renewing = (more: FakeCluster['answers']) => {
    const fake = new FakeCluster(base).given(change('addNode', node2), change('addCandidateCert', node2.uuid, 'OLD'))
    fake.clock = clockAt(1000)
    Object.assign(fake.answers, { node_crypto_tokens: () => [['ssl', 'NEW']], write_ssconf_files: () => null }, more)
    return { fake, run: () => fake.run('OP_CLUSTER_RENEW_CRYPTO', { node_certificates: true }) }
  }
  const own = master(base).uuid

  test('the master uses its new one when all nodes know it', async () => {
    const { fake, run } = renewing({})
    expect(await run()).toBeNull()
    expect(fake.config.cluster.candidate_certs).toEqual({ [own]: 'NEW', [node2.uuid]: 'NEW' })
    const requested = fake
      .calls('node_crypto_tokens')
      .map(({ node, args }) => [node, ...(args[0] as unknown[][]).flat()])
    const waiting = { cert_file: '/var/lib/ganeti/client.pem.new' }
    expect(requested).toEqual([
      [node2.name, 'ssl', 'create', null],
      [master(base).name, 'ssl', 'create', waiting],
      [master(base).name, 'ssl', 'install', waiting],
    ])
    expect(fake.calls('write_ssconf_files')).toHaveLength(2)
  })

  test('a node that cannot be asked keeps its entry', async () => {
    const { fake, run } = renewing({
      node_crypto_tokens: (node) => {
        if (node.name === node2.name) throw new Error('no answer')
        return [['ssl', 'NEW']]
      },
    })
    expect(await run()).toBeNull()
    expect(fake.config.cluster.candidate_certs).toEqual({ [own]: 'NEW', [node2.uuid]: 'OLD' })
    expect(fake.log[1]).toContain('Node node2.example.com: ')
  })

  test('one that would not obey the new one keeps the master from using it', async () => {
    const { fake, run } = renewing({
      write_ssconf_files: (node) => {
        if (node.name === node2.name) throw new Error('no answer')
        return null
      },
    })
    const before = fake.config.cluster.candidate_certs[own]
    await expect(run()).rejects.toThrow('node2.example.com would not obey it')
    expect(fake.config.cluster.candidate_certs).toEqual({ [own]: before, [node2.uuid]: 'NEW' })
    expect(fake.calls('node_crypto_tokens')).toHaveLength(2)
  })
})

test('SSH keys are renewed on all nodes, where the cluster keeps them', async () => {
  const fake = new FakeCluster(base)
  fake.answers.node_ssh_keys_renew = () => []
  await fake.run('OP_CLUSTER_RENEW_CRYPTO', { renew_ssh_keys: true, ssh_key_type: 'ecdsa' })
  expect(fake.config.cluster).toMatchObject({ ssh_key_type: 'ecdsa', ssh_key_bits: 384 })
  expect(fake.calls('node_ssh_keys_renew')[0]?.args.slice(4)).toEqual(['rsa', 'ecdsa', 384])
  fake.given(change('patchCluster', { modify_ssh_setup: false }))
  await fake.run('OP_CLUSTER_RENEW_CRYPTO', { renew_ssh_keys: true })
  expect(fake.log.at(-1)).toBe('Cannot renew SSH keys if the cluster is configured to not modify the SSH setup.')
  expect(fake.calls('node_ssh_keys_renew')).toHaveLength(1)
})

test('SSH keys of a length that their type does not have are refused before anything is renewed', async () => {
  const fake = new FakeCluster(base)
  const renewal = { OP_ID: 'OP_CLUSTER_RENEW_CRYPTO', node_certificates: true, renew_ssh_keys: true }
  await expect(fake.run({ ...renewal, ssh_key_bits: 521 })).rejects.toThrow(
    'Invalid key type and bit size combination: rsa with 521 bits',
  )
  await expect(fake.run({ ...renewal, ssh_key_type: 'dsa', ssh_key_bits: 2048 })).rejects.toThrow('dsa with 2048 bits')
  expect(fake.asked).toEqual([])
})

test('a new cluster with Open vSwitch gets its switch', async () => {
  const fake = new FakeCluster(base).given(
    change('patchCluster', { ndparams: { ...base.cluster.ndparams, ovs: true, ovs_link: 'eth0' } }),
  )
  fake.answers.node_configure_ovs = () => null
  expect(await fake.run('OP_CLUSTER_POST_INIT', {})).toBe(true)
  expect(fake.calls('node_configure_ovs')[0]?.args).toEqual(['switch1', 'eth0'])
})

test('hosts that are known under the old name of the cluster are known under the new one', async () => {
  const fake = new FakeCluster(base)
  const path = '/var/lib/ganeti/known_hosts'
  fake.files.set(path, `${base.cluster.cluster_name} ssh-rsa KEY\nother ssh-rsa X\n`)
  for (const call of ['node_deactivate_master_ip', 'node_activate_master_ip', 'upload_file'] as const)
    fake.answers[call] = () => null
  fake.answers.node_verify = () => ({ 'master-ip': false })
  await fake.run('OP_CLUSTER_RENAME', { name: '127.0.0.9' })
  const content = '127.0.0.9 ssh-rsa KEY\nother ssh-rsa X\n'
  expect(fake.calls('upload_file').map(({ args }) => args[0])).toContainEqual(
    expect.objectContaining({ path, content }),
  )
})
