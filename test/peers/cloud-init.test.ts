// cloud-init itself reads what we write for it: the disk with a foreign program, the texts with its data source, its schema and its
// converters of network configurations.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { iso9660 } from '../../src/lib/file/iso9660'
import { cloudInitProblems } from '../../src/model/cloud-init/parameters'
import { type SeedInstance, noCloudSeed } from '../../src/model/cloud-init/seed'
import { PYTHON } from '../support/ganeti-programs'

const PROGRAMS = path.join(__dirname, '../../.cache/cloud-init')
const python = (...args: string[]) =>
  spawnSync(PYTHON, args, {
    env: { PYTHONPATH: path.join(PROGRAMS, 'python'), PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  })
const present = python(path.join(PROGRAMS, 'cloud-init'), '--version').status === 0
const when = present ? test : test.skip
if (!present) test.skip('skipped, cloud-init is not here; fetch it with: sh test/peers/cloud-init.sh', () => undefined)

let folder: string
beforeEach(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cloud-init-'))))
afterEach(() => fs.rmSync(folder, { recursive: true }))

const KEYS = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk2Ynp0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj ops@desk',
  'from="192.0.2.0/24" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHhXU2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0 "quoted" \\ back',
]
const params = {
  hostname: 'www.example.com',
  ssh_authorized_keys: KEYS.join('\n'),
  user: 'ops',
  password_hash: `$6$saltsalt$${'x'.repeat(86)}`,
  nameservers: '192.0.2.53 2001:db8::53',
}
const netinfo = {
  ...{ network: '198.51.100.0/24', gateway: '198.51.100.1' },
  ...{ network6: '2001:db8:0:7::/64', gateway6: 'fe80::1' },
}
const web1: SeedInstance = {
  name: 'web1.example.com',
  uuid: 'f1a5f5b6-5b1c-4a31-b45a-2b2a8c2a8d11',
  nics: [
    { mac: 'AA:00:00:BF:2F:16', ip: '198.51.100.9', nicparams: { mode: 'bridged' }, netinfo },
    { mac: 'aa:00:00:bf:2f:17', nicparams: { mode: 'bridged' } },
    { mac: 'aa:00:00:bf:2f:18', ip: '192.0.2.7', nicparams: { mode: 'routed' } },
  ],
}

/** The texts, as a foreign program reads them from the disk. */
function seedFolder(instance: SeedInstance, values: Readonly<Record<string, string>>): string {
  expect(cloudInitProblems(values)).toEqual([])
  const [disk, seed] = [path.join(folder, 'disk.iso'), path.join(folder, 'seed/nocloud')]
  fs.writeFileSync(disk, iso9660('cidata', { ...noCloudSeed(instance, values) }))
  fs.mkdirSync(seed, { recursive: true })
  for (const name of ['meta-data', 'user-data', 'network-config']) {
    const read = spawnSync(path.join(PROGRAMS, 'isoinfo'), ['-R', '-x', `/${name}`, '-i', disk])
    expect(read.stderr.toString()).toBe('')
    fs.writeFileSync(path.join(seed, name), read.stdout)
  }
  return seed
}

function sourceReads(instance: SeedInstance, values: Readonly<Record<string, string>>): unknown {
  seedFolder(instance, values)
  const { stdout, stderr, status } = python(path.join(__dirname, 'cloud_init_reads.py'), folder)
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  return JSON.parse(stdout)
}

when('the data source NoCloud finds name, keys, user data and addresses', () => {
  expect(sourceReads(web1, params)).toEqual({
    found: true,
    instance_id: web1.uuid,
    hostname: 'www',
    fqdn: 'www.example.com',
    keys: KEYS,
    user_data: noCloudSeed(web1, params)['user-data'],
    interfaces: {
      'aa:00:00:bf:2f:16': [
        {
          ...{ type: 'static', address: '198.51.100.9', prefix: 24, gateway: '198.51.100.1' },
          dns_nameservers: ['192.0.2.53', '2001:db8::53'],
        },
        { type: 'static', address: '2001:db8:0:7:a800:ff:febf:2f16', prefix: 64, gateway: 'fe80::1' },
      ],
      'aa:00:00:bf:2f:17': [{ type: 'dhcp4' }],
      'aa:00:00:bf:2f:18': [{ type: 'static', address: '192.0.2.7', prefix: 32 }],
    },
  })
})

when("somebody's own user data arrives as it was given", () => {
  const user_data = '#!/bin/sh\necho "it\'s ü 🙂 \\n" >/dev/null\n'
  expect(sourceReads(web1, { user_data })).toMatchObject({ user_data, hostname: 'web1', fqdn: 'web1.example.com' })
})

when.each([
  ['no parameters', {}],
  ['all of them', params],
  ['a password alone', { password_hash: params.password_hash }],
])('the user data of %s follows the schema of a #cloud-config', (_what, values) => {
  const file = path.join(seedFolder(web1, values), 'user-data')
  const { stdout, stderr, status } = python(path.join(PROGRAMS, 'cloud-init'), 'schema', '--config-file', file)
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  expect(stdout).toMatch(/^Valid cloud-config/)
})

when.each([
  [
    'eni',
    'network/interfaces.d/50-cloud-init',
    /iface eth0 inet static\n *address 198\.51\.100\.9\/24\n(.*\n)*? *gateway 198\.51\.100\.1\n(.*\n)* *gateway fe80::1/,
  ],
  [
    'networkd',
    'systemd/network/10-cloud-init-eth0.network',
    /\[Route\]\nGateway=198\.51\.100\.1\n(.*\n)*\[Route\]\nGateway=fe80::1/,
  ],
  ['netplan', 'netplan/50-cloud-init.yaml', /gateway4: 198\.51\.100\.1\n *gateway6: fe80::1/],
])('the network configuration becomes one for %s', (kind, file, expected) => {
  const [from, to] = [path.join(seedFolder(web1, params), 'network-config'), path.join(folder, 'out')]
  const words = ['devel', 'net-convert', '-p', from, '-k', 'yaml', '-D', 'debian', '-O', kind, '-d', to]
  const { stderr, status } = python(path.join(PROGRAMS, 'cloud-init'), ...words, '-m', 'eth0,aa:00:00:bf:2f:16')
  expect({ stderr: stderr.replace(/^(Read|Wrote) .*\n/gm, '').trim(), status }).toEqual({ stderr: '', status: 0 })
  expect(fs.readFileSync(path.join(to, 'etc', file), 'utf8')).toMatch(expected)
})
