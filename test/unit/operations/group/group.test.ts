// Node groups are made, changed and removed, and nodes move between them.
import { change } from '../../../../src/config/changes'
import { smallCluster } from '../../../support/fake-cluster'

const specs = (size: number) => ({
  'memory-size': size,
  'disk-size': size,
  'disk-count': 1,
  'cpu-count': 1,
  'nic-count': 0,
  'spindle-use': 1,
})

describe('group add', () => {
  test('makes an empty group with its parameters coerced to their types', async () => {
    const cluster = smallCluster()
    const result = await cluster.run('OP_GROUP_ADD', {
      group_name: 'rack2',
      alloc_policy: 'unallocable',
      ndparams: { spindle_count: '3', oob_program: 'default' },
      diskparams: { drbd: { 'resync-rate': '1000' } },
      ipolicy: { 'vcpu-ratio': '6' },
      hv_state: { kvm: { mem_total: 4096 } },
    })
    expect(result).toBeNull()
    expect(cluster.groupNamed('rack2')).toMatchObject({
      alloc_policy: 'unallocable',
      ndparams: { spindle_count: 3 },
      diskparams: { drbd: { 'resync-rate': 1000 } },
      ipolicy: { 'vcpu-ratio': 6 },
      hv_state_static: { kvm: { mem_total: 4096 } },
      networks: {},
      serial_no: 1,
    })
    expect(cluster.hooks('group-add', 'pre')).toMatchObject({
      nodes: ['node1.test'],
      env: { GANETI_GROUP_NAME: 'rack2', GANETI_OBJECT_TYPE: 'GROUP', GANETI_OP_CODE: 'OP_GROUP_ADD' },
    })
  })

  test('refuses a name that is taken', async () => {
    const cluster = smallCluster()
    const { uuid } = cluster.groupNamed('default')
    expect(await cluster.failure('OP_GROUP_ADD', { group_name: 'default' })).toEqual([
      'OpPrereqError',
      [`Desired group name 'default' already exists as a node group (UUID: ${uuid})`, 'already_exists'],
    ])
  })

  test('a dry run changes nothing', async () => {
    const cluster = smallCluster()
    const before = cluster.config
    expect(await cluster.run('OP_GROUP_ADD', { group_name: 'rack2', dry_run: true })).toBeNull()
    expect(cluster.config).toBe(before)
    expect(cluster.log).toEqual([' - INFO: dry-run mode requested, not actually executing the operation'])
  })

  test('refuses an unknown node parameter', async () => {
    const outcome = await smallCluster().failure('OP_GROUP_ADD', { group_name: 'rack2', ndparams: { speed: 1 } })
    expect(outcome).toEqual(['TypeEnforcementError', ["Unknown parameter 'speed'"]])
  })

  test.each([
    [
      'a disk parameter of another template',
      { diskparams: { plain: { metavg: 'xenvg' } } },
      'While verify diskparams options: Provided option keys not supported: plain/metavg',
    ],
    [
      'a policy key that does not exist',
      { ipolicy: { size: 1 } },
      'Invalid instance policy: Invalid keys in ipolicy: size',
    ],
    [
      'a wrong ratio',
      { ipolicy: { 'vcpu-ratio': 'x' } },
      "Invalid instance policy: Invalid value for key 'vcpu-ratio': 'x', error: could not convert string to float: 'x'",
    ],
    ['a policy without bounds', { ipolicy: { minmax: [] } }, 'Invalid instance policy: Empty minmax specifications'],
    [
      'a policy without templates',
      { ipolicy: { 'disk-templates': [] } },
      'Invalid instance policy: Instance policy must contain at least one disk template',
    ],
    ['standard specs', { ipolicy: { std: specs(1) } }, 'std cannot appear in group instance specs'],
    [
      'bounds the wrong way round',
      { ipolicy: { minmax: [{ min: specs(8), max: specs(4) }] } },
      'Invalid instance policy: Invalid specification of min/max values for memory-size: 8/4',
    ],
    [
      'half of the bounds',
      { ipolicy: { minmax: [{ min: specs(8) }] } },
      'Invalid instance policy: Missing instance specification: max',
    ],
    [
      'templates that the cluster does not enable',
      { ipolicy: { 'disk-templates': ['file', 'plain'] } },
      'The following disk templates are allowed by the ipolicy, but not enabled on the cluster: file',
    ],
    [
      'the state of a hypervisor that does not exist',
      { hv_state: { vbox: {} } },
      'Invalid hypervisor(s) in hypervisor state: vbox',
    ],
    ['the state of storage that has none', { disk_state: { file: {} } }, 'Invalid storage type(s) in disk state: file'],
  ])('refuses %s', async (_what, params, text) => {
    const cluster = smallCluster()
    expect(await cluster.failure('OP_GROUP_ADD', { group_name: 'rack2', ...params })).toEqual([
      'OpPrereqError',
      [text, 'wrong_input'],
    ])
    expect(Object.keys(cluster.config.nodegroups)).toHaveLength(1)
  })

  test('refuses an access mode that does not exist', async () => {
    const op = { group_name: 'rack2', diskparams: { rbd: { access: 'bunny' } } }
    expect(await smallCluster().failure('OP_GROUP_ADD', op)).toEqual([
      'OpPrereqError',
      ["Invalid value of 'rbd:access': 'bunny' (expected one of kernelspace, userspace)"],
    ])
  })

  test('joins the network over which instances talk to their nodes, where there is one', async () => {
    const cluster = smallCluster(['node1'], { instance_communication_network: 'comm' })
    await cluster.run('OP_NETWORK_ADD', { network_name: 'comm', network: '169.254.0.0/16' })
    const result = await cluster.run('OP_GROUP_ADD', { group_name: 'rack2' })
    expect(result).toEqual({ jobs: [[true, 100]] })
    expect(cluster.submitted[0]?.[0]).toMatchObject({
      OP_ID: 'OP_NETWORK_CONNECT',
      group_name: cluster.groupNamed('rack2').uuid,
      network_name: 'comm',
      network_mode: 'routed',
    })
  })
})

describe('group set params', () => {
  test('answers with the changed node parameters in Python form, and tells hooks the new policy', async () => {
    const cluster = smallCluster()
    const result = await cluster.run('OP_GROUP_SET_PARAMS', {
      group_name: 'default',
      alloc_policy: 'last_resort',
      ndparams: { oob_program: '' },
    })
    expect(result).toEqual([['ndparams', "{'oob_program': ''}"]])
    expect(cluster.groupNamed('default')).toMatchObject({ alloc_policy: 'last_resort', ndparams: { oob_program: '' } })
    expect(cluster.hooks('group-modify', 'post').env).toMatchObject({ GANETI_NEW_ALLOC_POLICY: 'last_resort' })
  })

  test('wants something to change', async () => {
    const cluster = smallCluster()
    expect(await cluster.failure('OP_GROUP_SET_PARAMS', { group_name: 'default' })).toEqual([
      'OpPrereqError',
      ['Please pass at least one modification', 'wrong_input'],
    ])
  })

  test('takes the size of stripes in KiB, where LVM can have it', async () => {
    const cluster = smallCluster()
    const set = (value: unknown) =>
      cluster.run('OP_GROUP_SET_PARAMS', { group_name: 'default', diskparams: { plain: { 'stripe-size': value } } })
    await set('128k')
    expect(cluster.groupNamed('default').diskparams).toEqual({ plain: { 'stripe-size': 128 } })
    await expect(set(100)).rejects.toThrow('Disk parameter plain:stripe-size is a power of two from 4 to 4096 KiB')
  })

  test('takes overrides away again', async () => {
    const cluster = smallCluster()
    const set = (params: object) => cluster.run('OP_GROUP_SET_PARAMS', { group_name: 'default', ...params })
    await set({ ipolicy: { 'vcpu-ratio': 6, 'spindle-ratio': 2 }, diskparams: { plain: { stripes: 2 } } })
    expect(cluster.groupNamed('default').ipolicy).toEqual({ 'vcpu-ratio': 6, 'spindle-ratio': 2 })
    await set({ ipolicy: { 'vcpu-ratio': 'default' }, diskparams: { plain: { stripes: 'default' } } })
    expect(cluster.groupNamed('default').ipolicy).toEqual({ 'spindle-ratio': 2 })
    expect(cluster.groupNamed('default').diskparams).toEqual({ plain: {} })
  })

  test('warns of instances that the new policy would not allow, and locks the instances of the group', async () => {
    const cluster = smallCluster()
    cluster.addInstance('small.test', 'node2', { beparams: { maxmem: 64, minmem: 64 } }, 'node3')
    cluster.addInstance('large.test', 'node2', { beparams: { maxmem: 2048, minmem: 64 } }, 'node3')
    const bounds = { min: { ...specs(32), 'disk-size': 8 }, max: { ...specs(1024), 'disk-size': 4096 } }
    cluster.given(
      change('patchNodeGroup', cluster.groupNamed('default').uuid, {
        ipolicy: { minmax: [{ ...bounds, max: { ...bounds.max, 'memory-size': 4096 } }] },
      }),
    )
    await cluster.run('OP_GROUP_SET_PARAMS', { group_name: 'default', ipolicy: { minmax: [bounds] } })
    expect(cluster.log).toEqual([
      ' - WARNING: After the ipolicy change the following instances violate them: large.test',
    ])
    expect(cluster.locks).toContain('instance/large.test shared')
    expect(cluster.locks).toContain(`nodegroup/${cluster.groupNamed('default').uuid} exclusive`)
  })

  test('only KVM reads disks in user space', async () => {
    const cluster = smallCluster()
    const { uuid } = cluster.addInstance('inst1.test', 'node2', { hypervisor: 'xen-pvm' })
    cluster.addRbdDisk(uuid)
    expect(
      await cluster.failure('OP_GROUP_SET_PARAMS', {
        group_name: 'default',
        diskparams: { rbd: { access: 'userspace' } },
      }),
    ).toEqual([
      'OpPrereqError',
      [
        "Instance inst1.test: cannot use 'userspace' access setting with xen-pvm hypervisor and rbd disk type.",
        'wrong_input',
      ],
    ])
  })
})

describe('group rename and remove', () => {
  test('a group gets a new name, and the hooks run on its nodes', async () => {
    const cluster = smallCluster()
    const group = cluster.addGroup('rack2')
    await cluster.run('OP_GROUP_ASSIGN_NODES', { group_name: 'rack2', nodes: ['node3.test'] })
    expect(await cluster.run('OP_GROUP_RENAME', { group_name: 'rack2', new_name: 'rack3' })).toBe('rack3')
    expect(cluster.groupNamed('rack3').uuid).toBe(group)
    expect(cluster.hooks('group-rename', 'pre')).toMatchObject({
      nodes: ['node1.test', 'node3.test'],
      env: { GANETI_OLD_NAME: 'rack2', GANETI_NEW_NAME: 'rack3' },
    })
  })

  test('the new name must be free', async () => {
    const cluster = smallCluster()
    const uuid = cluster.addGroup('rack2')
    expect(await cluster.failure('OP_GROUP_RENAME', { group_name: 'default', new_name: 'rack2' })).toEqual([
      'OpPrereqError',
      [`Desired new name 'rack2' clashes with existing node group (UUID: ${uuid})`, 'already_exists'],
    ])
  })

  test('only an empty group that is not the last one can be removed', async () => {
    const cluster = smallCluster(['node1'])
    expect(await cluster.failure('OP_GROUP_REMOVE', { group_name: 'default' })).toEqual([
      'OpPrereqError',
      [`Group 'default' not empty, has the following nodes: node1.test`, 'wrong_state'],
    ])
    cluster.addGroup('rack2')
    await cluster.run('OP_GROUP_REMOVE', { group_name: 'rack2' })
    expect(Object.values(cluster.config.nodegroups).map((group) => group.name)).toEqual(['default'])
    expect(await cluster.failure('OP_GROUP_REMOVE', { group_name: 'rack2' })).toEqual([
      'OpPrereqError',
      ["Node group 'rack2' not found", 'unknown_entity'],
    ])
  })
})

describe('group assign nodes', () => {
  test('moves nodes under the locks of both groups', async () => {
    const cluster = smallCluster()
    const [from, to] = [cluster.groupNamed('default').uuid, cluster.addGroup('rack2')]
    expect(await cluster.run('OP_GROUP_ASSIGN_NODES', { group_name: 'rack2', nodes: ['node2', 'node3'] })).toBeNull()
    expect(['node1', 'node2', 'node3'].map((name) => cluster.node(name).group)).toEqual([from, to, to])
    expect(cluster.locks).toContain(`nodegroup/${from} exclusive`)
    expect(cluster.locks).toContain(`nodegroup/${to} exclusive`)
    expect(cluster.locks).toContain(`node/${cluster.node('node2').uuid} exclusive`)
  })

  test('does not split mirrored instances unless forced', async () => {
    const cluster = smallCluster()
    cluster.addGroup('rack2')
    cluster.addInstance('drbd1.test', 'node2', {}, 'node3')
    cluster.addInstance('plain1.test', 'node3')
    const op = { group_name: 'rack2', nodes: ['node3'] }
    expect(await cluster.failure('OP_GROUP_ASSIGN_NODES', op)).toEqual([
      'OpExecError',
      ['The following instances get split by this change and --force was not given: drbd1.test'],
    ])
    await cluster.run('OP_GROUP_ASSIGN_NODES', { ...op, force: true })
    expect(cluster.log).toEqual([' - WARNING: This operation will split the following instances: drbd1.test'])
    // Moving the other half heals it.
    await cluster.run('OP_GROUP_ASSIGN_NODES', { group_name: 'rack2', nodes: ['node2'] })
    expect(cluster.log).toHaveLength(1)
  })
})
