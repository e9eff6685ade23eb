// What a guest learns from its seed of cloud-init.
import { cloudInitProblems, type OsParameters, wantsCloudInit } from '../../../../src/model/cloud-init/parameters'
import { noCloudSeed } from '../../../../src/model/cloud-init/seed'
import type { SeedNic } from '../../../../src/model/cloud-init/network-config'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk2Ynp0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj ops@desk'
const HASH = `$6$saltsalt$${'x'.repeat(86)}`
const NETWORK = { network: '198.51.100.0/24', gateway: '198.51.100.1' }
const NIC: SeedNic = {
  mac: 'AA:00:00:BF:2F:16',
  ip: '198.51.100.9',
  nicparams: { mode: 'bridged' },
  netinfo: NETWORK,
}
const web1 = { name: 'web1.example.com', uuid: 'f1a5f5b6-5b1c-4a31-b45a-2b2a8c2a8d11', nics: [NIC] }

const metaData = (params: Record<string, string>): unknown => JSON.parse(noCloudSeed(web1, params)['meta-data'])
const ethernets = (nics: readonly SeedNic[], params: Record<string, string> = {}): unknown[] =>
  Object.values(
    (JSON.parse(noCloudSeed({ ...web1, nics }, params)['network-config']) as { ethernets: object }).ethernets,
  )

test('an instance without parameters learns its name, its identity and its addresses', () => {
  expect(metaData({})).toEqual({ 'instance-id': web1.uuid, 'local-hostname': 'web1.example.com' })
  expect(noCloudSeed(web1, {})['user-data']).toBe('#cloud-config\n{}\n')
  expect(JSON.parse(noCloudSeed(web1, {})['network-config'])).toEqual({
    version: 2,
    ethernets: {
      eth0: {
        match: { macaddress: 'aa:00:00:bf:2f:16' },
        'set-name': 'eth0',
        addresses: ['198.51.100.9/24'],
        gateway4: '198.51.100.1',
      },
    },
  })
})

test('parameters name the host, its user, its keys and its identity', () => {
  const params = {
    hostname: 'www.example.com',
    instance_id: 'second',
    ssh_authorized_keys: `# the desk\n${KEY}\n\n`,
    user: 'ops',
    password_hash: HASH,
  }
  expect(cloudInitProblems(params)).toEqual([])
  expect(metaData(params)).toEqual({
    'instance-id': 'second',
    'local-hostname': 'www.example.com',
    'public-keys': [KEY],
  })
  const userData = noCloudSeed(web1, params)['user-data']
  expect(userData).toMatch(/^#cloud-config\n/)
  expect(JSON.parse(userData.replace(/^.*\n/, ''))).toEqual({
    user: { name: 'ops' },
    password: HASH,
    chpasswd: { expire: false },
  })
})

test("somebody's own user data stays as it is, and the keys count beside it", () => {
  const params = { user_data: '#!/bin/sh\necho hello\n', ssh_authorized_keys: KEY }
  expect(noCloudSeed(web1, params)['user-data']).toBe(params.user_data)
  expect(metaData(params)).toMatchObject({ 'public-keys': [KEY] })
})

test('a NIC whose address or network nobody knows asks with DHCP; a routed one has its address alone', () => {
  expect(
    ethernets([
      { mac: 'aa:00:00:00:00:01', nicparams: { mode: 'bridged' } },
      { mac: 'aa:00:00:00:00:02', ip: '192.0.2.7', nicparams: { mode: 'bridged' } },
      { mac: 'aa:00:00:00:00:03', ip: '192.0.2.7', nicparams: { mode: 'routed' } },
      { mac: 'aa:00:00:00:00:04', nicparams: { mode: 'bridged' }, netinfo: NETWORK },
    ]),
  ).toMatchObject([{ dhcp4: true }, { dhcp4: true }, { addresses: ['192.0.2.7/32'] }, { dhcp4: true }])
})

test('the address in an IPv6 network follows from the MAC', () => {
  const netinfo = { ...NETWORK, network6: '2001:db8:0:7::/64', gateway6: 'fe80::1' }
  expect(ethernets([{ ...NIC, netinfo }])).toMatchObject([
    { addresses: ['198.51.100.9/24', '2001:db8:0:7:a800:ff:febf:2f16/64'], gateway6: 'fe80::1' },
  ])
  expect(ethernets([{ ...NIC, netinfo: { ...netinfo, network6: '2001:db8::/80' } }])).toEqual([
    expect.not.objectContaining({ gateway6: expect.anything() }),
  ])
  const communication = { network: '169.254.0.0/16', network6: 'fe80::/10' }
  expect(ethernets([{ ...NIC, ip: '169.254.7.9', netinfo: communication }])).toMatchObject([
    { addresses: ['169.254.7.9/16'] },
  ])
  expect(ethernets([{ ...NIC, ip: '2001:db8:0:7::9', netinfo }])).toMatchObject([
    { addresses: ['2001:db8:0:7::9/64'], gateway6: 'fe80::1' },
  ])
})

test('each family has one default route: through the first NIC in a network with its gateway', () => {
  const inner = { mac: 'aa:00:00:00:00:01', ip: '10.0.0.2', nicparams: {}, netinfo: { network: '10.0.0.0/24' } }
  const both = { network6: '2001:db8:0:7::/64', gateway6: 'fe80::1' }
  const front = { ...NIC, mac: 'aa:00:00:00:00:02' }
  const back = { ...NIC, mac: 'aa:00:00:00:00:03', netinfo: { ...NETWORK, ...both } }
  const last = { ...back, mac: 'aa:00:00:00:00:04', ip: '2001:db8:0:7::9' }
  const gateways = (...nics: SeedNic[]) =>
    (ethernets(nics) as Record<string, unknown>[]).map((entry) =>
      Object.fromEntries(Object.entries(entry).filter(([key]) => key.startsWith('gateway'))),
    )
  const [gateway4, gateway6] = [NETWORK.gateway, both.gateway6]
  expect(gateways(inner, front, back, last)).toEqual([{}, { gateway4 }, { gateway6 }, {}])
  expect(gateways(last, back, front)).toEqual([{ gateway6 }, { gateway4 }, {}])
})

test('name servers are asked through the NIC that leads out', () => {
  const inner = { mac: 'aa:00:00:00:00:01', ip: '10.0.0.2', nicparams: {}, netinfo: { network: '10.0.0.0/24' } }
  const nameservers = { addresses: ['192.0.2.53', '2001:db8::53'] }
  const found = ethernets([inner, NIC], { nameservers: '192.0.2.53 2001:db8::53' })
  expect(found).toEqual([expect.not.objectContaining({ nameservers }), expect.objectContaining({ nameservers })])
  expect(ethernets([inner], { nameservers: '192.0.2.53, 2001:db8::53' })).toMatchObject([{ nameservers }])
})

test('what a NIC is plugged into changes nothing but its addresses', () => {
  const [before, after] = [noCloudSeed(web1, {}), noCloudSeed({ ...web1, nics: [] }, {})]
  expect(after).toEqual({ ...before, 'network-config': expect.any(String) as string })
})

test.each([
  ['cloud_init', 'maybe', 'yes or no'],
  ['instance_id', 'two words', 'at most 64 letters, digits and _.:-'],
  ['hostname', 'a b', 'the name of a host'],
  ['user', 'Root:0', 'the name of a user'],
  ['password_hash', 'geheim', "as 'openssl passwd -6' prints it"],
  ['ssh_authorized_keys', `${KEY}\n/root/.ssh/id_rsa.pub`, 'each a public key'],
  ['nameservers', '192.0.2.53 dns.example.com', 'IP addresses, separated by blanks'],
  ['user_data', 'packages: [nginx]', 'whose first line says its kind'],
  ['user_data', `#cloud-config\n${'#'.repeat(1 << 16)}`, 'at most 65536 bytes long'],
  ['ssh_authorized_keys', `${KEY} ${'#'.repeat(1 << 16)}`, 'at most 65536 bytes long'],
])('a value that is wrong for %s is refused by that name, and not repeated', (name, value, desired) => {
  const problems = cloudInitProblems({ [name]: value })
  expect(problems).toEqual([expect.stringContaining(desired)])
  expect(problems[0]).toMatch(`OS parameter ${name} must be `)
  expect(problems[0]).not.toContain(value)
})

test('what user data would override is refused beside it', () => {
  expect(cloudInitProblems({ user_data: '#cloud-config\n{}', user: 'ops' })).toEqual([
    'OS parameter user has no effect beside user_data: say it there, or leave one of them out',
  ])
})

test.each([
  [`from="192.0.2.0/24,!192.0.2.9" ${KEY}`],
  ['ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI='],
  ['sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t token'],
])('%s is a key', (key) => {
  expect(cloudInitProblems({ ssh_authorized_keys: key })).toEqual([])
})

test('an instance gets a seed when its OS declares it or its parameters say so', () => {
  const desired = (declared: boolean, ...all: OsParameters[]) => all.map((params) => wantsCloudInit(params, declared))
  expect(desired(true, {}, { cloud_init: '' }, { cloud_init: 'no' })).toEqual([true, true, false])
  expect(desired(false, {}, { cloud_init: 'yes' }, { cloud_init: 'On' })).toEqual([false, true, true])
})
