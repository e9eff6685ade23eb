// Finding objects and filling their parameters from the levels above.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import { addressAt, firstFreeAddress, isReserved, rangeOf } from '../../../src/config/addresses'
import { fillHvParams, fillIPolicy, fillNdParams, fillNicParams, fillOsParams } from '../../../src/config/filled'
import * as lookup from '../../../src/config/lookup'
import { recordFrom } from '../../../src/config/records'
import { diskDict, instanceDict, type InstanceDict } from '../../../src/config/rpc-dicts'
import { slice } from '../../../src/config/slice'
import { loadConfig } from '../../../src/config/upgrade'
import { verifyConfig } from '../../../src/config/verify'
import { seededRandom } from '../../../src/lib/random'
import type { ConfigData, Instance } from '../../../src/model/config'
import { buildInstance, buildNetwork, smallConfig } from './builders'

const read = (name: string) => readFileSync(path.join(__dirname, '../..', name), 'utf8')
const load = (name: string) => loadConfig(read(name), seededRandom(1)).config
const golden = load('golden/state/config.data')
const drbd = load('data/config/cluster_config_3.1.json')
const names = (objects: Readonly<Record<string, { name: string }>>) =>
  Object.values(objects)
    .map(({ name }) => name)
    .sort()

const instance = (config: ConfigData, name: string): Instance => {
  const found = lookup.findInstance(config, name)
  if (!found) throw new Error(`no instance ${name}`)
  return found
}

test('members that every object of the language has are no objects of the cluster', () => {
  const plain = JSON.parse(JSON.stringify(golden)) as typeof golden
  for (const name of ['__proto__', 'constructor', 'toString'])
    for (const find of [lookup.findInstance, lookup.findNode, lookup.findGroup, lookup.findNetwork])
      expect(find(plain, name)).toBeUndefined()
})

test('names are found whole, short, in any case and by uuid, and never when several fit', () => {
  expect(lookup.expandInstanceName(golden, 'inst1')).toBe('inst1.gnt.example')
  expect(lookup.expandInstanceName(golden, 'INST1.GNT')).toBe('inst1.gnt.example')
  expect(lookup.expandInstanceName(golden, 'inst')).toBeUndefined()
  expect(lookup.expandInstanceName(golden, '')).toBeUndefined()
  expect(lookup.expandNodeName(golden, 'node2')).toBe('node2.gnt.example')
  expect(lookup.findNode(golden, golden.cluster.master_node)?.name).toBe('node1.gnt.example')
  expect(lookup.findGroup(golden, 'rack2')?.alloc_policy).toBe('last_resort')
  expect(lookup.findGroup(golden, 'rack')).toBeUndefined()
  const twice = smallConfig()
  const [a, b] = [
    buildInstance(twice, 1, { name: 'web.a.example' }),
    buildInstance(twice, 2, { name: 'web.b.example' }),
  ]
  const config = { ...twice, instances: recordFrom([a, b].map((one) => [one.uuid, one] as const)) }
  expect(lookup.expandInstanceName(config, 'web')).toBeUndefined()
  expect(lookup.expandInstanceName(config, 'web.b')).toBe('web.b.example')
})

test('disks tell the template and the secondary nodes', () => {
  const first = instance(drbd, 'instance1')
  expect(lookup.diskTemplateOf(drbd, first)).toBe('drbd')
  expect(lookup.secondaryNodes(drbd, first)).toEqual(['41f9c238-173c-4120-9e41-04ad379b647a'])
  expect(lookup.diskTemplateOf(golden, instance(golden, 'inst1'))).toBe('diskless')
  expect(lookup.secondaryNodes(golden, instance(golden, 'inst2'))).toEqual([])
  expect(lookup.primaryInstances(drbd, '41f9c238-173c-4120-9e41-04ad379b647a').map(({ name }) => name)).toEqual([
    'instance2.example.com',
  ])
  expect(lookup.secondaryInstances(drbd, '41f9c238-173c-4120-9e41-04ad379b647a').map(({ name }) => name)).toEqual([
    'instance1.example.com',
  ])
})

test('parameters are filled from the levels above', () => {
  const os = { hypervisor: 'xen-hvm', os: 'TEMP-Ganeti-QA-OS', hvparams: { boot_order: 'n' } } as const
  const filled = fillHvParams(drbd.cluster, os)
  expect([filled['acpi'], filled['boot_order'], filled['nic_type']]).toEqual([false, 'n', 'rtl8139'])
  expect(filled['migration_port']).toBe(8082)
  expect(fillHvParams(drbd.cluster, os, { skipClusterOnly: true })['migration_port']).toBeUndefined()
  const node3 = lookup.findNode(golden, 'node3')
  const node4 = lookup.findNode(golden, 'node4')
  if (!node3 || !node4) throw new Error('nodes are missing')
  expect(fillNdParams(golden, node3).spindle_count).toBe(3)
  expect(fillNdParams(golden, node4).spindle_count).toBe(2)
  expect(fillNicParams(golden.cluster, { nicparams: { mode: 'routed' } })).toEqual({
    mode: 'routed',
    link: 'xen-br0',
    vlan: '',
  })
  const another = lookup.findGroup(drbd, 'another')
  expect(fillIPolicy(drbd.cluster, another)).toMatchObject({ 'vcpu-ratio': 3.14, 'disk-templates': ['plain'] })
  expect(fillIPolicy(drbd.cluster, another).std).toEqual(drbd.cluster.ipolicy.std)
})

test('OS parameters come from the OS, its variant and the instance', () => {
  const cluster = { ...golden.cluster, osparams: { deb: { a: '1', b: '1', c: '1' }, 'deb+min': { b: '2', c: '2' } } }
  expect(fillOsParams(cluster, 'deb+min', { c: '3' })).toEqual({ a: '1', b: '2', c: '3' })
})

test('an instance is sent to a node as Ganeti sends it', () => {
  const recorded = JSON.parse(read('golden/config/instance_start.json')) as InstanceDict
  const { secondary_nodes: _nodes, disks_info, hvparams: _hv, ...plain } = recorded
  const [disk] = disks_info
  if (!disk) throw new Error('no disk')
  const { dynamic_params: _dynamic, ...plainDisk } = disk
  const mine: Instance = {
    ...plain,
    hvparams: {},
    beparams: { minmem: 64, maxmem: 64 },
    nics: plain.nics.map((nic) => ({ ...nic, nicparams: {} })),
  }
  const config = { ...golden, disks: recordFrom([[disk.uuid, { ...plainDisk, children: [] }]]) }
  expect(instanceDict(config, mine)).toEqual(recorded)
})

test('overrides of one call go over the configuration', () => {
  const dict = instanceDict(golden, instance(golden, 'inst2'), {
    beparams: { maxmem: 512 },
    osparams_secret: { password: 'x' },
  })
  expect(dict.beparams).toMatchObject({ minmem: 64, maxmem: 512, vcpus: 2 })
  expect(dict.osparams_private).toEqual({ password: 'x' })
  expect(dict.nics[0]?.netinfo?.name).toBe('net1')
})

/** The fields that Ganeti's objects have: its nodes refuse an object with any other. */
const slots = JSON.parse(read('golden/node/slots.json')) as Readonly<Record<string, readonly string[]>>

test("nodes are sent no field that Ganeti's do not know", () => {
  const strange = (kind: string, object: object) =>
    Object.keys(object).flatMap((key) => (slots[kind]?.includes(key) ? [] : [`${kind}.${key}`]))
  const ofDisk = (disk: InstanceDict['disks_info'][number]): string[] => [
    ...strange('Disk', disk),
    ...disk.children.flatMap(ofDisk),
  ]
  const found = [golden, drbd].flatMap((config) =>
    Object.values(config.instances).flatMap((one) => {
      const dict = instanceDict(config, one, { osparams_secret: { password: 'x' } })
      const ofNics = dict.nics.flatMap((nic) => [...strange('NIC', nic), ...strange('Network', nic.netinfo ?? {})])
      return [...strange('Instance', dict), ...dict.disks_info.flatMap(ofDisk), ...ofNics]
    }),
  )
  expect([...new Set(found)]).toEqual([])
})

test('a DRBD disk is sent with low-level parameters, stripes below it, and both ends addresses', () => {
  const [disk] = Object.values(drbd.disks).filter((one) => one.dev_type === 'drbd')
  if (!disk) throw new Error('no DRBD disk')
  const dict = diskDict(drbd, disk, undefined)
  expect(dict.params).toMatchObject({
    'default-metavg': 'xenvg',
    'disabled-barriers': 'bf',
    'disable-meta-flush': true,
  })
  expect(dict.params['metavg']).toBeUndefined()
  expect(dict.children.map((child) => child.params)).toEqual([{ stripes: 2 }, { stripes: 2 }])
  expect(dict.dynamic_params['41f9c238-173c-4120-9e41-04ad379b647a']).toEqual({
    'local-ip': '198.51.100.84',
    'remote-ip': '198.51.100.82',
    'local-minor': 0,
    'remote-minor': 0,
  })
})

test('a slice holds what was asked for and what that refers to', () => {
  const part = slice(golden, { instances: ['inst2'] })
  expect(names(part.instances)).toEqual(['inst2.gnt.example'])
  expect(Object.keys(part.disks)).toHaveLength(2)
  expect(names(part.nodes)).toEqual(['node1.gnt.example', 'node2.gnt.example'])
  expect(names(part.nodegroups)).toEqual(['default'])
  expect(names(part.networks)).toEqual(['net1', 'net2'])
  expect(part.cluster).toBe(golden.cluster)
  expect(names(slice(golden, { nodes: 'all' }).nodegroups)).toEqual(['default', 'rack2'])
  expect(names(slice(golden, { instances: ['nobody'] }).instances)).toEqual([])
  expect(names(slice(drbd, { instances: ['instance1'] }).nodes)).toEqual(['node1.example.com', 'node3.example.com'])
})

test('addresses have their places in the maps', () => {
  const net = buildNetwork(1, { reservations: '0010000000000000', ext_reservations: '1100000000000001' })
  expect(rangeOf(net)).toEqual({ base: 0x0a010000, size: 16 })
  expect(addressAt(net, 15)).toBe('10.1.0.15')
  expect([isReserved(net, '10.1.0.2', { external: false }), isReserved(net, '10.1.0.1', { external: false })]).toEqual([
    true,
    false,
  ])
  expect(isReserved(net, '10.1.0.1', { external: true })).toBe(true)
  expect(firstFreeAddress(net)).toBe('10.1.0.3')
  expect(firstFreeAddress(net, new Set(['10.1.0.3']))).toBe('10.1.0.4')
  expect(() => rangeOf({ name: 'x', network: '10.0.0/8' })).toThrow('Network x: 10.0.0/8 is not an IPv4 network')
})

test('a sound configuration has no problems', () => {
  expect(verifyConfig(smallConfig())).toEqual([])
  expect(verifyConfig(golden)).toEqual([])
})

test('each problem is named with its object', () => {
  const base = smallConfig()
  const broken: Instance = buildInstance(base, 1, {
    hypervisor: 'kvm',
    admin_state: 'up',
    disks: Object.values(drbd.instances)
      .flatMap((one) => one.disks)
      .slice(0, 1),
  })
  const twin = buildInstance(base, 2, { name: broken.name })
  const config = {
    ...base,
    cluster: { ...base.cluster, candidate_certs: { gone: 'AA' }, master_ip: '192.0.2.11' },
    instances: recordFrom([broken, twin].map((one) => [one.uuid, one] as const)),
    nodes: recordFrom(Object.values(base.nodes).map((node) => [node.uuid, { ...node, drained: true }] as const)),
  }
  expect(verifyConfig(config)).toEqual([
    'the candidate certificates name the unknown node gone',
    'node node1.example.com is master candidate and drained at the same time',
    `instance ${broken.name}: its hypervisor kvm is not enabled`,
    `instance ${broken.name}: disk 0 (${broken.disks[0]}) does not exist`,
    'the address 192.0.2.11 belongs to both node node1.example.com and the cluster',
    `the name ${broken.name} belongs to both instance ${broken.name} and instance ${broken.name}`,
  ])
})

test('a candidate that must not become master is named, with the command that ends it', () => {
  const base = smallConfig()
  const nodes = recordFrom(
    Object.values(base.nodes).map((node) => [node.uuid, { ...node, master_capable: false }] as const),
  )
  expect(verifyConfig({ ...base, nodes })).toEqual([
    "node node1.example.com is a master candidate, but must not become master: 'gnt-node modify --master-candidate=no node1.example.com' ends that",
  ])
})

test('a lock is named as people know its object', () => {
  const [uuid = ''] = Object.keys(golden.nodes)
  const [group = ''] = Object.keys(golden.nodegroups)
  expect(lookup.lockTitle(golden, `node-res/${uuid}`)).toBe(`node-res/${golden.nodes[uuid]?.name}`)
  expect(lookup.lockTitle(golden, `nodegroup/${group}`)).toBe(`nodegroup/${golden.nodegroups[group]?.name}`)
  expect(lookup.lockTitle(golden, 'instance/vm1')).toBe('instance/vm1')
  expect(lookup.lockTitle(golden, 'node/[lockset]')).toBe('node/[lockset]')
  expect(lookup.lockTitle(golden, 'node/gone')).toBe('node/gone')
})
