// Networks are made, changed, connected and removed.
import { change } from '../../../../src/config/changes'
import type { Network, Nic } from '../../../../src/model/config'
import { nicUuid } from '../../../../src/model/ids'
import { type FakeCluster, simulatedCluster, smallCluster } from '../../../support/fake-cluster'

const NET = { network_name: 'net1', network: '10.0.0.0/29', gateway: '10.0.0.1' }

function networkOf(cluster: FakeCluster, name = 'net1'): Network {
  const network = Object.values(cluster.config.networks).find((candidate) => candidate.name === name)
  if (network === undefined) throw new Error(`no network ${name}`)
  return network
}

async function withNetwork(params: object = {}): Promise<FakeCluster> {
  const cluster = smallCluster()
  await cluster.run('OP_NETWORK_ADD', { ...NET, ...params })
  cluster.log.length = 0
  return cluster
}

const nic = (cluster: FakeCluster, fields: Partial<Nic>): Nic => ({
  mac: 'aa:00:00:00:00:01',
  nicparams: {},
  uuid: nicUuid(cluster.random.uuid()),
  ...fields,
})

test.each([
  ['OP_NETWORK_ADD', 'network_name', { network_name: 'a b;$x', network: '10.0.0.0/29' }],
  ['OP_NETWORK_RENAME', 'new_name', { network_name: 'net1', new_name: '../x' }],
  ['OP_GROUP_ADD', 'group_name', { group_name: 'a b;$x' }],
  ['OP_GROUP_RENAME', 'new_name', { group_name: 'default', new_name: 'a\0b' }],
])('%s refuses a bad %s, whatever door it came through', async (id, parameter, op) => {
  const cluster = await withNetwork()
  const before = cluster.config
  const [name, [text, code]] = (await cluster.failure(id, op)) as [string, [string, string]]
  expect([name, code]).toEqual(['OpPrereqError', 'wrong_input'])
  expect(text).toContain(`Parameter '${parameter}'`)
  expect(cluster.config).toBe(before)
})

describe('network add', () => {
  test('keeps the network, broadcast, gateway and wanted addresses from instances', async () => {
    const cluster = await withNetwork({ add_reserved_ips: ['10.0.0.4'], tags: ['t1'], mac_prefix: 'AA:BB:CC' })
    expect(networkOf(cluster)).toMatchObject({
      network: '10.0.0.0/29',
      gateway: '10.0.0.1',
      reservations: '00000000',
      ext_reservations: '11001001',
      mac_prefix: 'aa:bb:cc',
      tags: ['t1'],
      serial_no: 1,
    })
    expect(cluster.locks).toContain('node/[lockset] shared')
    const { nodes, env } = cluster.hooks('network-add', 'pre')
    expect(nodes).toEqual(['node1.test'])
    expect(env).toMatchObject({
      GANETI_NETWORK_NAME: 'net1',
      GANETI_NETWORK_SUBNET: '10.0.0.0/29',
      GANETI_NETWORK_GATEWAY: '10.0.0.1',
      GANETI_NETWORK_MAC_PREFIX: 'aa:bb:cc',
      GANETI_NETWORK_TAGS: 't1',
    })
    expect(Object.keys(env)).not.toContain('GANETI_NETWORK_SUBNET6')
  })

  test("keeps the cluster's own addresses from instances, unless told not to look", async () => {
    const cluster = smallCluster(['node1', 'node2'])
    await cluster.run('OP_NETWORK_ADD', { network_name: 'own', network: '192.0.2.0/24' })
    expect(cluster.log).toEqual([
      " - INFO: Reserved IP address of node 'node1.test' (192.0.2.1)",
      " - INFO: Reserved IP address of node 'node2.test' (192.0.2.2)",
      ' - INFO: Reserved cluster master IP address (192.0.2.254)',
    ])
    await cluster.run('OP_NETWORK_ADD', { network_name: 'blind', network: '192.0.2.0/24', conflicts_check: false })
    expect(networkOf(cluster, 'own').ext_reservations?.slice(0, 4)).toBe('1110')
    expect(networkOf(cluster, 'blind').ext_reservations?.slice(0, 4)).toBe('1000')
  })

  test.each([
    [
      'a subnet that is too small',
      { network: '10.0.0.0/31', gateway: null },
      "Cannot create IP address pool for network 'net1': A network with only 2 host(s) is too small, please specify at least a /30 network",
    ],
    [
      'a subnet that is too big',
      { network: '10.0.0.0/15' },
      "Cannot create IP address pool for network 'net1': A big network with 131072 host(s) is currently not supported. please specify at most a /16 network",
    ],
    [
      'a gateway elsewhere',
      { gateway: '10.1.0.1' },
      "Cannot create IP address pool for network 'net1': 10.0.0.0/29 does not contain 10.1.0.1",
    ],
    [
      'an address twice',
      { add_reserved_ips: ['10.0.0.1'] },
      "Cannot reserve IP address '10.0.0.1': IP 10.0.0.1 is already externally reserved",
    ],
  ])('refuses %s', async (_what, params, text) => {
    const cluster = smallCluster()
    expect(await cluster.failure('OP_NETWORK_ADD', { ...NET, ...params })).toEqual(['OpExecError', [text]])
    expect(Object.keys(cluster.config.networks)).toEqual([])
  })

  test('refuses a name that is taken and a wrong prefix', async () => {
    const cluster = await withNetwork()
    expect(await cluster.failure('OP_NETWORK_ADD', NET)).toEqual([
      'OpPrereqError',
      [`Desired network name 'net1' already exists as a network (UUID: ${networkOf(cluster).uuid})`, 'already_exists'],
    ])
    expect(await cluster.failure('OP_NETWORK_ADD', { ...NET, network_name: 'net2', mac_prefix: 'aa:bb' })).toEqual([
      'OpPrereqError',
      ["Invalid MAC address prefix 'aa:bb'", 'wrong_input'],
    ])
  })
})

describe('network set params', () => {
  test('a new gateway is reserved and the old one free again', async () => {
    const cluster = await withNetwork()
    await cluster.run('OP_NETWORK_SET_PARAMS', { network_name: 'net1', gateway: '10.0.0.2' })
    expect(networkOf(cluster)).toMatchObject({ gateway: '10.0.0.2', ext_reservations: '10100001', serial_no: 2 })
    expect(cluster.hooks('network-modify', 'pre').env).toMatchObject({ GANETI_NETWORK_GATEWAY: '10.0.0.2' })
  })

  test('reservations that make no sense are warned of, and the others made', async () => {
    const cluster = await withNetwork()
    await cluster.run('OP_NETWORK_SET_PARAMS', {
      network_name: 'net1',
      add_reserved_ips: ['10.0.0.5', '10.0.0.7', '10.9.9.9'],
      remove_reserved_ips: ['10.0.0.1', '10.0.0.3', '10.0.0.5'],
    })
    expect(networkOf(cluster).ext_reservations).toBe('11000001')
    expect(cluster.log).toEqual([
      ' - WARNING: Cannot reserve IP address 10.0.0.7: IP 10.0.0.7 is already externally reserved',
      ' - WARNING: Cannot reserve IP address 10.9.9.9: 10.0.0.0/29 does not contain 10.9.9.9',
      " - WARNING: Cannot unreserve Gateway's IP",
      ' - WARNING: Cannot release IP address 10.0.0.3: IP 10.0.0.3 is not externally reserved',
    ])
  })

  test.each(['none', ''])('the gateways are taken away with %p, and their addresses are free', async (none) => {
    const cluster = await withNetwork({ network6: '2001:db8::/64', gateway6: '2001:db8::1' })
    await cluster.run('OP_NETWORK_SET_PARAMS', { network_name: 'net1', gateway: none, gateway6: none, network6: none })
    const network = Object.values(cluster.config.networks).find(({ name }) => name === 'net1')
    expect(network).not.toHaveProperty('gateway')
    expect(network).not.toHaveProperty('gateway6')
    expect(network).not.toHaveProperty('network6')
    expect(network?.ext_reservations?.slice(0, 2)).toBe('10')
  })

  test('a prefix of addresses that no NIC may have is refused', async () => {
    const cluster = await withNetwork()
    const refused = (op: string, params: object) => cluster.failure(op, { ...params, mac_prefix: '01:00:5E' })
    const why = expect.stringContaining('its first byte is odd')
    for (const answer of [
      await refused('OP_NETWORK_SET_PARAMS', { network_name: 'net1' }),
      await refused('OP_NETWORK_ADD', { ...NET, network_name: 'net2' }),
      await refused('OP_CLUSTER_SET_PARAMS', {}),
    ])
      expect(answer).toEqual(['OpPrereqError', [why, 'wrong_input']])
  })

  test('the word none takes the MAC prefix away', async () => {
    const cluster = await withNetwork({ mac_prefix: 'aa:bb:cc', network6: '2001:db8::/64' })
    await cluster.run('OP_NETWORK_SET_PARAMS', { network_name: 'net1', mac_prefix: 'none' })
    expect(networkOf(cluster)).not.toHaveProperty('mac_prefix')
    expect(networkOf(cluster)).toMatchObject({ network6: '2001:db8::/64' })
  })

  test('an address of an instance cannot become the gateway', async () => {
    const cluster = await withNetwork()
    cluster.given(change('patchNetwork', networkOf(cluster).uuid, { reservations: '00010000' }))
    expect(await cluster.failure('OP_NETWORK_SET_PARAMS', { network_name: 'net1', gateway: '10.0.0.3' })).toEqual([
      'OpPrereqError',
      ["Gateway IP address '10.0.0.3' is already reserved", 'wrong_state'],
    ])
  })

  test.each([
    ['that somebody else has', '10.0.0.7', 'IP 10.0.0.7 is already externally reserved'],
    ['of another network', '10.9.9.9', '10.0.0.0/29 does not contain 10.9.9.9'],
  ])('an address %s cannot become the gateway', async (_whose, gateway, text) => {
    const cluster = await withNetwork()
    const before = cluster.config
    const outcome = await cluster.failure('OP_NETWORK_SET_PARAMS', { network_name: 'net1', gateway })
    expect(outcome).toEqual(['AddressPoolError', [text]])
    expect(cluster.config).toBe(before)
  })

  test('an IPv6 gateway is in its network, or on the link', async () => {
    const cluster = await withNetwork({ network6: '2001:db8::/64', gateway6: 'fe80::1' })
    const elsewhere = { network_name: 'net1', gateway6: '2001:db9::1' }
    expect(await cluster.failure('OP_NETWORK_SET_PARAMS', elsewhere)).toEqual([
      'OpPrereqError',
      ["IPv6 gateway '2001:db9::1' is neither in network 2001:db8::/64 nor a link-local address", 'wrong_input'],
    ])
    await cluster.run('OP_NETWORK_SET_PARAMS', { network_name: 'net1', gateway6: '2001:db8::1' })
    expect(networkOf(cluster)).toMatchObject({ gateway6: '2001:db8::1' })
  })

  test('the IPv6 part keeps the addresses that instances have', async () => {
    const cluster = await withNetwork({ network6: '2001:db8::/64' })
    const { uuid } = networkOf(cluster)
    cluster.addInstance('inst1.test', 'node2', { nics: [nic(cluster, { network: uuid, ip: '2001:db8::5' })] })
    for (const change of [{ network6: '2001:db9::/64' }, { gateway6: '2001:DB8::0:5' }])
      expect(await cluster.failure('OP_NETWORK_SET_PARAMS', { network_name: 'net1', ...change })).toEqual([
        'OpPrereqError',
        ['The addresses of these instances do not fit: inst1.test (NIC 0, 2001:db8::5)', 'wrong_state'],
      ])
    await cluster.run('OP_NETWORK_SET_PARAMS', { network_name: 'net1', network6: '2001:db8::/48' })
  })

  test('gateway and reservations do not change at once', async () => {
    const cluster = await withNetwork()
    const op = { network_name: 'net1', gateway: '10.0.0.2', add_reserved_ips: ['10.0.0.5'] }
    expect(await cluster.failure('OP_NETWORK_SET_PARAMS', op)).toEqual([
      'OpPrereqError',
      ['Cannot modify gateway and reserved ips at once', 'wrong_input'],
    ])
  })
})

describe('network connect and disconnect', () => {
  const connect = { network_name: 'net1', group_name: 'default', network_mode: 'bridged', network_link: 'br0' }
  const disconnect = { network_name: 'net1', group_name: 'default' }

  test('a connected network cannot be removed, a disconnected one can', async () => {
    const cluster = await withNetwork()
    const { uuid } = networkOf(cluster)
    expect(await cluster.run('OP_NETWORK_CONNECT', connect)).toBeNull()
    expect(cluster.groupNamed('default').networks).toEqual({ [uuid]: { mode: 'bridged', link: 'br0', vlan: '' } })
    expect(cluster.hooks('network-connect', 'post')).toMatchObject({
      nodes: ['node1.test', 'node2.test', 'node3.test'],
      env: { GANETI_GROUP_NAME: 'default', GANETI_GROUP_NETWORK_MODE: 'bridged', GANETI_GROUP_NETWORK_VLAN: '' },
    })

    expect(await cluster.failure('OP_NETWORK_REMOVE', { network_name: 'net1' })).toEqual([
      'OpPrereqError',
      ['Network still connected', 'wrong_state'],
    ])
    expect(cluster.log).toEqual([" - WARNING: Network 'net1' is connected to the following node groups: default"])

    await cluster.run('OP_NETWORK_DISCONNECT', disconnect)
    expect(cluster.hooks('network-disconnect', 'pre').env).toMatchObject({ GANETI_GROUP_NETWORK_LINK: 'br0' })
    await cluster.run('OP_NETWORK_REMOVE', { network_name: 'net1' })
    expect(await cluster.failure('OP_NETWORK_REMOVE', { network_name: 'net1' })).toEqual([
      'OpPrereqError',
      ["Network 'net1' not found", 'unknown_entity'],
    ])
  })

  test('doing it twice is a warning and changes nothing', async () => {
    const cluster = await withNetwork()
    await cluster.run('OP_NETWORK_CONNECT', connect)
    const before = cluster.config
    await cluster.run('OP_NETWORK_CONNECT', connect)
    expect(cluster.config).toBe(before)
    await cluster.run('OP_NETWORK_DISCONNECT', disconnect)
    await cluster.run('OP_NETWORK_DISCONNECT', disconnect)
    expect(cluster.log).toEqual([
      " - WARNING: Network 'net1' is already mapped to group 'default'",
      " - WARNING: Network 'net1' is not mapped to group 'default'",
    ])
  })

  test('another mode or link for a connected network is refused, with both', async () => {
    const cluster = await withNetwork()
    await cluster.run('OP_NETWORK_CONNECT', connect)
    const before = cluster.config
    for (const other of [{ network_link: 'br1' }, { network_mode: 'routed' }, { network_vlan: '.5' }])
      expect(await cluster.failure('OP_NETWORK_CONNECT', { ...connect, ...other })).toMatchObject([
        'OpPrereqError',
        [expect.stringMatching(/with mode=bridged,link=br0; to connect it with mode=/), 'wrong_state'],
      ])
    expect(cluster.config).toBe(before)
  })

  test('an instance that uses an address of the network stands in the way', async () => {
    const cluster = await withNetwork()
    cluster.addInstance('inst1.test', 'node2', {
      nics: [nic(cluster, {}), nic(cluster, { ip: '10.0.0.3', mac: 'aa:00:00:00:00:02' })],
    })
    expect(await cluster.failure('OP_NETWORK_CONNECT', connect)).toEqual([
      'OpPrereqError',
      ['Conflicting IP addresses found;  remove/modify the corresponding network interfaces', 'wrong_state'],
    ])
    expect(cluster.log).toEqual([
      " - WARNING: IP addresses from network 'net1', which is about to connect to node group 'default', are in use: inst1.test: nic1/10.0.0.3",
    ])
    expect(cluster.locks).toContain('instance/inst1.test shared')
    await cluster.run('OP_NETWORK_CONNECT', { ...connect, conflicts_check: false })
    // It is in another network by its own account, so it does not keep this one.
    await cluster.run('OP_NETWORK_DISCONNECT', disconnect)
  })

  test('an instance in the network keeps it connected', async () => {
    const cluster = await withNetwork()
    await cluster.run('OP_NETWORK_CONNECT', connect)
    const { uuid } = networkOf(cluster)
    cluster.addInstance('inst1.test', 'node2', { nics: [nic(cluster, { network: uuid })] })
    expect(await cluster.failure('OP_NETWORK_DISCONNECT', disconnect)).toMatchObject([
      'OpPrereqError',
      { 1: 'wrong_state' },
    ])
    expect(cluster.log[0]).toContain('inst1.test: nic0/None')
  })
})

test('network rename tells the nodes of the connected groups', async () => {
  const cluster = await withNetwork()
  await cluster.run('OP_NETWORK_CONNECT', {
    network_name: 'net1',
    group_name: 'default',
    network_mode: 'routed',
    network_link: '100',
  })
  await cluster.run('OP_NETWORK_ADD', { network_name: 'net2', network: '10.1.0.0/30' })
  const rename = (new_name: string) => cluster.run('OP_NETWORK_RENAME', { network_name: 'net1', new_name })
  expect(await rename('front')).toBe('front')
  expect(networkOf(cluster, 'front').network).toBe('10.0.0.0/29')
  expect(cluster.hooks('network-rename', 'pre')).toMatchObject({
    nodes: ['node1.test', 'node2.test', 'node3.test'],
    env: { GANETI_OLD_NAME: 'net1', GANETI_NEW_NAME: 'front' },
  })
  expect(await cluster.failure('OP_NETWORK_RENAME', { network_name: 'front', new_name: 'net2' })).toEqual([
    'OpPrereqError',
    [
      `Desired new name 'net2' clashes with existing network (UUID: ${networkOf(cluster, 'net2').uuid})`,
      'already_exists',
    ],
  ])
})

test('the job of a new network shows its MAC prefix as it is kept, and a wrong one counts before the name', async () => {
  const cluster = simulatedCluster()
  const add = { network: '10.0.0.0/29', conflicts_check: false }
  await cluster.run('OP_NETWORK_ADD', { ...add, network_name: 'prefixed', mac_prefix: 'AA:BB:CC' })
  expect(cluster.noted).toEqual({ mac_prefix: 'aa:bb:cc' })
  const [, [text]] = (await cluster.failure('OP_NETWORK_ADD', {
    ...{ ...add, network_name: 'prefixed', mac_prefix: 'zz' },
  })) as [string, [string]]
  expect(text).toMatch(/MAC/)
})
