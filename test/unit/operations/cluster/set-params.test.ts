// The settings of a cluster are changed together, or not at all.
import { change } from '../../../../src/config/changes'
import type { Cluster, Instance } from '../../../../src/model/config'
import { nicUuid } from '../../../../src/model/ids'
import { buildDisk, buildGroup, buildInstance, buildNetwork, buildNode, id, smallConfig } from '../../config/builders'
import { FakeCluster } from '../../../support/fake-cluster'

const base = smallConfig()

function cluster(...instances: Partial<Instance>[]): FakeCluster {
  const fake = new FakeCluster(base).given(
    change('patchCluster', {
      enabled_disk_templates: ['diskless', 'sharedfile'],
      ipolicy: { ...base.cluster.ipolicy, 'disk-templates': ['diskless', 'sharedfile'] },
      modify_ssh_setup: false,
    }),
    ...instances.map((fields, index) => change('addInstance', buildInstance(base, index + 1, fields), [])),
  )
  fake.answers.hypervisor_validate_params = () => null
  fake.answers.os_validate = () => true
  fake.answers.node_ensure_daemon = () => true
  return fake
}

type Params = Readonly<Record<string, unknown>>
const set = (fake: FakeCluster, params: Params) => fake.run('OP_CLUSTER_SET_PARAMS', { ...params })

test('plain values are set in one change, under shared locks, with the hooks of cluster-modify', async () => {
  const fake = cluster()
  const params: Partial<Cluster> = {
    max_running_jobs: 7,
    max_tracked_jobs: 9,
    maintain_node_health: true,
    prealloc_wipe_disks: true,
    modify_etc_hosts: false,
    default_iallocator_params: { a: 1 },
    reserved_lvs: ['xenvg/root.*'],
    enabled_user_shutdown: true,
    compression_tools: ['gzip', 'lzop'],
    install_image: '/srv/image',
    zeroing_image: 'http://images.example.com/zero',
    use_external_mip_script: true,
  }
  expect(await set(fake, { ...params })).toBeNull()
  expect(fake.config.cluster).toMatchObject(params)
  expect(fake.changes).toHaveLength(1)
  expect(fake.lockRequests.slice(1)).toEqual([
    [['instance/[lockset]', 'shared']],
    [['nodegroup/[lockset]', 'shared']],
    [['node/[lockset]', 'shared']],
  ])
  expect(fake.calls('hooks_runner').map(({ args }) => args.slice(0, 2))).toEqual([
    ['cluster-modify', 'pre'],
    ['cluster-modify', 'post'],
    ['config-update', 'post'],
  ])
  expect(fake.calls('hooks_runner')[0]?.args[2]).toMatchObject({ GANETI_NEW_VG_NAME: 'None' })
})

test.each(['../../x', 'lo\n', '-x', '..', 'a'.repeat(16)])('%j is no device for the master address', async (netdev) => {
  const fake = cluster()
  await expect(set(fake, { master_netdev: netdev })).rejects.toThrow('is no name of a network interface')
  expect(fake.changes).toEqual([])
})

test('a dry run changes nothing', async () => {
  const fake = cluster()
  expect(await set(fake, { max_running_jobs: 7, dry_run: true })).toBeNull()
  expect(fake.changes).toEqual([])
})

test('a larger pool of candidates is filled at once', async () => {
  const fake = cluster().given(change('patchCluster', { candidate_pool_size: 1 }))
  fake.given(change('addNode', buildNode(base, 2)))
  fake.answers.node_crypto_tokens = () => [['ssl', 'CC:DD']]
  await set(fake, { candidate_pool_size: 2 })
  expect(fake.config.cluster.candidate_pool_size).toBe(2)
  expect(fake.node('node2.example.com').master_candidate).toBe(true)
  expect(Object.values(fake.config.cluster.candidate_certs)).toContain('CC:DD')
})

test('lists grow and shrink, and what was there already is told', async () => {
  const fake = cluster()
  await set(fake, {
    hidden_os: [
      ['add', 'a'],
      ['add', 'b'],
      ['add', 'a'],
    ],
    blacklisted_os: [
      ['remove', 'x'],
      ['add', 'y'],
    ],
    add_uids: [
      [2000, 2999],
      [1000, 1000],
    ],
  })
  expect(fake.config.cluster).toMatchObject({ hidden_os: ['a', 'b'], blacklisted_os: ['y'], uid_pool: [[1000, 1000], [2000, 2999]] }) // prettier-ignore
  expect(fake.log).toEqual([
    'OS a already in hidden OS list, ignoring',
    'OS x not found in blacklisted OS list, ignoring',
  ])
  await set(fake, { remove_uids: [[1000, 1000]], hidden_os: [['remove', 'a']] })
  expect(fake.config.cluster).toMatchObject({ hidden_os: ['b'], uid_pool: [[2000, 2999]] })
})

test('a collector that the cluster does not name yet is added when it is switched, and only that one', async () => {
  const { lv } = base.cluster.data_collectors
  const fake = cluster().given(change('patchCluster', { data_collectors: lv === undefined ? {} : { lv } }))
  await set(fake, { enabled_data_collectors: { 'inst-status': false } })
  expect(fake.config.cluster.data_collectors).toEqual({ lv, 'inst-status': { active: false, interval: 5000000 } })
})

test('data collectors are switched and timed one by one', async () => {
  const fake = cluster()
  await set(fake, { enabled_data_collectors: { drbd: false }, data_collector_interval: { lv: 1000000 } })
  expect(fake.config.cluster.data_collectors).toMatchObject({
    drbd: { active: false, interval: 5000000 },
    lv: { active: true, interval: 1000000 },
  })
})

test('hypervisor parameters are laid over the old ones, coerced, and shown to the nodes', async () => {
  const fake = cluster()
  await set(fake, { hvparams: { fake: { migration_mode: 'non-live' }, kvm: { acpi: 'false', kernel_path: '' } } })
  expect(fake.config.cluster.hvparams['fake']).toEqual({ migration_mode: 'non-live' })
  expect(fake.config.cluster.hvparams['kvm']).toMatchObject({ acpi: false, kernel_path: '', boot_order: 'disk' })
  // Only of hypervisors that are enabled.
  expect(fake.calls('hypervisor_validate_params').map(({ args }) => args[0])).toEqual(['fake'])
})

test('parameters of an OS for a hypervisor are added, changed and taken away', async () => {
  const fake = cluster()
  await set(fake, { os_hvp: { tiny: { kvm: { acpi: false }, fake: { migration_mode: 'live' } } } })
  expect(fake.config.cluster.os_hvp).toEqual({ tiny: { kvm: { acpi: false }, fake: { migration_mode: 'live' } } })
  await set(fake, { os_hvp: { tiny: { fake: null, kvm: { boot_order: 'network' } } } })
  expect(fake.config.cluster.os_hvp).toEqual({ tiny: { kvm: { acpi: false, boot_order: 'network' } } })
  await set(fake, { os_hvp: { tiny: { kvm: { acpi: null } } } })
  expect(fake.config.cluster.os_hvp).toEqual({ tiny: { kvm: { boot_order: 'network' } } })
  await set(fake, { os_hvp: { tiny: { kvm: { boot_order: null } } } })
  expect(fake.config.cluster.os_hvp).toEqual({})
  await set(fake, { os_hvp: { tiny: { kvm: { acpi: false } } } })
  await set(fake, { os_hvp: { tiny: { kvm: null }, other: {} } })
  expect(fake.config.cluster.os_hvp).toEqual({})
})

test('backend, NIC, node and OS parameters, states and the policy are merged', async () => {
  const fake = cluster()
  await set(fake, {
    beparams: { memory: '1g', vcpus: 2 },
    nicparams: { mode: 'routed', link: '100' },
    ndparams: { ssh_port: 2222 },
    osparams: { tiny: { a: '1', b: '2' } },
    osparams_private_cluster: { tiny: { secret: 'x' } },
    hv_state: { kvm: { mem_total: 512 } },
    diskparams: { plain: { stripes: 2 } },
    ipolicy: { 'vcpu-ratio': 3 },
  })
  const found = fake.config.cluster
  expect(found.beparams.default).toMatchObject({ minmem: 1024, maxmem: 1024, vcpus: 2, auto_balance: true })
  expect(found.nicparams.default).toEqual({ mode: 'routed', link: '100', vlan: '' })
  expect(found.ndparams).toMatchObject({ ssh_port: 2222, spindle_count: 1 })
  expect(found.osparams).toEqual({ tiny: { a: '1', b: '2' } })
  expect(found.osparams_private_cluster).toEqual({ tiny: { secret: 'x' } })
  expect(found.hv_state_static).toEqual({ kvm: { mem_total: 512, mem_node: 0, mem_hv: 0, cpu_total: 1, cpu_node: 1 } })
  expect(found.diskparams['plain']).toEqual({ stripes: 2 })
  expect(found.ipolicy).toEqual({
    ...base.cluster.ipolicy,
    'disk-templates': ['diskless', 'sharedfile'],
    'vcpu-ratio': 3,
  })
  expect(fake.calls('os_validate')[0]?.args).toEqual([
    false,
    'tiny',
    ['parameters'],
    { a: '1', b: '2', secret: 'x' },
    false,
  ])
  await set(fake, { osparams: { tiny: { a: null } } })
  expect(fake.config.cluster.osparams).toEqual({ tiny: { b: '2' } })
  await set(fake, { osparams: { tiny: { b: 'default' } } })
  expect(fake.config.cluster.osparams).toEqual({})
})

test('instances that a new policy forbids are named, and stay', async () => {
  const fake = cluster({ beparams: { maxmem: 512 } }).given(
    change('patchCluster', { ipolicy: { ...base.cluster.ipolicy, 'disk-templates': ['diskless', 'sharedfile'],
      minmax: [{ min: { ...small, 'disk-count': 0 }, max: large }] } }),
  ) // prettier-ignore
  const max = { ...large, 'memory-size': 256 }
  await set(fake, { ipolicy: { minmax: [{ min: { ...small, 'disk-count': 0 }, max }] } })
  expect(fake.log).toEqual([
    ' - WARNING: After the ipolicy change the following instances violate them: inst1.example.com',
  ])
})

const [bounds] = base.cluster.ipolicy.minmax
if (bounds === undefined) throw new Error('no bounds')
const small = { ...bounds.min, 'nic-count': 0 }
const large = bounds.max

test('disk templates, directories and the volume group change together', async () => {
  const fake = cluster()
  fake.answers.vg_list = () => ({ xenvg: 50000, vg2: 100 })
  await set(fake, { enabled_disk_templates: ['diskless', 'sharedfile', 'plain'], vg_name: 'xenvg' })
  expect(fake.config.cluster).toMatchObject({
    enabled_disk_templates: ['diskless', 'sharedfile', 'plain'],
    volume_group_name: 'xenvg',
  })
  await expect(set(fake, { vg_name: 'vg2' })).rejects.toThrow(
    "Error on node 'node1.example.com': volume group 'vg2' too small (20480 MiB required, 100 MiB found)",
  )
  await expect(set(fake, { vg_name: 'vg3' })).rejects.toThrow(
    "Error on node 'node1.example.com': volume group 'vg3' missing: it has xenvg, vg2; vgcreate makes another one",
  )
  const less = ['diskless', 'sharedfile']
  const policy = { ipolicy: { 'disk-templates': less } }
  await set(fake, { enabled_disk_templates: less, ...policy, vg_name: '', file_storage_dir: '/srv/disks' })
  expect(fake.config.cluster.volume_group_name).toBeUndefined()
  expect(fake.log.at(-1)).toBe(' - WARNING: Specified a file storage directory, although file storage is not enabled.')
})

test('a template that gets enabled is allowed by the policy, unless its templates are given', async () => {
  const fake = cluster()
  const allowed = () => fake.config.cluster.ipolicy['disk-templates']
  const templates = ['diskless', 'sharedfile', 'ext']
  await set(fake, { enabled_disk_templates: templates })
  expect(allowed()).toEqual(templates)
  expect(fake.log).toEqual([
    ' - INFO: The instance policy allows ext from now on, too; --ipolicy-disk-templates says otherwise',
  ])
  // A template that is enabled already, and forbidden, stays so.
  await set(fake, { ipolicy: { 'disk-templates': ['diskless'] } })
  await set(fake, { enabled_disk_templates: [...templates, 'file'], ipolicy: { 'vcpu-ratio': 3 } })
  expect(allowed()).toEqual(['diskless', 'file'])
  await set(fake, {
    enabled_disk_templates: [...templates, 'file', 'blockdev'],
    ipolicy: { 'disk-templates': ['file'] },
  })
  expect(allowed()).toEqual(['file'])
})

test('DRBD needs the same helper on all nodes', async () => {
  const fake = cluster()
  const params = { enabled_disk_templates: ['diskless', 'sharedfile', 'drbd'], vg_name: 'xenvg' }
  fake.answers.vg_list = () => ({ xenvg: 50000 })
  await expect(set(fake, params)).rejects.toThrow('Cannot enable DRBD without a DRBD usermode helper set.')
  fake.answers.drbd_helper = () => '/bin/false'
  await expect(set(fake, { ...params, drbd_helper: '/bin/true' })).rejects.toThrow(
    "Error on node 'node1.example.com': drbd helper is /bin/false, and the cluster's is /bin/true: load the module there with " +
      '"modprobe drbd usermode_helper=/bin/true"',
  )
  await set(fake, { ...params, drbd_helper: '/bin/false' })
  expect(fake.config.cluster.drbd_usermode_helper).toBe('/bin/false')
})

test('a template is enabled when all nodes that can be asked have its programs', async () => {
  const fake = cluster()
  const params = { enabled_disk_templates: ['diskless', 'sharedfile', 'rbd', 'ext'] }
  fake.answers.node_verify = () => ({ 'gantry-missing-programs': { rbd: 'ceph-common' } })
  await expect(set(fake, params)).rejects.toThrow(
    "Disk template 'rbd' cannot be enabled: node 'node1.example.com' has no program rbd; install the Debian package ceph-common there",
  )
  expect(fake.calls('node_verify')[0]?.args[0]).toEqual({ 'gantry-missing-programs': ['rbd'] })
  // As nodes of Ganeti answer it.
  fake.answers.node_verify = () => ({})
  await set(fake, params)
  expect(fake.config.cluster.enabled_disk_templates).toEqual(params.enabled_disk_templates)
})

test.each([
  [{ enabled_disk_templates: ['diskless', 'sharedfile', 'drbd'], vg_name: 'xenvg', drbd_helper: '/bin/true' }, ['drbdsetup', 'drbdmeta'], "Disk template 'drbd' cannot be enabled: node 'node1.example.com' has no program drbdmeta; install the Debian package drbd-utils there"], // prettier-ignore
  [{ diskparams: { rbd: { access: 'userspace' } }, enabled_hypervisors: ['kvm', 'fake'] }, ['rbd', 'block-rbd.so'], "Disk template 'rbd' cannot be enabled: node 'node1.example.com' has no module of QEMU block-rbd.so; install the Debian package qemu-block-extra there"], // prettier-ignore
])('%j needs %j', async (params, programs, text) => {
  const fake = cluster()
  fake.answers.vg_list = () => ({ xenvg: 50000 })
  fake.answers.drbd_helper = () => '/bin/true'
  fake.answers.node_verify = () => ({})
  fake.change('patchCluster', { enabled_hypervisors: ['kvm', 'fake'] })
  if (!('vg_name' in params)) fake.change('patchCluster', { enabled_disk_templates: ['diskless', 'sharedfile', 'rbd'] })
  const packages = { drbdmeta: 'drbd-utils', 'block-rbd.so': 'qemu-block-extra' }
  fake.answers.node_verify = () => ({
    'gantry-missing-programs': Object.fromEntries(
      Object.entries(packages).filter(([program]) => programs.includes(program)),
    ),
  })
  await expect(set(fake, params)).rejects.toThrow(text)
  expect(fake.calls('node_verify')[0]?.args[0]).toEqual({ 'gantry-missing-programs': programs })
})

test('how QEMU would reach disks matters to no other hypervisor', async () => {
  const fake = cluster()
  fake.change('patchCluster', {
    enabled_disk_templates: ['diskless', 'sharedfile', 'rbd'],
    enabled_hypervisors: ['fake'],
  })
  fake.answers.node_verify = () => ({ 'gantry-missing-programs': {} })
  await set(fake, { diskparams: { rbd: { access: 'userspace' } } })
  expect(fake.calls('node_verify').map(({ args }) => args[0])).toEqual(
    Object.keys(fake.config.nodes).map(() => ({ 'gantry-missing-programs': ['rbd'] })),
  )
})

test('a value that is set already is told, and DRBD parameters come with a word on when they take effect', async () => {
  const fake = cluster().given(change('patchCluster', { volume_group_name: 'xenvg', file_storage_dir: '/srv/disks' }))
  await set(fake, { vg_name: 'xenvg', file_storage_dir: '/srv/disks', drbd_helper: '', diskparams: { drbd: {} } })
  expect(fake.log).toEqual([
    ' - WARNING: Specified a file storage directory, although file storage is not enabled.',
    ' - WARNING: Changing DRBD parameters only affects devices created in the future, not existing ones',
    ' - WARNING: You need to shutdown and start (not reboot!) existing instances to adopt the changes',
    ' - WARNING: Alternatively you can swap the secondary node by running `gnt-instance replace-disks --new-secondary $instance`',
    'Cluster LVM configuration already in desired state, not changing',
    "Global file storage dir already set to value '/srv/disks'",
    'Note that you specified a drbd user helper, but did not enable the drbd disk template.',
    'Cluster DRBD helper already in desired state, not changing',
  ])
})

test('ranges of user ids that are there already are not added again', async () => {
  const fake = cluster()
  for (let i = 0; i < 2; i++) await set(fake, { add_uids: [[1000, 1009]] })
  expect(fake.config.cluster.uid_pool).toEqual([[1000, 1009]])
})

test('an empty master interface changes nothing', async () => {
  const fake = cluster()
  await set(fake, { master_netdev: '', max_running_jobs: 7 })
  expect([fake.calls('node_deactivate_master_ip'), fake.calls('node_activate_master_ip')]).toEqual([[], []])
})

test('a value of a wrong type has the class of errors that Ganeti has for it', async () => {
  await expect(set(cluster(), { beparams: { maxmem: 'lots' } })).rejects.toMatchObject({
    name: 'TypeEnforcementError',
    message: expect.stringMatching(/^'maxmem' \(value lots\) is not a valid size\. error: /),
  })
})

test('the master address moves to another interface with its netmask', async () => {
  const fake = cluster()
  fake.answers.node_deactivate_master_ip = () => null
  fake.answers.node_activate_master_ip = () => null
  fake.answers.node_change_master_netmask = () => null
  await set(fake, { master_netdev: 'eth1', master_netmask: 24 })
  expect(fake.config.cluster).toMatchObject({ master_netdev: 'eth1', master_netmask: 24 })
  expect(fake.calls('node_activate_master_ip')[0]?.args).toMatchObject([{ netdev: 'eth1', netmask: 24 }, false])
  delete fake.answers.node_deactivate_master_ip
  await expect(set(fake, { master_netdev: 'eth2' })).rejects.toThrow('Could not deactivate the master IP')
  await set(fake, { master_netdev: 'eth2', force: true })
  expect(fake.config.cluster.master_netdev).toBe('eth2')
})

test('a communication network is made and connected by further jobs', async () => {
  const fake = cluster().given(change('addNodeGroup', buildGroup(2)))
  const answer = await set(fake, { instance_communication_network: 'meta' })
  expect(answer).toEqual({ jobs: [[true, 100]] })
  expect(fake.submitted[0]?.map((op) => op.OP_ID)).toEqual([
    'OP_NETWORK_ADD',
    'OP_NETWORK_CONNECT',
    'OP_NETWORK_CONNECT',
  ])
  expect(await set(fake, { instance_communication_network: 'meta' })).toBeNull()
  expect(fake.log.at(-1)).toBe("Instance communication network already is 'meta', nothing to do.")
})

test('a network that is there already is taken for communication, with a word about what is unusual', async () => {
  const fake = cluster().given(change('addNetwork', buildNetwork(1, { gateway: '192.0.2.1' })))
  const [network] = Object.values(fake.config.networks)
  await set(fake, { instance_communication_network: network?.name })
  expect(fake.log).toContainEqual(
    ` - WARNING: Supplied instance communication network '${network?.name}' has an IPv4 gateway '192.0.2.1', this might pose a security risk (default is 'None').`,
  )
})

test('an allocator is built in, or a script on the master', async () => {
  const fake = cluster()
  await set(fake, { default_iallocator: 'hail' })
  fake.files.set('/usr/lib/ganeti/iallocators/mine', '#!/bin/sh')
  await set(fake, { default_iallocator: 'mine' })
  expect(fake.config.cluster.default_iallocator).toBe('mine')
})

test('each kind of question has its own list of allocators, which an empty one takes away', async () => {
  const fake = cluster()
  fake.files.set('/usr/lib/ganeti/iallocators/mine', '#!/bin/sh')
  await set(fake, { default_iallocators: { allocate: ['hail', 'mine', 'hail'], relocate: ['mine'] } })
  expect(fake.gantry.sections).toEqual({ allocators: { allocate: ['hail', 'mine'], relocate: ['mine'] } })
  await set(fake, { default_iallocators: { relocate: [] } })
  expect(fake.gantry.sections).toEqual({ allocators: { allocate: ['hail', 'mine'] } })
  await set(fake, { default_iallocators: { allocate: [] } })
  expect(fake.gantry.sections).toEqual({})
})

test('settings of maintenance are kept beside the configuration, each by itself', async () => {
  const fake = cluster()
  await set(fake, { maint_evacuation: true, maint_round_delay: 60, diagnose_data_collector_filename: 'check' })
  await set(fake, { maint_balance: false, maint_evacuation: false })
  expect(fake.gantry.sections).toEqual({
    maintenance: { evacuation: false, round_delay: 60, diagnose_command: 'check', balance: false },
  })
})

const bridged = { mac: 'aa:00:00:00:00:01', nicparams: {}, uuid: nicUuid(id(77)) }

test.each<[Params, string]>([
  [{ default_iallocators: { allocate: ['hail', 'nosuch'] } }, "Invalid default iallocator script 'nosuch' specified"],
  [{ default_iallocator: 'nosuch' }, "Invalid default iallocator script 'nosuch' specified"],
  [{ default_iallocator: '../../../etc/passwd' }, "Invalid default iallocator script '../../../etc/passwd' specified"],
  [{ mac_prefix: 'zz:00' }, "Invalid MAC address prefix 'zz:00'"],
  [{ master_netmask: 33 }, 'CIDR netmask (33) not valid'],
  [{ install_image: 'image' }, 'Install image must be an absolute path or a URL'],
  [{ zeroing_image: 'image' }, 'Zeroing image must be an absolute path or a URL'],
  [{ compression_tools: ['lzop'] }, 'For compatibility reasons, the gzip utility must be present'],
  [{ compression_tools: ['gzip', 'a b'] }, "The tools 'a b' contain illegal characters"],
  [{ compression_tools: ['gzip', 'none'] }, 'none is a reserved value used for no compression'],
  [{ reserved_lvs: ['('] }, "'(' is not a pattern for the names of reserved volumes"],
  [{ uid_pool: [[5, 4]] }, 'Lower user-id range boundary value (5) is larger than higher boundary value (4)'],
  [{ remove_uids: [[1, 2]] }, 'User-id range to be removed is not found in the current user-id pool: [1, 2]'],
  [{ add_uids: [[-1, 2]] }, 'Lower user-id range boundary value (-1) is smaller than UIDPOOL_UID_MIN (0).'],
  [
    { add_uids: [[1, 2 ** 32]] },
    'Higher user-id boundary value (4294967296) is larger than UIDPOOL_UID_MAX (4294967295).',
  ],
  [
    { ipolicy: { 'vcpu-ratio': 'x' } },
    "Invalid value for attribute 'vcpu-ratio': 'x', error: could not convert string",
  ],
  [{ ipolicy: { minmax: [] } }, "Can't unset ipolicy attribute 'minmax' on the cluster'"],
  [{ enabled_data_collectors: { nosuch: true } }, 'Unknown data collector(s) nosuch'],
  [{ data_collector_interval: { lv: 0 } }, 'The interval of a data collector must be positive: lv'],
  [
    { diskparams: { rbd: { access: 'zz' } } },
    "While verify diskparams options: Invalid value of 'rbd:access': 'zz' (expected one of kernelspace, userspace)",
  ],
  [{ hidden_os: [['attach', 'noop']] }, "Invalid modification 'attach'"],
  [{ hvparams: { nosuch: {} } }, "Unknown hypervisor type 'nosuch'"],
  [{ hvparams: { kvm: { nosuch: 1 } } }, "Unknown parameter 'nosuch'"],
  [{ hvparams: { kvm: { acpi: 'maybe' } } }, "'acpi' (value maybe) is not a valid boolean"],
  [{ hvparams: { kvm: { boot_order: 'x' } } }, "Parameter 'boot_order' fails syntax check"],
  [{ os_hvp: { tiny: { kvm: { boot_order: 'x' } } } }, "Parameter 'boot_order' fails syntax check"],
  [{ enabled_hypervisors: [] }, 'Enabled hypervisors list must contain at least one member'],
  [
    { enabled_hypervisors: ['kvm'] },
    "Cannot disable hypervisor 'fake', because there is at least one instance using it",
  ],
  [{ enabled_disk_templates: [] }, 'Enabled disk templates list must contain at least one member'],
  [
    { enabled_disk_templates: ['sharedfile'] },
    "Cannot disable disk template 'diskless', because there is at least one",
  ],
  [
    { enabled_disk_templates: ['diskless'] },
    'The following disk templates are allowed by the ipolicy, but not enabled',
  ],
  [{ enabled_disk_templates: ['diskless', 'sharedfile', 'plain'], vg_name: '' }, 'Cannot unset volume group'],
  [{ shared_file_storage_dir: '' }, "Unsetting the 'sharedfile' storage directory"],
  [{ file_storage_dir: 'disks' }, "The file storage directory 'disks' is not an absolute normalized path"],
  [{ beparams: { minmem: 2000, maxmem: 1000 } }, 'Value for parameter minmem must be smaller than or equal to maxmem'],
  [{ nicparams: { mode: 'routed' } }, 'Instance inst1.example.com, nic/0: routed NIC with no ip address'],
  [{ nicparams: { mode: 'nosuch' } }, "Invalid NIC mode 'nosuch'"],
  [{ ipolicy: { nosuch: 1 } }, 'Invalid key in new ipolicy: nosuch'],
  [
    { ipolicy: { 'disk-templates': ['plain'] } },
    'The following disk templates are allowed by the ipolicy, but not enabled',
  ],
  [{ diskparams: { plain: { nosuch: 1 } } }, "Unknown parameter 'nosuch'"],
])('%j is refused', async (params, text) => {
  const fake = cluster({ nics: [bridged] })
  await expect(set(fake, params)).rejects.toThrow(text)
  expect(fake.changes).toEqual([])
})

test.each([
  ['file', 'file_storage_dir', '/etc/disks'],
  ['sharedfile', 'shared_file_storage_dir', '/boot'],
])(
  'a directory for %s in which no node makes disks is taken as Ganeti takes it, with a warning',
  async (template, name, directory) => {
    const fake = cluster()
    await set(fake, { [name]: directory })
    expect(fake.log).toContain(
      ` - WARNING: The ${template} storage directory '${directory}' is where no node keeps disk files`,
    )
  },
)

test('a template that disks use is not disabled', async () => {
  const disk = buildDisk(1)
  const fake = cluster().given(change('addInstance', buildInstance(base, 1, { disks: [disk.uuid] }), [disk]))
  const where = disk.logical_id.map((part) => `'${String(part)}'`).join(', ')
  await expect(set(fake, { enabled_disk_templates: ['diskless'] })).rejects.toMatchObject({
    args: [
      `Cannot disable disk template 'sharedfile', because there is at least one disk using it:\n * <Disk(type=sharedfile, logical_id=(${where}), children=[], visible as /dev/${disk.iv_name}, size=${disk.size}m)> (on inst1.example.com)`,
      'wrong_state',
    ],
  })
})
