// Changes of an instance, on real recordings and in each form that callers use.
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

// inst6: sharedfile, one disk, one NIC, up on node3; inst2: file, NIC in net1, up on node2; inst4: diskless, down on node3.
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
  cluster.answers.hotplug_supported = () => {
    throw new Error('Hotplug is not supported')
  }
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
  expect(cluster.inconsistencies()).toEqual([])
})

const modify = (name: string, more: object) => cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: name, ...more })
const refused = (name: string, more: object) =>
  cluster.failure('OP_INSTANCE_SET_PARAMS', { instance_name: name, ...more })
const disksOf = (name: string) => (cluster.instance(name)?.disks ?? []).map((uuid) => cluster.config.disks[uuid])

test('disk, NIC and memory of a real recording', async () => {
  const nics = [['add', -1, { mac: 'aa:00:00:59:f1:36', link: 'xen-br0' }]]
  const disks = [['add', -1, { size: 4, mode: 'rw', dev_type: 'sharedfile' }]]
  await expect(modify('inst6', { nics, disks, beparams: { vcpus: 3 }, hotplug: false })).resolves.toEqual([
    ['disk/1', 'add:size=4,mode=rw'],
    ['nic.1', 'add:mac=aa:00:00:59:f1:36,ip=None,mode=bridged,link=xen-br0,network=None'],
    ['be/vcpus', 3],
  ])
  expect(cluster.log).toEqual([
    '* disk 1, size 4M',
    ' - INFO: Waiting for instance inst6.gnt.example to sync disks',
    " - INFO: Instance inst6.gnt.example's disks are in sync",
  ])
  expect(disksOf('inst6')).toMatchObject([{ iv_name: 'disk/0' }, { iv_name: 'disk/1', size: 4 }])
  expect(disksOf('inst6')[1]?.forthcoming).toBeUndefined()
  expect(cluster.instance('inst6')).toMatchObject({ beparams: { vcpus: 3 }, nics: [{}, { mac: 'aa:00:00:59:f1:36' }] })
})

test('removing disk and NIC', async () => {
  const [uuid] = cluster.instance('inst2')?.disks.slice(1) ?? []
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2' })
  await expect(
    modify('inst2', { nics: [['remove', 0, {}]], disks: [['remove', 1, {}]], osparams: { x: 'y' } }),
  ).resolves.toEqual([
    ['disk/1', 'remove'],
    ['NIC/0', 'remove'],
    ['os/x', 'y'],
  ])
  expect(cluster.diskFiles()).not.toContain(uuid)
  expect(cluster.config.disks[uuid ?? '']).toBeUndefined()
  // The address of the NIC is free again.
  const network = Object.values(cluster.config.networks).find(({ name }) => name === 'net1')
  expect(network?.reservations?.[2]).toBe('0')
})

test('the old forms of changes, names and uuids', async () => {
  await modify('inst2', { disks: [[0, { name: 'system', mode: 'ro' }]] })
  expect(disksOf('inst2')[0]).toMatchObject({ name: 'system', mode: 'ro' })
  await expect(modify('inst2', { disks: [['modify', 'system', { name: 'none' }]] })).resolves.toEqual([
    ['disk.name/0', null],
  ])
  expect(disksOf('inst2')[0]?.name).toBeUndefined()
  await modify('inst2', { nics: [['add', { mac: 'auto' }]] })
  expect(cluster.instance('inst2')?.nics).toHaveLength(2)
})

test('a NIC keeps what is not changed', async () => {
  const [before] = cluster.instance('inst2')?.nics ?? []
  const params = { link: 'xen-br0', mode: 'bridged', vlan: '' }
  await expect(modify('inst2', { nics: [['modify', 0, { name: 'lan' }]], hotplug: false })).resolves.toEqual([
    ['nic.name/0', 'lan'],
    ...Object.entries(params).map(([name, value]) => [`nic.${name}/0`, value]),
  ])
  expect(cluster.instance('inst2')?.nics).toEqual([{ ...before, nicparams: params, name: 'lan' }])
  await modify('inst2', { nics: [['modify', 0, { mac: 'aa:00:00:00:00:77' }]], hotplug: false })
  expect(cluster.instance('inst2')?.nics).toMatchObject([{ name: 'lan', mac: 'aa:00:00:00:00:77', ip: before?.ip }])
})

test('a NIC that goes to another network, or leaves it, gets what these ask for', async () => {
  const [before] = cluster.instance('inst2')?.nics ?? []
  const out = await modify('inst2', { nics: [['modify', 0, { network: 'none', ip: 'none' }]], hotplug: false })
  expect(out).toEqual(expect.arrayContaining([['nic.ip/0', null], ['nic.network/0', null]])) // prettier-ignore
  cluster.change('patchNetwork', before?.network ?? '', { mac_prefix: 'bb:cc:dd' })
  const back = await modify('inst2', { nics: [['modify', 0, { network: 'net1', ip: 'pool' }]], hotplug: false })
  const [nic] = cluster.instance('inst2')?.nics ?? []
  expect(nic).toMatchObject({ network: before?.network, mac: expect.stringMatching(/^bb:cc:dd:/), ip: before?.ip })
  expect(back).toEqual(expect.arrayContaining([['nic.mac/0', nic?.mac], ['nic.ip/0', nic?.ip], ['nic.network/0', 'net1']])) // prettier-ignore
  expect(cluster.log.at(-1)).toBe(` - INFO: Chose IP ${nic?.ip} from network net1`)
})

test('running instances change at once where the hypervisor can', async () => {
  cluster.answers.hotplug_supported = () => null
  // Ganeti's nodes answer with the place of the device, and ours with what is otherwise than was asked for.
  cluster.answers.hotplug_device = () => ["NIC 1 has QEMU's user-mode network"]
  await expect(modify('inst6', { nics: [['add', -1, { mac: 'aa:00:00:59:f1:36' }]] })).resolves.toEqual([
    ['nic.1', 'add:mac=aa:00:00:59:f1:36,ip=None,mode=bridged,link=xen-br0,network=None'],
    ['nic.1', 'hotplug:done'],
  ])
  expect(cluster.calls('hotplug_device')[0]?.args.slice(1, 3)).toEqual(['hotadd', 'nic'])
  expect(cluster.log).toContain(" - INFO: NIC 1 has QEMU's user-mode network")
  cluster.answers.hotplug_device = () => ({ driver: 'virtio-net-pci', bus: 'pci.0' })
  await expect(modify('inst6', { nics: [['modify', 1, { ip: '192.0.2.7' }]] })).resolves.toEqual([
    ['nic.ip/1', '192.0.2.7'],
    ['nic.link/1', 'xen-br0'],
    ['nic.mode/1', 'bridged'],
    ['nic.vlan/1', ''],
    ['nic/1', 'hotplug:done'],
  ])
  await expect(modify('inst6', { nics: [['remove', 1, {}]] })).resolves.toEqual([
    ['NIC/1', 'remove'],
    ['NIC/1', 'hotplug:done'],
  ])
  await expect(modify('inst6', { disks: [['add', -1, { size: 4 }]] })).resolves.toEqual([
    ['disk/1', 'add:size=4,mode=rw'],
    ['disk/1', 'hotplug:done'],
  ])
  const plugged = cluster.calls('hotplug_device')[3]?.args ?? []
  expect(plugged.slice(1, 3)).toEqual(['hotadd', 'disk'])
  // These are the results of assembling the disk; Ganeti's nodes need them.
  expect(plugged.slice(4)).toEqual([[expect.any(String), null], 1])
  await expect(modify('inst6', { disks: [['remove', -1, {}]] })).resolves.toEqual([
    ['disk/1', 'remove'],
    ['disk/1', 'hotplug:done'],
  ])
  expect(cluster.log).toContain(' - INFO: Hotplug done.')
})

test('a NIC that the guest does not let go stays in the configuration, and what went before it does not come back', async () => {
  cluster.answers.hotplug_supported = () => null
  cluster.answers.hotplug_device = () => null
  for (const mac of ['aa:00:00:00:00:71', 'aa:00:00:00:00:72'])
    await modify('inst6', { nics: [['add', -1, { mac, ip: `192.0.2.${mac.slice(-2)}` }]] })
  const macs = () => cluster.instance('inst6')?.nics.map(({ mac }) => mac.slice(-2))
  const [own] = macs() ?? []
  cluster.answers.hotplug_device = (_node, [, , , device]) => {
    if (device instanceof Object && 'mac' in device && device.mac === 'aa:00:00:00:00:71') throw new Error('no answer')
    return null
  }
  await expect(refused('inst6', { nics: [['remove', 1, {}]] })).resolves.toEqual([
    'OpExecError',
    ['NIC 1 is still in use by the running instance, it was not removed; with --no-hotplug it is at the next start'],
  ])
  expect(macs()).toEqual([own, '71', '72'])
  await expect(refused('inst6', { nics: [['modify', 1, { ip: '192.0.2.9' }]] })).resolves.toEqual([
    'OpExecError',
    [expect.stringContaining('NIC 1 is still in use by the running instance, it was not changed')],
  ])
  expect(cluster.instance('inst6')?.nics[1]?.ip).toBe('192.0.2.71')
  // The first of two is gone from the guest, so it is gone here.
  await refused('inst6', { nics: [['remove', 2, {}], ['remove', 1, {}]] }) // prettier-ignore
  expect(macs()).toEqual([own, '71'])
})

test('a parameter that disks do not have is refused by name, of new disks and of old ones', async () => {
  const added = refused('inst2', { disks: [['add', -1, { size: 4, bogus: 'x' }]] })
  await expect(added).resolves.toEqual(['TypeEnforcementError', ["Unknown parameter 'bogus'"]])
  const changed = refused('inst2', { disks: [['modify', 0, { vg: 'xenvg' }]] })
  await expect(changed).resolves.toEqual(['TypeEnforcementError', ["Unknown parameter 'vg'"]])
})

test('where it cannot, the change waits for the next start, and says so', async () => {
  await modify('inst6', { nics: [['add', -1, {}]] })
  expect(cluster.log).toContain(' - INFO: Modification will take place without hotplugging.')
})

test('parameters: default takes one back, state and memory', async () => {
  await modify('inst4', { beparams: { memory: 128 } })
  expect(cluster.instance('inst4')?.beparams).toEqual({ minmem: 128, maxmem: 128 })
  await modify('inst4', { beparams: { minmem: 'default', maxmem: 'default' } })
  expect(cluster.instance('inst4')?.beparams).toEqual({})
  await expect(modify('inst4', { offline: true })).resolves.toEqual([['admin_state', 'offline']])
  expect(cluster.instance('inst4')?.admin_state).toBe('offline')
  await modify('inst4', { offline: false })
  expect(cluster.instance('inst4')?.admin_state).toBe('down')
  await expect(modify('inst2', { runtime_mem: 100 })).resolves.toEqual([['runtime_memory', 100]])
  expect(cluster.world.node('node2.gnt.example').instances.get('inst2.gnt.example')?.memory).toBe(100)
})

test('a running instance gets memory up to the bound that it has from then on', async () => {
  await expect(refused('inst2', { runtime_mem: 4096 })).resolves.toEqual([
    'OpPrereqError',
    [expect.stringContaining('must have memory between'), 'wrong_input'],
  ])
  const beparams = { maxmem: 4096 }
  await modify('inst2', { runtime_mem: 4096, beparams, ignore_ipolicy: true })
  expect(cluster.world.node('node2.gnt.example').instances.get('inst2.gnt.example')?.memory).toBe(4096)
})

test('more memory waits for a node that does not answer', async () => {
  cluster.answers.node_info = () => {
    throw new Error('no route to host')
  }
  await modify('inst4', { beparams: { memory: 4096 }, ignore_ipolicy: true })
  expect(cluster.log).toEqual([" - WARNING: Can't get info from primary node node3.gnt.example: no route to host"])
  cluster.answers.node_info = () => ['boot', [], [null]]
  await modify('inst4', { beparams: { memory: 4100 }, ignore_ipolicy: true })
  expect(cluster.log.at(-1)).toMatch(/Node data from primary node node3.gnt.example doesn't contain free memory/)
})

test('private OS parameters are kept, not told', async () => {
  const changed = await modify('inst4', { osparams_private: { key: 'deep secret' } })
  expect(JSON.stringify([changed, cluster.log])).not.toContain('deep secret')
  expect(cluster.instance('inst4')?.osparams_private).toEqual({ key: 'deep secret' })
})

test.each([
  ['inst6', {}, 'No changes submitted', 'wrong_input'],
  [
    'inst6',
    { offline: true },
    "Instance 'inst6.gnt.example' is marked to be up, can't change to offline without being down first",
    'wrong_state',
  ],
  [
    'inst6',
    { disks: [['remove', 0, {}]] },
    "Instance 'inst6.gnt.example' is marked to be up, can't remove volume from a running instance without using hotplug",
    'wrong_state',
  ],
  ['inst6', { disks: [['modify', 0, { size: 5 }]] }, 'Disk size change not possible, use grow-disk', 'wrong_input'],
  ['inst6', { nics: [['remove', 'lan', {}]] }, 'Cannot find NIC with identifier lan', 'unknown_entity'],
  ['inst6', { nics: [['add', -1, { ip: 'pool' }]] }, 'If ip=pool, parameter network cannot be none', 'wrong_input'],
  ['inst6', { nics: [['modify', 0, { network: 'none', ip: 'pool' }]] }, 'ip=pool, but no network found', 'wrong_input'],
  [
    'inst6',
    { nics: [['modify', 0, { mac: 'auto' }]] },
    "'auto' is not a valid MAC address when modifying an existing NIC",
    'wrong_input',
  ],
  [
    'inst6',
    { nics: [['modify', 0, { network: 'none', mode: 'routed', ip: 'none' }]] },
    'Cannot set the NIC IP address to None on a routed NIC if not attached to a network',
    'wrong_input',
  ],
  [
    'inst2',
    { nics: [['modify', 0, { network: 'net1', mode: 'bridged' }]] },
    'If network is given mode or link should not',
    'wrong_input',
  ],
  [
    'inst2',
    { nics: [['modify', 0, { link: 'br7' }]] },
    'Not allowed to change link or mode of a NIC that is connected to a network',
    'wrong_input',
  ],
  [
    'inst2',
    { nics: [['modify', 0, { ip: '10.77.9.9' }]] },
    'IP address 10.77.9.9 is outside of network net1 (10.99.0.0/24)',
    'wrong_input',
  ],
  ['inst6', { disks: [['add', {}]] }, "Required disk parameter 'size' missing", 'wrong_input'],
  [
    'inst6',
    { beparams: { vcpus: 100 } },
    expect.stringContaining('cpu-count value 100 is not in range'),
    'wrong_input',
  ],
  [
    'inst6',
    { beparams: { maxmem: '900g' }, ignore_ipolicy: true },
    expect.stringMatching(/^This change will prevent the instance from starting, due to \d+ MB of memory missing/),
    'insufficient_resources',
  ],
  [
    'inst6',
    { hvparams: { migration_mode: 'live' } },
    expect.stringContaining('are global and cannot be customized'),
    'wrong_input',
  ],
  ['inst6', { runtime_mem: 4 }, expect.stringContaining('must have memory between'), 'wrong_input'],
  [
    'inst6',
    { runtime_mem: 64, beparams: { minmem: 100, maxmem: 200 }, ignore_ipolicy: true },
    expect.stringContaining('must have memory between 100 and 200 MB'),
    'wrong_input',
  ],
  [
    'inst6',
    { runtime_mem: 900_000_000, force: true },
    expect.stringMatching(
      /^Not enough memory on node node3\S+ for ballooning memory for instance inst6\S+: needed \d+ MiB/,
    ),
    'insufficient_resources',
  ],
  ['inst4', { runtime_mem: 64 }, 'Instance inst4.gnt.example is not running', 'wrong_state'],
])('%s %j is refused, and nothing changes', async (name, more, text, code) => {
  const before = cluster.config
  await expect(refused(name, more)).resolves.toEqual(['OpPrereqError', [text, code]])
  expect(cluster.config).toBe(before)
})

test('a refused job shows devices in the newer notation', async () => {
  const nics = [['add', { ip: '192.0.2.7', name: 'none' }]]
  await expect(refused('inst6', { nics, disks: [['remove', 7, {}]] })).resolves.toEqual([
    'OpExecError',
    ['Got disk index 7, but there are only 1'],
  ])
  expect(cluster.noted).toMatchObject({
    nics: [['add', -1, { mac: 'auto', ip: '192.0.2.7' }]],
    disks: [['remove', 7, {}]],
  })
})

test('an instance that is down may be called online again', async () => {
  await expect(modify('inst4', { offline: false })).resolves.toEqual([['admin_state', 'down']])
})

test('a disk that cannot be made is taken out again', async () => {
  const before = cluster.instance('inst6')?.disks
  cluster.answers.blockdev_create = () => {
    throw new Error('full')
  }
  const [name] = (await refused('inst6', { disks: [['add', -1, { size: 4 }]] })) as [string]
  expect(name).toBe('OpExecError')
  expect(cluster.instance('inst6')?.disks).toEqual(before)
})

test('a disk that may be there, on a node that does not answer, stays known and can be removed', async () => {
  const away = () => {
    throw new Error('connection refused')
  }
  cluster.answers.blockdev_create = away
  cluster.answers.blockdev_remove = away
  await refused('inst6', { disks: [['add', -1, { size: 4 }]] })
  expect(cluster.log.join('\n')).toContain('Disk 1 stays in the configuration, because it could not be removed')
  expect(cluster.instance('inst6')?.disks).toHaveLength(2)
  cluster.answers = {}
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst6' })
  await modify('inst6', { disks: [['remove', 1, {}]] })
  expect(cluster.instance('inst6')?.disks).toHaveLength(1)
})

test('a job killed at any node call loses no disk', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2' })
  for (const disks of [[['add', -1, { size: 4 }]], [['remove', 1, {}]]]) {
    let killed = true
    for (let after = 1; killed; after++) {
      const fresh = simulatedCluster()
      await fresh.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2' })
      const start = fresh.calls.length
      killed = await fresh.runUntilKilled('OP_INSTANCE_SET_PARAMS', { instance_name: 'inst2', disks }, start + after)
      const known = Object.keys(fresh.config.disks)
      expect(fresh.diskFiles().filter((uuid) => !known.includes(uuid))).toEqual([])
      expect(fresh.inconsistencies()).toEqual([])
    }
  }
})

test('the primary node is set for an instance that was moved by other means, and not for one that runs', async () => {
  const op = { instance_name: 'inst6', pnode: 'node1.gnt.example' }
  await expect(cluster.failure('OP_INSTANCE_SET_PARAMS', op)).resolves.toEqual([
    'OpPrereqError',
    ['Instance is still running on node3.gnt.example', 'wrong_state'],
  ])
  cluster.answers.instance_info = () => ({})
  await cluster.run('OP_INSTANCE_SET_PARAMS', op)
  expect(cluster.instance('inst6')?.primary_node).toBe(cluster.node('node1').uuid)
})
