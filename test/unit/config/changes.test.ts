// Changes of the configuration keep addresses, ports and serial numbers in step.
import { change, applyChange, type NamedChange } from '../../../src/config/changes'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { verifyConfig } from '../../../src/config/verify'
import type { ConfigData, Disk, Instance } from '../../../src/model/config'
import { diskUuid, groupUuid, networkUuid, nicUuid, nodeUuid } from '../../../src/model/ids'
import { at, buildDisk, buildGroup, buildInstance, buildNetwork, buildNode, id, master, smallConfig } from './builders'

const base = smallConfig()

/** Runs the changes one after the other at second 5000. */
function run(config: ConfigData, ...list: NamedChange[]): { config: ConfigData; results: unknown[] } {
  const results: unknown[] = []
  let documents = { config, gantry: EMPTY_GANTRY }
  for (const one of list) {
    const step = applyChange(documents, one, at(5000))
    documents = step.documents
    results.push(step.result)
  }
  return { config: documents.config, results }
}

const disk1 = buildDisk(1)
const net = buildNetwork(1)
const nic = { mac: 'aa:00:00:00:00:01', ip: '10.1.0.5', nicparams: {}, network: net.uuid, uuid: nicUuid(id(9)) }
const inst1 = buildInstance(base, 1, { disks: [disk1.uuid], nics: [nic], network_port: 11000 })
const withInstance = run(base, change('addNetwork', net), change('addInstance', inst1, [disk1])).config

const stored = (config: ConfigData): Instance => {
  const found = config.instances[inst1.uuid]
  if (!found) throw new Error('the instance is gone')
  return found
}

test('an instance is added with its disks, its address is booked, and the cluster counts it', () => {
  expect(stored(withInstance)).toMatchObject({ serial_no: 1, ctime: 5000, mtime: 5000, name: inst1.name })
  expect(withInstance.disks[disk1.uuid]).toMatchObject({ serial_no: 1, ctime: 5000 })
  expect(withInstance.networks[net.uuid]?.reservations).toBe('0000010000000000')
  expect(withInstance.cluster.serial_no).toBe(base.cluster.serial_no + 2)
  expect(withInstance.serial_no).toBe(base.serial_no + 2)
  expect(withInstance.mtime).toBe(5000)
  expect(verifyConfig(withInstance)).toEqual([])
})

test('removing it gives back its disks, port and address', () => {
  const { config } = run(withInstance, change('removeInstance', inst1.uuid))
  expect(Object.keys(config.instances)).toEqual([])
  expect(Object.keys(config.disks)).toEqual([])
  expect(config.cluster.tcpudp_port_pool).toEqual([11000])
  expect(config.networks[net.uuid]?.reservations).toBe('0'.repeat(16))
  expect(run(config, change('allocatePort')).results).toEqual([11000])
})

test.each<[string, NamedChange, RegExp | string]>([
  ['the same uuid', change('addInstance', inst1), 'its uuid'],
  ['the same name', change('addInstance', buildInstance(base, 2, { name: inst1.name })), 'of that name exists'],
  [
    'the same MAC',
    change('addInstance', buildInstance(base, 2, { nics: [nic] })),
    'is in use by instance inst1.example.com',
  ],
  [
    'an unknown node',
    change('addInstance', buildInstance(base, 2, { primary_node: nodeUuid('gone') })),
    'no node with uuid gone',
  ],
  [
    'an unknown disk',
    change('addInstance', buildInstance(base, 2, { disks: [diskUuid('gone')] })),
    'no disk with uuid gone',
  ],
  [
    'an unknown field',
    ['addInstance', { ...buildInstance(base, 2), colour: 'red' }],
    /unknown key "colour" in instance "inst2.example.com"/,
  ],
  ['a wrong type', ['patchInstance', inst1.uuid, { os: 7 }], 'os: expected a text, found 7'],
  ['a serial number', ['patchInstance', inst1.uuid, { serial_no: 7 }], 'The field "serial_no" cannot be set'],
  ['a wrong state', ['setInstanceStatus', inst1.uuid, 'sideways', null, null], 'expected one of'],
  ['a missing instance', change('removeInstance', 'gone'), 'no instance with uuid gone'],
  ['an attached disk', change('attachInstanceDisk', inst1.uuid, disk1.uuid), 'already attached to instance inst1'],
  ['an index beyond the end', change('addInstanceDisk', inst1.uuid, buildDisk(2), 3), 'beyond the 1 disks'],
  ['a node in use', change('removeNode', master(base).uuid), 'is the master'],
  ['the only group', change('removeNodeGroup', master(base).group), 'is not empty'],
  ['a bad tag', change('addTags', 'instance', inst1.uuid, ['a b']), 'Tag contains invalid characters'],
  ['a tag that is not there', change('removeTags', 'instance', inst1.uuid, ['x']), 'Tag(s) not found: x'],
])('%s is refused', (_, bad, message) => {
  expect(() => run(withInstance, bad)).toThrow(message)
})

test('a status is set field by field, and setting what is there changes nothing', () => {
  const { config, results } = run(withInstance, change('setInstanceStatus', inst1.uuid, 'up', true, null))
  expect(results[0]).toMatchObject({ admin_state: 'up', disks_active: true, admin_state_source: 'admin', serial_no: 2 })
  expect(config.cluster.serial_no).toBe(withInstance.cluster.serial_no)
  expect(run(config, change('setInstanceStatus', inst1.uuid, 'up', null, null)).config).toBe(config)
})

test('an update of an object that somebody else changed is refused', () => {
  const mine = { ...stored(withInstance), os: 'mine' }
  const { config, results } = run(withInstance, change('updateInstance', mine))
  expect(results).toEqual([[2, 5000]])
  expect(stored(config).os).toBe('mine')
  expect(() => run(config, change('updateInstance', mine))).toThrow(
    /serial number is 2, the update is for 1; read it again/,
  )
})

test('a NIC that moves to another address gives the old one back', () => {
  const { config } = run(withInstance, change('patchInstance', inst1.uuid, { nics: [{ ...nic, ip: '10.1.0.6' }] }))
  expect(config.networks[net.uuid]?.reservations).toBe('0000001000000000')
})

test('null takes an optional field away', () => {
  const { config } = run(withInstance, change('patchInstance', inst1.uuid, { network_port: null }))
  expect(Object.hasOwn(stored(config), 'network_port')).toBe(false)
})

test('disks are called by their places, also after one in front is detached', () => {
  const { config } = run(withInstance, change('addInstanceDisk', inst1.uuid, buildDisk(2), 0))
  const order = (now: ConfigData) => stored(now).disks.map((uuid) => [uuid, now.disks[uuid]?.iv_name])
  expect(order(config)).toEqual([
    [buildDisk(2).uuid, 'disk/0'],
    [disk1.uuid, 'disk/1'],
  ])
  const less = run(config, change('detachInstanceDisk', inst1.uuid, buildDisk(2).uuid)).config
  expect(order(less)).toEqual([[disk1.uuid, 'disk/0']])
  expect(less.disks[buildDisk(2).uuid]?.iv_name).toBe('disk/0')
  const back = run(less, change('attachInstanceDisk', inst1.uuid, buildDisk(2).uuid)).config
  expect(order(back).map(([, name]) => name)).toEqual(['disk/0', 'disk/1'])
  expect(Object.keys(run(back, change('removeInstanceDisk', inst1.uuid, disk1.uuid)).config.disks)).toHaveLength(1)
})

test('the port of a DRBD disk goes back to the pool with it', () => {
  const drbd: Disk = buildDisk(3, {
    dev_type: 'drbd',
    logical_id: [master(base).uuid, master(base).uuid, 11005, 0, 1, 'secret'],
  })
  const { config } = run(
    withInstance,
    change('addInstanceDisk', inst1.uuid, drbd),
    change('removeInstance', inst1.uuid),
  )
  expect(config.cluster.tcpudp_port_pool).toEqual([11000, 11005])
})

test('a renamed instance is found by its new name only', () => {
  const { config } = run(withInstance, change('renameInstance', inst1.uuid, 'new.example.com'))
  expect(stored(config).name).toBe('new.example.com')
  const next = run(config, change('addInstance', buildInstance(base, 2, { name: inst1.name }))).config
  expect(() => run(next, change('renameInstance', inst1.uuid, inst1.name))).toThrow(
    'an instance named inst1.example.com exists',
  )
})

test('a port that somebody has does not get into the pool', () => {
  const instance = { ...buildInstance(base, 1), network_port: 11000 }
  const config = run(base, change('allocatePort'), change('addInstance', instance)).config
  expect(run(config, change('addTcpUdpPort', 11000)).config).toBe(config)
})

test('ports come from the pool first, then one by one, until there are none', () => {
  const { config, results } = run(base, change('addTcpUdpPort', 12000), change('allocatePort'), change('allocatePort'))
  expect(results).toEqual([null, 12000, 11000])
  expect(
    run(config, change('addTcpUdpPort', 11000), change('addTcpUdpPort', 11000)).config.cluster.tcpudp_port_pool,
  ).toEqual([11000])
  const last = run(base, change('patchCluster', { highest_used_port: 14999 })).config
  expect(() => run(last, change('allocatePort'))).toThrow('no port is free')
})

test('nodes and groups are added, moved and removed, and the cluster counts it', () => {
  const [group, node] = [buildGroup(1), buildNode(base, 2)]
  const added = run(base, change('addNodeGroup', group), change('addNode', node)).config
  expect(added.cluster.serial_no).toBe(base.cluster.serial_no + 2)
  const moved = run(added, change('assignGroupNodes', [[node.uuid, group.uuid]])).config
  expect(moved.nodes[node.uuid]).toMatchObject({ group: group.uuid, serial_no: 2 })
  expect(moved.nodegroups[group.uuid]?.serial_no).toBe(2)
  expect(() => run(moved, change('removeNodeGroup', group.uuid))).toThrow(`is not empty: it holds ${node.name}`)
  const certified = run(moved, change('addCandidateCert', node.uuid, 'CC:DD')).config
  const gone = run(certified, change('removeNode', node.uuid), change('removeNodeGroup', group.uuid)).config
  expect(Object.keys(gone.cluster.candidate_certs)).toEqual([master(base).uuid])
  expect(verifyConfig(gone)).toEqual([])
  expect(() => run(gone, change('removeNodeGroup', master(base).group))).toThrow('is not empty')
  expect(() => run(gone, ['addNode', { ...node, group: groupUuid('gone') }])).toThrow('no node group with uuid gone')
})

test('the candidate pool is filled up from nodes that can be masters', () => {
  const nodes = [2, 3, 4].map((n) => buildNode(base, n, n === 3 ? { master_capable: false } : {}))
  const all = run(base, ...nodes.map((node) => change('addNode', node))).config
  const { config, results } = run(all, change('maintainCandidatePool', [nodes[2]?.uuid ?? '']))
  expect(results).toEqual([[nodes[0]?.uuid]])
  expect(verifyConfig(config)).toEqual([
    expect.stringMatching(
      /^there are 2 master candidates, and there should be 3: 'gnt-node modify --master-candidate=yes \S+' makes one more$/,
    ),
  ])
})

test('a new master is a candidate', () => {
  const node = buildNode(base, 2)
  const { config } = run(base, change('addNode', node), change('setMasterNode', node.uuid))
  expect(config.cluster.master_node).toBe(node.uuid)
  expect(config.nodes[node.uuid]?.master_candidate).toBe(true)
})

test('temporary addresses are made lasting together', () => {
  const reservations = (config: ConfigData) => config.networks[net.uuid]?.reservations
  const { config } = run(
    withInstance,
    change('commitTemporaryIps', [
      ['reserve', '10.1.0.2', net.uuid],
      ['release', '10.1.0.5', net.uuid],
    ]),
  )
  expect(reservations(config)).toBe('0010000000000000')
  expect(() => run(config, change('commitTemporaryIps', [['reserve', '10.1.0.2', networkUuid('gone')]]))).toThrow(
    'no network',
  )
})

test('tags are a set, sorted', () => {
  const { config } = run(withInstance, change('addTags', 'instance', inst1.uuid, ['b', 'a', 'b']))
  expect(stored(config).tags).toEqual(['a', 'b'])
  expect(stored(run(config, change('removeTags', 'instance', inst1.uuid, ['b'])).config).tags).toEqual(['a'])
})

test('filter rules are set and removed', () => {
  const rule = {
    watermark: 7,
    priority: 0,
    predicates: [['opcode', ['=', 'OP_ID', 'OP_TEST_DELAY']]],
    action: 'REJECT',
    reason_trail: [],
    uuid: id(77),
  }
  const { config } = run(base, ['setFilterRule', rule])
  expect(Object.values(config.filters)).toEqual([rule])
  expect(run(config, change('removeFilterRule', rule.uuid)).config.filters).toEqual({})
})
