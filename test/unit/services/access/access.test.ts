// What a token with a scope may see and do.
import { HV_PARAMS } from '../../../../src/model/constants/hypervisors'
import { permissionsOf } from '../../../../src/model/permissions'
import { SCOPE_PARAMS } from '../../../../src/model/scope-params'
import { allOpcodes, commonParams } from '../../../../src/opcodes/index'
import type { WireOpCode } from '../../../../src/rpc/luxi/calls'
import { Access } from '../../../../src/services/access/access'
import { goldenConfig } from '../../../support/golden-query'

const config = goldenConfig()
const instances = Object.values(config.instances)
const tagged = instances.find(({ tags }) => tags.length > 0)
const other = instances.find(({ tags }) => tags.length === 0)
const [group] = Object.values(config.nodegroups)
const node = Object.values(config.nodes).find((one) => one.group === group?.uuid)

const token = (scope: { tags?: readonly string[]; groups?: readonly string[] }, permissions = ['*']) =>
  new Access({ user: 'u', token: 't', permissions: ['*'] }, { tags: [], groups: [], permissions, ...scope })
const refused = /outside the scope/
const startup = (more: object) => ({ OP_ID: 'OP_INSTANCE_STARTUP', ...more })

test('a scope of tags admits what has one of them, by name and by uuid', () => {
  const access = token({ tags: [...(tagged?.tags ?? [])] })
  expect(access.sees(config, `instance/${tagged?.name}`)).toBe(true)
  expect(access.seesByFullName(config, `instance/${tagged?.name}`)).toBe(true)
  const short = `instance/${tagged?.name.split('.')[0]}`
  expect([access.sees(config, short), access.seesByFullName(config, short)]).toEqual([true, false])
  expect(() => access.check(config, startup({ instance_name: tagged?.name }))).not.toThrow()
  expect(() => access.check(config, startup({ instance_name: other?.name }))).toThrow(refused)
  // An object that is in the scope does not help another one in.
  const both = startup({ instance_name: tagged?.name, instance_uuid: other?.uuid })
  expect(() => access.check(config, both)).toThrow(refused)
  expect(() => access.check(config, { OP_ID: 'OP_CLUSTER_VERIFY' })).toThrow(refused)
})

test('a scope of groups admits nodes and new instances in them', () => {
  const inside = token({ groups: [group?.name ?? ''] })
  const outside = token({ groups: ['nowhere'] })
  const create = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new', pnode: node?.name, tags: [] }
  expect(() => inside.check(config, create)).not.toThrow()
  expect(() => outside.check(config, create)).toThrow(refused)
  expect(() => inside.check(config, { ...create, pnode: undefined })).toThrow(refused)
  expect(() => inside.check(config, { ...create, source_instance_name: 'no such' })).toThrow(refused)
})

test('who may commit to a reservation is who sees it, and it gets no tags of others', () => {
  const access = token({ tags: [...(tagged?.tags ?? [])] })
  const commit = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: tagged?.name, mode: 'create', commit: true, tags: [] }
  expect(() => access.check(config, commit)).not.toThrow()
  expect(() => access.check(config, { ...commit, tags: tagged?.tags })).not.toThrow()
  expect(() => access.check(config, { ...commit, tags: ['of:others'] })).toThrow(refused)
  expect(() => access.check(config, { ...commit, instance_name: other?.name })).toThrow(refused)
  expect(() => access.check(config, { ...commit, mode: 'import', source_instance_name: other?.name })).toThrow(refused)
})

test('a scope keeps out the data of others: their exports, and disks of no instance', () => {
  const access = token({ tags: [...(tagged?.tags ?? [])] })
  const create = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new', tags: tagged?.tags }
  expect(() => access.check(config, create)).not.toThrow()
  const imported = { ...create, mode: 'import' }
  expect(() => access.check(config, { ...imported, src_path: tagged?.name })).not.toThrow()
  expect(() => access.check(config, { ...imported, src_path: other?.name })).toThrow(refused)
  expect(() => access.check(config, { ...imported, src_path: `/any/${tagged?.name}` })).toThrow('may not set src_path')
  expect(() => access.check(config, imported)).toThrow(refused)
  expect(() => access.check(config, { ...create, disks: [{ size: 4 }] })).not.toThrow()
  expect(() => access.check(config, { ...create, disks: [{ adopt: 'lv1' }] })).toThrow('may not set disks.adopt')
  const set = { OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: tagged?.name }
  expect(() => access.check(config, { ...set, disks: [['add', { size: 4 }]] })).not.toThrow()
  expect(() => access.check(config, { ...set, disks: [['attach', -1, { uuid: 'u' }]] })).toThrow(refused)
})

test('a token has no permission that it or its user lacks', () => {
  expect(token({}, ['nodes.query']).may('nodes.query')).toBe(true)
  expect(token({}, ['nodes.query']).may('nodes.remove')).toBe(false)
  const reader = new Access(
    { user: 'u', token: 't', permissions: ['*.query'] },
    { tags: [], groups: [], permissions: ['*'] },
  )
  expect(reader.may('nodes.remove')).toBe(false)
})

test('a user who may query one object may list them all, unless that was taken away', () => {
  const reads = ['nodes.query', 'nodes.list', 'instances.info', 'cluster.info', 'jobs.list', 'os.list', 'events.query']
  for (const name of reads) expect([name, token({}, ['*.query']).may(name)]).toEqual([name, true])
  expect(token({}, ['nodes.query']).may('nodes.list')).toBe(true)
  expect(token({}, ['nodes.query']).may('instances.list')).toBe(false)
  expect(token({}, ['nodes.list']).may('nodes.query')).toBe(false)
  expect(token({}, ['*.query', '-nodes.list']).may('nodes.list')).toBe(false)
  expect(token({}, ['*.query']).may('instances.startup')).toBe(false)
})

test('an effect of an opcode beyond its name needs the permission of the opcode that does only that', () => {
  const operator = new Access({ user: 'u', token: null, permissions: permissionsOf(['@operator']) }, null)
  const start = { OP_ID: 'OP_INSTANCE_STARTUP', instance_name: other?.name }
  const fetch = { OP_ID: 'OP_BACKUP_EXPORT', instance_name: other?.name }
  for (const op of [start, { ...start, hvparams: {}, beparams: null }, fetch, { ...fetch, remove_instance: false }])
    expect(() => operator.check(config, op)).not.toThrow()
  const exec = { kvm_extra: '-incoming exec:id' }
  expect(() => operator.check(config, { ...start, hvparams: exec })).toThrow('needs the permission instances.modify')
  expect(() => operator.check(config, { ...start, beparams: { maxmem: 1 } })).toThrow('instances.modify')
  expect(() => operator.check(config, { ...fetch, remove_instance: true })).toThrow('instances.remove')
})

describe('of an object in the scope, what is a matter of machines', () => {
  const access = token({ tags: tagged?.tags ?? [] })
  const instance_name = tagged?.name ?? ''
  const create = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new', tags: tagged?.tags }
  const modify = { OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name }
  const refusedTo = (op: object, parameter: string, object = `instance/${instance_name}`) => {
    const input = { OP_ID: '', ...op }
    expect(() => access.check(config, input)).toThrow(
      `${object}: a token with a scope may not set ${parameter} to what was given, because that is a matter of machines; use a ` +
        'token without a scope, or a password, with the permission ',
    )
    expect(() => token({}).check(config, input)).not.toThrow()
  }

  const machines: [string, unknown][] = [
    ...['kvm_extra', 'kvm_path', 'kernel_path', 'initrd_path', 'cdrom_image_path', 'cdrom2_image_path', 'mem_path'],
    ...['floppy_image_path', 'usb_devices', 'vnc_bind_address', 'spice_bind', 'migration_caps', 'machine_version'],
    ...['cpu_mask', 'security_model', 'vif_script', 'bootloader_path', 'init_script', 'of_tomorrow', '__proto__'],
  ].map((name) => [name, ''])
  machines.push(['disk_type', 'scsi-block'], ['cdrom_disk_type', 'scsi-generic'])

  test.each(machines)('is not set: the hypervisor parameter %s', (name, value) => {
    const hvparams = JSON.parse(JSON.stringify({ NAME: value }).replace('NAME', name)) as object
    for (const OP_ID of ['OP_INSTANCE_SET_PARAMS', 'OP_INSTANCE_STARTUP'])
      refusedTo({ OP_ID, instance_name, hvparams }, `hvparams.${name}`)
    refusedTo({ ...create, hvparams: { acpi: true, ...hvparams, [name]: value } }, `hvparams.${name}`, 'instance/new')
  })

  test('is not set: images of an OS, links of NICs, places of disks, parameters of nodes and groups', () => {
    for (const kind of ['osparams', 'osparams_private', 'osparams_secret'])
      for (const OP_ID of ['OP_INSTANCE_SET_PARAMS', 'OP_INSTANCE_REINSTALL'])
        for (const name of ['os-image', 'image'])
          refusedTo({ OP_ID, instance_name, [kind]: { [name]: 'http://127.0.0.1/' } }, `${kind}.${name}`)
    for (const name of ['link', 'bridge', 'mode', 'vlan']) {
      refusedTo({ ...create, nics: [{ ip: '10.0.0.1' }, { [name]: 'x' }] }, `nics.${name}`, 'instance/new')
      refusedTo({ ...modify, nics: [['modify', 0, { [name]: 'x' }]] }, `nics.${name}`)
      refusedTo({ ...modify, nics: [['add', { [name]: 'x' }]] }, `nics.${name}`)
    }
    for (const name of ['adopt', 'vg', 'metavg', 'provider', 'access', 'of_a_provider']) {
      refusedTo({ ...create, disks: [{ size: 4, [name]: 'x' }] }, `disks.${name}`, 'instance/new')
      refusedTo({ ...modify, disks: [['add', -1, { size: 4, [name]: 'x' }]] }, `disks.${name}`)
      refusedTo({ OP_ID: 'OP_INSTANCE_RECREATE_DISKS', instance_name, disks: [[0, { [name]: 'x' }]] }, `disks.${name}`)
    }
    refusedTo({ ...modify, file_storage_dir: '/etc' }, 'file_storage_dir')
    refusedTo({ ...modify, file_driver: 'blktap' }, 'file_driver')
    refusedTo({ ...modify, ext_params: { access: 'userspace' } }, 'ext_params.access')
    const [onNode, onGroup] = [token({ groups: [group?.name ?? ''] }), { group_name: group?.name ?? '' }]
    const check = (op: WireOpCode) => () => onNode.check(config, op)
    const ndparams = { oob_program: '/tmp/x' }
    expect(check({ ...{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: node?.name }, ndparams })).toThrow('ndparams')
    expect(check({ ...{ OP_ID: 'OP_GROUP_SET_PARAMS', ...onGroup }, ndparams })).toThrow('ndparams')
    expect(check({ ...{ OP_ID: 'OP_GROUP_SET_PARAMS', ...onGroup }, diskparams: { rbd: {} } })).toThrow('diskparams')
    expect(check({ ...{ OP_ID: 'OP_GROUP_SET_PARAMS', ...onGroup }, alloc_policy: 'preferred' })).not.toThrow()
  })

  test('and what is a matter of guests is set', () => {
    const op = {
      ...{ ...modify, hotplug: true, instance_communication: false, hvparams: { acpi: false, disk_type: 'ide' } },
      ...{ beparams: { maxmem: 64 }, osparams: { dhcp: 'yes' }, nics: [['modify', 0, { ip: '10.0.0.1' }]] },
      ...{ disks: [['add', -1, { size: 4, mode: 'rw' }]], ext_params: {}, file_driver: 'loop', osparams_private: null },
    }
    expect(() => access.check(config, op)).not.toThrow()
    const snapshot = { OP_ID: 'OP_INSTANCE_SNAPSHOT', instance_name, disks: [[0, { snapshot_name: 'a' }]] }
    expect(() => access.check(config, snapshot)).not.toThrow()
    expect(() => access.check(config, { OP_ID: 'OP_INSTANCE_REPAIR', instance_name, failover: true })).not.toThrow()
  })

  test('instances that are hidden in one opcode are not allocated at all', () => {
    const op = { OP_ID: 'OP_INSTANCE_MULTI_ALLOC', instances: [{ ...create, hvparams: { kvm_extra: '-x' } }] }
    expect(() => access.check(config, op)).toThrow(refused)
  })

  test('is decided for every parameter that there is', () => {
    const ofObjects = [...allOpcodes.values()].filter(({ params }) =>
      Object.values(params).some(({ names }) => names !== undefined),
    )
    const names = ofObjects
      .filter(({ params, id }) => !('visible' in params) && id !== 'OP_TEST_ALLOCATOR')
      .flatMap(({ params }) => Object.entries(params).filter(([, { names }]) => names === undefined))
      .map(([name]) => name)
    const known = (name: string) => name in SCOPE_PARAMS
    expect([...new Set(names)].filter((name) => !known(name)).sort()).toEqual([
      ...[
        'changes',
        'destination_x509_ca',
        'diskparams',
        'file_storage_dir',
        'input',
        'master_candidate',
        'master_capable',
      ],
      ...['ndparams', 'network', 'network_link', 'network_mode', 'primary_ip', 'secondary_ip', 'source_handshake'],
      ...['source_x509_ca', 'x509_key_name'],
    ])
    expect(Object.keys(commonParams).every(known)).toBe(true)
    const of = (name: string) => Object.keys(Object(SCOPE_PARAMS[name]))
    const hvparams = new Set(Object.values(HV_PARAMS).flatMap((params) => Object.keys(params)))
    expect(of('hvparams').filter((name) => !hvparams.has(name))).toEqual([])
  })
})

test.each([
  [['*', '-instances.create'], { OP_ID: 'OP_INSTANCE_MULTI_ALLOC', instances: [] }, 'instances.create'],
  [['*', '-instances.failover'], { OP_ID: 'OP_INSTANCE_MIGRATE', allow_failover: true }, 'instances.failover'],
  [['*', '-instances.query'], { OP_ID: 'OP_INSTANCE_QUERY_DATA' }, 'instances.info'],
  [['*', '-jobs.change_priority'], { OP_ID: 'OP_CLUSTER_VERIFY', priority: -1 }, 'jobs.change_priority'],
  [
    ['*', '-jobs.change_priority'],
    { OP_ID: 'OP_INSTANCE_MULTI_ALLOC', instances: [{ priority: -20 }] },
    'jobs.change_priority',
  ],
  [['*', '-instances.query'], { OP_ID: 'OP_QUERY', what: 'instance' }, 'instances.query'],
])('a user with %j is refused %j', (permissions, op, missing) => {
  expect(() => new Access({ user: 'u', token: null, permissions }, null).check(config, op)).toThrow(missing)
  expect(() => token({}, permissions).check(config, op)).toThrow(missing)
})
